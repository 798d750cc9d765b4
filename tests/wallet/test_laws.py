"""The laws hold against anybody who writes SQL as the site's role, and most of them against the tables' owner too."""

from datetime import UTC, datetime

import psycopg
import pytest

from tests.conftest import run
from tests.wallet.purses import balance, balances_and_rows, guest, in_atomic, person, purse
from wallet import corrections, services

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "INSERT INTO wallet_transaction (reference, kind, memo) VALUES ('{0}', '{1}', '') RETURNING id"
POST = """
INSERT INTO wallet_posting (transaction_id, source_id, destination_id, amount)
SELECT {transaction}, s.id, d.id, {amount} FROM wallet_account s, wallet_account d
WHERE s.code = '{0}' AND d.code = '{1}'"""
LAST = "(SELECT max(id) FROM wallet_transaction)"


def booked(reference: str, kind: str, *moves: tuple[str, str, int]) -> list[str]:
    """The statements that write a transaction by hand, as a forger would."""
    posts = [POST.format(a, b, transaction=LAST, amount=coins) for a, b, coins in moves]
    return [NEW.format(reference, kind), *posts]


ANA, BEN = "player:{ana}", "player:{ben}"
RESOLVE = (
    f"INSERT INTO wallet_resolution (transaction_id, fee_id) SELECT {LAST}, id FROM wallet_transaction "
    "WHERE reference = '{0}'"
)
REWARD = (
    "INSERT INTO wallet_reward (transaction_id, account_id, day, amount, offered) "
    f"SELECT {LAST}, id, '2026-01-31', 50, 50 FROM wallet_account WHERE code = '{ANA}'"
)

