"""The chart of accounts and the names of business facts: every code and every reference is built and read here."""

import re
from typing import NamedTuple

# House accounts have these numbers in every database (migration 0001); all other accounts count from 101.
HOUSE = {"house:issue": 1, "house:abandoned": 2, "house:adjust": 3, "house:closed": 4}
ISSUE, ABANDONED, ADJUST, CLOSED = HOUSE
FIRST_OWN_NUMBER = 101

ACCOUNT_PATTERN = r"^(player|room|stack):[1-9][0-9]{0,18}$|^house:(issue|abandoned|adjust|closed)$"

# What a transaction of each kind is called. One sitting is one taking of a seat, so coming back is a new fee.
REFERENCES = {
    "welcome": r"^welcome:[1-9][0-9]*$",
    "reward": r"^match:[1-9][0-9]*:reward$",
    "fee": r"^sitting:[1-9][0-9]*:fee$",
    "refund": r"^sitting:[1-9][0-9]*:refund$",
    "payout": r"^match:[1-9][0-9]*:payout$",
    "abandoned": r"^match:[1-9][0-9]*:abandoned$",
    "buyin": r"^sitting:[1-9][0-9]*:buyin:[1-9][0-9]*$",
    "hand": r"^match:[1-9][0-9]*:hand$",
    "cashout": r"^sitting:[1-9][0-9]*:cashout$",
    "correction": r"^correction:[1-9][0-9]*$",
    "closed": r"^closed:[1-9][0-9]*$",
}
# From which accounts to which coins go in a transaction of each kind (`family`); the database has the same table.
SHAPES = {
    "welcome": {(ISSUE, "player")},
    "reward": {(ISSUE, "player")},
    "fee": {("player", "room")},
    "refund": {("room", "player")},
    "payout": {("room", "player")},
    "abandoned": {("room", ABANDONED)},
    "buyin": {("player", "stack")},
    "hand": {("stack", "stack")},
    "cashout": {("stack", "player")},
    "correction": {(ADJUST, "player"), ("player", ADJUST)},
    "closed": {("player", CLOSED)},
}
# Kinds that make or destroy coins, and kinds that end a fee.
MAKING = frozenset({"welcome", "reward", "correction"})
RESOLVING = frozenset({"refund", "payout", "abandoned"})
# Of these a transaction has several postings; of the others it has one.
SEVERAL = frozenset({"payout", "hand"})


class Fact(NamedTuple):
    """A reference taken apart: `sitting:301:fee` is ("sitting", 301)."""

    subject: str
    number: int


def player_account(player_id: int) -> str:
    return f"player:{player_id}"


def room_account(room_id: int) -> str:
    """The escrow of one room's entry fees."""
    return f"room:{room_id}"


def stack_account(sitting_id: int) -> str:
    """The chips before one seat of a table that plays for coins."""
    return f"stack:{sitting_id}"


def family(code: str) -> str:
    """What sort of account this is: player, room, stack, or the code itself for a house account."""
    return code if code in HOUSE else code.partition(":")[0]


def number_of(code: str) -> int:
    """The player, room or sitting that a code names. Raises ValueError for a house account."""
    return int(code.partition(":")[2])


def fact(reference: str) -> Fact:
    """What a reference speaks of. Raises ValueError when it is none."""
    found = re.match(r"^(welcome|sitting|match|correction|closed):([1-9][0-9]*)(:|$)", reference)
    if found is None:
        raise ValueError(f"{reference[:60]!r} is no reference")
    return Fact(found[1], int(found[2]))


def welcome(player_id: int) -> str:
    return f"welcome:{player_id}"


def fee(sitting_id: int) -> str:
    return f"sitting:{sitting_id}:fee"


def refund(sitting_id: int) -> str:
    return f"sitting:{sitting_id}:refund"


def payout(match_id: int) -> str:
    return f"match:{match_id}:payout"


def abandoned(match_id: int) -> str:
    return f"match:{match_id}:abandoned"


def reward(match_id: int) -> str:
    return f"match:{match_id}:reward"


def buyin(sitting_id: int, number: int) -> str:
    """The `number`-th time (from 1) that this sitting bought chips."""
    return f"sitting:{sitting_id}:buyin:{number}"


def hand(match_id: int) -> str:
    return f"match:{match_id}:hand"


def cashout(sitting_id: int) -> str:
    return f"sitting:{sitting_id}:cashout"


def correction(correction_id: int) -> str:
    return f"correction:{correction_id}"


def closed(player_id: int) -> str:
    return f"closed:{player_id}"
