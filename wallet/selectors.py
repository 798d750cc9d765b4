"""Questions about coins that change nothing."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Q, QuerySet, Sum

from wallet import chart
from wallet.models import MAX_COINS, Account, Correction, Kind, Posting, Reward, Transaction

__all__ = [
    "ALL",
    "MAX_COINS",
    "Filters",
    "Flow",
    "Kind",
    "Line",
    "Page",
    "Pot",
    "Search",
    "Sheet",
    "SheetLine",
    "all_lines",
    "balance",
    "balances",
    "corrected_player",
    "corrections",
    "flows",
    "found",
    "held",
    "kept_by_house",
    "open_escrows",
    "open_stacks",
    "pending_corrections",
    "pot_paid",
    "pots",
    "reference_of",
    "reward_left",
    "reward_of",
    "room_sheet",
    "search",
    "statement",
    "totals",
    "without_account",
]

PAGE = 50
# How many rows of an export are read at a time.
BATCH = 2000


@dataclass(frozen=True, slots=True)
class Filters:
    """What a statement shows: these kinds (all when empty), from `since`, before `until`."""

    kinds: Collection[str] = ()
    since: datetime | None = None
    until: datetime | None = None

    def wants(self, kind: str, at: datetime) -> bool:
        """Whether a line of this kind and time is shown."""
        in_time = (self.since is None or at >= self.since) and (self.until is None or at < self.until)
        return in_time and (not self.kinds or kind in self.kinds)


ALL = Filters()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a statement: coins that came (above 0) or went (below), and what was there after it."""

    posting_id: int
    at: datetime
    reference: str
    kind: str
    amount: int
    balance: int
    other: str
    memo: str


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of one page, newest first; `number` counts from 1, and `pages` is at least 1."""

    lines: list[Any]
    number: int
    pages: int
    total: int


@dataclass(frozen=True, slots=True)
class Search:
    """What a moderator looks for: all of what is given. Dates from `since`, before `until`; amounts both included."""

    player_id: int | None = None
    room_id: int | None = None
    reference: str = ""
    kinds: Collection[str] = ()
    least: int | None = None
    most: int | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One posting that touches a room's escrow or one of its stacks; `ended_by` is what became of a fee."""

    at: datetime
    reference: str
    kind: str
    source: str
    destination: str
    amount: int
    ended_by: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A room's debits and credits in order, and their sums: what was paid = refunded + paid out + abandoned + left."""

    room_id: int
    lines: list[SheetLine]
    paid: int
    refunded: int
    paid_out: int
    abandoned: int
    left: int

    @property
    def adds_up(self) -> bool:
        return self.paid == self.refunded + self.paid_out + self.abandoned + self.left


@dataclass(frozen=True, slots=True)
class Flow:
    """What one player's fees have brought another in pots, within a period: from how many matches, the first when."""

    loser_id: int
    winner_id: int
    coins: int
    matches: int
    first_at: datetime


@dataclass(frozen=True, slots=True)
class Pot:
    """A pot that was paid out: by which transaction, when, and how many coins."""

    reference: str
    at: datetime
    coins: int


# Each fee of a pot went to the winners in the measure of what they won.
_FLOWS = """
WITH paid AS (
    SELECT t.id, t.at, sum(p.amount) AS pot FROM wallet_transaction t
    JOIN wallet_posting p ON p.transaction_id = t.id
    WHERE t.kind = 'payout' AND t.at >= %(since)s AND t.at < %(until)s GROUP BY t.id, t.at
)
SELECT s.owner_id, d.owner_id, sum(trunc(f.amount::numeric * p.amount / paid.pot))::bigint, count(*), min(paid.at)
FROM paid
JOIN wallet_posting p ON p.transaction_id = paid.id
JOIN wallet_resolution r ON r.transaction_id = paid.id
JOIN wallet_posting f ON f.transaction_id = r.fee_id
JOIN wallet_account s ON s.id = f.source_id
JOIN wallet_account d ON d.id = p.destination_id
WHERE s.id <> d.id GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2"""

