"""The pages of staff: who may open which, what they show of gold and matches, and that all of it is recorded."""

import asyncio
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import DatabaseError, InternalError, ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone

from games import transcript
from games.models import Match, MatchEvent
from players import services as players
from players.models import Ban, Player, StaffAct
from players.staff import record
from rooms import closing, sheets
from rooms.models import Room
from rooms.staff_forms import CorrectionForm
from tests.players.accounts import account, browser, sign_in, text, whose
from tests.rooms import stage
from tests.rooms.house import ROLES, browser_of, member, played, staff
from tests.rooms.test_paid import begun, paid, rich
from wallet import selectors as wallet
from wallet import services as coins
from wallet.models import Correction, Posting, Transaction

pytestmark = pytest.mark.django_db(transaction=True)
HOUSE = "/admin/house"
SUPPORT, MODERATOR, SENIOR, ADMIN = range(4)


@pytest.fixture(autouse=True)
def quick_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def acts(**wanted: Any) -> list[str]:
    return list(StaffAct.objects.filter(**wanted).order_by("pk").values_list("act", flat=True))


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


def test_addresses_and_sessions_are_for_those_who_may_see_them() -> None:
    ana = account("Ana")
    sign_in(browser(), "ana")
    cleo = account("Cleo")
    sign_in(browser(), "cleo")
    little, much = (text(staff(role).get(f"{HOUSE}/players/{ana.pk}/")) for role in ("support", "moderator"))
    assert "ana@play.example" not in little and "a…@play.example" in little and "127.0.0.1" not in little
    assert "ana@play.example" in much and "127.0.0.1" in much and f"{HOUSE}/players/{cleo.pk}/" in much
    support, moderator = staff("support", "Sue"), staff("moderator", "Mo")
    assert "Ana" not in text(support.get("/admin/players/player/?q=ana@play.example"))
    assert "Ana" in text(moderator.get("/admin/players/player/?q=ana@play.example"))
    assert "Ana" in text(support.get(f"/admin/players/player/?q={ana.pk}"))


def test_guests_are_linked_to_the_account_of_their_browser_and_to_those_of_their_network() -> None:
    one, other, far = browser(), browser("Other/1.0"), browser()
    for client, address in ((one, "127.0.0.1"), (other, "127.0.0.1"), (far, "192.0.2.7")):
        client.post("/play/", {"rounds": 1, "level": "medium"}, REMOTE_ADDR=address)
    guest, next_door, far_away = (whose(client) for client in (one, other, far))
    assert guest is not None and guest.is_guest and next_door is not None and far_away is not None
    ana = account("Ana")
    closing.give_up_running(guest.pk)
    assert sign_in(one, "ana").status_code == 302
    page = text(staff("moderator").get(f"{HOUSE}/players/{ana.pk}/"))
    linked = page.partition("Linked guests")[2].partition("</ul>")[0]
    lines = {line.partition("(")[2].partition(")")[0]: line for line in linked.split("<li>")[1:]}
    assert lines.keys() == {str(guest.pk), str(next_door.pk)}
    assert "signed in to the account later" in lines[str(guest.pk)]
    assert "the same network" in lines[str(next_door.pk)]
    assert "Linked guests" not in text(staff("support", "Sue").get(f"{HOUSE}/players/{ana.pk}/"))


# -- the record --------------------------------------------------------------------------------------------------


def test_every_look_and_every_action_is_recorded() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = played(ana, ben)
    mo = member("moderator", "Mo")
    client = browser_of(mo)
    client.get("/admin/players/player/?q=Ana")
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
    client.post(f"{HOUSE}/players/{ana.pk}/sessions/end/", {"reason": "lost phone"})
    client.post(f"{HOUSE}/players/{ana.pk}/correction/", {"amount": "5", "reason": "a gift"})
    client.get("/admin/players/staffact/")
    client.get(f"{HOUSE}/players/999999/")
    assert acts(by=mo) == [
        "search", "look", "ledger", "export", "money", "match", "verify", "flags", "corrections", "note", "ban",
        "unban", "sessions", "ask",
    ]  # fmt: skip
    seen = StaffAct.objects.get(act="search")
    assert str(ana.pk) in seen.subject.split() and str(ben.pk) not in seen.subject.split()
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


