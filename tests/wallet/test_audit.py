"""check_ledger says what does not hold, whoever did it, and the seals show what was altered behind the laws' back."""

import io
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import override_settings

from tests.conftest import run
from tests.wallet import bank, mass
from tests.wallet.purses import in_atomic, person, purse
from wallet import audit, corrections, seals, services, tasks
from wallet.models import Seal, Transaction

pytestmark = pytest.mark.django_db(transaction=True)


def check(*arguments: str) -> tuple[int, list[str]]:
    """The exit code and the lines of manage.py check_ledger."""
    out = io.StringIO()
    try:
        call_command("check_ledger", *arguments, stdout=out)
        code = 0
    except SystemExit as end:
        code = int(str(end.code))
    return code, out.getvalue().splitlines()


def all_kinds() -> int:
    """A ledger with every kind of transaction; Ana."""
    ana, ben = purse("Ana", 5000), purse("Ben", 5000)
    for sitting, player in ((301, ana), (302, ben), (303, ben), (304, ben)):
        in_atomic(services.charge_fee, sitting, 88 + sitting // 304, player, 101)
    in_atomic(services.refund_fee, 303, 88, ben, 101)
    in_atomic(services.pay_out, 95, 88, {301: 101, 302: 101}, [ana, ben])
    in_atomic(services.abandon_pot, 96, 89, {304: 101})
    in_atomic(services.reward, 97, ana, 300, datetime(2026, 1, 31, tzinfo=UTC))
    in_atomic(services.open_stacks, [301, 302])
    for reference, kind, move in (
        ("sitting:301:buyin:1", "buyin", services.Move(f"player:{ana}", "stack:301", 400)),
        ("match:98:hand", "hand", services.Move("stack:301", "stack:302", 150)),
        ("sitting:302:cashout", "cashout", services.Move("stack:302", f"player:{ben}", 150)),
    ):
        in_atomic(services.transfer, reference, kind, [move])
    corrections.approve(corrections.request(ana, 50, "a lost pot", person("Mo")).pk, person("Sam"))
    in_atomic(services.close_account, ben)
    return ana


def test_a_ledger_of_every_kind_holds() -> None:
    assert check() == (0, ["The ledger holds."])
    all_kinds()
    assert check() == (0, ["The ledger holds."])
    seals.seal_days(datetime.now(UTC) + timedelta(days=1, hours=1))
    assert check() == (0, ["The ledger holds."])


def behind_the_back(*statements: str) -> None:
    """What the owner of the tables can do who switches the guards off and on again."""
    with psycopg.connect(run.environment()["DATABASE_OWNER_URL"], autocommit=True) as owner:
        tables = ("account", "transaction", "posting", "resolution", "reward", "correction", "seal")
        for table in tables:
            owner.execute(f"ALTER TABLE wallet_{table} DISABLE TRIGGER USER".encode())
        for statement in statements:
            owner.execute(statement.encode())
        for table in tables:
            owner.execute(f"ALTER TABLE wallet_{table} ENABLE TRIGGER USER".encode())


ALTERED = {
    "UPDATE wallet_account SET balance = balance + 5 WHERE code = 'stack:301'": {"balance", "sum"},
    "UPDATE wallet_posting SET amount = amount + 1 WHERE kind = 'fee'": {"balance", "resolution", "seal"},
    "UPDATE wallet_posting SET kind = 'hand' WHERE kind = 'buyin'": {"posting", "way"},
    "UPDATE wallet_transaction SET memo = 'x' WHERE reference = 'match:95:payout'": {"seal"},
    "UPDATE wallet_transaction SET at = at - interval '2 days' WHERE reference = 'match:95:payout'": {"seal"},
    "UPDATE wallet_transaction SET reference = 'match:99:payout' WHERE reference = 'match:95:payout'": {"seal"},
    "DELETE FROM wallet_resolution WHERE fee_id = (SELECT id FROM wallet_transaction WHERE reference = "
    "'sitting:301:fee')": {"escrow", "resolution", "seal"},
    "DELETE FROM wallet_posting WHERE kind = 'hand'": {"balance", "empty", "seal"},
    "DELETE FROM wallet_reward": {"reward"},
    "UPDATE players_player SET closed_at = now(), is_active = false WHERE shown_name = 'Ana'": {"closed"},
    "UPDATE wallet_correction SET amount = 49": {"correction"},
    "UPDATE wallet_seal SET digest = repeat('0', 64)": {"seal"},
    "INSERT INTO wallet_transaction (reference, kind, memo) VALUES ('sitting:9:fee', 'fee', '')": {"empty", "seal"},
}


@pytest.mark.parametrize("statement", ALTERED)
def test_what_the_owner_alters_is_found(statement: str) -> None:
    all_kinds()
    seals.seal_days(datetime.now(UTC) + timedelta(days=1, hours=1))
    behind_the_back(statement)
    code, lines = check()
    assert code == 1
    assert ALTERED[statement] <= {line.split(":")[0].split(" ")[0] for line in lines}, lines


def test_a_guard_that_is_off_is_found() -> None:
    with psycopg.connect(run.environment()["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("ALTER TABLE wallet_posting DISABLE TRIGGER b_move")
        try:
            assert check() == (1, ["guard: wallet_posting: its trigger b_move is missing or switched off"])
        finally:
            owner.execute("ALTER TABLE wallet_posting ENABLE TRIGGER b_move")


def test_a_room_that_is_over_must_be_empty() -> None:
    in_atomic(services.charge_fee, 301, 88, purse("Ana", 5000), 101)
    assert check() == (0, ["The ledger holds."])
    assert check("--closed-room", "88", "--closed-room", "89") == (1, ["open: room:88: is over and holds 101"])


def over() -> Iterator[str]:
    return audit.left_open(rooms=[88])


def test_checks_of_others_are_asked() -> None:
    in_atomic(services.charge_fee, 301, 88, purse("Ana", 5000), 101)
    with override_settings(LEDGER_CHECKS=["tests.wallet.test_audit.over"]):
        assert check() == (1, ["open: room:88: is over and holds 101"])
        assert tasks.check_ledger() == 1


def test_days_are_sealed_one_after_the_other_and_once() -> None:
    purse("Ana", 5000)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    assert seals.seal_days() == []
    assert seals.seal_days(today + timedelta(days=1, minutes=5)) == []  # a transaction may still run
    days = [(today + timedelta(days=number)).date() for number in range(3)]
    assert seals.seal_days(today + timedelta(days=3, minutes=11)) == days
    assert seals.seal_days(today + timedelta(days=3, minutes=11)) == []
    assert list(Seal.objects.order_by("day").values_list("day", "transactions")) == [
        (days[0], 1), (days[1], 0), (days[2], 0),
    ]  # fmt: skip
    assert len(set(Seal.objects.values_list("digest", flat=True))) == 3


def test_a_day_that_nobody_sealed_is_found() -> None:
    purse("Ana", 5000)
    today = datetime.now(UTC).date()
    assert list(in_atomic(lambda: list(seals.broken(today + timedelta(days=1))))) == []
    assert list(in_atomic(lambda: list(seals.broken(today + timedelta(days=2))))) == [
        f"seal {today}: missing, and so are later ones"
    ]


def test_the_check_is_safe_while_coins_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast it is: the writers go on until two seconds of checks, and four of them, are done."""
    bank.filled(10, 500)
    over = threading.Event()
    # The writers' second is over when it is said so.
    monkeypatch.setattr(bank, "time", SimpleNamespace(monotonic=lambda: 2.0 * over.is_set()))
    with bank.many_connections(6):
        writers = threading.Thread(target=bank.run, args=(4, 10, 1))
        writers.start()
        try:
            found: list[str] = []
            booked: list[int] = []
            ends = time.monotonic() + 2
            while len(booked) < 4 or time.monotonic() < ends:
                booked.append(more_than(booked[-1] if booked else 10))
                found += audit.findings([moves_in_between])
        finally:
            over.set()
            writers.join()
    connection.close()
    assert found == []


def moves_in_between() -> Iterator[str]:
    """A check that reads twice, as those of rooms do."""
    before = Transaction.objects.count()
    time.sleep(0.1)
    if (now := Transaction.objects.count()) != before:
        yield f"snapshot: {before} transactions, then {now}"


def more_than(before: int) -> int:
    """How many transactions there are, once there are more."""
    ends = time.monotonic() + 30
    while (now := Transaction.objects.count()) <= before:
        assert time.monotonic() < ends, "no coins move"
        time.sleep(0.005)
    return now


@pytest.mark.parametrize(("postings", "days"), [(20_000, 20), pytest.param(1_000_000, 300, marks=pytest.mark.soak)])
def test_a_large_ledger_is_checked_in_time(postings: int, days: int) -> None:
    count = mass.fill(postings, days)
    start = time.monotonic()
    sealed = seals.seal_days()
    middle = time.monotonic()
    assert check()[0] == 0
    end = time.monotonic()
    print(f"{count} postings: {len(sealed)} days sealed in {middle - start:.1f} s, checked in {end - middle:.1f} s")
    assert end - middle < 120
    first = "(SELECT min(id) FROM wallet_posting WHERE kind = 'payout')"
    behind_the_back(f"UPDATE wallet_posting SET amount = amount + 1 WHERE id = {first}")
    code, lines = check()
    assert code == 1 and {line.split(":")[0].split(" ")[0] for line in lines} >= {"balance", "resolution", "seal"}