# The bypass, by the law that refuses it; names in braces are those of the stage below.
TRIES: list[tuple[str, str, list[str]]] = [
    ("L1 an empty transaction", "check_violation", [NEW.format("sitting:9:fee", "fee")]),
    (
        "L1 empty, looked at early",
        "check_violation",
        [NEW.format("sitting:9:fee", "fee"), "SET CONSTRAINTS ALL IMMEDIATE"],
    ),
    ("L2 an overdraft", "check_violation", booked("sitting:9:fee", "fee", (ANA, "room:88", 5001))),
    ("L2 an escrow overdrawn", "check_violation", booked("sitting:9:cashout", "cashout", ("stack:301", ANA, 1))),
    ("L2 an amount of 0", "check_violation", booked("sitting:9:fee", "fee", (ANA, "room:88", 0))),
    ("L2 an amount below 0", "check_violation", booked("sitting:9:fee", "fee", (ANA, "room:88", -5))),
    ("L2 an amount beyond all", "check_violation", booked("sitting:9:fee", "fee", (ANA, "room:88", 10**13))),
    ("L2 to itself", "check_violation", booked("match:9:hand", "hand", ("stack:301", "stack:301", 1))),
    ("L3 a balance set", "insufficient_privilege", ["UPDATE wallet_account SET balance = 1000000 WHERE code = '{0}'"]),
    ("L3 all balances set", "insufficient_privilege", ["UPDATE wallet_account SET balance = balance + 1"]),
    (
        "L3 an account with coins",
        "insufficient_privilege",
        ["INSERT INTO wallet_account (code, balance) VALUES ('room:9', 1000)"],
    ),
    ("L3 coins by conflict", "insufficient_privilege", [
        "INSERT INTO wallet_account (code) VALUES ('room:88') ON CONFLICT (code) DO UPDATE SET balance = 1000"
    ]),
    ("L3 an account reopened", "insufficient_privilege", ["UPDATE wallet_account SET closed = false"]),
    ("L3 an account renamed", "insufficient_privilege", ["UPDATE wallet_account SET code = 'room:9' WHERE id = 101"]),
    ("L3 an invented house", "check_violation", ["INSERT INTO wallet_account (code) VALUES ('house:mine')"]),
    ("L3 a house of one's own number", "insufficient_privilege", [
        "INSERT INTO wallet_account (id, code) VALUES (9, 'room:9')"
    ]),
    ("L3 a house by copy", "check_violation", ["INSERT INTO wallet_account (code) VALUES ('house:issue')"]),
    ("L4 a posting changed", "insufficient_privilege", ["UPDATE wallet_posting SET amount = amount + 1"]),
    ("L4 a posting removed", "insufficient_privilege", ["DELETE FROM wallet_posting"]),
    ("L4 a transaction changed", "insufficient_privilege", ["UPDATE wallet_transaction SET memo = 'x'"]),
    ("L4 a transaction removed", "insufficient_privilege", ["DELETE FROM wallet_transaction"]),
    ("L4 an account removed", "insufficient_privilege", ["DELETE FROM wallet_account"]),
    ("L4 a resolution removed", "insufficient_privilege", ["DELETE FROM wallet_resolution"]),
    ("L4 a reward moved to another day", "insufficient_privilege", ["UPDATE wallet_reward SET day = day - 1"]),
    ("L4 a seal changed", "insufficient_privilege", ["UPDATE wallet_seal SET transactions = 0"]),
    *(
        (f"L4 {table} emptied", "insufficient_privilege", [f"TRUNCATE wallet_{table} CASCADE"])
        for table in ("account", "transaction", "posting", "resolution", "reward", "correction", "seal")
    ),
    ("L4 a trigger switched off", "insufficient_privilege", ["ALTER TABLE wallet_posting DISABLE TRIGGER ALL"]),
    ("L4 a trigger dropped", "insufficient_privilege", ["DROP TRIGGER b_move ON wallet_posting"]),
    ("L4 triggers set aside", "insufficient_privilege", ["SET session_replication_role = replica"]),
    ("L4 a function replaced", "insufficient_privilege", [
        "CREATE OR REPLACE FUNCTION public.wallet_move() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'"
    ]),
    ("L4 a trigger of one's own", "insufficient_privilege", [
        "CREATE TRIGGER mine AFTER INSERT ON wallet_posting EXECUTE FUNCTION wallet_move()"
    ]),
    ("L4 a time of one's own", "insufficient_privilege", [
        "INSERT INTO wallet_transaction (reference, kind, memo, at) VALUES ('sitting:9:fee', 'fee', '', '2020-01-01')"
    ]),
    ("L4 a late posting", "restrict_violation", [
        POST.format(ANA, "room:88", transaction="{fee}", amount=1)
    ]),
    ("L4 a second statement of postings", "restrict_violation", [
        *booked("match:9:hand", "hand", ("stack:302", "stack:301", 1)),
        "SET CONSTRAINTS ALL IMMEDIATE",
        POST.format("stack:302", "stack:301", transaction=LAST, amount=1),
    ]),
    ("L4 a posting of nothing", "check_violation", [POST.format(ANA, "room:88", transaction="0", amount=1)]),
    ("L4 a posting's kind chosen", "insufficient_privilege", [
        "INSERT INTO wallet_posting (transaction_id, source_id, destination_id, amount, kind) VALUES (9, 1, 2, 5, 'x')"
    ]),
    ("L5 a reference twice", "unique_violation", booked("sitting:301:fee", "fee", (ANA, "room:88", 1))),
    ("L5 a reference of another kind", "check_violation", booked("sitting:9:fee", "refund", ("room:88", ANA, 600))),
    ("L5 a free reference", "check_violation", booked("gift", "welcome", ("house:issue", ANA, 600))),
    ("L6 a refund that ends no fee", "check_violation", booked("sitting:301:refund", "refund", ("room:88", ANA, 600))),
    ("L6 a payout that ends no fee", "check_violation", booked("match:9:payout", "payout", ("room:88", ANA, 600))),
    ("L6 a fee ended twice", "unique_violation", [
        NEW.format("match:9:payout", "payout"), RESOLVE.format("sitting:303:fee"),
        POST.format("room:88", BEN, transaction=LAST, amount=600),
    ]),
    ("L6 a fee ended for less", "check_violation", [
        NEW.format("sitting:301:refund", "refund"), RESOLVE.format("sitting:301:fee"),
        POST.format("room:88", ANA, transaction=LAST, amount=599),
    ]),
    ("L6 a fee to somebody else", "check_violation", [
        NEW.format("sitting:301:refund", "refund"), RESOLVE.format("sitting:301:fee"),
        POST.format("room:88", BEN, transaction=LAST, amount=600),
    ]),
    ("L6 a pot to a stranger", "check_violation", [
        NEW.format("match:9:payout", "payout"), RESOLVE.format("sitting:301:fee"),
        POST.format("room:88", BEN, transaction=LAST, amount=600),
    ]),
    ("L6 a fee of another room", "check_violation", [
        NEW.format("sitting:301:refund", "refund"), RESOLVE.format("sitting:301:fee"),
        POST.format("room:89", ANA, transaction=LAST, amount=600),
    ]),
    ("L6 a late resolution", "restrict_violation", [
        "INSERT INTO wallet_resolution (transaction_id, fee_id) VALUES ({refund}, {fee})"
    ]),
    ("L6 what is no fee ended", "check_violation", [
        NEW.format("match:9:payout", "payout"), RESOLVE.format("welcome:{0}"),
    ]),
    ("L8 coins made by a fee", "check_violation", booked("sitting:9:fee", "fee", ("house:issue", "room:88", 5))),
    ("L8 coins made by chips", "check_violation", booked("sitting:9:cashout", "cashout", ("house:issue", ANA, 5))),
    ("L8 coins made by a payout", "check_violation", booked("match:9:payout", "payout", ("house:issue", ANA, 5))),
    ("L8 a reward on no day", "check_violation", booked("match:9:reward", "reward", ("house:issue", ANA, 300))),
    ("L8 a reward of more than its row", "check_violation", [
        NEW.format("match:9:reward", "reward"),
        REWARD,
        POST.format("house:issue", ANA, transaction=LAST, amount=300),
    ]),
    ("L8 a correction of nobody", "check_violation", booked("correction:9", "correction", ("house:adjust", ANA, 5))),
    ("L8 from one player to another", "check_violation", booked("sitting:9:fee", "fee", (BEN, ANA, 5))),
    ("L8 back from the house", "check_violation", booked("closed:9", "closed", ("house:closed", ANA, 5))),
    ("L8 a pending correction booked", "check_violation", [
        NEW.format("correction:{correction}", "correction"),
        POST.format("house:adjust", ANA, transaction=LAST, amount=50),
    ]),
    ("L8 a correction approved by who asked", "check_violation", [
        NEW.format("correction:{correction}", "correction"),
        f"UPDATE wallet_correction SET status = 'approved', decided_by_id = requested_by_id, transaction_id = {LAST}",
    ]),
    ("L8 a correction approved by its owner", "check_violation", [
        NEW.format("correction:{correction}", "correction"),
        f"UPDATE wallet_correction SET status = 'approved', decided_by_id = {{ana_id}}, transaction_id = {LAST}",
    ]),
    ("L8 a correction made larger", "insufficient_privilege", ["UPDATE wallet_correction SET amount = 5000"]),
    ("L8 a correction without an end", "insufficient_privilege", [
        "UPDATE wallet_correction SET expires_at = now() + interval '1 year'"
    ]),
    ("L8 a correction approved and booked for more", "check_violation", [
        NEW.format("correction:{correction}", "correction"),
        f"UPDATE wallet_correction SET status = 'approved', decided_by_id = {{ben_id}}, transaction_id = {LAST}",
        POST.format("house:adjust", ANA, transaction=LAST, amount=500),
    ]),
    ("L9 a guest's account", "check_violation", [
        "INSERT INTO wallet_account (code, owner_id) VALUES ('player:{guest_id}', {guest_id})"
    ]),
    ("L9 an account under another's name", "check_violation", [
        "INSERT INTO wallet_account (code, owner_id) VALUES ('player:{guest_id}', {new_id})"
    ]),
    ("L9 an account of nobody", "check_violation", ["INSERT INTO wallet_account (code) VALUES ('player:{guest_id}')"]),
    ("L9 an owner turns guest", "check_violation", ["UPDATE players_player SET is_guest = true WHERE id = {ana_id}"]),
]  # fmt: skip