# -- players -----------------------------------------------------------------------------------------------------


def test_a_ban_needs_a_reason_forfeits_and_ends_by_itself_or_by_hand() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    client = staff("moderator")
    page = f"{HOUSE}/players/{ben.pk}/"
    assert client.post(f"{page}ban/", {"reason": " "}).status_code == 400
    assert not Ban.objects.exists()
    assert client.post(f"{page}ban/", {"reason": "rude", "days": "2"}).status_code == 302
    ban = Ban.objects.get()
    assert ban.reason == "rude" and ban.until is not None and ban.until - timezone.now() < timedelta(days=2)
    assert not Player.objects.get(pk=ben.pk).is_active and not room.seats.filter(player=ben).exists()
    assert "rude" in text(client.get(page))
    assert client.post(f"{page}unban/", {"reason": "said sorry"}).status_code == 302
    assert Player.objects.get(pk=ben.pk).is_active


def test_nobody_acts_on_their_own_account_and_moderators_on_no_staff() -> None:
    mo, sue, boss = member("moderator", "Mo"), member("senior", "Sue"), member("admin", "Boss")
    client = browser_of(mo)
    for action in ("ban/", "sessions/end/", "unban/"):
        for whom in (mo, sue):
            answer = client.post(f"{HOUSE}/players/{whom.pk}/{action}", {"reason": "x"})
            assert answer.status_code == 400 and "account" in text(answer)
    assert not Ban.objects.exists() and acts() == []
    admin = browser_of(boss)
    assert admin.post(f"{HOUSE}/players/{boss.pk}/role/", {"role": "", "reason": "x"}).status_code == 400
    assert admin.post(f"{HOUSE}/players/{boss.pk}/ban/", {"reason": "x"}).status_code == 400
    assert admin.post(f"{HOUSE}/players/{mo.pk}/role/", {"role": "senior", "reason": "good"}).status_code == 302
    assert list(mo.groups.values_list("name", flat=True)) == ["senior"]
    assert admin.post(f"{HOUSE}/players/{mo.pk}/role/", {"role": "", "reason": "left"}).status_code == 302
    assert not Player.objects.get(pk=mo.pk).is_staff and not mo.groups.exists()
    assert client.get("/admin/", follow=False).status_code == 302, "its sessions are over"


def test_sessions_are_ended_by_staff() -> None:
    ana = account("Ana")
    here = browser()
    sign_in(here, "ana")
    assert here.get("/accounts/").status_code == 200
    staff("moderator").post(f"{HOUSE}/players/{ana.pk}/sessions/end/", {"reason": "lost phone"})
    assert here.get("/accounts/").status_code == 302


# -- gold --------------------------------------------------------------------------------------------------------


def test_the_ledger_is_searched_by_player_room_match_kind_amount_and_date() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    one, two = played(ana, ben), played(ana, rich("Cleo"), fee=500)
    client = staff("support")

    def count(query: str) -> int:
        found = re.search(r"(\d+) postings?", text(client.get(f"{HOUSE}/ledger/?{query}")))
        assert found is not None, query
        return int(found[1])

    today = timezone.now().date()
    paid_one = wallet.room_sheet(one.pk).lines
    assert count("player=Ben") == len(wallet.statement(ben.pk).lines) == count(f"player={ben.pk}")
    assert count(f"room={one.pk}") == len(paid_one)
    assert (
        count(f"match={two.match_id}")
        == Posting.objects.filter(transaction__reference__startswith=f"match:{two.match_id}:").count()
    )
    assert count("kind=welcome") == 3 and count("kind=fee") == 4 and count("kind=fee&kind=welcome") == 7
    assert count("kind=fee&least=500") == 2 and count("kind=fee&most=499") == 2 and count("least=501&most=500") == 0
    assert count(f"since={today}") == Posting.objects.count() == count(f"until={today}")
    assert count(f"until={today - timedelta(days=1)}") == 0
    assert count(f"player=Ana&room={two.pk}&kind=fee") == 1
    assert client.get(f"{HOUSE}/ledger/?player=Nobody").status_code == 400
    assert client.get(f"{HOUSE}/ledger/?room=99999999999999999999").status_code == 400
    assert client.post(f"{HOUSE}/ledger/", {"player": "Ana"}).status_code == 405


