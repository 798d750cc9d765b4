"""The ledger as CSV, line by line: numbers stay numbers, and no cell of text becomes a formula of a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from django.utils.translation import gettext as _

from wallet import selectors
from wallet.models import Kind
from wallet.selectors import ALL, Filters, Search

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    """A file that keeps nothing: what is written comes back from the writer."""

    def write(self, text: str) -> str:
        return text


def cell(value: object) -> object:
    """The value as it may stand in a cell: text that a spreadsheet would compute gets an apostrophe before it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, int):
        return value
    text = "" if value is None else str(value)
    # Spreadsheets pass over blanks before they look.
    return f"'{text}" if text.lstrip(" \n\v\f\u00a0").startswith(_FORMULA) else text


def lines(header: Iterable[object], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """The text of a CSV file, line by line, with a mark of UTF-8 first so that spreadsheets read names right."""
    writer = csv.writer(_Echo())
    yield "\ufeff" + _written(writer.writerow([cell(name) for name in header]))
    for row in rows:
        yield _written(writer.writerow([cell(value) for value in row]))


def _written(text: object) -> str:
    assert isinstance(text, str), "the writer gives back what its file's write() does"
    return text


def statement(player_id: int, filters: Filters = ALL) -> Iterator[str]:
    """A player's statement, oldest line first; times in UTC."""
    header = (_("time (UTC)"), _("reference"), _("kind"), _("coins"), _("balance"), _("from or to"), _("note"))
    rows = (
        (line.at, line.reference, Kind(line.kind).label, line.amount, line.balance, line.other, line.memo)
        for line in selectors.all_lines(player_id, filters)
    )
    return lines(header, rows)


def found(wanted: Search) -> Iterator[str]:
    """The postings that a moderator looks for, newest first; times in UTC."""
    header = (_("time (UTC)"), _("reference"), _("kind"), _("from"), _("to"), _("coins"), _("asked by"), _("note"))
    rows = (
        (
            posting.transaction.at,
            posting.transaction.reference,
            Kind(posting.kind).label,
            posting.source.code,
            posting.destination.code,
            posting.amount,
            posting.transaction.by_id or "",
            posting.transaction.memo,
        )
        for posting in selectors.found(wanted)
    )
    return lines(header, rows)
