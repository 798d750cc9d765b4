"""What moves coins: each function belongs into the transaction of the fact that it books, and may be called again."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Sum

from wallet import chart, ledger, split
from wallet.errors import (
    AlreadyResolved,
    NoAccount,
    NoSuchFee,
    NotAPayer,
    ReferenceReused,
    WrongAmount,
)
from wallet.ledger import Ground, Move
from wallet.models import Kind, Reward, Transaction

__all__ = [
    "Kind",
    "Move",
    "Transaction",
    "abandon_pot",
    "charge_fee",
    "close_account",
    "lock",
    "open_account",
    "open_stacks",
    "pay_out",
    "refund_fee",
    "reward",
    "transfer",
    "welcome",
]

_OPEN_PLAYER = "INSERT INTO wallet_account (code, owner_id) VALUES (%s, %s) ON CONFLICT (code) DO NOTHING"

_FEES = """
SELECT t.id, t.reference, p.source_id, p.destination_id, p.amount, r.transaction_id
FROM wallet_transaction t JOIN wallet_posting p ON p.transaction_id = t.id
LEFT JOIN wallet_resolution r ON r.fee_id = t.id
WHERE t.reference = ANY (%s) ORDER BY t.id"""


def lock(player_ids: Collection[int], room_ids: Collection[int] = ()) -> None:
    """Lock these accounts at once, in the one order. Needed before several services of one transaction, each of which
    would else lock its own, so that two such transactions cannot wait for each other. Accounts of rooms are made where
    they are missing. Raises NoAccount for a player without one, TransactionManagementError outside a transaction."""
    rooms = [chart.room_account(number) for number in room_ids]
    ledger.in_transaction()
    if rooms:
        ledger.open_codes(rooms)
    ledger.lock([*rooms, *map(chart.player_account, player_ids)])


def transfer(
    reference: str,
    kind: str,
    postings: Sequence[Move],
    *,
    by: int | None = None,
    memo: str = "",
    reverses: int | None = None,
) -> Transaction:
    """Write one transaction of these postings, in their order; the same again gives the first one.

    Kinds that end a fee, rewards and corrections rest on more than postings, so the database refuses them here.
    Raises WrongAmount, NoAccount, AccountClosed, InsufficientFunds (nothing is written), ReferenceReused (the reference
    says something else), and TransactionManagementError outside a transaction."""
    ledger.in_transaction()
    if not postings:
        raise WrongAmount(f"{reference} moves nothing")
    for move in postings:
        ledger.check_coins(move.amount)
    locked = ledger.lock(ledger.codes_of(postings))
    return ledger.write(reference, kind, postings, locked, by=by, memo=memo, reverses=reverses)


def open_account(player_id: int) -> None:
    """Give a registered player an account; again: nothing. Raises NoAccount for a guest and for nobody."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_OPEN_PLAYER, [chart.player_account(player_id), player_id])
    except IntegrityError as error:
        raise NoAccount(f"player {player_id}") from error


def open_stacks(sitting_ids: Collection[int]) -> None:
    """Make the accounts of chips of these sittings where they are missing."""
    ledger.open_codes([chart.stack_account(number) for number in sitting_ids])


def welcome(player_id: int) -> Transaction:
    """The welcome bonus of WELCOME_COINS, once an account, which is opened when it is missing; again, also after the
    setting has changed: the first one. Raises NoAccount for a guest, AccountClosed."""
    ledger.in_transaction()
    open_account(player_id)
    code = chart.player_account(player_id)
    locked = ledger.lock([code])
    known = ledger.find(chart.welcome(player_id))
    if known is not None:
        return known
    moves = [Move(chart.ISSUE, code, settings.WELCOME_COINS)]
    return ledger.write(chart.welcome(player_id), Kind.WELCOME, moves, locked)


def charge_fee(sitting_id: int, room_id: int, player_id: int, amount: int) -> Transaction:
    """The entry fee of one sitting, from the player into the room's escrow. Call it in the transaction that seats,
    under the room's lock.

    Raises InsufficientFunds, NoAccount (a guest), AccountClosed, WrongAmount, ReferenceReused."""
    ledger.in_transaction()
    escrow = chart.room_account(room_id)
    move = Move(chart.player_account(player_id), escrow, ledger.check_coins(amount))
    locked = ledger.lock([move.source, move.destination], opened=escrow)
    return ledger.write(chart.fee(sitting_id), Kind.FEE, [move], locked)


def refund_fee(sitting_id: int, room_id: int, player_id: int, amount: int) -> Transaction:
    """The whole fee of one sitting back to who paid it; again: the first refund.

    Raises NoSuchFee (none of this amount was paid by this player for this sitting into this room), AlreadyResolved."""
    moves = [Move(chart.room_account(room_id), chart.player_account(player_id), ledger.check_coins(amount))]
    return _resolve(chart.refund(sitting_id), Kind.REFUND, room_id, {sitting_id: amount}, moves)


def pay_out(match_id: int, room_id: int, fees: Mapping[int, int], winners: Sequence[int]) -> Transaction:
    """The pot of a finished match: three tenths to the second, the rest to the first, all to a sole winner; to the
    house when nobody may win. Call it in the transaction that ends the match; again: the first payout.

    `fees` are the fees of all sittings that were dealt in, by sitting; `winners` the numbers of the registered humans
    who did not forfeit, in the order of the match. Raises NoSuchFee, AlreadyResolved, NotAPayer, ReferenceReused."""
    if not winners:
        return abandon_pot(match_id, room_id, fees)
    escrow = chart.room_account(room_id)
    parts = split.divide(_pot(fees), winners)
    moves = [Move(escrow, chart.player_account(player_id), coins) for player_id, coins in parts.items()]
    return _resolve(chart.payout(match_id), Kind.PAYOUT, room_id, fees, moves)


