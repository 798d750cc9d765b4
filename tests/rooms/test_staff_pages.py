"""The pages of staff: who may open which, that lists change nothing, and that all of it is recorded."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection
from django.test import Client
from django.utils import timezone

from games.models import Match
from players import services as players
from players.models import Player, StaffAct
from players.staff import record
from rooms.models import Room
from tests.players.accounts import account, text
from tests.rooms import stage
from tests.rooms.gold import begun, paid, rich
from tests.rooms.house import HOUSE, ROLES, acts, ask, browser_of, member, played, staff
from wallet.models import Correction, Posting, Transaction

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]
SUPPORT, MODERATOR, SENIOR, ADMIN = range(4)


def test_each_role_opens_its_pages_and_no_other() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = played(ana, ben)
    match = stage.match_of(room)
    number = Transaction.objects.latest("pk").pk
    wanted = {"reason": "because", "amount": "5", "days": ""}
    pages = [
        ("get", "/admin/", SUPPORT),
        ("get", "/admin/players/player/", SUPPORT),
        ("get", "/admin/games/match/", SUPPORT),
        ("get", "/admin/rooms/room/", SUPPORT),
        ("get", "/admin/wallet/transaction/", SUPPORT),
        ("get", "/admin/players/staffact/", SENIOR),
        ("get", f"{HOUSE}/players/{ana.pk}/", SUPPORT),
        ("get", f"{HOUSE}/ledger/?player={ana.pk}", SUPPORT),
        ("get", f"{HOUSE}/ledger.csv?player={ana.pk}", MODERATOR),
        ("get", f"{HOUSE}/transactions/{number}/", SUPPORT),
        ("get", f"{HOUSE}/rooms/{room.pk}/", SUPPORT),
        ("get", f"{HOUSE}/corrections/", SUPPORT),
        ("get", f"{HOUSE}/matches/{match}/", SUPPORT),
        ("post", f"{HOUSE}/matches/{match}/verify/", SUPPORT),
        ("get", f"{HOUSE}/flags/", MODERATOR),
        ("post", f"{HOUSE}/players/{ben.pk}/note/", MODERATOR),
        ("post", f"{HOUSE}/players/{ben.pk}/sessions/end/", MODERATOR),
        ("post", f"{HOUSE}/players/{ben.pk}/correction/", MODERATOR),
        ("post", f"{HOUSE}/players/{ben.pk}/ban/", MODERATOR),
        ("post", f"{HOUSE}/players/{ben.pk}/unban/", MODERATOR),
        ("post", f"{HOUSE}/corrections/1/approve/", SENIOR),
        ("post", f"{HOUSE}/corrections/1/decline/", SENIOR),
        ("post", f"{HOUSE}/players/{ana.pk}/role/", ADMIN),
    ]
    for rank, role in enumerate(ROLES):
        client = staff(role)
        for method, page, needed in pages:
            answer = getattr(client, method)(page, wanted if method == "post" else {})
            allowed = {200, 302, 400} if rank >= needed else {403}
            assert answer.status_code in allowed, (role, method, page, answer.status_code)
    for client in (browser_of(account("Plain")), browser_of(stage.person("Guesty")), Client()):
        for method, page, _needed in pages:
            answer = getattr(client, method)(page)
            assert answer.status_code == 302 and "login" in answer.headers["Location"], (page, answer)


def test_staff_without_a_second_step_reach_no_page_of_the_house() -> None:
    boss = account("Boss", is_staff=True, is_superuser=True)
    client = browser_of(boss)
    assert client.get(f"{HOUSE}/players/{boss.pk}/").headers["Location"] == "/accounts/2fa/totp/activate/"


@pytest.mark.parametrize(
    "model", ["players/player", "players/staffact", "games/match", "rooms/room", "wallet/transaction"]
)
def test_the_lists_change_nothing_even_for_a_superuser(model: str) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    played(ana, ben)
    boss = member("admin", "Boss")
    Player.objects.filter(pk=boss.pk).update(is_superuser=True)
    client = browser_of(boss)
    assert client.get(f"/admin/{model}/").status_code == 200
    rows: dict[str, Any] = {
        "players/player": Player,
        "games/match": Match,
        "rooms/room": Room,
        "wallet/transaction": Transaction,
    }
    number = rows.get(model, StaffAct).objects.latest("pk").pk
    for page in ("add/", f"{number}/change/", f"{number}/delete/"):
        assert client.post(f"/admin/{model}/{page}", {"post": "yes"}).status_code == 403, page
    assert client.get(f"/admin/{model}/add/").status_code == 403
    assert client.get(f"/admin/{model}/{number}/delete/").status_code == 403
    assert client.get(f"/admin/{model}/{number}/history/").status_code == 403
    before = Posting.objects.count()
    client.post(f"/admin/{model}/", {"action": "delete_selected", "_selected_action": number, "post": "yes"})
    assert rows.get(model, StaffAct).objects.filter(pk=number).exists() and Posting.objects.count() == before
    for other in ("auth/group", "account/emailaddress", "mfa/authenticator", "usersessions/usersession"):
        assert client.get(f"/admin/{other}/").status_code == 404


def test_no_list_tells_a_hidden_field_by_comparing() -> None:
    ana = rich("Ana")
    room = begun(paid(300, ana, rich("Ben")))
    client = staff("admin")
    for page in (
        "games/match/?secret__gte=a", "games/match/?outcome__isnull=1", "games/match/?seats__player=1",
        "players/player/?password__startswith=p", "players/player/?email__startswith=a",
        f"rooms/room/?code__startswith={room.code[:1]}", "rooms/room/?watch_key__gte=a",
    ):  # fmt: skip
        answer = client.get(f"/admin/{page}")
        assert answer.status_code in {302, 400}, page
        assert answer.status_code == 400 or "e=1" in answer.headers["Location"]
    listed = text(client.get("/admin/rooms/room/"))
    assert room.code not in listed and str(room.watch_key) not in listed


def test_nobody_gets_a_failure_for_a_nul() -> None:
    ana, client = rich("Ana"), staff("senior")
    lists = ["players/player", "players/staffact", "games/match", "rooms/room", "wallet/transaction"]
    for page in ["ledger/?x=%00", "ledger.csv?x=%00"]:
        assert client.get(f"{HOUSE}/{page}").status_code == 200, page
    for page in ["ledger/?reference=%00", "ledger.csv?player=%00", "flags/?days=%00"]:
        assert client.get(f"{HOUSE}/{page}").status_code == 400, page
    for one in lists:
        for query in ("act__exact", "status__exact", "kind__exact", "game__exact", "is_guest__exact", "q", "x"):
            assert client.get(f"/admin/{one}/?{query}=%00").status_code == 302, (one, query)
    assert ask(staff("moderator"), ana, 5).status_code == 302
    number = Correction.objects.get().pk
    for answer in ("approve", "decline"):
        refused = client.post(f"{HOUSE}/corrections/{number}/{answer}/", {"reason": "a\0"})
        assert refused.status_code == 400 and "Null characters" in text(refused)
    assert Correction.objects.get().status == "pending"


# -- the record --------------------------------------------------------------------------------------------------


def test_nobody_is_found_by_the_address_behind_the_lists() -> None:
    account("Boris")
    asked = {"app_label": "wallet", "model_name": "transaction", "field_name": "by", "term": "boris@play.example"}
    answer = staff("admin").get("/admin/autocomplete/", asked)
    assert answer.status_code == 404 and "Boris" not in text(answer)


def test_every_look_and_every_action_is_recorded() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = played(ana, ben)
    mo = member("moderator", "Mo")
    client = browser_of(mo)
    client.get("/admin/players/player/?q=Ana")
    client.get("/admin/wallet/transaction/?q=welcome:")
    client.get(f"/admin/games/match/?q={room.match_id}")
    client.get(f"/admin/rooms/room/?q={room.pk}")
    client.get(f"{HOUSE}/players/{ana.pk}/")
    client.get(f"{HOUSE}/ledger/?player=Ana&least=5")
    client.get(f"{HOUSE}/ledger.csv?player={ana.pk}")
    client.get(f"{HOUSE}/rooms/{room.pk}/")
    client.get(f"{HOUSE}/matches/{room.match_id}/")
    client.post(f"{HOUSE}/matches/{room.match_id}/verify/")
    client.get(f"{HOUSE}/flags/")
    client.get(f"{HOUSE}/corrections/")
    client.post(f"{HOUSE}/players/{ana.pk}/note/", {"reason": "writes a lot"})
    client.post(f"{HOUSE}/players/{ana.pk}/ban/", {"reason": "dumped gold", "days": "3"})
    client.post(f"{HOUSE}/players/{ana.pk}/unban/", {"reason": "was a mistake"})
    client.post(f"{HOUSE}/players/{ana.pk}/unban/", {"reason": "again"})
    client.post(f"{HOUSE}/players/{ana.pk}/sessions/end/", {"reason": "lost phone"})
    client.post(f"{HOUSE}/players/{ana.pk}/correction/", {"amount": "5", "reason": "a gift"})
    client.post(f"{HOUSE}/players/{ana.pk}/correction/", {"amount": "5", "reason": ""})
    client.get("/admin/players/staffact/")
    client.get(f"{HOUSE}/players/999999/")
    assert acts(by=mo) == [
        "search", "list", "list", "list", "look", "ledger", "export", "money", "match", "verify", "flags",
        "corrections", "note", "ban", "unban", "sessions", "ask", "look",
    ]  # fmt: skip
    seen = StaffAct.objects.get(act="search")
    assert str(ana.pk) in seen.subject.split() and str(ben.pk) not in seen.subject.split()
    bookings, match, opened = StaffAct.objects.filter(act="list").order_by("pk").values_list("subject", flat=True)
    assert bookings.startswith("transaction: ") and len(bookings.split()) == 3
    assert (match, opened) == (f"match: {room.match_id}", f"room: {room.pk}")
    searched = StaffAct.objects.get(act="ledger")
    assert searched.player == ana.pk and searched.subject == "least=5"
    banned = StaffAct.objects.get(act="ban")
    assert (banned.player, banned.reason, banned.by) == (ana.pk, "dumped gold", mo) and banned.at <= timezone.now()
    log = text(staff("senior").get("/admin/players/staffact/"))
    assert "dumped gold" in log and "writes a lot" in log


@pytest.mark.parametrize(
    "query",
    [
        "UPDATE players_staffact SET reason = 'other'",
        "DELETE FROM players_staffact",
        "TRUNCATE players_staffact",
        "INSERT INTO players_staffact (act, subject, reason, at) VALUES ('look', '', '', '2001-01-01')",
        "INSERT INTO players_staffact (id, act, subject, reason) VALUES (5, 'look', '', '')",
    ],
)
def test_the_record_is_append_only_for_the_site(query: str) -> None:
    ana = account("Ana")
    staff("support").get(f"{HOUSE}/players/{ana.pk}/")
    kept = list(StaffAct.objects.values_list())
    assert len(kept) == 1
    with pytest.raises(ProgrammingError, match="permission denied"), connection.cursor() as cursor:
        cursor.execute(query)
    assert list(StaffAct.objects.values_list()) == kept


@pytest.mark.parametrize(
    "query", ["UPDATE players_staffact SET reason = 'x'", "DELETE FROM players_staffact", "TRUNCATE players_staffact"]
)
def test_and_for_the_owner_of_the_tables(query: str, services: Any) -> None:
    import psycopg

    ana = account("Ana")
    staff("support").get(f"{HOUSE}/players/{ana.pk}/")
    with psycopg.connect(services.environment()["DATABASE_OWNER_URL"]) as owner:
        with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
            owner.execute(query.encode())
        owner.rollback()
    assert StaffAct.objects.count() == 1


def test_a_forgotten_guest_leaves_the_record_alone() -> None:
    guest = stage.person("Guesty")
    staff("support").get(f"{HOUSE}/players/{guest.pk}/")
    assert players.forget_idle_guests(timezone.now() + timedelta(days=1)) == 1
    assert StaffAct.objects.get().player == guest.pk


def test_the_record_takes_every_text() -> None:
    record(None, "note", subject="a\0b", reason="c\0")
    act = StaffAct.objects.get()
    assert (act.subject, act.reason) == ("ab", "c")


def test_the_record_of_a_search_has_the_fields_of_the_form() -> None:
    client = staff("support")
    client.get(f"{HOUSE}/ledger/?kind=fee&kind=welcome&room=7&x=secret&player=&page=2")
    assert StaffAct.objects.get(act="ledger").subject == "room=7&kind=fee&kind=welcome"
