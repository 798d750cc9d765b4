"""A second game for the tests: secret calls at once, one round of betting, a showdown. Two to seven seats."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

from games.engine.deals import Deal
from games.engine.errors import BadOptions, Malformed, shown
from games.engine.table import Outcome, Prompt, Range
from games.engine.tiles import Tile, tile

STACK = 20
HAND = 2
_RAISE = re.compile(r"raise ([1-9][0-9]{0,2})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Word:
    """An answer of one word or two: `call`, `fold`, `seal high`, `seal low`."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Raise:
    to: int

    def __str__(self) -> str:
        return f"raise {self.to}"


Action = Word | Raise
FOLD, CALL, HIGH, LOW = Word("fold"), Word("call"), Word("seal high"), Word("seal low")


@dataclass(frozen=True, slots=True)
class Dealt:
    first: int
    hands: tuple[tuple[Tile, ...], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sealed:
    seat: int
    call: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Opened:
    """Every call, by seat; None of a seat that left before it called. `high` is what most of them said."""

    calls: tuple[str | None, ...]
    high: bool


@dataclass(frozen=True, slots=True)
class Acted:
    """`bet` is what the seat has in front of it afterwards; None is a fold."""

    seat: int
    bet: int | None


@dataclass(frozen=True, slots=True)
class Left:
    seat: int


@dataclass(frozen=True, slots=True)
class Ended:
    """What each seat won or lost, and the hands that were compared (None of those that folded)."""

    chips: tuple[int, ...]
    hands: tuple[tuple[Tile, ...] | None, ...]


Event = Dealt | Sealed | Opened | Acted | Left | Ended


@dataclass(frozen=True, slots=True)
class State:
    phase: Literal["dealing", "sealing", "betting", "over"]
    hands: tuple[tuple[Tile, ...], ...] = field(repr=False)
    calls: tuple[str | None, ...] = field(repr=False)
    bets: tuple[int, ...]
    acted: tuple[bool, ...]
    out: tuple[bool, ...]
    opened: Opened | None = None
    turn: int = 0
    moves: int = 0
    ended: Ended | None = None


@dataclass(frozen=True, slots=True)
class Duel:
    players: int = 2
    key: ClassVar[str] = "duel"

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "Duel":
        """Raises BadOptions for anything but {"players": 2..7}."""
        players = options.get("players")
        if set(options) != {"players"} or type(players) is not int or not 2 <= players <= 7:
            raise BadOptions(f"players must be a whole number from 2 to 7, not {shown(dict(options))}")
        return cls(players)

    def seats(self) -> int:
        return self.players

    def open(self) -> State:
        n = self.players
        return State("dealing", ((),) * n, (None,) * n, (1,) * n, (False,) * n, (False,) * n)

    def forced(self, state: State, deal: Deal) -> Event | None:
        n = self.players
        staying = [seat for seat in range(n) if not state.out[seat]]
        if state.phase == "dealing":
            deck = deal.deck(1)
            return Dealt(deal.draw("first", n), tuple(tuple(deck[HAND * s : HAND * (s + 1)]) for s in range(n)))
        if state.phase == "over":
            return None
        if len(staying) < 2:
            return self._end(state, staying)
        if state.phase == "sealing":
            if any(state.calls[seat] is None for seat in staying):
                return None
            said = Counter(call for call in state.calls if call is not None)
            return Opened(state.calls, said["high"] >= said["low"])
        if all(state.acted[seat] and state.bets[seat] == max(state.bets) for seat in staying):
            return self._end(state, staying)
        return None

    def _end(self, state: State, staying: list[int]) -> Ended:
        compared: list[tuple[Tile, ...] | None] = [None] * self.players
        winners = staying
        if len(staying) > 1:
            assert state.opened is not None
            sign = 1 if state.opened.high else -1
            pips = {seat: sign * sum(one.low + one.high for one in state.hands[seat]) for seat in staying}
            winners = [seat for seat in staying if pips[seat] == max(pips.values())]
            for seat in staying:
                compared[seat] = state.hands[seat]
        if not winners:  # everybody left: every bet goes back
            return Ended((0,) * self.players, tuple(compared))
        chips = [-bet for bet in state.bets]
        share, rest = divmod(sum(state.bets), len(winners))
        for place, seat in enumerate(winners):
            chips[seat] += share + (rest if place == 0 else 0)
        return Ended(tuple(chips), tuple(compared))

    def prompt(self, state: State, seat: int) -> Prompt[Action] | None:
        if not 0 <= seat < self.players or state.out[seat]:
            return None
        if state.phase == "sealing" and state.calls[seat] is None:
            return Prompt(f"seal.s{seat}", "seal", seat, (HIGH, LOW))
        if state.phase == "betting" and state.turn == seat:
            top = max(state.bets)
            choices: tuple[Action | Range, ...] = (FOLD, CALL)
            if top < STACK:
                choices = (*choices, Range("raise", top + 1, STACK))
            return Prompt(f"bet{state.moves}.s{seat}", "bet", seat, choices, {"code": "bet", "top": top})
        return None

    def decide(self, state: State, seat: int, action: Action) -> Event:
        if isinstance(action, Raise):
            return Acted(seat, action.to)
        if action in (HIGH, LOW):
            return Sealed(seat, action.text.removeprefix("seal "))
        return Acted(seat, None if action == FOLD else max(state.bets))

    def withdraw(self, state: State, seat: int) -> Event:
        return Left(seat)

    def apply(self, state: State, event: Event) -> State:
        match event:
            case Dealt():
                return replace(state, phase="sealing", hands=event.hands, turn=event.first)
            case Sealed():
                return replace(state, calls=_put(state.calls, event.seat, event.call))
            case Opened():
                return self._pass_on(replace(state, phase="betting", opened=event), state.turn)
            case Acted():
                if event.bet is None:
                    state = replace(state, out=_put(state.out, event.seat, True))
                else:
                    state = replace(state, bets=_put(state.bets, event.seat, event.bet))
                state = replace(state, acted=_put(state.acted, event.seat, True), moves=state.moves + 1)
                return self._pass_on(state, event.seat + 1)
            case Left():
                state = replace(state, out=_put(state.out, event.seat, True))
                return self._pass_on(state, state.turn)
            case Ended():
                return replace(state, phase="over", ended=event)

    def _pass_on(self, state: State, seat: int) -> State:
        """The turn of the next seat, from `seat` on, that has not folded."""
        turns = ((seat + step) % self.players for step in range(self.players))
        return replace(state, turn=next((one for one in turns if not state.out[one]), 0))

    def view(self, state: State, seat: int | None) -> dict[str, Any]:
        return {
            "phase": state.phase,
            "seat": seat,
            "hand": None if seat is None else [one.text for one in state.hands[seat]],
            "call": None if seat is None else state.calls[seat],
            "sealed": [call is not None for call in state.calls],
            "opened": None if state.opened is None else asdict(state.opened),
            "bets": state.bets,
            "out": state.out,
            "turn": state.turn if state.phase == "betting" else None,
            "ended": None if state.ended is None else self.witness(state.ended, seat),
        }

    def witness(self, event: Event, seat: int | None) -> dict[str, Any]:
        body = self.event_body(event)
        if isinstance(event, Dealt):
            body = {"first": event.first, "hand": None if seat is None else body["hands"][seat]}
        if isinstance(event, Sealed) and event.seat != seat:
            body = {"seat": event.seat}
        return {"type": type(event).__name__, **body}

    def outcome(self, state: State) -> Outcome | None:
        if state.ended is None:
            return None
        chips = state.ended.chips
        places = tuple(1 + sum(other > mine for other in chips) for mine in chips)
        return Outcome("finished", places, chips, tuple(sorted(range(self.players), key=lambda seat: places[seat])))

    def parse(self, text: str) -> Action:
        """Raises Malformed."""
        for word in (FOLD, CALL, HIGH, LOW):
            if text == word.text:
                return word
        if match := _RAISE.fullmatch(text):
            return Raise(int(match[1]))
        raise Malformed(f"{shown(text)} is no answer")

    def event_body(self, event: Event) -> dict[str, Any]:
        match event:
            case Dealt():
                return {"first": event.first, "hands": [[one.text for one in hand] for hand in event.hands]}
            case Ended():
                hands = [None if hand is None else [one.text for one in hand] for hand in event.hands]
                return {"chips": event.chips, "hands": hands}
            case _:
                return asdict(event)

    def event_from(self, tag: str, body: Mapping[str, Any]) -> Event:
        """Raises Malformed."""
        match tag:
            case "Dealt":
                return Dealt(body["first"], tuple(tuple(map(tile, hand)) for hand in body["hands"]))
            case "Sealed":
                return Sealed(**body)
            case "Opened":
                return Opened(tuple(body["calls"]), body["high"])
            case "Acted":
                return Acted(**body)
            case "Left":
                return Left(**body)
            case "Ended":
                hands = tuple(None if hand is None else tuple(map(tile, hand)) for hand in body["hands"])
                return Ended(tuple(body["chips"]), hands)
        raise Malformed(f"there is no event {shown(tag)}")


def _put(values: tuple[Any, ...], seat: int, value: Any) -> tuple[Any, ...]:
    return (*values[:seat], value, *values[seat + 1 :])
