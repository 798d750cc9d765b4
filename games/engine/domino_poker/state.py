"""The state of a match of Domino Poker and the events that make it."""

from dataclasses import dataclass, field
from typing import Literal

from games.engine.domino_poker.rules import Request
from games.engine.domino_poker.scoring import RoundScore
from games.engine.tiles import Tile

SEATS = 4
TRICKS = 7
Phase = Literal["dealing", "bidding", "playing", "over"]


@dataclass(frozen=True, slots=True)
class Dealt:
    round: int
    dealer: int
    hands: tuple[tuple[Tile, ...], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class BidMade:
    seat: int
    bid: int


@dataclass(frozen=True, slots=True)
class TilePlayed:
    """`request` is what a lead asks for; None on a follow."""

    seat: int
    tile: Tile
    request: Request | None


@dataclass(frozen=True, slots=True)
class TrickWon:
    round: int
    number: int
    seat: int
    why: str


@dataclass(frozen=True, slots=True)
class RoundScored:
    score: RoundScore


@dataclass(frozen=True, slots=True)
class SeatWithdrawn:
    seat: int


@dataclass(frozen=True, slots=True)
class MatchEnded:
    order: tuple[int, ...]
    totals: tuple[int, ...]
    decided: tuple[str, ...]


Event = Dealt | BidMade | TilePlayed | TrickWon | RoundScored | SeatWithdrawn | MatchEnded


@dataclass(frozen=True, slots=True)
class Trick:
    """A completed trick: who played what in which order, and who took it why."""

    number: int
    leader: int
    request: Request
    plays: tuple[tuple[int, Tile], ...]
    winner: int
    why: str


@dataclass(frozen=True, slots=True)
class State:
    """Everything; its repr shows no hand."""

    rounds: int
    round: int = 0
    phase: Phase = "dealing"
    dealer: int = 0
    leader: int = 0
    hands: tuple[tuple[Tile, ...], ...] = field(default=((),) * SEATS, repr=False)
    bids: tuple[int | None, ...] = (None,) * SEATS
    taken: tuple[int, ...] = (0,) * SEATS
    request: Request | None = None
    plays: tuple[tuple[int, Tile], ...] = ()
    tricks: tuple[Trick, ...] = ()
    scored: tuple[RoundScore, ...] = ()
    totals: tuple[int, ...] = (0,) * SEATS
    withdrawn: tuple[bool, ...] = (False,) * SEATS
    result: MatchEnded | None = None

    @property
    def turn(self) -> int | None:
        """The one seat that is asked now."""
        if self.phase == "bidding":
            return (self.dealer + 1 + sum(bid is not None for bid in self.bids)) % SEATS
        if self.phase == "playing" and len(self.plays) < SEATS and len(self.tricks) < TRICKS:
            return (self.leader + len(self.plays)) % SEATS
        return None
