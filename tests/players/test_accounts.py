"""Accounts: signing up and in, guests who register, names, sessions, bans, export, the end."""

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.utils import timezone

from games.models import MatchSeat
from players import services
from players.models import Ban, Player
from players.selectors import stamp_of
from rooms import accounts, closing, export, seating, selectors, tasks
from rooms.models import Room, Seat
from tests.players.accounts import (
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
from wallet import services as wallet

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def must_confirm(settings: Any) -> None:
    settings.EMAIL_VERIFICATION = settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def guest(client: Client, name: str = "Bo") -> Player:
    """A guest of this browser who has opened a public room and waits there."""
    client.post("/rooms/", {"game": "domino_poker", "visibility": "public", "rounds": "1", "name": name})
    player = whose(client)
    assert player is not None and player.is_guest
    return player


def seat_of(player: Player) -> Seat:
    return Seat.objects.get(player=player)


# -- up and in ---------------------------------------------------------------------------------------------------


def test_a_visitor_signs_up_and_is_signed_in() -> None:
    client = browser()
    assert sign_up(client, "Ana Maria", "Me@X.org").status_code == 302
    player = Player.objects.get()
    assert whose(client) == player and not player.is_guest
    assert (player.shown_name, player.username, player.email) == ("Ana Maria", "ana maria", "me@x.org")
    assert EmailAddress.objects.get().email == "me@x.org"
    assert "Ana Maria" in text(client.get("/"))


@pytest.mark.parametrize("login", ["ana", "ANA", " Ana ", "ＡＮＡ", "ana@play.example", "ANA@Play.Example"])
def test_signing_in_by_name_or_address_in_any_form(login: str) -> None:
    ana = account()
    client = browser()
    assert sign_in(client, login).status_code == 302
    assert whose(client) == ana


def test_a_wrong_password_and_an_unknown_account_look_alike() -> None:
    account()
    answers = [sign_in(browser(), login, "wrong") for login in ("ana", "nobody", "ana@play.example", "no@play.example")]
    said = {text(answer).split('role="alert">')[1].split("<")[0] for answer in answers}
    assert said == {"That name or address and that password do not belong together."}
    assert {answer.status_code for answer in answers} == {200}


@pytest.mark.parametrize("name", ["Admin", "ADMIN", " admin", "\u0410dmin", "ad\u200dmin", "<b>x</b>", "=HYPERLINK()"])
def test_names_of_the_house_are_refused_beside_the_field(name: str) -> None:
    answer = sign_up(browser(), name, "me@x.org")
    assert answer.status_code == 200 and not Player.objects.exists()
    assert 'aria-invalid="true"' in text(answer) and 'id="id_username_error"' in text(answer)
    assert "<b>x</b>" not in text(answer)


@pytest.mark.parametrize("name", ["ANA", "a na", "Аna".replace("А", "Α")])
def test_a_name_that_looks_like_one_that_is_taken_is_refused(name: str) -> None:
    account("Ana")
    sign_up(browser(), name, "other@x.org")
    assert Player.objects.count() == 1


@pytest.mark.parametrize("name", ["გიორგი", "عبد الرحمن", "สมชาย"])
def test_honest_names_sign_up_and_in(name: str) -> None:
    sign_up(browser(), name, "me@x.org")
    client = browser()
    sign_in(client, name)
    player = whose(client)
    assert player is not None and player.shown_name == name


def test_signing_out_is_a_post_and_ends_the_session() -> None:
    client = signed_in(account())
    key = session_key(client)
    assert client.get("/accounts/logout/").status_code == 200 and whose(client) is not None
    client.post("/accounts/logout/")
    assert whose(client) is None
    identity = selectors.Identity(Player.objects.get().pk, key, stamp_of(Player.objects.get()))
    assert selectors.ended_identities({identity}) == ({identity}, set())


# -- addresses ---------------------------------------------------------------------------------------------------


def test_where_addresses_must_be_confirmed_nobody_is_signed_in_before(must_confirm: None) -> None:
    client = browser()
    assert sign_up(client, "Ana").headers["Location"] == "/accounts/confirm-email/"
    assert whose(client) is None
    assert sign_in(browser(), "ana").headers["Location"] == "/accounts/confirm-email/"
    link = next(word for word in mail.outbox[0].body.split() if "/confirm-email/" in word)
    path = link.split("testserver")[1]
    assert client.get(path).status_code == 200 and whose(client) is None
    client.post(path)
    assert whose(client) == Player.objects.get() and EmailAddress.objects.get().verified


def test_known_and_unknown_addresses_get_the_same_answers(must_confirm: None) -> None:
    account("Ana")
    answers: dict[str, tuple[Any, ...]] = {}
    for what, address in (("known", "ANA@play.example"), ("unknown", "new@play.example")):
        client = browser()
        up = sign_up(client, f"Zoe {what}", address)
        page = text(client.get(up.headers["Location"]))
        reset = browser().post("/accounts/password/reset/", {"email": address})
        answers[what] = (up.status_code, up.headers["Location"], page.replace(address, "").replace(address.lower(), ""))
        answers[what] += (reset.status_code, reset.headers["Location"])
    assert answers["known"] == answers["unknown"]
    assert Player.objects.count() == 2
    assert len(mail.outbox) == 4, "the one who has the address hears of it in either case"


def test_a_guest_learns_no_more_of_addresses(must_confirm: None) -> None:
    ana = account("Ana")
    pages = []
    for name, address in (("Cleo", ana.email), ("Dora", "dora@x.org")):
        client = browser()
        player = guest(client, f"Guest{name}")
        up = sign_up(client, name, address)
        own = text(client.get("/accounts/"))
        assert whose(client) == player and "not confirmed yet" in own and address in own
        pages.append((up.status_code, up.headers["Location"]))
    assert pages[0] == pages[1]
    assert Player.objects.get(shown_name="Cleo").email == "" and Player.objects.get(email=ana.email) == ana


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_confirmation_never_takes_an_address_from_its_owner(must_confirm: None, confirmed: bool) -> None:
    ana = account("Ana", confirmed=confirmed)
    client = browser()
    guest(client)
    sign_up(client, "Cleo", ana.email)
    address = EmailAddress.objects.get(user__shown_name="Cleo")
    from allauth.account.models import EmailConfirmationHMAC

    answer = client.post(f"/accounts/confirm-email/{EmailConfirmationHMAC(address).key}/")
    assert answer.status_code < 500
    address.refresh_from_db()
    assert not address.verified and Player.objects.get(email=ana.email) == ana


def test_a_new_address_counts_once_it_is_confirmed() -> None:
    ana, bea = account(), account("Bea")
    client = signed_in(ana)
    for address in ("ana@new.example", bea.email):
        mail.outbox.clear()
        asked = client.post("/accounts/email/", {"email": address, "action_add": ""})
        if asked.status_code == 302 and "reauthenticate" in asked.headers["Location"]:
            client.post(asked.headers["Location"], {"password": PASSWORD})
        assert "style=" not in text(client.get("/accounts/email/"))
        link = next(word for sent in mail.outbox for word in sent.body.split() if "/confirm-email/" in word)
        path = link.split("testserver")[1]
        assert Player.objects.get(pk=ana.pk).email != address
        client.get(path)
        client.post(path)
    assert Player.objects.get(pk=ana.pk).email == "ana@new.example"
    assert Player.objects.get(pk=bea.pk).email == "bea@play.example"
    assert sign_in(browser(), "ana@new.example").status_code == 302


def test_a_new_password_by_mail() -> None:
    ana = account()
    other = signed_in(ana)
    client = browser()
    client.post("/accounts/password/reset/", {"email": "ANA@play.example"})
    link = next(word for word in mail.outbox[0].body.split() if "/password/reset/key/" in word)
    form = client.get(link.split("testserver")[1]).headers["Location"]
    assert client.get(form).status_code == 200
    client.post(form, {"password1": "a quite other one 9", "password2": "a quite other one 9"})
    assert whose(other) is None
    assert sign_in(client, "ana", "a quite other one 9").status_code == 302


# -- guests ------------------------------------------------------------------------------------------------------


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
    from rooms import hosting

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
    from rooms import hosting

    hosting.fill_bots(room.pk, bo.pk, "medium")
    hosting.start(room.pk, bo.pk)
    assert "give_up" in text(client.get("/accounts/login/"))
    refused = sign_in(client, "ana")
    assert refused.status_code == 200 and whose(client) == bo and Seat.objects.filter(player=bo).exists()
    assert sign_in(client, "ana", give_up="on").status_code == 302 and whose(client) == ana
    assert Seat.objects.get(room=room, forfeited=True).player_id is None
    assert MatchSeat.objects.get(player=bo).forfeited


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


# -- names, passwords, sessions ----------------------------------------------------------------------------------


def test_a_change_of_name_is_seen_at_the_table_and_at_the_sign_in() -> None:
    ana = account()
    client = signed_in(ana)
    client.post("/rooms/", {"game": "domino_poker", "visibility": "public", "rounds": "1"})
    room = seat_of(ana).room
    version = room.version
    assert client.post("/accounts/name/", {"name": " Anouk "}).status_code == 302
    assert seat_of(ana).name == "Anouk" and stage.refreshed(room).version > version
    assert "Ana" not in text(client.get("/lobby/"))
    assert sign_in(browser(), "Anouk").status_code == 302 and sign_in(browser(), "Ana").status_code == 200
    refused = client.post("/accounts/name/", {"name": "Moderator"})
    assert refused.status_code == 400 and "reserved" in text(refused)


def test_another_password_ends_the_other_sessions_and_their_sockets() -> None:
    ana = account()
    here, there = signed_in(ana), signed_in(ana)
    socket = selectors.Identity(ana.pk, session_key(there), stamp_of(ana))
    # Even a session that nobody has listed.
    UserSession.objects.all().delete()
    new = "a quite other one 9"
    answer = here.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new})
    assert answer.status_code == 302
    assert selectors.ended_identities({socket})[0] == {socket}, "before any page looks at that session"
    assert whose(here) == ana and whose(there) is None
    fresh = Player.objects.get(pk=ana.pk)
    own = selectors.Identity(ana.pk, session_key(here), stamp_of(fresh))
    assert selectors.ended_identities({own}) == (set(), set())


