"""The tiles of Domino Poker and the rules of a trick (docs/rules.md): what may be played, and what wins."""

from collections.abc import Iterable, Sequence
from typing import Literal

from games.engine.tiles import ALL_TILES, Tile, tile

# What a lead asks for: "T" for trump, else a number. Nobody can ask for 1.
Request = Literal["T"] | int
TRUMP: Literal["T"] = "T"

TRUMPS: tuple[Tile, ...] = tuple(map(tile, ("0-0", "1-1", "1-6", "1-5", "1-4", "1-3", "1-2", "0-1")))
SUITS = (0, 2, 3, 4, 5, 6)
_TRUMP_STRENGTH = {one: len(TRUMPS) - place for place, one in enumerate(TRUMPS)}
_ACE = {number: tile("0-6") if number == 0 else tile(f"{number}-{number}") for number in SUITS}
ACES: dict[Tile, int] = {one: number for number, one in _ACE.items()}
# Inside a suit the ace is strongest, then the other end decides.
SUIT: dict[int, tuple[Tile, ...]] = {
    number: tuple(
        sorted(
            (one for one in ALL_TILES if number in one and one not in _TRUMP_STRENGTH),
            key=lambda one: 99 if one is _ACE[number] else one.other(number),
            reverse=True,
        )
    )
    for number in SUITS
}
_IN_SUIT = {(number, one): len(suit) - place for number, suit in SUIT.items() for place, one in enumerate(suit)}
# Hands are shown trumps first, then suit by suit with the aces in front.
HAND_ORDER: dict[Tile, int] = {}
for _one in (*TRUMPS, *(_one for _number in SUITS for _one in SUIT[_number])):
    HAND_ORDER.setdefault(_one, len(HAND_ORDER))


def is_trump(one: Tile) -> bool:
    return one in _TRUMP_STRENGTH


def trump_strength(one: Tile) -> int:
    """8 for the 0-0 down to 1 for the 0-1; 0 for a tile that is no trump."""
    return _TRUMP_STRENGTH.get(one, 0)


def suit_strength(one: Tile, number: int) -> int:
    """Its rank in the suit, 6 for the ace; 0 for a tile of another suit."""
    return _IN_SUIT.get((number, one), 0)


def strength(one: Tile, request: Request) -> int:
    """What decides a trick: any trump above any tile of the suit, discards 0."""
    trump = trump_strength(one)
    if trump:
        return 100 + trump
    return 0 if request == TRUMP else suit_strength(one, request)


def declarations(one: Tile) -> tuple[int | None, ...]:
    """What a lead of this tile may declare: nothing for trumps and doubles, else either number."""
    return (None,) if one.is_double or is_trump(one) else (one.low, one.high)


def request_of(one: Tile, declared: int | None) -> Request:
    """What a lead asks for."""
    if is_trump(one):
        return TRUMP
    return one.low if declared is None else declared


def followers(hand: Iterable[Tile], request: Request, trick: Sequence[Tile]) -> tuple[tuple[Tile, ...], str]:
    """The tiles that may follow, and the rule that says so: follow, overtrump, trump, trump_no_suit or free."""
    held = tuple(hand)
    trumps = tuple(one for one in held if is_trump(one))
    if request == TRUMP:
        best = max(map(trump_strength, trick))
        stronger = tuple(one for one in trumps if trump_strength(one) > best)
        if stronger:
            return stronger, "overtrump"
        return (trumps, "trump") if trumps else (held, "free")
    suited = tuple(one for one in held if suit_strength(one, request))
    if suited:
        return suited, "follow"
    return (trumps, "trump_no_suit") if trumps else (held, "free")


def best_play(plays: Sequence[Tile], request: Request) -> int:
    """The place in the trick of the tile that wins it so far."""
    return max(range(len(plays)), key=lambda place: (strength(plays[place], request), -place))


def why_won(one: Tile, request: Request) -> str:
    """How the winning tile won: as the strongest trump, as an ace, or as the strongest of the number."""
    if is_trump(one):
        return "strongest_trump"
    return "ace" if request != TRUMP and _ACE[request] is one else "strongest_of_number"
