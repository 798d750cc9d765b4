"""Bans, the export of one's own data, and the end of an account."""

import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.core import mail
from django.utils import timezone

from games.models import MatchSeat
from players import services
from players.errors import AccountGone
from players.models import Ban, Player
from players.selectors import stamp_of
from rooms import accounts, closing, export, selectors, tasks
from rooms.models import Room, Seat
from tests.players.accounts import (
    AGENT,
    PASSWORD,
    account,
    browser,
    session_key,
    sign_in,
    sign_up,
    signed_in,
    text,
    whose,
)
from tests.rooms import stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


# -- bans --------------------------------------------------------------------------------------------------------


def test_a_ban_signs_out_forfeits_and_says_why() -> None:
    ana, boss = account(), account("Boss")
    client = signed_in(ana)
    room = stage.running(ana, stage.person("Cleo"))
    socket = selectors.Identity(ana.pk, session_key(client), stamp_of(ana))
    until = timezone.now() + timedelta(days=2)
    made = accounts.ban(ana, boss, "Played two seats", until)
    assert (made.by, made.reason, made.until) == (boss, "Played two seats", until)
    assert whose(client) is None
    assert selectors.ended_identities({socket}) == ({socket}, {ana.pk})
    assert MatchSeat.objects.get(player=ana, match=room.match).forfeited
    answer = sign_in(browser(), "ana")
    assert answer.status_code == 403 and "Played two seats" in text(answer)
    assert "Played two seats" not in text(sign_in(browser(), "ana", "wrong"))


def _banned(player: Player) -> None:
    accounts.ban(player, None, "Rude")


def _closed(player: Player) -> None:
    accounts.close(player.pk)


