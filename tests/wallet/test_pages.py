"""What is shown of the ledger: statements with their running balance, a room's sheet, search, CSV without formulas."""

import csv as standard
import io
from datetime import UTC, datetime, timedelta

import pytest

from tests.wallet.purses import in_atomic, person, purse
from wallet import corrections, csv, selectors, services
from wallet.selectors import Filters, Search

pytestmark = pytest.mark.django_db(transaction=True)


def played() -> tuple[int, int]:
    """Ana and Ben pay 101 into room 88 of match 95; Ben leaves and is paid back; Ana wins alone."""
    ana, ben = purse("Ana", 5000), purse("Ben", 5000)
    in_atomic(services.charge_fee, 301, 88, ana, 101)
    in_atomic(services.charge_fee, 302, 88, ben, 101)
    in_atomic(services.refund_fee, 302, 88, ben, 101)
    in_atomic(services.pay_out, 95, 88, {301: 101}, [ana])
    return ana, ben


def test_a_statement_tells_the_balance_after_each_line() -> None:
    ana, _ben = played()
    page = selectors.statement(ana)
    assert [(line.reference, line.amount, line.balance, line.other) for line in page.lines] == [
        ("match:95:payout", 101, 5000, "room:88"),
        ("sitting:301:fee", -101, 4899, "room:88"),
        (f"welcome:{ana}", 5000, 5000, "house:issue"),
    ]
    assert (page.number, page.pages, page.total) == (1, 1, 3)


def test_filters_leave_the_balances_as_they_were() -> None:
    ana, _ben = played()
    (line,) = selectors.statement(ana, Filters(kinds=["fee"])).lines
    assert (line.amount, line.balance) == (-101, 4899)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert selectors.statement(ana, Filters(since=tomorrow)).total == 0
    assert selectors.statement(ana, Filters(until=tomorrow)).total == 3


def test_a_statement_has_pages() -> None:
    ana = purse("Ana", 5000)
    for sitting in range(1, 30):
        in_atomic(services.charge_fee, sitting, 88, ana, 10)
        in_atomic(services.refund_fee, sitting, 88, ana, 10)
    first, second = selectors.statement(ana), selectors.statement(ana, page=2)
    assert (len(first.lines), len(second.lines), first.pages, first.total) == (50, 9, 2, 59)
    assert first.lines[-1].posting_id > second.lines[0].posting_id
    assert selectors.statement(ana, page=99) == second
    assert selectors.statement(ana, page=-1) == first
    for line, before in zip(first.lines, first.lines[1:], strict=False):
        assert line.balance - line.amount == before.balance


def test_nobodys_statement_is_empty() -> None:
    page = selectors.statement(person("Nia"))
    assert (page.lines, page.pages, page.total) == ([], 1, 0)
    assert selectors.balance(person("Nio")) == 0
    assert list(csv.statement(person("Noa")))[1:] == []


def test_a_rooms_sheet_adds_up() -> None:
    played()
    sheet = selectors.room_sheet(88)
    assert (sheet.paid, sheet.refunded, sheet.paid_out, sheet.abandoned, sheet.left) == (202, 101, 101, 0, 0)
    assert sheet.adds_up
    assert [(line.reference, line.ended_by) for line in sheet.lines] == [
        ("sitting:301:fee", "match:95:payout"),
        ("sitting:302:fee", "sitting:302:refund"),
        ("sitting:302:refund", ""),
        ("match:95:payout", ""),
    ]
    assert selectors.room_sheet(99).adds_up


def test_open_escrows_are_the_rooms_that_hold_coins() -> None:
    ana, _ben = played()
    in_atomic(services.charge_fee, 303, 89, ana, 7)
    assert selectors.open_escrows() == {89: 7}
    assert selectors.open_stacks() == {}


def test_search_finds_by_all_that_is_asked() -> None:
    ana, ben = played()

    def references(**wanted: object) -> list[str]:
        return [posting.transaction.reference for posting in selectors.search(Search(**wanted)).lines]  # type: ignore[arg-type]

    assert references(player_id=ben) == ["sitting:302:refund", "sitting:302:fee", f"welcome:{ben}"]
    assert references(reference="sitting:30") == ["sitting:302:refund", "sitting:302:fee", "sitting:301:fee"]
    assert references(kinds=["payout", "refund"]) == ["match:95:payout", "sitting:302:refund"]
    assert references(least=102) == [f"welcome:{ben}", f"welcome:{ana}"]
    assert references(most=101, player_id=ana) == ["match:95:payout", "sitting:301:fee"]
    assert references(until=datetime(2020, 1, 1, tzinfo=UTC)) == []
    assert references(since=datetime(2020, 1, 1, tzinfo=UTC), reference="match:") == ["match:95:payout"]
    assert references(player_id=person("Nia")) == []
    assert [posting.pk for posting in selectors.found(Search(player_id=ben))] == [
        posting.pk for posting in selectors.search(Search(player_id=ben)).lines
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", " =1+1", "\u00a0=1"])
def test_no_text_becomes_a_formula(text: str) -> None:
    assert csv.cell(text) == f"'{text}"


def test_numbers_stay_numbers_and_plain_text_stays() -> None:
    assert (csv.cell(-5), csv.cell(7), csv.cell("a-b"), csv.cell("")) == (-5, 7, "a-b", "")


def test_an_export_is_read_back_by_a_reader_of_csv() -> None:
    ana, _ben = played()
    corrections.approve(corrections.request(ana, 5, '=HYPERLINK("x"),\n"y"', person("Mo")).pk, person("Sam"))
    text = "".join(csv.statement(ana))
    rows = list(standard.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert [len(row) for row in rows] == [7] * 5
    assert [row[3] for row in rows[1:]] == ["5000", "-101", "101", "5"]
    assert rows[-1][6] == '\'=HYPERLINK("x"),\n"y"'
    moderators = list(standard.reader(io.StringIO("".join(csv.found(Search(player_id=ana))), newline="")))
    assert [row[1] for row in moderators[2:]] == ["match:95:payout", "sitting:301:fee", f"welcome:{ana}"]
