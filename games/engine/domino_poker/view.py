"""What one seat may know of a match, built up from nothing; the shape of docs/wire.md."""

from dataclasses import dataclass, field
from typing import Any

from games.engine.domino_poker.rules import ACES, HAND_ORDER, TRUMPS, Request, best_play
from games.engine.domino_poker.scoring import RoundScore
from games.engine.domino_poker.state import SEATS, State
from games.engine.tiles import Tile

MARKS: dict[str, Any] = {
    "trumps": [one.text for one in TRUMPS],
    "aces": {one.text: str(number) for one, number in ACES.items()},
}


@dataclass(frozen=True, slots=True)
class SeatView:
    bid: int | None
    tricks: int
    tiles: int
    total: int
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class PlayView:
    seat: int
    tile: str
    as_: str | None

    def wire(self) -> dict[str, Any]:
        return {"seat": self.seat, "tile": self.tile, "as": self.as_}


@dataclass(frozen=True, slots=True)
class TrickView:
    """A trick as everybody saw it; `winning` is who would take it now, `winner` and `why` once it is taken."""

    number: int
    leader: int | None
    request: str | None
    plays: tuple[PlayView, ...]
    winning: int | None = None
    winner: int | None = None
    why: str | None = None

    def wire(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "number": self.number,
            "leader": self.leader,
            "request": self.request,
            "plays": [play.wire() for play in self.plays],
        }
        if self.winner is None:
            return {**body, "winning": self.winning}
        return {**body, "winner": self.winner, "why": self.why}


@dataclass(frozen=True, slots=True)
class View:
    rounds: int
    round: int
    phase: str
    seat: int | None
    dealer: int
    leader: int | None
    turn: int | None
    hand: tuple[str, ...] | None = field(repr=False)
    seats: tuple[SeatView, ...]
    trick: TrickView
    tricks: tuple[TrickView, ...]
    scored: tuple[RoundScore, ...]
    result: dict[str, Any] | None
    game: str = "domino_poker"

    def wire(self) -> dict[str, Any]:
        """The view in the shape of docs/wire.md."""
        return {
            "game": self.game,
            "rounds": self.rounds,
            "round": self.round,
            "phase": self.phase,
            "seat": self.seat,
            "dealer": self.dealer,
            "leader": self.leader,
            "turn": self.turn,
            "hand": self.hand,
            "seats": self.seats,
            "trick": self.trick.wire(),
            "tricks": [trick.wire() for trick in self.tricks],
            "scored": self.scored,
            "marks": MARKS,
            "result": self.result,
        }


def places(order: tuple[int, ...]) -> tuple[int, ...]:
    """The place (from 1) of each seat of an order."""
    return tuple(order.index(seat) + 1 for seat in range(len(order)))


def _request_text(request: Request | None) -> str | None:
    return None if request is None else str(request)


def _plays(plays: tuple[tuple[int, Tile], ...], request: Request | None) -> tuple[PlayView, ...]:
    led = _request_text(request)
    return tuple(PlayView(seat, one.text, led if place == 0 else None) for place, (seat, one) in enumerate(plays))


def view(state: State, seat: int | None) -> View:
    """What `seat` may know; None is a spectator, who sees no hand."""
    hand = None
    if seat is not None:
        hand = tuple(one.text for one in sorted(state.hands[seat], key=HAND_ORDER.__getitem__))
    winning = None
    if state.plays and state.request is not None:
        winning = state.plays[best_play([one for _seat, one in state.plays], state.request)][0]
    over = state.phase == "over"
    result = None
    if state.result is not None:
        result = {
            "order": state.result.order,
            "places": places(state.result.order),
            "totals": state.result.totals,
            "decided": state.result.decided,
        }
    return View(
        rounds=state.rounds,
        round=state.round,
        phase=state.phase,
        seat=seat,
        dealer=state.dealer,
        leader=None if over else state.leader,
        turn=state.turn,
        hand=hand,
        seats=tuple(
            SeatView(state.bids[s], state.taken[s], len(state.hands[s]), state.totals[s], state.withdrawn[s])
            for s in range(SEATS)
        ),
        trick=TrickView(
            number=min(len(state.tricks) + 1, 7),
            leader=None if over else state.leader,
            request=_request_text(state.request),
            plays=_plays(state.plays, state.request),
            winning=winning,
        ),
        tricks=tuple(
            TrickView(
                number=trick.number,
                leader=trick.leader,
                request=_request_text(trick.request),
                plays=_plays(trick.plays, trick.request),
                winner=trick.winner,
                why=trick.why,
            )
            for trick in state.tricks
        ),
        scored=state.scored,
        result=result,
    )
