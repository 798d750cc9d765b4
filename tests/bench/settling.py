"""Measures the coins of rooms on servers of its own: matches settled at a steady pace while people sit down and pay.

Run by `make bench`, or `python -m tests.bench.settling --rooms 600 --pace 60`."""

import argparse
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.support.services import Run
from tests.support.site import SHORT

THREADS = 4  # as many as settle at a time; a web process has SOCKET_THREADS of them


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> None:
    """Prepare paid matches that lack their last tile, then let them end at `--pace` a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", type=int, default=300, help="matches to settle (default 300)")
    parser.add_argument("--pace", type=float, default=60.0, help="matches a second (default 60)")
    options = parser.parse_args()
    run = Run()
    os.environ.update(
        SHORT | run.environment() | {"DJANGO_SETTINGS_MODULE": "dominopoker.settings", "LOG_LEVEL": "ERROR"}
    )
    os.environ["DATABASE_POOL_SIZE"] = "16"
    try:
        run.prepare()
        measure(options.rooms, options.pace)
    finally:
        run.close()


def measure(rooms: int, pace: float) -> None:
    """Print what was reached."""
    import django

    django.setup()
    from django.db import connection

    from rooms import closing, playing, seating
    from rooms.models import Room
    from tests.rooms.test_paid import paid, rich
    from tests.rooms.test_paid_kill import near_the_end
    from wallet import selectors as wallet

    print(f"preparing {rooms} paid matches ...", flush=True)
    ready = [near_the_end([rich(f"Ana {n}"), rich(f"Ben {n}")], 0.0) for n in range(rooms)]
    waiting = [paid(7, rich(f"Host {n}")) for n in range(3)]
    sitters = [rich(f"Sitter {n}") for n in range(len(waiting))]
    over = threading.Event()
    settled: list[float] = []
    sat: list[float] = []
    began = time.monotonic()

    def settle(number: int) -> None:
        due = began + number / pace
        time.sleep(max(0.0, due - time.monotonic()))
        from_here = time.monotonic()
        playing.ring(ready[number].pk)
        settled.append(time.monotonic() - from_here)
        connection.close()

    def sit(number: int) -> None:
        while not over.is_set():
            from_here = time.monotonic()
            seating.sit(sitters[number], waiting[number].pk, agreed_fee=7)
            sat.append(time.monotonic() - from_here)
            closing.leave(waiting[number].pk, sitters[number].pk)
            time.sleep(0.05)
        connection.close()

    with ThreadPoolExecutor(THREADS + len(sitters)) as pool:
        people = [pool.submit(sit, number) for number in range(len(sitters))]
        began = time.monotonic()
        list(pool.map(settle, range(rooms)))
        spent = time.monotonic() - began
        over.set()
        for one in people:
            one.result()
    unfinished = Room.objects.filter(pk__in=[room.pk for room in ready]).exclude(status="finished").count()

    def spread(values: list[float]) -> str:
        return f"{1e3 * percentile(values, 0.5):.1f} / {1e3 * percentile(values, 0.99):.1f} ms"

    print(f"settled                     {rooms / spent:.1f} rooms a second ({unfinished} not finished)")
    print(f"settling one, p50 / p99     {spread(settled)}")
    print(f"fee at sitting, p50 / p99   {spread(sat)} ({len(sat)} times)")
    print(f"ledger's total              {sum(wallet.totals().values())} coins")


if __name__ == "__main__":
    main()
