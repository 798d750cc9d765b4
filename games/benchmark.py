"""Measures the engine with Domino Poker matches of seven rounds, played at random but always the same ones."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from games.bots import Draw
from games.engine import registry, table, wire
from games.engine.deals import SecretDeal
from games.engine.table import Game

KEY, ROUNDS = "domino_poker", 7


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `key` stays the same from version to version."""

    key: str
    what: str
    value: float
    unit: str


def random_match(game: Game[Any, Any, Any], number: int) -> tuple[Any, list[Any]]:
    """The last state and all events of a match in which every seat answers by lot, each answer checked as any other."""
    deal = SecretDeal(number.to_bytes(32, "big"), game.key, number)
    draw = Draw(deal.secret, "random seats")
    state, events = table.start(game, deal)
    while prompts := table.waiting(game, state):
        prompt = prompts[draw.below(len(prompts))]
        text = str(prompt.choices[draw.below(len(prompt.choices))])
        state, more = table.act(game, state, deal, prompt.seat, prompt.step, text)
        events += more
    return state, events


def measure(matches: int) -> list[Figure]:
    """The figures from this many matches (at least one), in CPU time of this process."""
    game = registry.build(KEY, {"rounds": ROUNDS})
    play_seconds: list[float] = []
    fold_seconds: list[float] = []
    look_seconds: list[float] = []
    for number in range(1, matches + 1):
        spent, (state, events) = _timed(random_match, game, number)
        play_seconds.append(spent)
        log = [(type(event).__name__, wire.canonical(game.event_body(event))) for event in events]
        spent, folded = _timed(_fold, game, log)
        assert folded == state
        fold_seconds.append(spent)
        middle = _asking(game, events, len(events) // 2)
        spent, _none = _timed(_look, game, middle)
        look_seconds.append(spent)
    return [
        Figure("matches_per_second", "random matches of 7 rounds", matches / sum(play_seconds), "per second"),
        Figure("match_ms", "random match of 7 rounds, every answer checked, median", 1e3 * median(play_seconds), "ms"),
        Figure("fold_ms", "full fold of such a match from its log texts, median", 1e3 * median(fold_seconds), "ms"),
        Figure("look_us", "view as JSON and prompt of one seat, median", 1e6 * median(look_seconds), "us"),
    ]


def _timed(job: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    before = time.process_time()
    result = job(*arguments)
    return time.process_time() - before, result


def _fold(game: Game[Any, Any, Any], log: list[tuple[str, str]]) -> Any:
    return table.fold(game, (game.event_from(tag, json.loads(text)) for tag, text in log))


def _asking(game: Game[Any, Any, Any], events: list[Any], number: int) -> Any:
    """The state after the first `number` events, or after the next few, in which somebody is asked."""
    state = table.fold(game, events[:number])
    while not table.waiting(game, state):
        state = game.apply(state, events[number])
        number += 1
    return state


def _look(game: Game[Any, Any, Any], state: Any) -> None:
    (prompt,) = table.waiting(game, state)
    wire.encode(game.view(state, prompt.seat))
    wire.encode(table.prompt_json(prompt))
