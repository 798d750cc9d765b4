"""Where tiles come from: a deal that is fixed before it is seen, secret until its round is scored, and checkable.

All texts are ASCII, all keys 32 bytes, "hex" is lower case:

    round_key  = HMAC-SHA256(secret, "<game>|<match id>|<round>")
    round_salt = HMAC-SHA256(secret, "<game>|<match id>|<round>|salt")
    commitment = hex(SHA-256(hex(round_key) + "|" + hex(round_salt)))
    deck       = the 28 tiles "a-b" (a <= b) in ascending order of HMAC-SHA256(round_key, "a-b")

    draw       = the first n in 0, 1, 2 ... whose x = first 8 bytes, big-endian, of
                 HMAC-SHA256(secret, "<game>|<match id>|draw|<label>|<n>") lies below 2^64 - 2^64 mod below;
                 the result is x mod below. The first dealer is the draw "first dealer" below 4.

Seat s is dealt the tiles 7s to 7s+6 of the deck (counted from 0). Round keys tell nothing about each other."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from games.engine.tiles import ALL_TILES, Tile


class Deal(Protocol):
    """A source of decks and of fair draws; asked again it gives the same."""

    def deck(self, round_number: int) -> tuple[Tile, ...]:
        """The 28 tiles of a round (from 1), in dealing order."""

    def draw(self, label: str, below: int) -> int:
        """A whole number from 0 to below - 1, fixed by the label."""


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode("ascii"), "sha256")


def round_key(secret: bytes, game: str, match: int, round_number: int) -> bytes:
    """The key that orders a round's deck; published once the round is scored."""
    return _mac(secret, f"{game}|{match}|{round_number}")


def round_salt(secret: bytes, game: str, match: int, round_number: int) -> bytes:
    """What is hashed with the key for the commitment, published with it."""
    return _mac(secret, f"{game}|{match}|{round_number}|salt")


def commitment(key: bytes, salt: bytes) -> str:
    """What is shown before the round: it fixes the key and tells nothing about it."""
    return hashlib.sha256(f"{key.hex()}|{salt.hex()}".encode("ascii")).hexdigest()


def deck_from_key(key: bytes) -> tuple[Tile, ...]:
    """The 28 tiles in the order of a round's key."""
    return tuple(sorted(ALL_TILES, key=lambda tile: _mac(key, tile.text)))


def unbiased(key: bytes, label: str, below: int) -> int:
    """A whole number from 0 to below - 1, each equally likely: 64-bit draws, those in the uneven rest thrown away."""
    even = (1 << 64) - (1 << 64) % below
    turn = 0
    while True:
        value = int.from_bytes(_mac(key, f"{label}|{turn}")[:8], "big")
        if value < even:
            return value % below
        turn += 1


@dataclass(frozen=True, slots=True)
class SecretDeal:
    """The deals of one match, from its 256-bit secret."""

    secret: bytes = field(repr=False)
    game: str
    match: int

    def deck(self, round_number: int) -> tuple[Tile, ...]:
        """The deck of a round (from 1)."""
        return deck_from_key(round_key(self.secret, self.game, self.match, round_number))

    def draw(self, label: str, below: int) -> int:
        return unbiased(self.secret, f"{self.game}|{self.match}|draw|{label}", below)

    def commitment(self, round_number: int) -> str:
        """What is shown of a round before it is dealt, in hex."""
        parts = (self.secret, self.game, self.match, round_number)
        return commitment(round_key(*parts), round_salt(*parts))


@dataclass(frozen=True, slots=True)
class ScriptedDeal:
    """Decks given by hand, used again from the first when they run out; every draw gives `first`."""

    decks: Sequence[tuple[Tile, ...]] = field(repr=False)
    first: int = 0

    def deck(self, round_number: int) -> tuple[Tile, ...]:
        return self.decks[(round_number - 1) % len(self.decks)]

    def draw(self, label: str, below: int) -> int:  # noqa: ARG002  every label has the same answer
        return self.first % below