async def whole(answer: Any) -> str:
    return b"".join([part async for part in answer.streaming_content]).decode()


def test_the_export_is_the_search_and_no_spreadsheet_takes_it_for_a_formula() -> None:
    ana = rich("Ana")
    mo, sue = member("moderator", "Mo"), member("senior", "Sue")
    reasons = ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", " =1"]
    for reason in reasons:
        browser_of(mo).post(f"{HOUSE}/players/{ana.pk}/correction/", {"amount": "-7", "reason": f"x{reason}"})
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM wallet_correction ORDER BY id")
        numbers = [row[0] for row in cursor.fetchall()]
    from wallet import corrections

    for number in numbers:
        corrections.approve(number, sue.pk)
    for reason in reasons:
        made = corrections.request(ana.pk, 3, reason, mo.pk)
        corrections.approve(made.pk, sue.pk)
    answer = browser_of(mo).get(f"{HOUSE}/ledger.csv?player=Ana")
    assert answer.streaming and "attachment" in answer.headers["Content-Disposition"]
    body = asyncio.run(whole(answer))
    lines = body.removeprefix("\ufeff").splitlines()
    assert len(lines) == 1 + Posting.objects.count() == 1 + 1 + 2 * len(reasons)
    cells = [line.rsplit(",", 1)[1].strip('"') for line in lines[1:]]
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    assert ",7," in body and ",3," in body, "numbers stay numbers"


def test_the_ledger_is_exported_five_times_an_hour() -> None:
    cache.clear()
    mo = staff("moderator", "Mo")
    statuses = [mo.get(f"{HOUSE}/ledger.csv?kind=fee").status_code for _time in range(6)]
    assert statuses == [200] * 5 + [429]
    assert StaffAct.objects.filter(act="export").count() == 5


def test_a_room_is_a_page_of_debits_and_credits_that_add_up() -> None:
    ana, ben, cleo, dan = (rich(name) for name in ("Ana", "Ben", "Cleo", "Dan"))
    room = paid(101, ana, ben, cleo, dan)
    closing.leave(room.pk, dan.pk)
    room = begun(room)
    closing.leave(room.pk, cleo.pk)
    stage.play_to_the_end(room)
    told = sheets.told(room.pk)
    assert told is not None and told.right
    sums = {one["name"]: (one["paid"], one["refunded"], one["won"]) for one in told.people}
    assert sums["Dan"] == (101, 101, 0) and sums["Cleo"] == (101, 0, 0)
    assert sorted([sums["Ana"][2], sums["Ben"][2]]) == [90, 213]
    page = text(staff("support").get(f"{HOUSE}/rooms/{room.pk}/"))
    assert "The pot was 303." in page and "Forfeited, so without a share: Cleo." in page
    assert "rounded down: 90; the first gets the rest: 213." in page
    assert "All of this agrees with the ledger." in page
    for person in (ana, ben, cleo, dan):
        assert f"{HOUSE}/players/{person.pk}/" in page
    assert f"{HOUSE}/matches/{room.match_id}/" in page


