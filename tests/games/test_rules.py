"""The rules of Domino Poker against their page: suits, trumps, declarations, following, points, ties."""

import pytest

from games.engine.domino_poker import rules, scoring
from games.engine.tiles import tile

TABLE = """
0 5 10 15 20 25 30 35
-5 15 10 15 20 25 30 35
-10 -5 30 15 20 25 30 35
-15 -10 -5 45 20 25 30 35
-20 -15 -10 -5 60 25 30 35
-25 -20 -15 -10 -5 75 30 35
-30 -25 -20 -15 -10 -5 90 35
-50 -50 -50 -50 -50 -50 -50 155
"""
SUITS = {
    0: "0-6 0-5 0-4 0-3 0-2",
    2: "2-2 2-6 2-5 2-4 2-3 0-2",
    3: "3-3 3-6 3-5 3-4 2-3 0-3",
    4: "4-4 4-6 4-5 3-4 2-4 0-4",
    5: "5-5 5-6 4-5 3-5 2-5 0-5",
    6: "6-6 5-6 4-6 3-6 2-6 0-6",
}


def test_trumps_and_suits_are_in_order() -> None:
    assert " ".join(map(str, rules.TRUMPS)) == "0-0 1-1 1-6 1-5 1-4 1-3 1-2 0-1"
    assert {number: " ".join(map(str, suit)) for number, suit in rules.SUIT.items()} == SUITS
    assert {one.text: number for one, number in rules.ACES.items()} == {
        text.split()[0]: number for number, text in SUITS.items()
    }


def test_all_64_pairs_score_as_the_table_says() -> None:
    rows = [list(map(int, line.split())) for line in TABLE.strip().splitlines()]
    assert [[scoring.score(bid, tricks) for tricks in range(8)] for bid in range(8)] == rows


@pytest.mark.parametrize(
    ("text", "declared"),
    [("0-0", (None,)), ("1-5", (None,)), ("4-4", (None,)), ("3-5", (3, 5)), ("0-6", (0, 6))],
)
def test_only_a_two_ended_lead_is_declared(text: str, declared: tuple[int | None, ...]) -> None:
    assert rules.declarations(tile(text)) == declared


@pytest.mark.parametrize(
    ("hand", "request_", "trick", "expected", "code"),
    [
        ("1-6 1-2 5-5", "T", "1-4", "1-6", "overtrump"),
        ("1-3 1-2 5-5", "T", "1-4", "1-3 1-2", "trump"),
        ("5-5 0-6", "T", "1-4", "5-5 0-6", "free"),
        ("3-5 0-5 0-0 1-5", 5, "5-5", "3-5 0-5", "follow"),
        ("1-5 0-0 3-3", 5, "5-5 1-6", "1-5 0-0", "trump_no_suit"),
        ("3-3 0-6", 5, "5-5", "3-3 0-6", "free"),
        ("0-6 3-3", 0, "0-5", "0-6", "follow"),
        ("0-6 3-3", 6, "6-6", "0-6", "follow"),
    ],
)
def test_who_follows_with_what(hand: str, request_: rules.Request, trick: str, expected: str, code: str) -> None:
    tiles, why = rules.followers(map(tile, hand.split()), request_, [tile(one) for one in trick.split()])
    assert (" ".join(map(str, tiles)), why) == (expected, code)


@pytest.mark.parametrize(
    ("points", "bids", "tricks", "dealer", "order", "decided"),
    [
        ((1, 3, 2, 0), (0, 0, 0, 0), (0, 0, 0, 0), 0, (1, 2, 0, 3), ("score", "score", "score")),
        ((5, 5, 5, 5), (0, 1, 2, 2), (3, 1, 1, 2), 0, (3, 2, 1, 0), ("tricks", "bid", "bid")),
        ((0, 0, 0, 0), (1, 1, 1, 1), (1, 1, 1, 1), 2, (3, 0, 1, 2), ("seat", "seat", "seat")),
    ],
)
def test_ties_fall_by_bid_tricks_and_seat(
    points: tuple[int, ...],
    bids: tuple[int, ...],
    tricks: tuple[int, ...],
    dealer: int,
    order: tuple[int, ...],
    decided: tuple[str, ...],
) -> None:
    assert scoring.ranking(points, bids, tricks, dealer) == (order, decided)