def abandon_pot(match_id: int, room_id: int, fees: Mapping[int, int]) -> Transaction:
    """The pot of a match that nobody may win, to the house; again: the first time. Raises NoSuchFee, AlreadyResolved,
    ReferenceReused."""
    moves = [Move(chart.room_account(room_id), chart.ABANDONED, _pot(fees))]
    return _resolve(chart.abandoned(match_id), Kind.ABANDONED, room_id, fees, moves)


def reward(
    match_id: int, player_id: int, amount: int, now: datetime, daily_limit: int | None = None
) -> Transaction | None:
    """What a place in a single-player match is worth, at most what is left of the UTC day's limit (REWARD_COINS_A_DAY);
    None when nothing is left, or for a place worth 0.

    `now` is when the match ended by the database's clock, the same at every repeat: it says whose day it is. Again: the
    first one. Raises NoAccount (a guest), AccountClosed, WrongAmount, ReferenceReused (somebody else's match)."""
    ledger.in_transaction()
    if now.tzinfo is None:
        raise ValueError(f"without a time zone {now} is on no day")
    if type(amount) is not int or amount != 0:
        ledger.check_coins(amount)
    limit = settings.REWARD_COINS_A_DAY if daily_limit is None else daily_limit
    code = chart.player_account(player_id)
    # All rewards of a player queue here, so that what is left stays left.
    locked = ledger.lock([code])
    known = ledger.find(chart.reward(match_id))
    if known is not None:
        paid = Reward.objects.get(transaction=known)
        if (paid.account_id, paid.offered) != (locked[code].id, amount):
            raise ReferenceReused(f"{known.reference} is {paid}, not {amount} to {code}")
        return known
    day = now.astimezone(UTC).date()
    had = Reward.objects.filter(account_id=locked[code].id, day=day).aggregate(coins=Sum("amount"))["coins"] or 0
    coins = min(amount, limit - had)
    if coins <= 0:
        return None
    moves = [Move(chart.ISSUE, code, coins)]
    ground = Ground(reward=(day, amount))
    return ledger.write(chart.reward(match_id), Kind.REWARD, moves, locked, ground=ground)


def close_account(player_id: int) -> Transaction | None:
    """All coins of a player to the house, after which the account takes no more; again: the first time. None when there
    was nothing to take, or no account (a guest)."""
    ledger.in_transaction()
    code = chart.player_account(player_id)
    try:
        locked = ledger.lock([code])
    except NoAccount:
        return None
    if locked[code].balance == 0:
        ledger.close(player_id)
        return ledger.find(chart.closed(player_id))
    moves = [Move(code, chart.CLOSED, locked[code].balance)]
    return ledger.write(chart.closed(player_id), Kind.CLOSED, moves, locked)


def _pot(fees: Mapping[int, int]) -> int:
    return sum(ledger.check_coins(amount) for amount in fees.values())


def _resolve(reference: str, kind: str, room_id: int, fees: Mapping[int, int], moves: Sequence[Move]) -> Transaction:
    """Move the coins that end these fees of one room, each of which is ended by this and never again."""
    ledger.in_transaction()
    if not fees:
        raise NoSuchFee(f"{reference} ends no fee")
    try:
        locked = ledger.lock(ledger.codes_of(moves))
    except NoAccount as error:
        # Nobody paid into a room without an account, and who has none paid nowhere.
        raise NoSuchFee(f"{reference}: {error}") from error
    found = _paid(fees)
    if {fee.ended_by for fee in found} != {None}:
        known = ledger.replayed(reference, kind, moves)
        if known is not None:
            return known
    escrow = locked[chart.room_account(room_id)].id
    if {fee.sitting_id: fee.amount for fee in found if fee.escrow_id == escrow} != dict(fees):
        raise NoSuchFee(f"{reference}: {dict(fees)} in room {room_id}")
    ended = [f"{chart.fee(fee.sitting_id)} by {fee.ended_by}" for fee in found if fee.ended_by is not None]
    if ended:
        raise AlreadyResolved(f"{reference}: {', '.join(ended)}")
    payers = {fee.payer_id for fee in found}
    receivers = [move.destination for move in moves if move.destination not in chart.HOUSE]
    strangers = [code for code in receivers if locked[code].id not in payers]
    if strangers:
        raise NotAPayer(f"{reference}: {', '.join(strangers)}") if kind == Kind.PAYOUT else NoSuchFee(reference)
    ground = Ground(fees=[fee.transaction_id for fee in found])
    return ledger.write(reference, kind, moves, locked, ground=ground)


class _Fee(NamedTuple):
    """A fee that was paid: `ended_by` is the number of the transaction that ended it."""

    transaction_id: int
    reference: str
    payer_id: int
    escrow_id: int
    amount: int
    ended_by: int | None

    @property
    def sitting_id(self) -> int:
        return chart.fact(self.reference).number


def _paid(fees: Mapping[int, int]) -> list[_Fee]:
    """What the ledger knows of the fees of these sittings; of those that paid none, nothing."""
    with connection.cursor() as cursor:
        cursor.execute(_FEES, [[chart.fee(sitting_id) for sitting_id in fees]])
        return [_Fee(*row) for row in cursor.fetchall()]
