"""Measures statistics on servers of its own: recording and rating matches, making all anew, and pages over many.

Run by `make bench`, or `python -m tests.bench.statistics --matches 2000 --facts 50000`."""

import argparse
import os
import time
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

from tests.support.services import Run
from tests.support.site import SHORT

PEOPLE = 2000
ROUNDS = 7
ANEW = 5  # how often a page is asked for; the median counts


def main() -> None:
    """Write matches with their logs for what reads logs, and many bare facts for what reads facts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=1000, help="matches with their logs (default 1000)")
    parser.add_argument("--facts", type=int, default=50_000, help="matches of which only facts exist (default 50000)")
    options = parser.parse_args()
    run = Run()
    os.environ.update(
        SHORT | run.environment() | {"DJANGO_SETTINGS_MODULE": "dominopoker.settings", "LOG_LEVEL": "ERROR"}
    )
    try:
        run.prepare()
        measure(options.matches, options.facts)
    finally:
        run.close()


def timed(what: Callable[[], Any]) -> float:
    """Seconds that it takes."""
    began = time.monotonic()
    what()
    return time.monotonic() - began


def measure(matches: int, facts: int) -> None:
    """Print what was reached."""
    import django

    django.setup()
    from django.db import connection
    from django.utils import timezone

    from players.models import Player
    from stats import services
    from stats.models import MatchFact
    from tests.stats.people import season, visit

    people = Player.objects.bulk_create(
        Player(username=f"p{number}", shown_name=f"Player {number}", name_key=f"p{number}", username_key=f"p{number}")
        for number in range(PEOPLE)
    )
    print(f"playing {matches} matches of {ROUNDS} rounds ...", flush=True)
    season(people[:40], matches, rounds=ROUNDS)
    MatchFact.objects.all().delete()
    anew = timed(services.rebuild)
    print(f"rebuild_stats               {matches / anew:.0f} matches a second (facts and ratings)")
    print(f"writing the facts of {facts} matches ...", flush=True)
    _many(people, facts, timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE stats_matchfact, stats_playerfact, stats_roundfact")
    own = visit(people[0])

    def page(path: str) -> float:
        """Seconds until it is made, the median of some tries."""

        def ask() -> None:
            assert own.get(path, headers={"host": "127.0.0.1"}).status_code == 200, path

        return sorted(timed(ask) for _time in range(ANEW))[ANEW // 2]

    for sort in ("rating", "score", "exact"):
        for period in ("all", "30d"):
            spent = page(f"/leaderboard/?sort={sort}&period={period}")
            print(f"leaderboard by {sort:6} {period:4}   {1e3 * spent:.0f} ms")
    spent = page(f"/players/{people[0].pk}/")
    print(f"one player's page           {1e3 * spent:.0f} ms")


def _many(people: list[Any], matches: int, end: Any) -> None:
    """Facts of matches that nobody played, spread over a year, each rated."""
    from games.models import Match
    from stats.models import MatchFact, PlayerFact, RoundFact

    chance = Random("many")
    for _thousand in range(0, matches, 1000):
        made = Match.objects.bulk_create(
            Match(game="domino_poker", rules_version=1, options={}, secret=b"0" * 32, commitments=[])
            for _number in range(1000)
        )
        rows = MatchFact.objects.bulk_create(
            MatchFact(
                match=match,
                game="domino_poker",
                finished_at=end - timedelta(days=365) * chance.random(),
                rounds=ROUNDS,
                rated=True,
            )
            for match in made
        )
        players = PlayerFact.objects.bulk_create(
            PlayerFact(
                fact=fact, match_id=fact.match_id, game=fact.game, finished_at=fact.finished_at, player=one,
                seat=seat, place=seat + 1, score=chance.randint(-200, 300), forfeited=False,
                rounds=ROUNDS, points=chance.randint(-200, 300), exact=3, over=2, under=2,
                mu_before=25.0, sigma_before=8.0, mu=25.0, sigma=7.0, rating=chance.randint(800, 2000),
            )
            for fact in rows
            for seat, one in enumerate(chance.sample(people, 4))
        )  # fmt: skip
        RoundFact.objects.bulk_create(
            RoundFact(player_fact=one, round=number, bid=chance.randint(0, 7), tricks=chance.randint(0, 7), score=0)
            for one in players
            for number in range(1, ROUNDS + 1)
        )


if __name__ == "__main__":
    main()