def test_every_end_of_a_room_is_explained() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    client = staff("support")
    waiting = paid(300, ana, ben)
    assert "still in the pot" in text(client.get(f"{HOUSE}/rooms/{waiting.pk}/"))
    gone = begun(waiting)
    closing.leave(gone.pk, ana.pk)
    closing.leave(gone.pk, ben.pk)
    page = text(client.get(f"{HOUSE}/rooms/{gone.pk}/"))
    assert "it went to the house" in page and "All of this agrees" in page
    alone = begun(paid(300, ana, ben))
    closing.leave(alone.pk, ben.pk)
    stage.play_to_the_end(alone)
    page = text(client.get(f"{HOUSE}/rooms/{alone.pk}/"))
    assert "who takes it all" in page and "due 600, booked 600" in page
    free = stage.waiting(*stage.people("Gus", "Hal"))
    assert "No gold was ever at stake" in text(client.get(f"{HOUSE}/rooms/{free.pk}/"))
    assert client.get(f"{HOUSE}/rooms/999999/").status_code == 404


def test_a_pot_that_went_to_the_wrong_one_is_called_wrong() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    stage.play_to_the_end(room)
    told = sheets.told(room.pk)
    assert told is not None and told.right
    match = Match.objects.get(pk=stage.match_of(room))
    assert match.outcome is not None
    match.outcome["order"].reverse()
    Match.objects.filter(pk=match.pk).update(outcome=match.outcome)
    told = sheets.told(room.pk)
    assert told is not None and not told.right
    assert "This does not agree" in text(staff("support").get(f"{HOUSE}/rooms/{room.pk}/"))


def ask(client: Client, player: Player, amount: int = 50, reason: str = "lost by a fault", **more: str) -> Any:
    fields = {"amount": str(amount), "reason": reason, **more}
    return client.post(f"{HOUSE}/players/{player.pk}/correction/", fields)


def test_a_correction_is_asked_for_and_approved_by_a_second_person() -> None:
    ana = rich("Ana")
    mo, sue = member("moderator", "Mo"), member("senior", "Sue")
    assert ask(browser_of(mo), ana).status_code == 302
    made = Correction.objects.get()
    assert wallet.balance(ana.pk) == 5000
    assert "lost by a fault" in text(browser_of(sue).get(f"{HOUSE}/corrections/"))
    assert browser_of(sue).post(f"{HOUSE}/corrections/{made.pk}/approve/").status_code == 302
    assert wallet.balance(ana.pk) == 5050 and sum(wallet.totals().values()) == 0
    assert acts(player=ana.pk) == ["ask", "approve"]
    assert f"correction:{made.pk}" in text(browser_of(sue).get(f"{HOUSE}/corrections/"))
    again = browser_of(sue).post(f"{HOUSE}/corrections/{made.pk}/approve/")
    assert again.status_code == 400 and "already decided" in text(again) and wallet.balance(ana.pk) == 5050


def test_a_correction_is_declined_with_a_reason() -> None:
    ana = rich("Ana")
    ask(staff("moderator"), ana)
    made = Correction.objects.get()
    client = staff("senior")
    assert client.post(f"{HOUSE}/corrections/{made.pk}/decline/").status_code == 400
    assert client.post(f"{HOUSE}/corrections/{made.pk}/decline/", {"reason": "no proof"}).status_code == 302
    made.refresh_from_db()
    assert made.status == "declined" and wallet.balance(ana.pk) == 5000
    assert StaffAct.objects.get(act="decline").reason == "no proof"


def test_nobody_notes_or_asks_on_the_own_account_and_only_admins_on_those_of_staff() -> None:
    mo, sue = member("moderator", "Mo"), member("senior", "Sue")
    with transaction.atomic():
        coins.welcome(mo.pk)
        coins.welcome(sue.pk)
    client = browser_of(mo)
    for player, words in ((mo, "Nobody acts on their own account."), (sue, "Only admins act")):
        noted = client.post(f"{HOUSE}/players/{player.pk}/note/", {"reason": "a fine fellow"})
        for answer in (noted, ask(client, player)):
            assert answer.status_code == 400 and words in text(answer)
    assert not Correction.objects.exists() and not {"note", "ask"} & set(acts())
    boss = staff("admin")
    assert boss.post(f"{HOUSE}/players/{mo.pk}/note/", {"reason": "fine"}).status_code == 302
    assert ask(boss, sue).status_code == 302


