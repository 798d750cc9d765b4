"""The 28 tiles of a double-six set."""

from games.engine.errors import Malformed, shown


class Tile:
    """One tile, `low` <= `high`. There are 28 objects in all, compared by identity."""

    __slots__ = ("high", "is_double", "low", "text")

    low: int
    high: int
    text: str
    is_double: bool

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self.text = f"{low}-{high}"
        self.is_double = low == high

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Tile({self.text})"

    def __contains__(self, number: object) -> bool:
        return number == self.low or number == self.high

    def __reduce__(self) -> "tuple[object, tuple[str]]":
        return tile, (self.text,)

    def other(self, number: int) -> int:
        """The end that is not `number` (for a double: the same)."""
        return self.high if number == self.low else self.low


ALL_TILES: tuple[Tile, ...] = tuple(Tile(low, high) for low in range(7) for high in range(low, 7))
_BY_TEXT = {one.text: one for one in ALL_TILES}


def tile(text: str) -> Tile:
    """The tile of a text like "3-5", smaller number first. Raises Malformed."""
    found = _BY_TEXT.get(text)
    if found is None:
        raise Malformed(f"{shown(text)} is no tile")
    return found
