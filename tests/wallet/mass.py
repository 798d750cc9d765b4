"""A ledger of any size, written behind the laws' back by the superuser of the test server."""

from players.models import Player
from tests.conftest import run
from tests.support.services import superuser

PLAYERS = 2000
FEE = 10

# Room r is transactions 5r to 5r+4 past the welcomes: four fees and a payout of 28 and 12 to two of the four.
_FILL = """
CREATE TEMPORARY TABLE people AS
    SELECT row_number() OVER (ORDER BY id) - 1 AS seat, id, 1000 + row_number() OVER (ORDER BY id) AS account
    FROM public.players_player ORDER BY id LIMIT {players};
INSERT INTO wallet_account (id, code, owner_id, balance, closed)
    SELECT account, 'player:' || id, id, 0, false FROM people;
INSERT INTO wallet_account (id, code, balance, closed)
    SELECT 100000 + r, 'room:' || r, 0, false FROM generate_series(1, {rooms}) r;
INSERT INTO wallet_transaction (id, reference, kind, memo, at)
    SELECT account, 'welcome:' || id, 'welcome', '', now() - interval '{days} days' FROM people;
INSERT INTO wallet_posting (transaction_id, source_id, destination_id, amount, kind)
    SELECT account, 1, account, 5000, 'welcome' FROM people;
CREATE TEMPORARY TABLE sittings AS
    SELECT r, k, 100000 + 5 * r + k AS fee, 100000 + 5 * r + 4 AS payout, 4 * r + k AS sitting,
        1001 + (4 * r + k) % {players} AS account,
        now() - ({rooms} - r) * (interval '{days} days' / {rooms}) AS at
    FROM generate_series(1, {rooms}) r, generate_series(0, 3) k;
INSERT INTO wallet_transaction (id, reference, kind, memo, at)
    SELECT fee, 'sitting:' || sitting || ':fee', 'fee', '', at FROM sittings
    UNION ALL SELECT payout, 'match:' || r || ':payout', 'payout', '', at FROM sittings WHERE k = 0;
INSERT INTO wallet_posting (transaction_id, source_id, destination_id, amount, kind)
    SELECT fee, account, 100000 + r, {fee}, 'fee' FROM sittings
    UNION ALL SELECT payout, 100000 + r, account, {fee} * 4 - {fee} * 12 / 10, 'payout' FROM sittings WHERE k = r % 4
    UNION ALL SELECT payout, 100000 + r, account, {fee} * 12 / 10, 'payout' FROM sittings WHERE k = (r + 1) % 4;
INSERT INTO wallet_resolution (fee_id, transaction_id) SELECT fee, payout FROM sittings;
-- What the trials before have left in the statistics would have the next one look at all postings once an account.
ANALYZE wallet_account, wallet_posting;
UPDATE wallet_account a SET balance = m.coins FROM (
    SELECT account, sum(coins) AS coins FROM (
        SELECT source_id AS account, -amount AS coins FROM wallet_posting
        UNION ALL SELECT destination_id, amount FROM wallet_posting
    ) moved GROUP BY account
) m WHERE m.account = a.id AND a.id > 100;
"""


def fill(postings: int, days: int) -> int:
    """Write about so many postings, up to now; how many there are."""
    Player.objects.bulk_create(
        [Player(username=f"mass{number}", shown_name=f"Mass {number}") for number in range(PLAYERS)]
    )
    rooms = max(1, (postings - PLAYERS) // 6)
    query = _FILL.format(players=PLAYERS, rooms=rooms, days=days, fee=FEE)
    with superuser(run.services, run.database) as connection:
        with connection.transaction():
            connection.execute("SET LOCAL session_replication_role = replica")
            connection.execute(query.encode())
        connection.execute("ANALYZE")
        row = connection.execute("SELECT count(*) FROM wallet_posting").fetchone()
    assert row is not None
    return int(str(row[0]))