def test_refusals_of_corrections_are_said_in_words(settings: Any) -> None:
    ana = rich("Ana")
    sue = member("senior", "Sue")
    with transaction.atomic():
        coins.welcome(sue.pk)
    client = browser_of(sue)
    refused = [
        (ask(client, sue), "Nobody acts on their own account."),
        (ask(client, ana, settings.CORRECTION_COINS + 1), "more than one person may correct"),
        (ask(client, ana, 5, corrects="welcome:999"), "not the reverse of that transaction"),
        (ask(client, account("Poor")), "Only registered players have coins"),
        (ask(client, ana, 5, reason=" "), "required"),
    ]
    for answer, words in refused:
        assert answer.status_code == 400 and words in text(answer), words
    assert not Correction.objects.exists()
    assert ask(client, ana).status_code == 302
    made = Correction.objects.get()
    own = client.post(f"{HOUSE}/corrections/{made.pk}/approve/")
    assert own.status_code == 400 and "A second person must approve" in text(own)
    assert ask(staff("admin", "Mo"), sue).status_code == 302
    of_sue = Correction.objects.latest("pk")
    for answer_word in ("approve", "decline"):
        mine = client.post(f"{HOUSE}/corrections/{of_sue.pk}/{answer_word}/", {"reason": "x"})
        assert mine.status_code == 400 and "own account" in text(mine)
    settings.CORRECTION_COINS = 10
    over = staff("senior", "Zoe").post(f"{HOUSE}/corrections/{made.pk}/approve/")
    assert over.status_code == 400 and "more than one person" in text(over)
    assert wallet.balance(ana.pk) == 5000 and "approve" not in acts()


def test_the_ledger_refuses_the_site_what_the_pages_do_not_offer() -> None:
    rich("Ana")
    for query in (
        "UPDATE wallet_account SET balance = 1",
        "UPDATE wallet_posting SET amount = 1",
        "DELETE FROM wallet_transaction",
    ):
        with pytest.raises((ProgrammingError, InternalError, DatabaseError)), transaction.atomic():
            connection.cursor().execute(query)


# -- matches -----------------------------------------------------------------------------------------------------


def test_nothing_hidden_of_a_running_match_is_shown_anywhere() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    match = Match.objects.get(pk=stage.match_of(room))
    dealt = MatchEvent.objects.get(match=match, tag="Dealt")
    tiles = set(re.findall(r'"(\d-\d)"', dealt.body))
    assert len(tiles) == 28
    client = staff("admin")
    pages = [
        f"{HOUSE}/matches/{match.pk}/", f"{HOUSE}/rooms/{room.pk}/", f"{HOUSE}/players/{ana.pk}/",
        "/admin/games/match/", f"/admin/games/match/?q={match.pk}", f"/admin/games/match/{match.pk}/change/",
        "/admin/rooms/room/", "/admin/players/staffact/", "/admin/",
    ]  # fmt: skip
    for page in pages:
        shown = text(client.get(page, follow=True))
        body = shown.split("<main", 1)[1].split("</main>")[0]
        assert not [tile for tile in tiles if re.search(rf"(?<![\d-]){tile}(?![\d-])", body)], page
        assert bytes(match.secret).hex() not in shown and "Dealt" not in shown and "hands" not in shown, page
    assert "still being played" in text(client.get(f"{HOUSE}/matches/{match.pk}/"))
    assert client.post(f"{HOUSE}/matches/{match.pk}/verify/").status_code == 403
    with pytest.raises(transcript.StillRunning):
        transcript.lines(match.pk)
    assert client.get(f"/admin/games/match/{match.pk}/history/").status_code == 403