_HOUSE = """
SELECT COALESCE((SELECT sum(amount) FROM wallet_posting WHERE destination_id = %(id)s), 0)
     - COALESCE((SELECT sum(amount) FROM wallet_posting WHERE source_id = %(id)s), 0)"""

# The balance after each line needs all lines, so the filters come after it.
_LINES = """
WITH lines AS (
    SELECT id, transaction_id, destination_id AS other, -amount AS coins FROM wallet_posting WHERE source_id = %(id)s
    UNION ALL
    SELECT id, transaction_id, source_id, amount FROM wallet_posting WHERE destination_id = %(id)s
), running AS (
    SELECT *, sum(coins) OVER (ORDER BY id) AS balance FROM lines
)
SELECT {what} FROM running l
JOIN wallet_transaction t ON t.id = l.transaction_id JOIN wallet_account o ON o.id = l.other
WHERE (%(kinds)s::text[] IS NULL OR t.kind = ANY (%(kinds)s))
    AND (%(since)s::timestamptz IS NULL OR t.at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR t.at < %(until)s)"""
# The next lines of a file, from both directions of the account.
_NEXT_LINES = """
SELECT l.id, t.at, t.reference, t.kind, l.coins, o.code, t.memo FROM (
    (SELECT id, transaction_id, destination_id AS other, -amount AS coins FROM wallet_posting
        WHERE source_id = %(id)s AND id > %(after)s ORDER BY id LIMIT %(most)s)
    UNION ALL
    (SELECT id, transaction_id, source_id, amount FROM wallet_posting
        WHERE destination_id = %(id)s AND id > %(after)s ORDER BY id LIMIT %(most)s)
    ORDER BY id LIMIT %(most)s
) l
JOIN wallet_transaction t ON t.id = l.transaction_id JOIN wallet_account o ON o.id = l.other ORDER BY l.id"""
_LINE = "l.id, t.at, t.reference, t.kind, l.coins::bigint, l.balance::bigint, o.code, t.memo"


def balance(player_id: int) -> int:
    """The player's coins; 0 without an account."""
    return balances([player_id])[player_id]


def without_account(players: QuerySet[Any]) -> QuerySet[Any]:
    """Those of these players who have no account of coins."""
    return players.filter(wallet_account=None)


def balances(player_ids: Collection[int]) -> dict[int, int]:
    """The coins of each of these players; 0 for those without an account."""
    held = dict(Account.objects.filter(owner__in=player_ids).values_list("owner_id", "balance"))
    return {player_id: held.get(player_id, 0) for player_id in player_ids}


def held(code: str) -> int:
    """The coins on any account; 0 when there is none of this code. A house account is summed, and house:issue is below
    0 by all coins that were made."""
    if code in chart.HOUSE:
        with connection.cursor() as cursor:
            cursor.execute(_HOUSE, {"id": chart.HOUSE[code]})
            return int(cursor.fetchone()[0])
    return Account.objects.filter(code=code).values_list("balance", flat=True).first() or 0


def totals() -> dict[str, int]:
    """Coins by family of account (player, room, stack, and each house account); their sum is 0."""
    found = {code: held(code) for code in chart.HOUSE}
    for family in ("player", "room", "stack"):
        accounts = Account.objects.filter(code__startswith=f"{family}:")
        found[family] = accounts.aggregate(coins=Sum("balance"))["coins"] or 0
    return found


def reward_of(match_id: int) -> tuple[int, int] | None:
    """The coins that a single-player match paid, and what its place was worth; None when it paid nothing."""
    paid = Reward.objects.filter(transaction__reference=chart.reward(match_id)).values_list("amount", "offered")
    return paid.first()