def test_the_account_page_lists_sessions_and_ends_the_others() -> None:
    ana = account()
    here, there = signed_in(ana), browser("Other Browser/2")
    sign_in(there, "ana")
    page = text(here.get("/accounts/"))
    assert "Other Browser/2" in page and page.count("this one") == 1
    here.post("/accounts/sessions/end/")
    assert whose(there) is None and whose(here) == ana
    assert UserSession.objects.count() == 1
    here.post("/accounts/logout/")
    assert services.forget_ended_sessions() == 1 and not UserSession.objects.exists()


def test_sessions_that_nobody_listed_end_as_well() -> None:
    """Django gives a session another key by itself: after a new secret key, and in code that is not ours."""
    ana = account()
    here, there = signed_in(ana), signed_in(ana)
    session = there.session
    session.cycle_key()
    there.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    socket = selectors.Identity(ana.pk, session_key(there), stamp_of(ana))
    assert whose(there) == ana and selectors.ended_identities({socket})[0] == set()
    here.post("/accounts/sessions/end/")
    assert selectors.ended_identities({socket})[0] == {socket}, "its sockets too"
    assert whose(there) is None and whose(here) == ana
    own = selectors.Identity(ana.pk, session_key(here), stamp_of(Player.objects.get(pk=ana.pk)))
    assert selectors.ended_identities({own})[0] == set()
    services.end_sessions(ana.pk)
    assert whose(here) is None


