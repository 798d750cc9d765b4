"""Measures the coins of rooms: matches settled at a steady pace while people sit down and pay.

On servers of its own, which write durably; the work is shared by processes, as a site's web processes share it. Run by
`make bench`, or `python -m tests.bench.settling --rooms 1200 --pace 60`."""

import argparse
import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import NamedTuple

from tests.support.services import Run
from tests.support.site import SHORT

THREADS = 4  # as many as settle at a time in a process; a web process has SOCKET_THREADS of them
SITTERS = 2  # people in each process who sit down, pay, get up and do it again
PAUSE_SECONDS = 0.05  # between one sitting and the next of the same person
SETUP_SECONDS = 6.0  # until both processes have loaded the code
WARM_SECONDS = 2.0  # of matches at the same pace before it counts: connections open, statements are prepared


class Share(NamedTuple):
    """What one process does: which matches end when, who sits down where meanwhile, and from when on it counts."""

    matches: list[tuple[int, float]]
    sitters: list[tuple[int, int]]
    counts_from: float


class Figures(NamedTuple):
    """Seconds that each settling and each sitting took, and when the last match was settled."""

    settled: list[float]
    sat: list[float]
    ended: float


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> None:
    """Prepare paid matches that lack their last tile, then let them end at `--pace` a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", type=int, default=600, help="matches to settle (default 600)")
    parser.add_argument("--pace", type=float, default=60.0, help="matches a second (default 60)")
    parser.add_argument("--processes", type=int, default=2, help="processes that share the work (default 2)")
    options = parser.parse_args()
    run = Run(durable=True)
    os.environ.update(
        SHORT | run.environment() | {"DJANGO_SETTINGS_MODULE": "dominopoker.settings", "LOG_LEVEL": "ERROR"}
    )
    os.environ["DATABASE_POOL_SIZE"] = "16"
    try:
        run.prepare()
        measure(options.rooms, options.pace, options.processes)
    finally:
        run.close()


def measure(rooms: int, pace: float, processes: int) -> None:
    """Print what was reached."""
    import django

    django.setup()
    from rooms.models import Room
    from tests.rooms.gold import paid, rich
    from tests.rooms.test_paid_kill import near_the_end
    from wallet import selectors as wallet

    warm = round(WARM_SECONDS * pace)
    print(f"preparing {warm} + {rooms} paid matches ...", flush=True)
    ready = [near_the_end([rich(f"Ana {n}"), rich(f"Ben {n}")], 0.0).pk for n in range(warm + rooms)]
    people = processes * SITTERS
    waiting = [(paid(7, rich(f"Host {n}")).pk, rich(f"Sitter {n}").pk) for n in range(people)]
    began = time.time() + SETUP_SECONDS
    due = [(room_id, began + number / pace) for number, room_id in enumerate(ready)]
    counts_from = due[warm][1]
    shares = [Share(due[one::processes], waiting[one::processes], counts_from) for one in range(processes)]
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        figures = list(pool.map(work, shares))
    spent = max(one.ended for one in figures) - counts_from
    settled = [value for one in figures for value in one.settled]
    sat = [value for one in figures for value in one.sat]
    unfinished = Room.objects.filter(pk__in=ready).exclude(status="finished").count()

    def spread(values: list[float]) -> str:
        return f"{1e3 * percentile(values, 0.5):.1f} / {1e3 * percentile(values, 0.99):.1f} ms"

    print(f"settled                     {rooms / spent:.1f} rooms a second ({unfinished} not finished)")
    print(f"settling one, p50 / p99     {spread(settled)}")
    print(f"fee at sitting, p50 / p99   {spread(sat)} ({len(sat)} times, {len(sat) / spent:.0f} a second)")
    print(f"ledger's total              {sum(wallet.totals().values())} coins")


def work(share: Share) -> Figures:
    """One process's share of it, from when the first match is due."""
    import django

    django.setup()
    from django.db import connection

    from players.models import Player
    from rooms import closing, playing, seating

    over = threading.Event()
    settled: list[float] = []
    sat: list[float] = []
    first = share.matches[0][1]

    def settle(match: tuple[int, float]) -> None:
        room_id, due = match
        time.sleep(max(0.0, due - time.time()))
        from_here = time.monotonic()
        playing.ring(room_id)
        if due >= share.counts_from:
            settled.append(time.monotonic() - from_here)
        connection.close()

    def sit(sitter: tuple[int, int]) -> None:
        room_id, player_id = sitter
        player = Player.objects.get(pk=player_id)
        time.sleep(max(0.0, first - time.time()))
        while not over.is_set():
            from_here = time.monotonic()
            seating.sit(player, room_id, agreed_fee=7)
            if time.time() >= share.counts_from:
                sat.append(time.monotonic() - from_here)
            closing.leave(room_id, player_id)
            time.sleep(PAUSE_SECONDS)
        connection.close()

    with ThreadPoolExecutor(THREADS + len(share.sitters)) as pool:
        people = [pool.submit(sit, sitter) for sitter in share.sitters]
        list(pool.map(settle, share.matches))
        ended = time.time()
        over.set()
        for one in people:
            one.result()
    return Figures(settled, sat, ended)


if __name__ == "__main__":
    main()
