"""Matches of every game, played at random from a seed, with all that happened on the way."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from games.engine import registry, table
from games.engine.deals import SecretDeal
from games.engine.table import Range
from games.engine.tiles import ALL_TILES, Tile
from games.engine.wire import canonical, encode
from tests.games.engine.duel import Duel

AnyGame = table.Game[Any, Any, Any]

# What is played of each registered game, and the most events such a match can have without the withdrawals.
SMALL: dict[str, list[tuple[dict[str, Any], int]]] = {"domino_poker": [({"rounds": 1}, 42), ({"rounds": 2}, 83)]}
DUELS = (2, 3, 7)
NAMES = tuple(f"{key}:{number}" for key in registry.KEYS for number in range(len(SMALL[key]))) + tuple(
    f"duel:{players}" for players in DUELS
)


def make(name: str) -> tuple[AnyGame, int]:
    """The game of a name, and the most events it can have."""
    key, _colon, number = name.partition(":")
    if key == "duel":
        players = int(number)
        return Duel.from_options({"players": players}), 3 + players + 20 * players
    options, most = SMALL[key][int(number)]
    return registry.build(key, options), most


@dataclass
class Stop:
    """A moment at which somebody is asked: the state, the events so far, the open questions."""

    state: Any
    events: int
    prompts: tuple[table.Prompt[Any], ...]


@dataclass
class Played:
    name: str
    game: AnyGame
    most: int
    deal: SecretDeal
    events: list[Any]
    state: Any
    stops: list[Stop] = field(default_factory=list)
    answers: list[tuple[int, str]] = field(default_factory=list)

    @property
    def withdrawals(self) -> int:
        return sum(text == table.WITHDRAW for _seat, text in self.answers)


def texts(prompt: table.Prompt[Any]) -> list[str]:
    """Choices as texts; of a range its ends and its middle."""
    found: list[str] = []
    for choice in prompt.choices:
        if isinstance(choice, Range):
            middle = (choice.low + choice.high) // 2
            found += [f"{choice.word} {amount}" for amount in sorted({choice.low, middle, choice.high})]
        else:
            found.append(str(choice))
    return found


@cache
def play(name: str, seed: int) -> Played:
    """One match of random answers, in every fifth seed with withdrawals."""
    chance = Random(f"{name} {seed}")
    game, most = make(name)
    deal = SecretDeal(chance.randbytes(32), game.key, seed + 1)
    state, events = table.start(game, deal)
    match = Played(name, game, most, deal, events, state)
    gone: set[int] = set()
    while game.outcome(match.state) is None:
        prompts = table.waiting(game, match.state)
        match.stops.append(Stop(match.state, len(events), prompts))
        assert len(match.stops) <= most, "the match does not end"
        if seed % 5 == 4 and len(gone) < game.seats() and chance.random() < 0.06:
            seat = chance.choice([seat for seat in range(game.seats()) if seat not in gone])
            gone.add(seat)
            match.answers.append((seat, table.WITHDRAW))
            match.state, more = table.withdraw(game, match.state, deal, seat)
        else:
            prompt = chance.choice(prompts)
            text = chance.choice(texts(prompt))
            match.answers.append((prompt.seat, text))
            match.state, more = table.act(game, match.state, deal, prompt.seat, prompt.step, text)
        events += more
    return match


def logged(game: AnyGame, event: Any) -> Any:
    """The event after a trip through the log's text."""
    text = canonical(game.event_body(event))
    return game.event_from(type(event).__name__, json.loads(text))


def seen(game: AnyGame, state: Any, seat: int | None) -> bytes:
    """The bytes of a view, with the seat's question if there is one."""
    view = game.view(state, seat)
    prompt = None if seat is None else game.prompt(state, seat)
    asked = None if prompt is None else table.prompt_json(prompt)
    return encode([view.wire() if hasattr(view, "wire") else view, asked])


def hidden(game: AnyGame, state: Any, seat: int | None) -> list[Tile]:
    """The tiles that this viewer cannot know the place of: other hands, and what was not dealt."""
    hands: Sequence[Sequence[Tile]] = state.hands
    if game.key == "duel":
        shown = () if state.ended is None else state.ended.hands
        tiles = [t for s, hand in enumerate(hands) if s != seat and not (shown and shown[s]) for t in hand]
        return tiles + [one for one in ALL_TILES if not any(one in hand for hand in hands)]
    return [one for other, hand in enumerate(hands) if other != seat for one in hand]


def redealt(game: AnyGame, events: list[Any], swap: dict[Tile, Tile]) -> list[Any]:
    """The same events after another last deal, in which every tile of `swap` is replaced."""
    last = max(place for place, event in enumerate(events) if type(event).__name__ == "Dealt")
    body = dict(game.event_body(events[last]))
    other = {one.text: two.text for one, two in swap.items()}
    body["hands"] = [[other.get(text, text) for text in hand] for hand in body["hands"]]
    return [*events[:last], game.event_from("Dealt", body), *events[last + 1 :]]
