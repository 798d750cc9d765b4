"""Figures of the wallet's services: transfers a second, paid rooms settled a second, and how long a fee takes then."""

import queue
import threading
import time
from collections.abc import Callable

from django.db import connections, transaction

from tests.wallet import bank
from tests.wallet.purses import purse, total
from wallet import audit, services

FEE = 10
PEOPLE = 400
WRITERS = 8
ROOMS_A_SECOND = 60


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def show(what: str, value: float, unit: str) -> None:
    print(f"{what:<58} {value:>10.1f} {unit}", flush=True)


class Rooms:
    """Paid rooms, one after the other: four sit down, each in a transaction of its own, and one more ends the match."""

    def __init__(self, people: list[int]) -> None:
        self.people = people
        self.fee_ms: list[float] = []
        self.payout_ms: list[float] = []
        self._lock = threading.Lock()

    def play(self, room: int) -> None:
        seats = [self.people[(room * 4 + seat) % len(self.people)] for seat in range(4)]
        fees = {room * 4 + seat: FEE for seat in range(4)}
        spent = [
            timed(lambda sitting=sitting, player=player: services.charge_fee(sitting, room, player, FEE))  # type: ignore[misc]
            for sitting, player in zip(fees, seats, strict=True)
        ]
        paid = timed(lambda: services.pay_out(room, room, fees, seats))
        with self._lock:
            self.fee_ms += spent
            self.payout_ms.append(paid)


def timed(call: Callable[[], object]) -> float:
    """Milliseconds of one transaction, to the end of its commit."""
    start = time.perf_counter()
    with transaction.atomic():
        call()
    return (time.perf_counter() - start) * 1000


def in_threads(job: Callable[[int], None]) -> None:
    def one(number: int) -> None:
        try:
            job(number)
        finally:
            connections["default"].close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure(seconds: float) -> None:
    """Print the figures from so many seconds each."""
    people = [purse(f"Player{number}", 5000) for number in range(PEOPLE)]
    bank.filled(50, 500)
    counts = bank.run(16, 50, seconds)
    assert set(counts) <= {"done", "refused"}, counts
    show("wallet: transfers between 50 accounts by 16 writers", counts["done"] / seconds, "per second")

    rooms = Rooms(people)
    until = time.monotonic() + seconds

    def as_many_as_possible(writer: int) -> None:
        room = 1_000_000 * (writer + 1)
        while time.monotonic() < until:
            rooms.play(room)
            room += 1

    in_threads(as_many_as_possible)
    show("wallet: paid rooms of 4 fees and a payout, at most", len(rooms.payout_ms) / seconds, "per second")

    rooms = Rooms(people)
    waiting: queue.Queue[int | None] = queue.Queue()

    def at_the_door(_writer: int) -> None:
        while (room := waiting.get()) is not None:
            rooms.play(room)

    def bring() -> None:
        start = time.monotonic()
        for number in range(int(seconds * ROOMS_A_SECOND)):
            time.sleep(max(0.0, start + number / ROOMS_A_SECOND - time.monotonic()))
            waiting.put(100_000_000 + number)
        for _writer in range(WRITERS):
            waiting.put(None)

    bringer = threading.Thread(target=bring)
    start = time.monotonic()
    bringer.start()
    in_threads(at_the_door)
    took = time.monotonic() - start
    show(f"wallet: rooms settled when {ROOMS_A_SECOND} a second come", len(rooms.payout_ms) / took, "per second")
    show("wallet: a fee then, median", percentile(rooms.fee_ms, 0.5), "ms")
    show("wallet: a fee then, p99 (to be below 50)", percentile(rooms.fee_ms, 0.99), "ms")
    show("wallet: a payout then, p99", percentile(rooms.payout_ms, 0.99), "ms")
    findings = list(audit.findings())
    assert not findings and total() == 0, findings
