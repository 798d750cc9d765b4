"""The bank test: many writers move coins between few accounts, at random and beyond what is there."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import OperationalError, connection, connections, transaction

from tests.wallet.purses import purse
from wallet import services
from wallet.errors import InsufficientFunds
from wallet.services import Move


@contextmanager
def many_connections(count: int) -> Iterator[None]:
    """A pool large enough that writers wait for each other in the database and not before it."""
    pool = settings.DATABASES["default"]["OPTIONS"]["pool"]
    before = pool["max_size"]
    connections["default"].close()
    connections["default"].close_pool()  # type: ignore[attr-defined]
    pool["max_size"] = count
    try:
        yield
    finally:
        connections["default"].close()
        connections["default"].close_pool()  # type: ignore[attr-defined]
        pool["max_size"] = before


def filled(accounts: int, coins: int) -> None:
    """Stacks 1 to `accounts` of so many coins each, bought by players with their welcome bonus."""
    seats = 5000 // coins
    player_id = 0
    with transaction.atomic():
        services.open_stacks(range(1, accounts + 1))
        for number in range(1, accounts + 1):
            if (number - 1) % seats == 0:
                player_id = purse(f"Banker{number}", 5000)
            move = Move(f"player:{player_id}", f"stack:{number}", coins)
            services.transfer(f"sitting:{number}:buyin:1", "buyin", [move])


def run(writers: int, accounts: int, seconds: float) -> Counter[str]:
    """Let them write; how many transfers were done and refused, and how many deadlocks and other errors there were."""
    counts: Counter[str] = Counter()
    lock = threading.Lock()
    gate = threading.Barrier(writers)

    def write(writer: int) -> None:
        draw = random.Random(writer)
        mine: Counter[str] = Counter()
        match = writer * 10_000_000
        gate.wait(10)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            match += 1
            seats = draw.sample(range(1, accounts + 1), 4)
            most = 10_000 if draw.random() < 0.1 else 200
            moves = [
                Move(f"stack:{loser}", f"stack:{seats[0]}", draw.randint(1, most))
                for loser in seats[1 : draw.randint(2, 4)]
            ]
            try:
                with transaction.atomic():
                    services.transfer(f"match:{match}:hand", "hand", moves)
                mine["done"] += 1
            except InsufficientFunds:
                mine["refused"] += 1
            except OperationalError as error:
                mine["deadlocks" if "deadlock" in str(error) else "errors"] += 1
            except Exception as error:  # noqa: BLE001  whatever it is, it is a violation
                mine[f"errors: {error}"] += 1
        connection.close()
        with lock:
            counts.update(mine)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, writers + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts
