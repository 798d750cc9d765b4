"""Gold as staff see it: the search of the ledger, the books of a room, corrections by two."""

import asyncio
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import DatabaseError, InternalError, ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from games.models import Match
from players.models import Player, StaffAct
from rooms import accounts, closing, sheets
from rooms.models import Room
from rooms.staff_forms import CorrectionForm
from tests.players.accounts import account, text
from tests.rooms import stage
from tests.rooms.gold import begun, paid, rich
from tests.rooms.house import HOUSE, acts, ask, browser_of, member, played, staff
from wallet import corrections
from wallet import selectors as wallet
from wallet import services as coins
from wallet.models import Correction, Posting

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


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


def rows_of(page: str) -> list[str]:
    """The rows of the last table's body, as words."""
    body = page.rsplit("<tbody>", 1)[1].split("</tbody>", maxsplit=1)[0]
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in body.split("</tr>")[:-1]]


def test_the_ledger_names_the_players_in_one_query_and_signs_what_one_of_them_got_and_gave() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = played(ana, ben)
    client = staff("support")
    with CaptureQueriesContext(connection) as asked:
        every = rows_of(text(client.get(f"{HOUSE}/ledger/?kind=fee&kind=payout&kind=welcome")))
    assert len(every) == 6 and sum('"players_player"."id" IN' in one["sql"] for one in asked) == 1
    assert any(f"entry fee player:{ana.pk} Ana room:{room.pk} 300" in row for row in every)
    assert not [row for row in every if "+" in row or "−" in row]
    of_ben = rows_of(text(client.get(f"{HOUSE}/ledger/?player=Ben&kind=fee&kind=welcome")))
    assert any(f"player:{ben.pk} Ben room:{room.pk} −300" in row for row in of_ben)
    assert any(f"house:issue player:{ben.pk} Ben +5000" in row for row in of_ben)
    assert "At least (gold)" in text(client.get(f"{HOUSE}/ledger/"))


def test_a_room_that_is_over_is_closed_and_seats_count_from_one() -> None:
    room = played(rich("Ana"), rich("Ben"))
    Room.objects.filter(pk=room.pk).update(status="destroyed")
    client = staff("support")
    page = text(client.get(f"{HOUSE}/rooms/{room.pk}/"))
    assert "Domino Poker, closed, entry fee 300" in page and "destroyed" not in page
    seats = text(client.get(f"{HOUSE}/matches/{room.match_id}/")).split("What happened")[0]
    assert re.findall(r"<tr><td>(\d)</td>", seats) == ["1", "2", "3", "4"]


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


def test_the_ledger_refuses_the_site_what_the_pages_do_not_offer() -> None:
    rich("Ana")
    for query in (
        "UPDATE wallet_account SET balance = 1",
        "UPDATE wallet_posting SET amount = 1",
        "DELETE FROM wallet_transaction",
    ):
        with pytest.raises((ProgrammingError, InternalError, DatabaseError)), transaction.atomic():
            connection.cursor().execute(query)


# -- corrections -------------------------------------------------------------------------------------------------


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


def test_only_admins_decide_on_the_accounts_of_staff() -> None:
    mo, sue = member("moderator", "Mo"), member("senior", "Sue")
    with transaction.atomic():
        coins.welcome(mo.pk)
    assert ask(staff("admin", "Boss"), mo).status_code == 302
    made = Correction.objects.get()
    client = browser_of(sue)
    assert "An account of staff: admins decide." in text(client.get(f"{HOUSE}/corrections/"))
    for word in ("approve", "decline"):
        answer = client.post(f"{HOUSE}/corrections/{made.pk}/{word}/", {"reason": "no"})
        assert answer.status_code == 400 and "Only admins act on the accounts of staff." in text(answer)
    assert client.post(f"{HOUSE}/corrections/{made.pk}/decline/", {"reason": ""}).status_code == 400
    assert acts(by=sue) == ["corrections", *["refused", "corrections"] * 2, "corrections"]
    assert staff("admin", "Chief").post(f"{HOUSE}/corrections/{made.pk}/approve/").status_code == 302
    assert wallet.balance(mo.pk) == 5050


def test_the_record_of_a_search_is_not_pushed_aside() -> None:
    ana, mo = rich("Ana"), member("moderator", "Mo")
    kinds = "&".join(["kind=welcome"] * 60)
    assert browser_of(mo).get(f"{HOUSE}/ledger/?player={ana.pk}&{kinds}&least=5").status_code == 200
    assert StaffAct.objects.get(by=mo).subject == "kind=welcome&least=5"


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
    assert over.status_code == 400 and "more than one person may correct: at most 10 gold at once" in text(over)
    assert "At most 10 at once" in text(client.get(f"{HOUSE}/players/{ana.pk}/"))
    assert wallet.balance(ana.pk) == 5000 and "approve" not in acts()


def test_only_who_may_decide_is_offered_to() -> None:
    ana, gone = rich("Ana"), rich("Gone")
    mo, sue = member("senior", "Mo"), member("senior", "Sue")
    with transaction.atomic():
        coins.welcome(sue.pk)
    admin = member("admin", "Boss")
    assert ask(browser_of(mo), ana).status_code == 302
    assert ask(browser_of(mo), gone).status_code == 302
    assert ask(browser_of(admin), sue).status_code == 302
    of_ana, of_gone, of_sue = Correction.objects.order_by("pk")
    accounts.close(gone.pk)

    def offered(to: Player, about: Correction) -> tuple[bool, bool, str]:
        page = text(browser_of(to).get(f"{HOUSE}/corrections/"))
        row = page.split(f"<tr><td>{about.pk}</td>")[1].split("</tr>")[0]
        return f"/{about.pk}/approve/" in row, f"/{about.pk}/decline/" in row, row

    yes, no, row = offered(mo, of_ana)
    assert (yes, no) == (False, True) and "Asked by you" in row and "Take it back" in row
    yes, no, row = offered(sue, of_ana)
    assert (yes, no) == (True, True) and "Asked by you" not in row and "Take it back" not in row
    yes, no, row = offered(sue, of_sue)
    assert (yes, no) == (False, False) and "Your own account" in row
    yes, no, row = offered(sue, of_gone)
    assert (yes, no) == (False, True) and "This account is closed" in row
    back = browser_of(mo).post(f"{HOUSE}/corrections/{of_ana.pk}/decline/", {"reason": "a slip"})
    assert back.status_code == 302 and Correction.objects.get(pk=of_ana.pk).status == "declined"


@pytest.mark.parametrize("amount", ["1_000", "10 ", " 10", "٣", "1e3", "0x1", "+5", "5.0", "1\n", "- 5", ""])
def test_coins_are_plain_digits(amount: str) -> None:
    form = CorrectionForm({"amount": amount, "reason": "because"})
    assert "amount" in form.errors


def test_coins_below_nothing_are_taken() -> None:
    form = CorrectionForm({"amount": "-250", "reason": "because"})
    assert form.is_valid() and form.cleaned_data["amount"] == -250
