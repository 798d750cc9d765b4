"""Seals: a digest over each day's transactions, chained, so that what was altered behind the database's back shows."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db import connection, transaction

from wallet.models import Seal, Transaction

FIRST = "0" * 64
# A transaction of the last second of a day may still run; statements and idle transactions end within seconds.
AFTER = timedelta(minutes=10)
ONE_DAY = timedelta(days=1)

# Made so that one day's rows are all that is read of a large table: a cursor would else be planned to walk all of it in
# the order of numbers, and a join to hash it.
_ROWS = """
WITH t AS MATERIALIZED (SELECT * FROM wallet_transaction WHERE at >= %s AND at < %s)
SELECT t.at, t.id, t.reference, t.kind, (SELECT r.reference FROM wallet_transaction r WHERE r.id = t.reverses_id),
    t.by_id, t.memo,
    ARRAY(SELECT s.code || '>' || d.code || ':' || p.amount FROM wallet_posting p
        JOIN wallet_account s ON s.id = p.source_id JOIN wallet_account d ON d.id = p.destination_id
        WHERE p.transaction_id = t.id ORDER BY p.id),
    ARRAY(SELECT f.reference::text FROM wallet_resolution e JOIN wallet_transaction f ON f.id = e.fee_id
        WHERE e.transaction_id = t.id ORDER BY f.id)
FROM t ORDER BY t.id"""
_SEAL = "INSERT INTO wallet_seal (day, transactions, digest) VALUES (%s, %s, %s) ON CONFLICT (day) DO NOTHING"


@dataclass(frozen=True, slots=True)
class Digest:
    """What a seal says of one UTC day."""

    day: date
    transactions: int
    digest: str


def line(row: tuple[object, ...]) -> str:
    """One transaction as the seals read it: a JSON list of time, number, reference, kind, what it reverses, the number
    of who asked, memo, postings, and the fees that it ended."""
    at, *rest = row
    assert isinstance(at, datetime)
    return json.dumps([at.astimezone(UTC).isoformat(timespec="microseconds"), *rest], ensure_ascii=True)


def digest(day: date, before: str) -> Digest:
    """The digest over the seal before it and the day's transactions, in the order of their numbers. Reads row by row,
    so it belongs into a transaction."""
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    total = hashlib.sha256(before.encode())
    count = 0
    with connection.chunked_cursor() as cursor:
        cursor.execute(_ROWS, [start, start + ONE_DAY])
        while rows := cursor.fetchmany(5000):
            for row in rows:
                total.update(b"\n")
                total.update(line(row).encode())
            count += len(rows)
    return Digest(day, count, total.hexdigest())


def seal_days(now: datetime | None = None) -> list[date]:
    """Seal every day that is over, from the first transaction's on, one after the other; the days that were sealed now.

    `now` is the database's time when None. A day ends ten minutes after midnight in UTC here. Twice at once: once."""
    if now is None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            now = cursor.fetchone()[0]
    assert now is not None
    over = (now - AFTER).astimezone(UTC).date() - ONE_DAY
    sealed: list[date] = []
    newest = Seal.objects.order_by("-day").first()
    if newest is not None:
        day, before = newest.day + ONE_DAY, newest.digest
    else:
        first = Transaction.objects.order_by("at").values_list("at", flat=True).first()
        if first is None:
            return []
        day, before = first.astimezone(UTC).date(), FIRST
    while day <= over:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '5min'")
            found = digest(day, before)
            cursor.execute(_SEAL, [day, found.transactions, found.digest])
            if cursor.rowcount == 0:
                return sealed  # another run is at it
        sealed.append(day)
        day, before = day + ONE_DAY, found.digest
    return sealed


def broken(today: date) -> Iterator[str]:
    """What does not agree with the seals, one line each; belongs into a transaction. After a broken seal the chain is
    followed from what that seal says, so that one alteration is one finding."""
    seals = list(Seal.objects.order_by("day"))
    first = Transaction.objects.order_by("at").values_list("at", flat=True).first()
    if first is None:
        return
    expected, before = first.astimezone(UTC).date(), FIRST
    for seal in seals:
        if seal.day != expected:
            yield f"seal {expected}: the next one is of {seal.day}"
        found = digest(seal.day, before)
        if found.transactions != seal.transactions:
            yield f"seal {seal.day}: sealed {seal.transactions} transactions, there are {found.transactions}"
        elif found.digest != seal.digest:
            yield f"seal {seal.day}: what is there has another digest"
        expected, before = seal.day + ONE_DAY, seal.digest
    # Yesterday may wait for its seal.
    if expected < today - ONE_DAY:
        yield f"seal {expected}: missing, and so are later ones"
