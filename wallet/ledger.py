"""The only writer of transactions: accounts locked in order, one reference written once, in plain SQL."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import IntegrityError, connection
from django.db.transaction import TransactionManagementError

from wallet import chart
from wallet.errors import (
    AccountClosed,
    AlreadyResolved,
    InsufficientFunds,
    NoAccount,
    ReferenceReused,
    WrongAmount,
)
from wallet.models import MAX_COINS, Transaction

_LOCK = "SELECT id, code, balance, closed FROM wallet_lock(%s)"
_OPEN = "INSERT INTO wallet_account (code) SELECT unnest(%s::text[]) ON CONFLICT (code) DO NOTHING"
# One round trip, and the order that the database asks for: the transaction, what it rests on, then its postings, which
# wait for both. Nothing is written when the reference is taken.
_MADE = """
WITH made AS (
    INSERT INTO wallet_transaction (reference, kind, reverses_id, by_id, memo)
    VALUES (%(reference)s, %(kind)s, %(reverses)s, %(by)s, %(memo)s)
    ON CONFLICT (reference) DO NOTHING RETURNING id, at
), ground AS ("""
_NO_GROUND = "SELECT 1"
_RESOLUTIONS = """
    INSERT INTO wallet_resolution (transaction_id, fee_id)
    SELECT made.id, unnest(%(fees)s::bigint[]) FROM made RETURNING 1"""
_REWARD = """
    INSERT INTO wallet_reward (transaction_id, account_id, day, amount, offered)
    SELECT made.id, %(account)s, %(day)s, %(coins)s, %(offered)s FROM made RETURNING 1"""
_APPROVAL = """
    UPDATE wallet_correction c SET status = 'approved', decided_by_id = %(approved_by)s, transaction_id = made.id
    FROM made WHERE c.id = %(correction)s RETURNING 1"""
_POSTINGS = """
), postings AS (
    INSERT INTO wallet_posting (transaction_id, source_id, destination_id, amount)
    SELECT made.id, source, destination, amount
    FROM made, (SELECT count(*) FROM ground) AS first,
        unnest(%(sources)s::bigint[], %(destinations)s::bigint[], %(amounts)s::bigint[])
            WITH ORDINALITY AS line (source, destination, amount, number)
    ORDER BY number
)
SELECT id, at FROM made"""
_WRITTEN = """
SELECT s.code, d.code, p.amount FROM wallet_posting p
JOIN wallet_account s ON s.id = p.source_id JOIN wallet_account d ON d.id = p.destination_id
WHERE p.transaction_id = %s ORDER BY p.id"""


@dataclass(frozen=True, slots=True)
class Move:
    """One posting asked for: whole coins from one account's code to another's."""

    source: str
    destination: str
    amount: int

    def __str__(self) -> str:
        return f"{self.amount} {self.source}>{self.destination}"


@dataclass(frozen=True, slots=True)
class Locked:
    """An account whose row this transaction holds, so that what it says stays true."""

    id: int
    code: str
    balance: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Ground:
    """What a transaction rests on, written with it: fees that it ends (by the number of their transaction), the day
    and worth of a reward, or the correction and who approved it."""

    fees: Sequence[int] = ()
    reward: tuple[date, int] | None = None
    correction: tuple[int, int] | None = None


NOTHING = Ground()


def check_coins(amount: object) -> int:
    """The amount, when it is a plain whole number from 1 to MAX_COINS. Raises WrongAmount (True and 1.0 are none)."""
    if type(amount) is not int or not 1 <= amount <= MAX_COINS:
        raise WrongAmount(repr(amount)[:60])
    return amount


def in_transaction() -> None:
    """Raises TransactionManagementError outside a transaction: coins move with the fact that moves them, or not."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("coins are moved inside transaction.atomic() only")


def open_codes(codes: Collection[str]) -> None:
    """Make these accounts of rooms or sittings where they are missing. Numbers of new accounts are the highest, so what
    is locked before and made here is still locked in order."""
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, [sorted(codes)])


def lock(codes: Iterable[str], opened: str | None = None) -> dict[str, Locked]:
    """Lock these accounts in the order of their numbers until the transaction ends; what they hold. House accounts are
    passed over. The account `opened` is made when only it is missing. Raises NoAccount when another does not exist."""
    in_transaction()
    wanted = {code for code in codes if code not in chart.HOUSE}
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [list(wanted)])
        locked = {code: Locked(number, code, balance, closed) for number, code, balance, closed in cursor.fetchall()}
    if len(locked) < len(wanted):
        if opened is not None and wanted - locked.keys() == {opened}:
            open_codes([opened])
            return lock(wanted)
        raise NoAccount(", ".join(sorted(wanted - locked.keys())))
    return locked


