"""Reads the whole ledger and tells what does not hold, one line a finding; changes nothing."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from django.conf import settings
from django.db import connection, transaction
from django.utils.module_loading import import_string

from wallet import chart, seals, selectors
from wallet.models import Account

# Each query gives the text of one finding a row.
CHECKS = {
    "balance": """
        SELECT a.code || ': holds ' || a.balance || ', its postings make ' || COALESCE(m.coins, 0)
        FROM wallet_account a LEFT JOIN (
            SELECT account, sum(coins) AS coins FROM (
                SELECT source_id AS account, -sum(amount) AS coins FROM wallet_posting GROUP BY 1
                UNION ALL
                SELECT destination_id, sum(amount) FROM wallet_posting GROUP BY 1
            ) moved GROUP BY account
        ) m ON m.account = a.id
        WHERE a.id > 100 AND a.balance <> COALESCE(m.coins, 0) ORDER BY a.id""",
    "overdraft": "SELECT code || ': holds ' || balance FROM wallet_account WHERE balance < 0 ORDER BY id",
    "house": """
        SELECT code || ': a house account holds ' || balance FROM wallet_account
        WHERE id <= 100 AND balance <> 0 ORDER BY id""",
    "empty": """
        SELECT reference || ': has no posting' FROM wallet_transaction t
        WHERE NOT EXISTS (SELECT FROM wallet_posting p WHERE p.transaction_id = t.id) ORDER BY id""",
    "posting": """
        SELECT t.reference || ': its posting ' || p.id || ' is of kind ' || p.kind || ', not ' || t.kind
        FROM wallet_posting p JOIN wallet_transaction t ON t.id = p.transaction_id
        WHERE p.kind <> t.kind ORDER BY p.id""",
    "way": """
        SELECT t.reference || ': ' || p.amount || ' went from ' || s.code || ' to ' || d.code
        FROM wallet_posting p
        JOIN wallet_transaction t ON t.id = p.transaction_id
        JOIN wallet_account s ON s.id = p.source_id JOIN wallet_account d ON d.id = p.destination_id
        WHERE p.amount <= 0 OR p.source_id = p.destination_id OR NOT p.kind || ' '
            || CASE WHEN s.id <= 100 THEN s.code ELSE split_part(s.code, ':', 1) END || ' '
            || CASE WHEN d.id <= 100 THEN d.code ELSE split_part(d.code, ':', 1) END = ANY (%(ways)s)
        ORDER BY p.id""",
    "escrow": """
        SELECT a.code || ': holds ' || a.balance || ', its open fees make ' || COALESCE(f.coins, 0)
        FROM wallet_account a LEFT JOIN (
            SELECT p.destination_id AS room, sum(p.amount) AS coins FROM wallet_posting p
            WHERE p.kind = 'fee' AND NOT EXISTS (SELECT FROM wallet_resolution r WHERE r.fee_id = p.transaction_id)
            GROUP BY 1
        ) f ON f.room = a.id
        WHERE a.code LIKE 'room:%%' AND a.balance <> COALESCE(f.coins, 0) ORDER BY a.id""",
    "resolution": """
        SELECT t.reference || ': moves ' || p.coins || ', the fees that it ends make ' || COALESCE(sum(f.amount), 0)
        FROM wallet_transaction t
        JOIN (SELECT transaction_id, sum(amount) AS coins FROM wallet_posting
            WHERE kind IN ('refund', 'payout', 'abandoned') GROUP BY 1) p ON p.transaction_id = t.id
        LEFT JOIN wallet_resolution r ON r.transaction_id = t.id
        LEFT JOIN wallet_posting f ON f.transaction_id = r.fee_id AND f.kind = 'fee'
        GROUP BY t.id, t.reference, p.coins HAVING p.coins <> COALESCE(sum(f.amount), 0) ORDER BY t.id""",
    "reward": """
        SELECT t.reference || ': is not counted on a day as it was paid' FROM wallet_posting p
        JOIN wallet_transaction t ON t.id = p.transaction_id
        LEFT JOIN wallet_reward r ON r.transaction_id = t.id
            AND r.account_id = p.destination_id AND r.amount = p.amount
        WHERE p.kind = 'reward' AND r.id IS NULL ORDER BY p.id""",
    "correction": """
        SELECT t.reference || ': nobody approved it as it was booked' FROM wallet_posting p
        JOIN wallet_transaction t ON t.id = p.transaction_id
        LEFT JOIN wallet_correction c ON c.transaction_id = t.id AND c.status = 'approved'
            AND c.decided_by_id <> c.requested_by_id
            AND ((c.amount = p.amount AND c.account_id = p.destination_id)
                OR (c.amount = -p.amount AND c.account_id = p.source_id))
        WHERE p.kind = 'correction' AND c.id IS NULL ORDER BY p.id""",
    "guest": """
        SELECT a.code || ': belongs to a guest' FROM wallet_account a
        JOIN players_player p ON p.id = a.owner_id WHERE p.is_guest ORDER BY a.id""",
    "closed": """
        SELECT a.code || ': its player is gone, and it takes coins' FROM wallet_account a
        JOIN players_player p ON p.id = a.owner_id WHERE p.closed_at IS NOT NULL AND NOT a.closed ORDER BY a.id""",
    "guard": """
        SELECT wanted.relation || ': its trigger ' || wanted.name || ' is missing or switched off'
        FROM unnest(%(relations)s::text[], %(triggers)s::text[]) AS wanted (relation, name)
        WHERE NOT EXISTS (
            SELECT FROM pg_trigger g WHERE g.tgrelid = to_regclass(wanted.relation) AND g.tgname = wanted.name
                AND g.tgenabled IN ('O', 'A'))""",
}
WAYS = [
    f"{kind} {source} {destination}" for kind, shape in chart.SHAPES.items() for source, destination in sorted(shape)
]
_LOG = ("append_only_rows", "append_only_table")
GUARDS = {
    "wallet_account": (*_LOG, "begins_empty", "moved_by_postings"),
    "wallet_transaction": (*_LOG, "not_empty"),
    "wallet_posting": (*_LOG, "a_check", "b_move", "c_whole"),
    "wallet_resolution": (*_LOG, "before_postings"),
    "wallet_reward": (*_LOG, "before_postings"),
    "wallet_correction": (*_LOG, "before_postings", "decided_once"),
    "wallet_seal": _LOG,
    "players_player": ("wallet_owners_stay_registered",),
}


def findings(extra: Iterable[Callable[[], Iterable[str]]] = ()) -> Iterator[str]:
    """All that does not hold, one line each, "<check>: <account or reference>: <what>"; nothing when all is well.

    Everything is read from one snapshot, so it may run while coins move. `extra` are further checks, called inside that
    snapshot, beside those that LEDGER_CHECKS names: the wallet cannot know which rooms are over."""
    checks: list[Callable[[], Iterable[str]]] = [*map(import_string, settings.LEDGER_CHECKS), *extra]
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SET LOCAL statement_timeout = '10min'")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '10min'")
            cursor.execute("SET LOCAL work_mem = '64MB'")
            cursor.execute("SELECT now()")
            now: datetime = cursor.fetchone()[0]
        for name, query in CHECKS.items():
            yield from (f"{name}: {text}" for text in _run(query))
        total = sum(selectors.totals().values())
        if total != 0:
            yield f"sum: all accounts together make {total}, not 0"
        yield from seals.broken(now.astimezone(UTC).date())
        for check in checks:
            yield from check()


def _run(query: str) -> list[str]:
    values = {
        "ways": WAYS,
        "relations": [relation for relation, names in GUARDS.items() for _name in names],
        "triggers": [name for names in GUARDS.values() for name in names],
    }
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [str(text) for (text,) in cursor.fetchall()]


def left_open(rooms: Iterable[int] = (), sittings: Iterable[int] = ()) -> Iterator[str]:
    """Findings for rooms and sittings that are over and yet hold coins; for a check of who knows which are over."""
    for number, coins in _held("room", rooms):
        yield f"open: room:{number}: is over and holds {coins}"
    for number, coins in _held("stack", sittings):
        yield f"open: stack:{number}: is over and holds {coins}"


def _held(family: str, numbers: Iterable[int]) -> list[tuple[int, int]]:
    codes = [f"{family}:{number}" for number in numbers]
    rows = Account.objects.filter(code__in=codes, balance__gt=0).order_by("pk").values_list("code", "balance")
    return [(chart.number_of(code), coins) for code, coins in rows]