class Stage:
    """Ana with a fee paid, Ben with one refunded, a guest, a newcomer, a correction that waits."""

    def __init__(self) -> None:
        self.ana, self.ben = purse("Ana", 5000), purse("Ben", 5000)
        self.guest, self.new = guest("Gil"), person("Nia")
        self.fee = in_atomic(services.charge_fee, 301, 88, self.ana, 600)
        in_atomic(services.charge_fee, 303, 88, self.ben, 600)
        self.refund = in_atomic(services.refund_fee, 303, 88, self.ben, 600)
        in_atomic(services.charge_fee, 304, 89, self.ben, 600)
        in_atomic(services.open_stacks, [301, 302])
        move = services.Move(f"player:{self.ben}", "stack:302", 100)
        in_atomic(services.transfer, "sitting:302:buyin:1", "buyin", [move])
        in_atomic(services.reward, 1, self.ana, 50, datetime(2026, 1, 31, tzinfo=UTC))
        self.correction = corrections.request(self.ana, 50, "a match was lost", self.new)

    def fill(self, statement: str) -> str:
        return statement.format(
            f"{self.ana}", ana=self.ana, ben=self.ben, ana_id=self.ana, ben_id=self.ben, guest_id=self.guest,
            new_id=self.new, fee=self.fee.pk, refund=self.refund.pk, correction=self.correction.pk,
        )  # fmt: skip