def codes_of(moves: Iterable[Move]) -> set[str]:
    return {code for move in moves for code in (move.source, move.destination)}


def find(reference: str) -> Transaction | None:
    return Transaction.objects.filter(reference=reference).first()


def replayed(reference: str, kind: str, moves: Sequence[Move], reverses: int | None = None) -> Transaction | None:
    """The transaction of this reference, None when there is none yet. Raises ReferenceReused when it says something
    else than these postings."""
    known = find(reference)
    if known is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute(_WRITTEN, [known.pk])
        written = [Move(*row) for row in cursor.fetchall()]
    if (known.kind, known.reverses_id, written) != (kind, reverses, list(moves)):
        raise ReferenceReused(f"{reference} is {known.kind} {_text(written)}, not {kind} {_text(moves)}")
    return known


def write(
    reference: str,
    kind: str,
    moves: Sequence[Move],
    locked: dict[str, Locked],
    *,
    by: int | None = None,
    memo: str = "",
    reverses: int | None = None,
    ground: Ground = NOTHING,
) -> Transaction:
    """Write a transaction whose accounts this database transaction has locked; again the same: the first one.

    Raises InsufficientFunds, AccountClosed, AlreadyResolved, ReferenceReused."""
    refusal = _refusal(moves, locked)
    if refusal is not None:
        # A repeat is answered as the first time, also when the coins have gone elsewhere since.
        known = replayed(reference, kind, moves, reverses)
        if known is None:
            raise refusal
        return known
    numbers = chart.HOUSE | {code: account.id for code, account in locked.items()}
    query: str = _NO_GROUND
    values: dict[str, Any] = {}
    if ground.fees:
        query, values = _RESOLUTIONS, {"fees": list(ground.fees)}
    elif ground.reward is not None:
        ((day, offered), (move,)) = ground.reward, moves
        account = numbers[move.destination]
        query, values = _REWARD, {"account": account, "day": day, "coins": move.amount, "offered": offered}
    elif ground.correction is not None:
        correction_id, approved_by = ground.correction
        query, values = _APPROVAL, {"correction": correction_id, "approved_by": approved_by}
    values |= {
        "reference": reference,
        "kind": kind,
        "reverses": reverses,
        "by": by,
        "memo": memo,
        "sources": [numbers[move.source] for move in moves],
        "destinations": [numbers[move.destination] for move in moves],
        "amounts": [move.amount for move in moves],
    }
    try:
        with connection.cursor() as cursor:
            cursor.execute(_MADE + query + _POSTINGS, values)
            row = cursor.fetchone()
    except IntegrityError as error:
        # The database has the last word; what is looked at above lets a refusal leave the transaction usable.
        broken = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
        if broken == "wallet_balance_not_negative":
            raise InsufficientFunds(f"{reference} {_text(moves)}") from error
        if broken == "wallet_closed_account_takes_nothing":
            raise AccountClosed(reference) from error
        if broken is not None and broken.startswith("wallet_resolution_fee_id"):
            raise AlreadyResolved(reference) from error
        raise
    if row is None:
        known = replayed(reference, kind, moves, reverses)
        assert known is not None, "a reference that is taken has a transaction, and none goes away"
        return known
    number, at = row
    made = Transaction(id=number, reference=reference, kind=kind, reverses_id=reverses, by_id=by, memo=memo, at=at)
    made._state.adding = False
    made._state.db = connection.alias
    return made


def close(player_id: int) -> None:
    """An empty account takes no more from now on; one that holds coins is closed by the posting that empties it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_close(%s)", [player_id])


def _refusal(moves: Sequence[Move], locked: dict[str, Locked]) -> AccountClosed | InsufficientFunds | None:
    """Why these postings, one after the other, cannot be made from what the locked accounts hold."""
    holds = {code: account.balance for code, account in locked.items()}
    for move in moves:
        if move.destination in locked and locked[move.destination].closed:
            return AccountClosed(move.destination)
        # The database takes and gives account by account, so no posting may stand on a later one.
        if move.source in holds:
            holds[move.source] -= move.amount
            if holds[move.source] < 0:
                return InsufficientFunds(f"{move}, {-holds[move.source]} missing", missing=-holds[move.source])
        if move.destination in holds:
            holds[move.destination] += move.amount
    return None


def _text(moves: Iterable[Move]) -> str:
    return ", ".join(map(str, moves))[:400]
