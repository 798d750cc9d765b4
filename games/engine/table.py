"""What is the same for every game: asking, answering, running forced events to rest, folding, replaying."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from games.engine.deals import Deal
from games.engine.errors import Illegal, Malformed, NoQuestion, Stale, shown

Seat = int

S = TypeVar("S")
A = TypeVar("A")
E = TypeVar("E")

WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True)
class Range:
    """One choice with an amount: `word` and any whole number from `low` to `high`."""

    word: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Prompt(Generic[A]):
    """The question put to one seat now, with every legal choice. `rule` says why there are no others."""

    step: str
    kind: str
    seat: Seat
    choices: tuple[A | Range, ...] = field(repr=False)
    rule: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended. `places` and `chips` by seat (place 1 is best; chips None where a game has none)."""

    reason: str
    places: tuple[int, ...]
    chips: tuple[int, ...] | None
    order: tuple[Seat, ...]


class Game(Protocol[S, A, E]):
    """One game with its options. `apply` is total and checks nothing; `decide` is given offered choices only."""

    key: ClassVar[str]

    def seats(self) -> int: ...
    def open(self) -> S: ...
    def forced(self, state: S, deal: Deal) -> E | None: ...
    def prompt(self, state: S, seat: Seat) -> Prompt[A] | None: ...
    def decide(self, state: S, seat: Seat, action: A) -> E: ...
    def apply(self, state: S, event: E) -> S: ...
    def withdraw(self, state: S, seat: Seat) -> E: ...
    def view(self, state: S, seat: Seat | None) -> Any: ...
    def witness(self, event: E, seat: Seat | None) -> dict[str, Any]: ...
    def outcome(self, state: S) -> Outcome | None: ...
    def parse(self, text: str) -> A: ...
    def event_body(self, event: E) -> dict[str, Any]: ...
    def event_from(self, tag: str, body: Mapping[str, Any]) -> E: ...


def start(game: Game[S, A, E], deal: Deal) -> tuple[S, list[E]]:
    """The first state in which somebody is asked, and the events that led there."""
    return _to_rest(game, game.open(), deal, [])


def act(game: Game[S, A, E], state: S, deal: Deal, seat: Seat, step: str, text: str) -> tuple[S, list[E]]:
    """One seat's answer and all that follows from it. Raises Malformed, NoQuestion, Stale or Illegal."""
    prompt = game.prompt(state, seat)
    if prompt is None:
        raise NoQuestion(f"seat {seat} is not asked now")
    if step != prompt.step:
        raise Stale(f"{shown(step)} is not the open question {prompt.step}")
    action = game.parse(text)
    if str(action) != text:
        raise Malformed(f"{shown(text)} is not written as {shown(str(action))}")  # every action has one text
    if not offered(prompt, action):
        raise Illegal(f"{shown(text)} is not one of the choices of {prompt.step}")
    event = game.decide(state, seat, action)
    return _to_rest(game, game.apply(state, event), deal, [event])


def offered(prompt: Prompt[A], action: A) -> bool:
    """Whether the action is a choice of the prompt, or lies in one of its ranges."""
    for choice in prompt.choices:
        if isinstance(choice, Range):
            word, _space, amount = str(action).partition(" ")
            if word == choice.word and amount.isdecimal() and choice.low <= int(amount) <= choice.high:
                return True
        elif choice == action:
            return True
    return False


def withdraw(game: Game[S, A, E], state: S, deal: Deal, seat: Seat) -> tuple[S, list[E]]:
    """A seat leaves for good, in turn or not. Raises Illegal when the match is over or there is no such seat there."""
    if game.outcome(state) is not None:
        raise Illegal(f"seat {shown(seat)} cannot leave a match that is over")
    if seat not in range(game.seats()):
        raise Illegal(f"there is no seat {shown(seat)}")
    event = game.withdraw(state, seat)
    return _to_rest(game, game.apply(state, event), deal, [event])


def fold(game: Game[S, A, E], events: Iterable[E], state: S | None = None) -> S:
    """The state after these events, from the beginning or from a known state."""
    current = game.open() if state is None else state
    for event in events:
        current = game.apply(current, event)
    return current


def waiting(game: Game[S, A, E], state: S) -> tuple[Prompt[A], ...]:
    """Every open question, by seat."""
    prompts = (game.prompt(state, seat) for seat in range(game.seats()))
    return tuple(prompt for prompt in prompts if prompt is not None)


def replay(game: Game[S, A, E], deal: Deal, answers: Iterable[tuple[Seat, str]]) -> list[E]:
    """All events of a match from its answers alone; the text "withdraw" is a withdrawal."""
    state, events = start(game, deal)
    for seat, text in answers:
        if text == WITHDRAW:
            state, more = withdraw(game, state, deal, seat)
        else:
            prompt = game.prompt(state, seat)
            state, more = act(game, state, deal, seat, prompt.step if prompt else "", text)
        events += more
    return events


def prompt_json(prompt: Prompt[Any]) -> dict[str, Any]:
    """The prompt as the wire carries it; an action may say more of itself in `wire()`."""
    choices: list[dict[str, Any]] = []
    for choice in prompt.choices:
        if isinstance(choice, Range):
            choices.append({"do": choice.word, "min": choice.low, "max": choice.high})
        else:
            choices.append({"do": str(choice), **(choice.wire() if hasattr(choice, "wire") else {})})
    return {"step": prompt.step, "kind": prompt.kind, "choices": choices, "rule": dict(prompt.rule)}


def _to_rest(game: Game[S, A, E], state: S, deal: Deal, events: list[E]) -> tuple[S, list[E]]:
    while (event := game.forced(state, deal)) is not None:
        state = game.apply(state, event)
        events.append(event)
    return state, events