def test_a_match_that_is_over_is_told_in_words_and_verified() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = played(ana, ben)
    client = staff("support")
    page = text(client.get(f"{HOUSE}/matches/{room.match_id}/"))
    assert page.count(" bids ") == 4 and page.count(" takes trick ") == 7 and "Round 1 is dealt, by" in page
    assert page.count(" plays ") == 21 and page.count(" leads ") == 7 and "The match ends:" in page
    assert f"{HOUSE}/rooms/{room.pk}/" in page
    assert bytes(Match.objects.get(pk=stage.match_of(room)).secret).hex() not in page
    assert "Verified:" in text(client.post(f"{HOUSE}/matches/{room.match_id}/verify/"))
    Match.objects.filter(pk=stage.match_of(room)).update(outcome={"order": []})
    assert "not what its secret" in text(client.post(f"{HOUSE}/matches/{room.match_id}/verify/"))


def test_the_hands_of_a_round_that_was_never_scored_stay_covered() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    closing.leave(room.pk, ana.pk)
    closing.leave(room.pk, ben.pk)
    page = text(staff("support").get(f"{HOUSE}/matches/{room.match_id}/"))
    assert "Round 1 is dealt" in page and not re.search(r"dealt, by [^<]*: ", page)


def test_staff_cannot_open_a_match_they_sit_in() -> None:
    mo = member("admin", "Mo")
    with transaction.atomic():
        coins.welcome(mo.pk)
    room = begun(paid(300, mo, rich("Ben")))
    client = browser_of(mo)
    for _over in range(2):
        assert client.get(f"{HOUSE}/matches/{room.match_id}/").status_code == 403
        assert client.post(f"{HOUSE}/matches/{room.match_id}/verify/").status_code == 403
        stage.play_to_the_end(room)
    assert acts(by=mo) == ["refused"] * 4
    assert staff("support").get(f"{HOUSE}/matches/{room.match_id}/").status_code == 200


# -- signals -----------------------------------------------------------------------------------------------------


def signs(client: Client) -> dict[str, str]:
    page = text(client.get(f"{HOUSE}/flags/"))
    rows = re.findall(r'<tr data-sign="(\w+)">(.*?)</tr>', page, re.DOTALL)
    return {sign: re.sub(r"<[^>]+>", " ", row) for sign, row in rows}


def loser_and_winner(room: Room) -> tuple[Player, Player]:
    """Of a room of two: who got less of the pot, and who more."""
    lines = [line for line in wallet.room_sheet(room.pk).lines if line.kind == "payout"]
    numbers = [int(line.destination.split(":")[1]) for line in sorted(lines, key=lambda line: line.amount)]
    return Player.objects.get(pk=numbers[0]), Player.objects.get(pk=numbers[1])


def test_signals_show_what_was_moved_and_only_from_the_thresholds_on(settings: Any) -> None:
    client = staff("moderator")
    ana, ben = rich("Ana"), rich("Ben")
    loser, winner = loser_and_winner(played(ana, ben, fee=1000))
    assert signs(client) == {}
    # Of 1000 paid in each, 2000 x 3 // 10 came back to the second: 700 of the loser's fee went to the winner.
    settings.FLAG_COINS = 701
    assert "one_way" not in signs(client)
    settings.FLAG_COINS = 700
    found = signs(client)
    assert (
        loser.shown_name in found["one_way"]
        and winner.shown_name in found["one_way"]
        and "700 of 700" in found["one_way"]
    )
    settings.FLAG_PAIR_MATCHES = 1
    pair = signs(client)["pair"]
    assert "1 matches together" in pair and ("700 went one way, 300" in pair or "300 went one way, 700" in pair)
    settings.FLAG_YOUNG_ACCOUNTS = 1
    assert "fed" in signs(client)
    Player.objects.update(date_joined=timezone.now() - timedelta(days=settings.FLAG_YOUNG_DAYS + 1))
    assert "fed" not in signs(client)
    assert Ban.objects.count() == 0, "a flag does nothing by itself"


