"""Many hands at once: nothing is spent twice, paid twice or lost, and without the lock it would be."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.conftest import run
from tests.support.services import clone, superuser
from tests.wallet import bank
from tests.wallet.purses import balance, in_atomic, purse, total
from wallet import audit, errors, services

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """What each call gave, or the code of its refusal."""
    gate = Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        try:
            gate.wait(10)
            return in_atomic(call)
        except errors.WalletError as error:
            return error.code
        finally:
            connection.close()

    with bank.many_connections(len(calls)), ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def test_twenty_debits_of_one_wallet_are_one() -> None:
    ana = purse("Ana", 5000)
    in_atomic(services.charge_fee, 1, 1, ana, 4000)
    results = at_once([lambda n=n: services.charge_fee(n, n, ana, 600) for n in range(2, 22)])  # type: ignore[misc]
    assert Counter(map(str, results))["insufficient_funds"] == 19
    assert (balance(ana), total()) == (400, 0)
    assert list(audit.findings()) == []


def test_the_same_call_five_times_at_once_has_one_effect() -> None:
    ana, ben = purse("Ana", 5000), purse("Ben", 5000)
    for call in (
        lambda: services.welcome(ana),
        lambda: services.charge_fee(301, 88, ana, 101),
        lambda: services.charge_fee(302, 88, ben, 101),
        lambda: services.charge_fee(303, 88, ben, 101),
        lambda: services.refund_fee(303, 88, ben, 101),
        lambda: services.pay_out(95, 88, {301: 101, 302: 101}, [ben, ana]),
        lambda: services.reward(96, ana, 300, datetime(2026, 1, 31, tzinfo=UTC)),
        lambda: services.close_account(ana),
    ):
        results = at_once([call] * 5)
        assert len({result.pk for result in results}) == 1
    assert (balance(ana), balance(ben), balance("room:88"), total()) == (0, 5041, 0, 0)
    assert balance("house:closed") == 5000 - 101 + 60 + 300
    assert list(audit.findings()) == []


@pytest.mark.parametrize("pairs", [20, pytest.param(1000, marks=pytest.mark.soak)])
def test_of_a_refund_and_a_payout_at_once_one_wins(pairs: int) -> None:
    ana = purse("Ana", 5000)
    for number in range(1, pairs + 1):
        in_atomic(services.charge_fee, number, number, ana, 1)
        results = at_once(
            [
                lambda n=number: services.refund_fee(n, n, ana, 1),  # type: ignore[misc]
                lambda n=number: services.pay_out(n, n, {n: 1}, [ana]),  # type: ignore[misc]
                lambda n=number: services.abandon_pot(n, n, {n: 1}),  # type: ignore[misc]
            ]
        )
        assert results.count("already_resolved") == 2
        assert balance(f"room:{number}") == 0
    assert total() == 0
    assert list(audit.findings()) == []


@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.soak)])
def test_the_bank_keeps_every_coin(seconds: int) -> None:
    bank.filled(50, 500)
    with bank.many_connections(16):
        counts = bank.run(16, 50, seconds)
    print(f"bank: {counts['done'] / seconds:.0f} transfers/s, {counts['refused']} overdrafts refused, {dict(counts)}")
    assert set(counts) == {"done", "refused"}, counts
    assert sum(balance(f"stack:{number}") for number in range(1, 51)) == 25_000
    assert total() == 0
    assert list(audit.findings()) == []


@pytest.fixture
def scratch(services: Any) -> Iterator[str]:
    """A database whose CHECK against overdrafts is gone, with stacks 1 and 2 of 1000 coins; its address."""
    name = f"scratch_{run.database}"
    clone(run.services, name)
    url = run.services.postgres.url("app", name)
    try:
        with psycopg.connect(run.services.postgres.url("owner", name)) as owner:
            owner.execute("ALTER TABLE wallet_account DROP CONSTRAINT wallet_balance_not_negative")
        with psycopg.connect(url) as app:
            app.execute("INSERT INTO wallet_account (code) VALUES ('stack:1'), ('stack:2'), ('stack:3')")
            write(app, 1, "stack:3", "stack:1", 1000)
            write(app, 2, "stack:3", "stack:2", 1000)
        yield url
    finally:
        with superuser(run.services) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def write(app: "psycopg.Connection[Any]", match: int, source: str, destination: str, coins: int) -> None:
    app.execute(
        "WITH made AS (INSERT INTO wallet_transaction (reference, kind, memo) VALUES (%s, 'hand', '') RETURNING id) "
        "SELECT id FROM made",
        [f"match:{match}:hand"],
    )
    app.execute(
        "INSERT INTO wallet_posting (transaction_id, source_id, destination_id, amount) "
        "SELECT t.id, s.id, d.id, %s FROM wallet_transaction t, wallet_account s, wallet_account d "
        "WHERE t.reference = %s AND s.code = %s AND d.code = %s",
        [coins, f"match:{match}:hand", source, destination],
    )


def spend(url: str, *, locked: bool) -> int:
    """Ten spend 600 of the 1000 coins of stack 1 at once, each after a look at the balance; what is left."""
    gate = Barrier(10)

    def one(match: int) -> None:
        with psycopg.connect(url) as app:
            if locked:
                gate.wait(10)
                row = app.execute("SELECT balance FROM wallet_lock(ARRAY['stack:1', 'stack:2'])").fetchone()
            else:
                row = app.execute("SELECT balance FROM wallet_account WHERE code = 'stack:1'").fetchone()
                gate.wait(10)
            assert row is not None
            if row[0] >= 600:
                write(app, match, "stack:1", "stack:2", 600)

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(one, range(10, 20)))
    with psycopg.connect(url) as app:
        row = app.execute("SELECT balance FROM wallet_account WHERE code = 'stack:1'").fetchone()
    assert row is not None
    return int(row[0])


def test_without_the_lock_coins_would_be_spent_twice(scratch: str) -> None:
    """The control: with neither lock nor CHECK the race is real, and the lock alone ends it."""
    assert spend(scratch, locked=False) == 1000 - 10 * 600


def test_the_lock_alone_keeps_coins_from_being_spent_twice(scratch: str) -> None:
    assert spend(scratch, locked=True) == 400


def lock_crosswise(url: str, *, in_order: bool) -> list[str]:
    """Two lock the same two accounts, each naming its own first; how it ended for them."""
    gate = Barrier(2)

    def one(names: tuple[str, str]) -> str:
        try:
            with psycopg.connect(url) as app:
                if in_order:
                    gate.wait(10)
                    app.execute("SELECT wallet_lock(%s)", [list(names)])
                else:
                    app.execute("SELECT wallet_lock(%s)", [[names[0]]])
                    gate.wait(10)
                    app.execute("SELECT wallet_lock(%s)", [[names[1]]])
            return "done"
        except psycopg.errors.DeadlockDetected:
            return "deadlock"

    with ThreadPoolExecutor(2) as pool:
        return sorted(pool.map(one, [("stack:1", "stack:2"), ("stack:2", "stack:1")]))


def test_locks_out_of_order_would_wait_for_each_other(scratch: str) -> None:
    """The control of the order."""
    assert lock_crosswise(scratch, in_order=False) == ["deadlock", "done"]


def test_locks_in_order_never_wait_for_each_other(scratch: str) -> None:
    for _again in range(20):
        assert lock_crosswise(scratch, in_order=True) == ["done", "done"]
