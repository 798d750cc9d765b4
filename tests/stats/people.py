"""What the tests of statistics stand on: registered people, and matches of theirs played or written down."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from django.conf import settings
from django.db import transaction
from django.test import Client

from games import history, selectors, services
from games.engine.domino_poker.scoring import RoundScore, ranking, score_round
from games.engine.domino_poker.state import MatchEnded, SeatWithdrawn
from games.models import Match, MatchSeat
from games.services import SeatSpec
from players.models import Player
from stats import services as stats

Four = Sequence[Player]
# Bids and tricks of one round, by seat.
Round = tuple[Sequence[int], Sequence[int]]
NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def person(name: str, *, guest: bool = False) -> Player:
    return Player.objects.create(username=name.lower(), shown_name=name, is_guest=guest)


def four(*names: str) -> list[Player]:
    return [person(name) for name in names or ("Ana", "Bo", "Cem", "Dara")]


def visit(player: Player | None = None) -> Client:
    client = Client()
    if player is not None:
        client.force_login(player, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client


def opened(people: Sequence[Player | None], rounds: int) -> int:
    """A match that waits; None is a bot."""
    specs = [SeatSpec(None, "West", "medium") if one is None else SeatSpec(one.pk, one.shown_name) for one in people]
    with transaction.atomic():
        return services.open_match("domino_poker", {"rounds": rounds}, specs).match_id


def played(
    people: Sequence[Player | None], rounds: int = 1, *, bid: int | None = None, leaves: Player | None = None
) -> int:
    """A whole match, answer by answer through the services, each the first choice (or `bid`); recorded as it ends.

    `leaves` goes after the first trick."""
    match_id = opened(people, rounds)
    with transaction.atomic():
        step = services.begin(match_id)
    while step.outcome is None:
        if leaves is not None and any(type(event).__name__ == "TrickWon" for _n, event in step.events):
            seat, leaves = list(people).index(leaves), None
            with transaction.atomic():
                step = services.withdraw(match_id, seat, "seat")
            continue
        (prompt,) = selectors.prompts(history.load(match_id))
        text = f"bid {bid}" if bid is not None and prompt.kind == "bid" else str(prompt.choices[0])
        with transaction.atomic():
            step = services.act(match_id, prompt.seat, prompt.step, text, "seat")
            if step.outcome is not None:
                stats.record_match(match_id)
    return match_id


def written(
    people: Sequence[Player | None],
    rounds: Sequence[Round],
    *,
    at: datetime = NOON,
    leaves: Mapping[int, int] | None = None,
    record: bool = True,
) -> int:
    """A finished match whose log has just what its result and statistics are read from, with the engine's own scoring.

    `leaves`: seat -> the round in which it forfeits."""
    match_id = opened(people, len(rounds))
    loaded = history.load(match_id)
    events: list[Any] = []
    scored: list[RoundScore] = []
    totals: Sequence[int] = (0,) * 4
    for number, (bids, tricks) in enumerate(rounds, 1):
        events += [SeatWithdrawn(seat) for seat, left in (leaves or {}).items() if left == number]
        dealer = scored[-1].winner if scored else 0
        scored.append(score_round(number, dealer, bids, tricks, totals))
        totals = scored[-1].totals
        events.append(_event(loaded, scored[-1]))
    last = scored[-1]
    order, decided = ranking(last.totals, last.bids, last.tricks, last.dealer)
    events.append(MatchEnded(order, last.totals, decided))
    state = loaded.game.open()
    for event in events:
        state = loaded.game.apply(state, event)
    outcome = loaded.game.outcome(state)
    assert outcome is not None
    with transaction.atomic():
        history.append(loaded, events)
        Match.objects.filter(pk=match_id).update(status=Match.Status.FINISHED, outcome=asdict(outcome), finished_at=at)
        MatchSeat.objects.filter(match_id=match_id, number__in=list(leaves or {})).update(forfeited=True)
        if record:
            stats.record_match(match_id)
    return match_id


def _event(loaded: history.Loaded, score: RoundScore) -> Any:
    return loaded.game.event_from("RoundScored", asdict(score))


def season(people: Four, matches: int, *, seed: str = "season", end: datetime = NOON, rounds: int = 7) -> list[int]:
    """Matches of four drawn from these people, one each three hours, the last at `end`; the first people bid best."""
    chance = Random(seed)
    made = []
    for number in range(matches):
        table = chance.sample(list(people), 4)
        skills = [1 - people.index(one) / len(people) for one in table]
        played_rounds: list[Round] = []
        for _round in range(rounds):
            tricks = [0, 0, 0, 0]
            for _trick in range(7):
                tricks[chance.choices(range(4), [0.6 + skill for skill in skills])[0]] += 1
            bids = [
                took if chance.random() < 0.25 + 0.5 * skill else min(7, max(0, took + chance.choice((-2, -1, 1, 2))))
                for took, skill in zip(tricks, skills, strict=True)
            ]
            played_rounds.append((bids, tricks))
        leaves = {chance.randrange(4): chance.randint(1, rounds)} if chance.random() < 0.06 else None
        at = end - timedelta(hours=3 * (matches - 1 - number))
        made.append(written(table, played_rounds, at=at, leaves=leaves))
    return made
