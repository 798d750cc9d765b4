"""What a finished match says about its players; read from the match and its log, with no opinion about the rules."""

from dataclasses import dataclass
from datetime import datetime

from games import history
from games.models import Match, MatchSeat

__all__ = ["GAMES", "MatchRead", "RoundRead", "SeatRead", "read"]

SEATS = 4
# Games whose rounds have bids and tricks, and whose matches are read here.
GAMES = ("domino_poker",)


@dataclass(frozen=True, slots=True)
class RoundRead:
    """One seat's round."""

    round: int
    bid: int
    tricks: int
    score: int


@dataclass(frozen=True, slots=True)
class SeatRead:
    """One seat's match: place and score as the result page shows them, and the rounds before the player left."""

    seat: int
    player_id: int
    place: int
    score: int
    forfeited: bool
    rounds: tuple[RoundRead, ...]


@dataclass(frozen=True, slots=True)
class MatchRead:
    match_id: int
    game: str
    finished_at: datetime
    rounds: int
    seats: tuple[SeatRead, ...]


def read(match_id: int) -> MatchRead | None:
    """The match, when it counts: it came to a result, and four different people who were registered when it was opened
    sat in its four seats. None for every other."""
    seats = list(
        MatchSeat.objects.filter(match_id=match_id, match__status=Match.Status.FINISHED, match__game__in=GAMES)
        .select_related("match")
        .defer("match__secret", "match__commitments")
        .order_by("number")
    )
    people = [seat.player_id for seat in seats if seat.player_id is not None and seat.registered]
    if len(seats) != SEATS or len(set(people)) != SEATS:
        return None
    match = seats[0].match
    assert match.finished_at is not None and match.outcome is not None
    rounds: list[list[RoundRead]] = [[] for _seat in seats]
    gone: set[int] = set()
    totals = [0] * SEATS
    played = 0
    for row in history.rows(match_id, ("RoundScored", "SeatWithdrawn")):
        body = history.body_of(row)
        if row.tag == "SeatWithdrawn":
            gone.add(body["seat"])
            continue
        played += 1
        totals = body["totals"]
        for seat in range(SEATS):
            if seat not in gone:
                mine = (body["bids"][seat], body["tricks"][seat], body["scores"][seat])
                rounds[seat].append(RoundRead(body["round"], *mine))
    return MatchRead(
        match_id=match_id,
        game=match.game,
        finished_at=match.finished_at,
        rounds=played,
        seats=tuple(
            SeatRead(
                seat=number,
                player_id=people[number],
                place=match.outcome["places"][number],
                score=totals[number],
                forfeited=seats[number].forfeited,
                rounds=tuple(rounds[number]),
            )
            for number in range(SEATS)
        ),
    )
