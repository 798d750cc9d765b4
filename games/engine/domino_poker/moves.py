"""What a seat can answer in Domino Poker, and the texts of it."""

import re
from dataclasses import dataclass
from typing import Any

from games.engine.errors import Malformed, shown
from games.engine.tiles import Tile, tile

_BID = re.compile(r"bid ([0-7])", re.ASCII)
_PLAY = re.compile(r"play ([0-6]-[0-6])(?: as ([0-6]))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Bid:
    tricks: int

    def __str__(self) -> str:
        return f"bid {self.tricks}"

    def wire(self) -> dict[str, Any]:
        return {"bid": self.tricks}


@dataclass(frozen=True, slots=True)
class Play:
    """A tile; `number` is the declaration of a two-ended lead, else None."""

    tile: Tile
    number: int | None = None

    def __str__(self) -> str:
        return f"play {self.tile}" if self.number is None else f"play {self.tile} as {self.number}"

    def wire(self) -> dict[str, Any]:
        """The tile, its declaration, and what that would make of it: ace, lowest (the 0-6 as a six) or number."""
        means = None
        if self.number is not None:
            means = {"0-6 as 0": "ace", "0-6 as 6": "lowest"}.get(f"{self.tile} as {self.number}", "number")
        return {"tile": self.tile.text, "as": None if self.number is None else str(self.number), "means": means}


Move = Bid | Play


def parse(text: str) -> Move:
    """The move of a text. Raises Malformed for anything but the exact form."""
    if match := _BID.fullmatch(text):
        return Bid(int(match[1]))
    if match := _PLAY.fullmatch(text):
        return Play(tile(match[1]), None if match[2] is None else int(match[2]))
    raise Malformed(f"{shown(text)} is neither 'bid N' nor 'play A-B'")