def test_an_account_fed_by_three_young_ones_is_flagged_with_their_names(settings: Any) -> None:
    settings.FLAG_COINS = 300
    fed = rich("Greta")
    for name in ("Ana", "Ben", "Cleo"):
        other = rich(name)
        room = begun(paid(500, fed, other))
        closing.leave(room.pk, other.pk)
        stage.play_to_the_end(room)
    found = signs(staff("moderator"))["fed"]
    assert "Greta" in found and "Ana" in found and "Cleo" in found and "1500 of 1500" in found


def test_a_quick_forfeit_of_a_large_pot_is_flagged(settings: Any) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(600, ana, ben))
    closing.leave(room.pk, ben.pk)
    stage.play_to_the_end(room)
    client = staff("moderator")
    found = signs(client)["forfeit"]
    assert "Ben" in found and "1200" in found and str(room.match_id) in found
    settings.FLAG_POT_COINS = 1201
    assert "forfeit" not in signs(client)
    settings.FLAG_POT_COINS, settings.FLAG_FORFEIT_SECONDS = 1200, -1
    assert "forfeit" not in signs(client)


# -- nonsense ----------------------------------------------------------------------------------------------------


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


def test_the_record_takes_every_text() -> None:
    record(None, "note", subject="a\0b", reason="c\0")
    act = StaffAct.objects.get()
    assert (act.subject, act.reason) == ("ab", "c")


def test_the_record_of_a_search_has_the_fields_of_the_form() -> None:
    client = staff("support")
    client.get(f"{HOUSE}/ledger/?kind=fee&kind=welcome&room=7&x=secret&player=&page=2")
    assert StaffAct.objects.get(act="ledger").subject == "room=7&kind=fee&kind=welcome"


@pytest.mark.parametrize("amount", ["1_000", "10 ", " 10", "٣", "1e3", "0x1", "+5", "5.0", "1\n", "- 5", ""])
def test_coins_are_plain_digits(amount: str) -> None:
    form = CorrectionForm({"amount": amount, "reason": "because"})
    assert "amount" in form.errors


def test_coins_below_nothing_are_taken() -> None:
    form = CorrectionForm({"amount": "-250", "reason": "because"})
    assert form.is_valid() and form.cleaned_data["amount"] == -250


# -- the first staff ---------------------------------------------------------------------------------------------


def test_make_admin_prints_what_lets_the_person_in_once(capsys: Any) -> None:
    call_command("make_admin", "Olga", "--role", "senior")
    printed = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines() if ": " in line)
    client = browser()
    assert sign_in(client, "Olga", printed["Password"]).headers["Location"] == "/accounts/2fa/authenticate/"
    assert client.get("/admin/").status_code == 302
    client.post("/accounts/2fa/authenticate/", {"code": printed["One-time code of this moment"]})
    assert client.get("/admin/").status_code == 200 and client.get("/admin/players/staffact/").status_code == 200
    olga = Player.objects.get(username="olga")
    assert not olga.is_superuser and printed["Role"] == "senior" and printed["Password"] not in olga.password
    assert acts(player=olga.pk) == ["appoint"] and StaffAct.objects.filter(by=None).count() == 1
    other = browser()
    sign_in(other, "Olga", printed["Password"])
    other.post("/accounts/2fa/authenticate/", {"code": printed["Recovery codes, each once"].split()[0]})
    assert other.get("/admin/").status_code == 200
    with pytest.raises(CommandError, match="taken"):
        call_command("make_admin", "Olga")


def test_make_admin_asks_for_an_address_where_addresses_are_confirmed(settings: Any) -> None:
    settings.EMAIL_VERIFICATION = "mandatory"
    with pytest.raises(CommandError, match="--address"):
        call_command("make_admin", "Olga")
    call_command("make_admin", "Olga", "--address", "olga@play.example")
    assert Player.objects.get().emailaddress_set.get().verified  # type: ignore[attr-defined]