def test_a_row_read_before_brings_no_session_back() -> None:
    ana = account()
    there = signed_in(ana)
    before = Player.objects.get(pk=ana.pk)
    kept = there.session.session_key
    UserSession.objects.all().delete()
    services.end_sessions(ana.pk)
    before.first_name = "Ana"
    before.save()
    assert Player.objects.get(pk=ana.pk).first_name == "Ana"
    assert whose(there) is None, kept


def test_a_session_with_another_key_is_listed_again() -> None:
    ana = account()
    here = signed_in(ana)
    session = here.session
    session.cycle_key()
    here.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    assert text(here.get("/accounts/")).count("this one") == 1
    assert [one.session_key for one in UserSession.objects.all()] == [session.session_key]


def test_sessions_whose_time_is_over_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = signed_in(account()), browser()
    there.get("/accounts/login/")
    for number in range(5):
        Session.objects.create(session_key=f"old{number}", session_data="", expire_date=timezone.now())
    alive = set(Session.objects.exclude(session_key__startswith="old").values_list("pk", flat=True))
    monkeypatch.setattr(services, "EXPIRED_AT_ONCE", 3)
    assert tasks.forget_ended_sessions() == 3 and tasks.forget_ended_sessions() == 2
    assert set(Session.objects.values_list("pk", flat=True)) == alive and whose(here) is not None