def statement(player_id: int, filters: Filters = ALL, page: int = 1) -> Page:
    """The lines of a player's account, newest first, with the balance after each. A page beyond the last is the last,
    one before the first is the first."""
    values = _statement_values(player_id, filters)
    with connection.cursor() as cursor:
        cursor.execute(_LINES.format(what="count(*)"), values)
        total = int(cursor.fetchone()[0])
        number, pages = _page(page, total)
        cursor.execute(
            f"{_LINES.format(what=_LINE)} ORDER BY l.id DESC LIMIT {PAGE} OFFSET {(number - 1) * PAGE}", values
        )
        return Page([Line(*row) for row in cursor.fetchall()], number, pages, total)


def all_lines(player_id: int, filters: Filters = ALL) -> Iterator[Line]:
    """All of a statement, oldest first; read some at a time, with no cursor open in between. Postings of one account
    get their numbers under its lock, so none comes before one that was read."""
    number = Account.objects.filter(owner=player_id).values_list("pk", flat=True).first()
    values = {"id": number, "after": 0, "most": BATCH}
    balance = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_NEXT_LINES, values)
            rows = cursor.fetchall()
        for number, at, reference, kind, coins, other, memo in rows:
            balance += coins
            if filters.wants(kind, at):
                yield Line(number, at, reference, kind, coins, balance, other, memo)
        if len(rows) < BATCH:
            return
        values["after"] = rows[-1][0]


def _statement_values(player_id: int, filters: Filters) -> dict[str, Any]:
    number = Account.objects.filter(owner=player_id).values_list("pk", flat=True).first()
    return {"id": number, "kinds": list(filters.kinds) or None, "since": filters.since, "until": filters.until}


