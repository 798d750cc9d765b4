"""Setting an account right: one person asks, a second one approves, and the ledger gets one more transaction."""

from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, Sum
from django.db.models.functions import Abs, Now

from wallet import chart, ledger
from wallet.errors import (
    AlreadyDecided,
    CorrectionExpired,
    NoAccount,
    NoSuchCorrection,
    NotTheMirror,
    OverLimit,
    OwnAccount,
    ReasonMissing,
    SecondPersonNeeded,
)
from wallet.ledger import Ground, Move
from wallet.models import Account, Correction, Kind, Posting, Transaction

__all__ = ["Correction", "approve", "decline", "expire", "request"]

PENDING, APPROVED = Correction.Status.PENDING, Correction.Status.APPROVED

_REQUEST = """
INSERT INTO wallet_correction (account_id, amount, reason, corrects_id, requested_by_id, expires_at)
VALUES (%s, %s, %s, %s, %s, now() + make_interval(secs => %s)) RETURNING id"""
# Says that what follows is about a person's limits, among all advisory locks.
_LIMITS = 0x77616C6C


def request(player_id: int, amount: int, reason: str, requested_by: int, corrects: str | None = None) -> Correction:
    """Ask that a player be given `amount` coins, or that they be taken when it is below 0. Moves nothing yet.

    With `corrects`, the reference of a transaction, the correction takes back what that did to this account, or a part
    of it: the other sign, and with all other corrections of it no more than it moved. Whether the person may ask at all
    is the caller's business. Raises WrongAmount, ReasonMissing, NoAccount, OwnAccount, OverLimit, NotTheMirror."""
    ledger.check_coins(-amount if type(amount) is int and amount < 0 else amount)
    reason = reason.strip()
    if not reason or len(reason) > 500:
        raise ReasonMissing(f"{len(reason)} characters")
    if player_id == requested_by:
        raise OwnAccount(f"player {player_id}")
    with transaction.atomic():
        account = Account.objects.filter(owner=player_id).first()
        if account is None:
            raise NoAccount(f"player {player_id}")
        _check_limits(requested_by, amount, Q(requested_by=requested_by, requested_at__gt=Now() - timedelta(days=1)))
        mistaken = None if corrects is None else _mirrored(account, amount, corrects)
        with connection.cursor() as cursor:
            cursor.execute(_REQUEST, [account.pk, amount, reason, mistaken, requested_by, settings.CORRECTION_SECONDS])
            number = cursor.fetchone()[0]
    return Correction.objects.get(pk=number)


def approve(correction_id: int, approved_by: int) -> Transaction:
    """Say yes as the second person: the coins move now.

    Raises NoSuchCorrection, AlreadyDecided, CorrectionExpired, SecondPersonNeeded (the one who asked), OwnAccount,
    OverLimit, NotTheMirror (others have corrected it since), InsufficientFunds, AccountClosed."""
    with transaction.atomic():
        correction = _undecided(correction_id)
        owner = correction.account.owner_id
        assert owner is not None, "the database lets only players' accounts be corrected"
        if approved_by == correction.requested_by_id:
            raise SecondPersonNeeded(f"correction {correction_id}")
        if approved_by == owner:
            raise OwnAccount(f"correction {correction_id}")
        if Correction.objects.filter(pk=correction_id, expires_at__lte=Now()).exists():
            raise CorrectionExpired(f"correction {correction_id}")
        _check_limits(
            approved_by,
            correction.amount,
            Q(decided_by=approved_by, status=APPROVED, decided_at__gt=Now() - timedelta(days=1)),
        )
        code = correction.account.code
        locked = ledger.lock([code])
        if correction.corrects is not None:
            _mirrored(correction.account, correction.amount, correction.corrects.reference, done={APPROVED})
        coins = abs(correction.amount)
        move = Move(chart.ADJUST, code, coins) if correction.amount > 0 else Move(code, chart.ADJUST, coins)
        return ledger.write(
            chart.correction(correction_id),
            Kind.CORRECTION,
            [move],
            locked,
            by=correction.requested_by_id,
            memo=correction.reason,
            reverses=correction.corrects_id,
            ground=Ground(correction=(correction_id, approved_by)),
        )


def decline(correction_id: int, declined_by: int) -> None:
    """Say no, or take one's own request back. Raises NoSuchCorrection, AlreadyDecided, OwnAccount."""
    with transaction.atomic():
        correction = _undecided(correction_id)
        if declined_by == correction.account.owner_id:
            raise OwnAccount(f"correction {correction_id}")
        Correction.objects.filter(pk=correction_id).update(status=Correction.Status.DECLINED, decided_by_id=declined_by)


def expire() -> int:
    """Mark the requests that nobody decided in time; how many. An old request is void with or without the mark."""
    waiting = Correction.objects.filter(status=PENDING, expires_at__lte=Now())
    return waiting.update(status=Correction.Status.EXPIRED)


def _undecided(correction_id: int) -> Correction:
    """The request, held so that it is decided once. Raises NoSuchCorrection, AlreadyDecided."""
    held = Correction.objects.select_for_update(of=("self",)).filter(pk=correction_id)
    correction = held.select_related("account", "corrects").first()
    if correction is None:
        raise NoSuchCorrection(str(correction_id))
    if correction.status != PENDING:
        raise AlreadyDecided(f"correction {correction_id} is {correction.status}")
    return correction


def _check_limits(person: int, amount: int, day: Q) -> None:
    """One correction, and a person's corrections of the last 24 hours, keep to the limits. Raises OverLimit."""
    if abs(amount) > settings.CORRECTION_COINS:
        raise OverLimit(f"{amount} in one correction")
    with connection.cursor() as cursor:
        # Two requests of one person at once would else both see what was before them.
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s::int)", [_LIMITS, person % 2**31])
    had = (
        Correction.objects.filter(day, status__in=[PENDING, APPROVED]).aggregate(coins=Sum(Abs("amount")))["coins"] or 0
    )
    if had + abs(amount) > settings.CORRECTION_COINS_A_DAY:
        raise OverLimit(f"{amount} after {had} in 24 hours")


def _mirrored(
    account: Account, amount: int, reference: str, done: Collection[str] = frozenset({PENDING, APPROVED})
) -> int:
    """The number of the transaction that is taken back. Raises NotTheMirror when the amount does not go the other way,
    or is more than the corrections in one of the states `done` leave of what the transaction did to the account."""
    mistaken = Transaction.objects.filter(reference=reference).first()
    if mistaken is None:
        raise NotTheMirror(f"there is no {reference[:60]!r}")
    lines = Posting.objects.filter(transaction=mistaken)
    came = lines.filter(destination=account).aggregate(coins=Sum("amount"))["coins"] or 0
    went = lines.filter(source=account).aggregate(coins=Sum("amount"))["coins"] or 0
    others = Correction.objects.filter(account=account, corrects=mistaken, status__in=done)
    left = came - went + (others.aggregate(coins=Sum("amount"))["coins"] or 0)
    if left == 0 or (left > 0) == (amount > 0) or abs(amount) > abs(left):
        raise NotTheMirror(f"{amount} of {left} left of {reference}")
    return int(mistaken.pk)