def test_accounts_that_nobody_confirmed_are_forgotten(must_confirm: None, settings: Any) -> None:
    settings.UNCONFIRMED_DAYS = 7
    played = account("Played", confirmed=False)
    stage.running(played, stage.person("Cleo"))
    Seat.objects.filter(player=played).delete()
    sits = account("Sits", confirmed=False)
    stage.waiting(sits)
    coins = account("Coins", confirmed=False)
    wallet.open_account(coins.pk)
    account("Boss", confirmed=False, is_staff=True)
    account("Confirmed")
    account("Gone", confirmed=False)
    account("Gone too", confirmed=False)
    bo = browser()
    guest(bo)
    Seat.objects.filter(player=whose(bo)).delete()
    Player.objects.update(last_seen_at=timezone.now() - timedelta(days=6.9))
    assert tasks.forget_unconfirmed() == 0
    Player.objects.update(last_seen_at=timezone.now() - timedelta(days=7.1))
    # A guest of long ago who signs up now has the whole time before the account is forgotten.
    sign_up(bo, "Bo")
    settings.EMAIL_VERIFICATION = "none"
    assert tasks.forget_unconfirmed() == 0
    settings.EMAIL_VERIFICATION = "mandatory"
    assert tasks.forget_unconfirmed() == 2 and tasks.forget_unconfirmed() == 0
    left = set(Player.objects.filter(is_guest=False).values_list("shown_name", flat=True))
    assert left == {"Played", "Sits", "Coins", "Boss", "Confirmed", "Bo"}
    assert sign_up(browser(), "Gone").status_code == 302


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
    client = signed_in(ana)
    room = stage.running(ana, stage.person("Cleo"))
    stage.play_to_the_end(room)
    answer = client.post("/accounts/export/")
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "application/zip"
    packed = zipfile.ZipFile(io.BytesIO(answer.content))
    names = [f"{name}.{form}" for name in ("gold", "matches", "names", "profile", "visits") for form in ("csv", "json")]
    assert sorted(packed.namelist()) == names
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


@pytest.mark.parametrize("page", ["", "delete/", "email/", "password/change/", "2fa/"])
def test_strangers_are_asked_to_sign_in(page: str) -> None:
    assert browser().get(f"/accounts/{page}").headers["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize("page", ["name/", "sessions/end/", "export/"])
def test_nothing_is_done_by_looking(page: str) -> None:
    assert signed_in(account()).get(f"/accounts/{page}").status_code == 405
