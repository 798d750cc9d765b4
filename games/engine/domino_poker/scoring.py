"""Points of a round, the order of a round and of a match, and what decided between neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

EXACT, OVER, UNDER = 15, 5, -5  # points a trick
ALL_SEVEN, ALL_SEVEN_MISSED = 155, -50


def score(bid: int, tricks: int) -> int:
    """Points of one seat's round."""
    if bid == 7:
        return ALL_SEVEN if tricks == 7 else ALL_SEVEN_MISSED
    if tricks == bid:
        return EXACT * bid
    return OVER * tricks if tricks > bid else UNDER * (bid - tricks)


def why(bid: int, tricks: int) -> str:
    """The rule that gave the points: exact, nil, over, under, seven_made or seven_missed."""
    if bid == 7:
        return "seven_made" if tricks == 7 else "seven_missed"
    if tricks == bid:
        return "exact" if bid else "nil"
    return "over" if tricks > bid else "under"


def ranking(
    points: Sequence[int], bids: Sequence[int], tricks: Sequence[int], dealer: int
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Seats best first, and for each pair of neighbours what parted them: score, bid, tricks or seat.

    Points, then the round's bid, its tricks, then the seat order from the seat after the dealer, the dealer last."""
    seats = len(points)
    keys = [(points[s], bids[s], tricks[s], -((s - dealer - 1) % seats)) for s in range(seats)]
    order = sorted(range(seats), key=lambda s: keys[s], reverse=True)
    names = ("score", "bid", "tricks", "seat")
    decided = tuple(
        next(name for name, one, other in zip(names, keys[a], keys[b], strict=True) if one != other)
        for a, b in pairwise(order)
    )
    return tuple(order), decided


@dataclass(frozen=True, slots=True)
class RoundScore:
    """The whole result of one round, by seat; `totals` include it."""

    round: int
    dealer: int
    bids: tuple[int, ...]
    tricks: tuple[int, ...]
    scores: tuple[int, ...]
    why: tuple[str, ...]
    totals: tuple[int, ...]
    order: tuple[int, ...]
    winner: int
    decided: tuple[str, ...]


def score_round(
    round_number: int, dealer: int, bids: Sequence[int], tricks: Sequence[int], before: Sequence[int]
) -> RoundScore:
    """Score one round; `before` are the totals before it. The winner deals the next round."""
    scores = tuple(score(bid, took) for bid, took in zip(bids, tricks, strict=True))
    order, decided = ranking(scores, bids, tricks, dealer)
    return RoundScore(
        round=round_number,
        dealer=dealer,
        bids=tuple(bids),
        tricks=tuple(tricks),
        scores=scores,
        why=tuple(why(bid, took) for bid, took in zip(bids, tricks, strict=True)),
        totals=tuple(total + won for total, won in zip(before, scores, strict=True)),
        order=order,
        winner=order[0],
        decided=decided,
    )
