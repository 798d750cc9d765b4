"""Guests who register or sign in: what they keep, and what they are asked before."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from games.models import MatchSeat
from players.models import Player
from rooms import hosting, seating, tasks
from rooms.models import Room, Seat
from tests.players.accounts import (
    PASSWORD,
    account,
    browser,
    guest,
    seat_of,
    session_key,
    sign_in,
    sign_up,
    text,
    whose,
)
from tests.rooms import stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


def test_a_guest_who_signs_up_keeps_row_seat_and_cookie() -> None:
    client = browser()
    bo = guest(client)
    seat, key, cookie = seat_of(bo), session_key(client), client.cookies["seat"].value
    assert sign_up(client, "Bo").status_code == 302
    player = whose(client)
    assert player is not None and player == bo and not player.is_guest
    assert session_key(client) != key
    assert seat_of(player).pk == seat.pk
    assert seating.holds(player, seat.room.code, cookie)
    assert client.get(f"/tables/{seat.room.code}/").status_code == 200


def test_the_form_offers_the_guests_name_where_it_may_be_kept() -> None:
    client = browser()
    guest(client)
    assert 'value="Bo"' in text(client.get("/accounts/signup/"))
    nobody = browser()
    nobody.post("/quick/")
    page = text(nobody.get("/accounts/signup/"))
    assert 'value="Guest' not in page
    assert sign_up(nobody, "Guest 1234", "g@x.org").status_code == 200, "a name of guests is not one of accounts"


def test_another_name_is_seen_at_the_running_table_at_once() -> None:
    client = browser()
    bo = guest(client)
    room = seat_of(bo).room
    stage.arrive(room, bo)
    hosting.fill_bots(room.pk, bo.pk, "medium")
    hosting.start(room.pk, bo.pk)
    version = stage.refreshed(room).version
    sign_up(client, "Boris")
    assert seat_of(bo).name == "Boris" and stage.refreshed(room).version > version
    assert MatchSeat.objects.get(player=bo).name == "Boris"


def test_a_second_click_makes_no_second_account(monkeypatch: pytest.MonkeyPatch) -> None:
    client = browser()
    bo = guest(client)
    # The first click has been stored by now; the second had looked before that.
    monkeypatch.setattr("rooms.account_views._registered", lambda _request: None)
    monkeypatch.setattr("players.adapter.guest_in", lambda _request: bo)
    Player.objects.filter(pk=bo.pk).update(is_guest=False)
    assert sign_up(client, "Boris").headers["Location"] == "/accounts/login/"
    assert Player.objects.get().shown_name == "Bo"


def test_a_guest_who_signs_in_leaves_the_seat_of_a_waiting_room() -> None:
    ana = account()
    client = browser()
    bo = guest(client)
    room = seat_of(bo).room
    assert sign_in(client, "ana").status_code == 302 and whose(client) == ana
    assert not Seat.objects.filter(player=bo).exists() and stage.refreshed(room).status == Room.Status.DESTROYED
    Player.objects.filter(pk=bo.pk).update(last_seen_at=timezone.now() - timedelta(days=31))
    tasks.forget_idle_guests()
    assert not Player.objects.filter(pk=bo.pk).exists()


def test_a_guest_in_a_match_is_asked_before_signing_in() -> None:
    ana = account()
    client = browser()
    bo = guest(client)
    room = seat_of(bo).room
    stage.arrive(room, bo)
    cleo = stage.person("Cleo")
    seating.sit(cleo, room.pk)
    hosting.fill_bots(room.pk, bo.pk, "medium")
    hosting.start(room.pk, bo.pk)
    assert "give_up" in text(client.get("/accounts/login/"))
    refused = sign_in(client, "ana")
    assert refused.status_code == 200 and whose(client) == bo and Seat.objects.filter(player=bo).exists()
    assert sign_in(client, "ana", give_up="on").status_code == 302 and whose(client) == ana
    assert Seat.objects.get(room=room, forfeited=True).player_id is None
    assert MatchSeat.objects.get(player=bo).forfeited


def test_a_guest_reads_the_same_of_known_and_unknown_addresses(settings: Any) -> None:
    settings.EMAIL_VERIFICATION = settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    account("Ana")
    answers = []
    for name, address in (("Zoe Wood", "ANA@play.example"), ("Zoe Hill", "new@play.example")):
        client = browser()
        guest(client, "Bo")
        up = sign_up(client, name, address)
        page = client.get(up.headers["Location"])
        said = [str(message) for message in page.context["messages"]]
        assert len(said) == 2 and said[0].startswith("Welcome")
        answers.append(
            (up.status_code, up.headers["Location"], [one.lower().replace(address.lower(), "") for one in said])
        )
        assert whose(client) == Player.objects.get(shown_name=name)
    assert str(answers[0]).replace("wood", "hill") == str(answers[1])
    assert len(mail.outbox) == 2, "whoever has the address hears of it in either case"


def test_guests_have_no_account_pages() -> None:
    client = browser()
    guest(client)
    pages = (
        "",
        "email/",
        "password/change/",
        "password/set/",
        "delete/",
        "2fa/",
        "2fa/totp/activate/",
        "reauthenticate/",
    )
    for page in pages:
        assert client.get(f"/accounts/{page}").headers["Location"] == "/accounts/signup/", page
    assert client.post("/accounts/password/set/", {"password1": PASSWORD, "password2": PASSWORD}).status_code == 302
    assert not Player.objects.get().has_usable_password()
    assert client.get("/accounts/login/").status_code == 200