def _page(asked: int, total: int) -> tuple[int, int]:
    pages = max(1, -(-total // PAGE))
    return min(max(asked, 1), pages), pages


def kept_by_house(references: Collection[str]) -> set[str]:
    """Those of these fees whose pot nobody could win."""
    kept = Transaction.objects.filter(reference__in=references, resolution__transaction__kind=Kind.ABANDONED)
    return set(kept.values_list("reference", flat=True))


def reward_left(player_id: int, day: date) -> int:
    """How many coins of rewards the player may still win on this UTC day."""
    had = Reward.objects.filter(account__owner=player_id, day=day).aggregate(coins=Sum("amount"))["coins"] or 0
    return max(0, int(settings.REWARD_COINS_A_DAY) - had)


def open_escrows() -> dict[int, int]:
    """The coins in the escrow of each room that holds any; a room that is gone must not be among them."""
    return _open("room")


def open_stacks() -> dict[int, int]:
    """The chips of each sitting that has any; a sitting that is over must not be among them."""
    return _open("stack")


def _open(family: str) -> dict[int, int]:
    rows = Account.objects.filter(code__startswith=f"{family}:", balance__gt=0).values_list("code", "balance")
    return {chart.number_of(code): coins for code, coins in rows}


def pot_paid(match_id: int) -> list[tuple[int | None, int]]:
    """Where the pot of a match went: each winner's number and coins, the first first; None for the house. Empty while
    nothing was paid."""
    references = [chart.payout(match_id), chart.abandoned(match_id)]
    postings = Posting.objects.filter(transaction__reference__in=references).order_by("id")
    rows = postings.values_list("destination__owner", "amount")
    return list(rows)


def room_sheet(room_id: int, sittings: Collection[int] = ()) -> Sheet:
    """All that touched a room's escrow, and the chips of these sittings, in order."""
    escrow = chart.room_account(room_id)
    codes = [escrow, *map(chart.stack_account, sittings)]
    postings = (
        Posting.objects.filter(Q(source__code__in=codes) | Q(destination__code__in=codes))
        .select_related("transaction__resolution__transaction", "source", "destination")
        .order_by("id")
    )
    lines = [
        SheetLine(
            posting.transaction.at,
            posting.transaction.reference,
            posting.kind,
            posting.source.code,
            posting.destination.code,
            posting.amount,
            _ended_by(posting.transaction),
        )
        for posting in postings
    ]

    def coins(kind: str) -> int:
        return sum(line.amount for line in lines if line.kind == kind)

    return Sheet(
        room_id,
        lines,
        paid=coins(Kind.FEE),
        refunded=coins(Kind.REFUND),
        paid_out=coins(Kind.PAYOUT),
        abandoned=coins(Kind.ABANDONED),
        left=held(escrow),
    )


def _ended_by(fee: Transaction) -> str:
    return fee.resolution.transaction.reference if hasattr(fee, "resolution") else ""


def search(wanted: Search, page: int = 1) -> Page:
    """Postings (with transaction, source and destination), newest first. A page beyond the last is the last."""
    matching = _matching(wanted)
    total = matching.count()
    number, pages = _page(page, total)
    return Page(list(matching[(number - 1) * PAGE : number * PAGE]), number, pages, total)


def found(wanted: Search) -> Iterator[Posting]:
    """All postings that are looked for, newest first, read in batches: an export holds no long transaction."""
    matching = _matching(wanted)
    last: int | None = None
    while batch := list((matching if last is None else matching.filter(pk__lt=last))[:BATCH]):
        yield from batch
        last = batch[-1].pk


def _matching(wanted: Search) -> QuerySet[Posting]:
    matching = Posting.objects.select_related("transaction", "source", "destination").order_by("-id")
    if wanted.player_id is not None:
        number = Account.objects.filter(owner=wanted.player_id).values_list("pk", flat=True).first()
        matching = matching.filter(Q(source=number) | Q(destination=number)) if number else matching.none()
    if wanted.room_id is not None:
        number = Account.objects.filter(code=chart.room_account(wanted.room_id)).values_list("pk", flat=True).first()
        matching = matching.filter(Q(source=number) | Q(destination=number)) if number else matching.none()
    if wanted.reference:
        matching = matching.filter(transaction__reference__startswith=wanted.reference)
    if wanted.kinds:
        matching = matching.filter(kind__in=list(wanted.kinds))
    if wanted.least is not None:
        matching = matching.filter(amount__gte=wanted.least)
    if wanted.most is not None:
        matching = matching.filter(amount__lte=wanted.most)
    if wanted.since is not None:
        matching = matching.filter(transaction__at__gte=wanted.since)
    if wanted.until is not None:
        matching = matching.filter(transaction__at__lt=wanted.until)
    return matching


def pending_corrections() -> QuerySet[Correction]:
    """Requests that wait for a second person, the oldest first."""
    return (
        Correction.objects.filter(status=Correction.Status.PENDING)
        .select_related("account", "corrects", "requested_by")
        .order_by("id")
    )


def corrections(player_id: int | None = None, limit: int = 50) -> list[Correction]:
    """The newest corrections, of this player's account or of all, decided or not."""
    found = Correction.objects.select_related("account__owner", "corrects", "requested_by", "decided_by", "transaction")
    if player_id is not None:
        found = found.filter(account__owner=player_id)
    return list(found.order_by("-id")[:limit])


def corrected_player(correction_id: int) -> int | None:
    """Whose account this correction is about; None when there is no such correction."""
    return Correction.objects.filter(pk=correction_id).values_list("account__owner", flat=True).first()


def reference_of(transaction_id: int) -> str | None:
    """The reference of a transaction by its number."""
    return Transaction.objects.filter(pk=transaction_id).values_list("reference", flat=True).first()


def flows(since: datetime, until: datetime) -> list[Flow]:
    """Who has won whose coins in the pots of a period, the most coins first; the house and oneself are left out."""
    with connection.cursor() as cursor:
        cursor.execute(_FLOWS, {"since": since, "until": until})
        return [Flow(*row) for row in cursor.fetchall()]


def pots(since: datetime, until: datetime, least: int) -> list[Pot]:
    """The pots of a period with this many coins or more, the largest first."""
    paid = Transaction.objects.filter(kind=Kind.PAYOUT, at__gte=since, at__lt=until)
    rows = paid.annotate(coins=Sum("postings__amount")).filter(coins__gte=least).order_by("-coins", "id")
    return [Pot(one.reference, one.at, one.coins) for one in rows]