def refused(url: str, statements: list[str]) -> str:
    """The name of the error that stops these statements or their commit."""
    try:
        with psycopg.connect(url) as connection:
            for statement in statements:
                connection.execute(statement.encode())
    except psycopg.Error as error:
        return str(psycopg.errors.lookup(error.sqlstate or "").__name__)
    return "done"


NAMES = {
    "check_violation": "CheckViolation",
    "insufficient_privilege": "InsufficientPrivilege",
    "restrict_violation": "RestrictViolation",
    "unique_violation": "UniqueViolation",
}


def test_every_bypass_as_the_sites_role_is_refused() -> None:
    stage = Stage()
    before = balances_and_rows()
    through = []
    for name, expected, statements in TRIES:
        got = refused(run.environment()["DATABASE_URL"], [stage.fill(one) for one in statements])
        if got != NAMES[expected]:
            through.append(f"{name}: {got}")
    assert not through
    assert balances_and_rows() == before
    print(f"direct SQL as the site's role: {len(TRIES)}/{len(TRIES)} refused")


def test_what_is_right_is_not_refused() -> None:
    """The control: the same statements with nothing wrong in them go through, so it is the laws that refuse."""
    stage = Stage()
    for statements in (
        booked("sitting:9:fee", "fee", (ANA, "room:88", 5)),
        [
            NEW.format("sitting:301:refund", "refund"), RESOLVE.format("sitting:301:fee"),
            POST.format("room:88", ANA, transaction=LAST, amount=600),
        ],
        [
            NEW.format("correction:{correction}", "correction"),
            f"UPDATE wallet_correction SET status = 'approved', decided_by_id = {{ben_id}}, transaction_id = {LAST}",
            POST.format("house:adjust", ANA, transaction=LAST, amount=50),
        ],
    ):  # fmt: skip
        assert refused(run.environment()["DATABASE_URL"], [stage.fill(one) for one in statements]) == "done"
    assert balance(stage.ana) == 5000 + 50 + 50 - 5


OWNERS = [
    "UPDATE wallet_account SET balance = 1000000 WHERE code = '{ana_code}'",
    "UPDATE wallet_account SET closed = true",
    "DELETE FROM wallet_account",
    "INSERT INTO wallet_account (code, balance) VALUES ('room:9', 5)",
    "UPDATE wallet_posting SET amount = amount + 1",
    "DELETE FROM wallet_posting",
    "UPDATE wallet_transaction SET at = at - interval '1 day'",
    "DELETE FROM wallet_transaction",
    "DELETE FROM wallet_resolution",
    "UPDATE wallet_reward SET day = day - 1",
    "DELETE FROM wallet_correction",
    "UPDATE wallet_correction SET amount = 5000",
    *(
        f"TRUNCATE wallet_{table} CASCADE"
        for table in ("account", "transaction", "posting", "resolution", "reward", "correction", "seal")
    ),
]


def test_not_even_the_owner_of_the_tables_changes_what_is_written() -> None:
    stage = Stage()
    before = balances_and_rows()
    for statement in OWNERS:
        got = refused(
            run.environment()["DATABASE_OWNER_URL"],
            [stage.fill(statement.replace("{ana_code}", f"player:{stage.ana}"))],
        )
        assert got in {"RestrictViolation", "CheckViolation"}, (statement, got)
    assert balances_and_rows() == before


def test_a_house_account_keeps_no_balance() -> None:
    stage = Stage()
    in_atomic(services.close_account, stage.ana)
    assert balance("house:closed") == 4450
    with psycopg.connect(run.environment()["DATABASE_URL"]) as connection:
        rows = connection.execute("SELECT sum(balance) FROM wallet_account WHERE id <= 100").fetchone()
    assert rows == (0,)