@pytest.mark.parametrize("end", [_banned, _closed])
@pytest.mark.parametrize("way", ["changed", "reset"])
def test_a_password_on_its_way_brings_no_account_back(
    way: str, end: Callable[[Player], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, new = account(), "a quite other one 9"
    client = signed_in(ana)
    page, fields = "/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new}
    if way == "reset":
        client = browser()
        client.post("/accounts/password/reset/", {"email": ana.email})
        link = next(word for word in mail.outbox[0].body.split() if "/password/reset/key/" in word)
        page = client.get(link.removeprefix(settings.SITE_URL)).headers["Location"]
        fields = {"password1": new, "password2": new}
    hashed = Player.set_password

    def meanwhile(self: Player, password: str | None) -> None:
        hashed(self, password)
        monkeypatch.setattr(Player, "set_password", hashed)
        end(Player.objects.get(pk=ana.pk))

    monkeypatch.setattr(Player, "set_password", meanwhile)
    assert client.post(page, fields).status_code == 403
    row = Player.objects.get(pk=ana.pk)
    assert not row.is_active and not row.check_password(new) and whose(client) is None
    assert (row.closed_at is not None, row.email == "") == ((end is _closed),) * 2


def test_a_name_on_its_way_to_an_account_that_ends_changes_nothing() -> None:
    ana = account()
    services.ban(ana, None, "Rude")
    with pytest.raises(AccountGone):
        accounts.rename(ana, "Anabel")
    accounts.close(ana.pk)
    with pytest.raises(AccountGone):
        accounts.ban(ana, None, "Rude")
    assert Player.objects.get(pk=ana.pk).shown_name == services.former_name(ana.pk)


def test_a_ban_ends_by_itself_or_by_somebody() -> None:
    ana, boss = account(), account("Boss")
    services.ban(ana, boss, "Rude", timezone.now() + timedelta(days=1))
    Ban.objects.update(until=timezone.now() - timedelta(seconds=1))
    client = browser()
    assert sign_in(client, "ana").status_code == 302 and whose(client) == ana
    services.ban(ana, boss, "Rude again")
    assert services.lift_bans_that_are_over() == 0 and services.unban(ana, boss) and not services.unban(ana, boss)
    assert Player.objects.get(pk=ana.pk).is_active and Ban.objects.filter(lifted_at__isnull=True).count() == 0
    services.ban(ana, None, "Third", timezone.now() + timedelta(days=1))
    Ban.objects.filter(lifted_at__isnull=True).update(until=timezone.now() - timedelta(seconds=1))
    assert tasks.lift_bans() == 1 and Player.objects.get(pk=ana.pk).is_active


@pytest.mark.parametrize(("reason", "days"), [("", 1), ("  ", None), ("Rude", -1)])
def test_a_ban_needs_a_reason_and_an_end_to_come(reason: str, days: int | None) -> None:
    ana = account()
    with pytest.raises(ValueError, match="ban"):
        services.ban(ana, None, reason, None if days is None else timezone.now() + timedelta(days=days))
    assert Player.objects.get().is_active and not Ban.objects.exists()


def test_a_seat_of_somebody_kept_out_is_given_up_by_the_next_look() -> None:
    ana = account()
    room = stage.waiting(ana, stage.person("Cleo"))
    Player.objects.filter(pk=ana.pk).update(is_active=False)
    assert selectors.seated_without_right() == [ana.pk] and tasks.shut_out_banned() == 1
    assert not Seat.objects.filter(player=ana).exists() and stage.refreshed(room).status == Room.Status.WAITING
    closing.shut_out(ana.pk)


# -- export and the end ------------------------------------------------------------------------------------------


def test_the_export_holds_all_that_is_ones_own() -> None:
    ana = account()
    services.ban(ana, None, "Rude once")
    services.unban(ana, None)
    client = signed_in(ana)
    room = stage.running(ana, stage.person("Cleo"))
    stage.play_to_the_end(room)
    answer = client.post("/accounts/export/")
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "application/zip"
    packed = zipfile.ZipFile(io.BytesIO(answer.content))
    sheets = ("addresses", "bans", "gold", "matches", "names", "profile", "sessions", "visits")
    assert sorted(packed.namelist()) == [f"{name}.{form}" for name in sheets for form in ("csv", "json")]
    (session,) = json.loads(packed.read("sessions.json"))
    assert session["ip"] == "127.0.0.1" and session["user_agent"] == AGENT
    (address,) = json.loads(packed.read("addresses.json"))
    assert address == {"email": "ana@play.example", "verified": True, "primary": True}
    (ban,) = json.loads(packed.read("bans.json"))
    assert ban["reason"] == "Rude once" and ban["lifted_at"] is not None
    assert json.loads(packed.read("profile.json"))[0]["address"] == "ana@play.example"
    (match,) = json.loads(packed.read("matches.json"))
    assert match["match"] == room.match_id and match["place"] in {1, 2, 3, 4} and match["name"] == "Ana"
    assert packed.read("matches.csv").decode("utf-8-sig").splitlines()[0].startswith("match,game,status")
    assert [client.post("/accounts/export/").status_code for _i in range(5)] == [200] * 4 + [429]
    assert client.get("/accounts/export/").status_code == 405


def test_no_cell_of_text_is_a_formula() -> None:
    sheet = export.Sheet("x", ["a"], [["=1+1"], ["+1"], ["-1"], ["@a"], ["\ta"], ["\ra"], [-5], ["Ana"]])
    cells = [line.strip('"') for line in export.as_csv(sheet).split("\r\n")[1:-1]]
    assert cells == ["'=1+1", "'+1", "'-1", "'@a", "'\ta", "'\ra", "-5", "Ana"]


def test_a_deleted_account_leaves_a_number_and_nothing_personal() -> None:
    ana = account(first_name="Ana", last_name="Of the hill")
    client = signed_in(ana)
    room = stage.running(ana, stage.person("Cleo"))
    stage.play_to_the_end(room)
    assert client.post("/accounts/delete/", {"password": "wrong"}).status_code == 400
    assert Player.objects.get(pk=ana.pk).is_active
    assert client.post("/accounts/delete/", {"password": PASSWORD}).status_code == 302
    row = Player.objects.get(pk=ana.pk)
    assert (row.shown_name, row.email, row.first_name, row.last_name) == (f"Former player {ana.pk}", "", "", "")
    assert "ana" not in row.username and not row.is_active and row.closed_at is not None
    assert MatchSeat.objects.get(player=ana).name == f"Former player {ana.pk}"
    assert not EmailAddress.objects.exists() and not UserSession.objects.exists()
    assert whose(client) is None and sign_in(browser(), "ana").status_code == 200
    assert sign_up(browser(), "Ana").status_code == 200, "nobody passes for the one who left"
    assert sign_up(browser(), "Berta", ana.email).status_code == 302, "the address is free again"


def test_an_account_in_a_match_is_asked_before_its_end() -> None:
    ana = account()
    client = signed_in(ana)
    room = stage.running(ana, stage.person("Cleo"))
    page = text(client.get("/accounts/delete/"))
    assert "give_up" in page and f'name="stake" value="{stage.stake(room)}"' in page
    fields = {"password": PASSWORD, "stake": stage.stake(room)}
    assert client.post("/accounts/delete/", fields).status_code == 400
    assert Seat.objects.filter(player=ana).exists()
    assert client.post("/accounts/delete/", {**fields, "give_up": "on"}).status_code == 302
    assert not Seat.objects.filter(player=ana).exists() and MatchSeat.objects.get(player=ana).forfeited
