"""A match that is over, told line by line: what everybody saw, and the tiles of rounds that were scored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from games import history, selectors
from games.errors import NoSuchMatch
from games.models import Match, MatchEvent

__all__ = ["Line", "StillRunning", "lines"]


class StillRunning(Exception):
    """Nothing is told of a match before it is over."""


@dataclass(frozen=True, slots=True)
class Line:
    """One event: its number, when, by whom it came, and what it was, in words."""

    number: int
    at: datetime
    by: str
    text: str


def lines(match_id: int) -> list[Line]:
    """The whole match. Raises NoSuchMatch, and StillRunning until it is over."""
    match = selectors.match_of(match_id)
    if match is None:
        raise NoSuchMatch(match_id)
    if not selectors.is_over(match):
        raise StillRunning(match_id)
    return _told(match)


def _told(match: Match) -> list[Line]:
    names = [seat.name for seat in selectors.seats_in(match.pk)]
    # A spectator's view, so that what a game keeps covered stays covered here too.
    seen = {one["n"]: one for one in selectors.wire_events(history.load(match.pk), None, 0)}
    told = []
    for row in history.rows(match.pk):
        text = _words(match.pk, seen[row.number], names)
        told.append(Line(row.number, row.at, str(MatchEvent.By(row.by).label), text))
    return told


def _words(match_id: int, event: dict[str, Any], names: list[str]) -> str:
    who = names[event["seat"]] if isinstance(event.get("seat"), int) else ""
    match event["type"]:
        case "Dealt":
            return _dealt(match_id, event, names)
        case "BidMade":
            return _("%(who)s bids %(bid)s") % {"who": who, "bid": event["bid"]}
        case "TilePlayed" if event["as"]:
            return _("%(who)s leads %(tile)s as %(request)s") % {
                "who": who, "tile": event["tile"], "request": event["as"],
            }  # fmt: skip
        case "TilePlayed":
            return _("%(who)s plays %(tile)s") % {"who": who, "tile": event["tile"]}
        case "TrickWon":
            return _("%(who)s takes trick %(number)s") % {"who": who, "number": event["number"]}
        case "RoundScored":
            return _("Round %(number)s is scored: %(points)s") % {
                "number": event["round"], "points": _each(names, event["scores"]),
            }  # fmt: skip
        case "SeatWithdrawn":
            return _("%(who)s forfeits") % {"who": who}
        case "MatchEnded":
            return _("The match ends: %(points)s") % {
                "points": _each([names[seat] for seat in event["order"]], [event["totals"][s] for s in event["order"]])
            }
        case other:
            facts = ", ".join(f"{key} {value}" for key, value in event.items() if key not in {"type", "n", "seat"})
            return " ".join(part for part in (str(other), who, facts) if part)


def _dealt(match_id: int, event: dict[str, Any], names: list[str]) -> str:
    facts = {"number": event["round"], "dealer": names[event["dealer"]]}
    opened = selectors.revealed_round(match_id, event["round"])
    if opened is None:
        return _("Round %(number)s is dealt, by %(dealer)s") % facts
    hands = [" ".join(hand) for hand in opened["hands"]]
    return _("Round %(number)s is dealt, by %(dealer)s: %(hands)s") % {**facts, "hands": _each(names, hands)}


def _each(names: list[str], values: Any) -> str:
    return "; ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
