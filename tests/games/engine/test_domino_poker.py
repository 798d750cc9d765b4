"""Domino Poker line by line of docs/rules.md: strengths, leading, following, points, ties, who deals, leaving."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from games.engine import registry, table, wire
from games.engine.deals import ScriptedDeal, SecretDeal
from games.engine.domino_poker import rules, scoring
from games.engine.domino_poker.game import DominoPoker
from games.engine.domino_poker.moves import Bid, Play
from games.engine.domino_poker.state import State
from games.engine.errors import BadOptions, Illegal, Malformed, NoQuestion
from games.engine.tiles import ALL_TILES, tile

SUITS = {
    0: "0-6 0-5 0-4 0-3 0-2",
    2: "2-2 2-6 2-5 2-4 2-3 0-2",
    3: "3-3 3-6 3-5 3-4 2-3 0-3",
    4: "4-4 4-6 4-5 3-4 2-4 0-4",
    5: "5-5 5-6 4-5 3-5 2-5 0-5",
    6: "6-6 5-6 4-6 3-6 2-6 0-6",
}
TRUMPS = "0-0 1-1 1-6 1-5 1-4 1-3 1-2 0-1"
BLOCKS = (
    "0-0 0-1 0-2 0-3 0-4 0-5 0-6|1-1 1-2 1-3 1-4 1-5 1-6 2-2|2-3 2-4 2-5 2-6 3-3 3-4 3-5|3-6 4-4 4-5 4-6 5-5 5-6 6-6"
)


def tiles(text: str) -> tuple[Any, ...]:
    return tuple(map(tile, text.split()))


def asked(hand: str, request: Any = None, trick: str = "") -> table.Prompt[Any]:
    """What a seat with this hand is asked when these tiles lie in the trick."""
    plays = tuple(enumerate(tiles(trick)))
    hands = tuple(tiles(hand) if seat == len(plays) else () for seat in range(4))
    state = State(rounds=1, round=1, phase="playing", hands=hands, bids=(0,) * 4, request=request, plays=plays)
    prompt = DominoPoker(1).prompt(state, len(plays))
    assert prompt is not None
    return prompt


def choices(prompt: table.Prompt[Any]) -> list[str]:
    return sorted(str(choice).removeprefix("play ") for choice in prompt.choices)


def test_every_tile_is_a_trump_or_in_the_suits_of_its_numbers() -> None:
    assert " ".join(map(str, rules.TRUMPS)) == TRUMPS
    assert {number: " ".join(map(str, suit)) for number, suit in rules.SUIT.items()} == SUITS
    for one in ALL_TILES:
        suits = [number for number in range(7) if rules.suit_strength(one, number)]
        assert suits == ([] if rules.is_trump(one) else sorted({one.low, one.high}))


@pytest.mark.parametrize("text", ["", "1-0", "6-5", "7-7", "0-7", "3-5 ", " 3-5", "3–5", "٣-5", "35", "3-", "03-5"])
def test_no_other_text_is_a_tile(text: str) -> None:
    with pytest.raises(Malformed):
        tile(text)


def test_a_tile_is_one_object_however_it_is_come_by() -> None:
    assert [tile(str(one)) is one for one in ALL_TILES] == [True] * 28
    assert 3 in tile("3-5") and 4 not in tile("3-5") and tile("3-5").other(3) == 5 and tile("4-4").other(4) == 4


def test_a_trick_goes_to_the_strongest_trump_then_to_the_strongest_of_the_suit() -> None:
    for number, suit in rules.SUIT.items():
        for high, low in itertools.combinations((*rules.TRUMPS, *suit), 2):
            assert rules.best_play([low, high], number) == 1
            assert rules.best_play([high, low], number) == 0
        discards = [one for one in ALL_TILES if number not in one and not rules.is_trump(one)]
        assert all(rules.best_play([suit[-1], one], number) == 0 for one in discards)


@pytest.mark.parametrize(
    ("hand", "offered"),
    [
        ("0-0 1-3 4-4 3-5", ["0-0", "1-3", "3-5 as 3", "3-5 as 5", "4-4"]),
        ("0-6", ["0-6 as 0", "0-6 as 6"]),
        ("0-1", ["0-1"]),
    ],
)
def test_a_lead_is_any_tile_and_declares_where_it_can(hand: str, offered: list[str]) -> None:
    prompt = asked(hand)
    assert (choices(prompt), prompt.rule) == (offered, {"code": "lead", "number": None})


@pytest.mark.parametrize(
    ("hand", "request_", "trick", "offered", "code", "number"),
    [
        ("0-1 1-5 1-6 6-6", "T", "1-4", "1-5 1-6", "overtrump", None),
        ("0-1 1-2 6-6", "T", "1-4", "0-1 1-2", "trump", None),
        ("1-6 1-2", "T", "1-3 1-1", "1-2 1-6", "trump", None),  # what was led no longer counts
        ("1-6 0-0", "T", "1-3 6-6 1-1", "0-0", "overtrump", None),
        ("2-3 6-6", "T", "1-4", "2-3 6-6", "free", None),
        ("2-5 1-5 0-0 3-3", 5, "5-5", "2-5", "follow", "5"),
        ("1-5 0-0 3-3", 5, "5-5", "0-0 1-5", "trump_no_suit", "5"),
        ("0-1 1-2", 5, "5-5 1-6", "0-1 1-2", "trump_no_suit", "5"),  # no duty to beat the trump that lies there
        ("3-3 4-6", 5, "5-5", "3-3 4-6", "free", "5"),
        ("0-6 0-0 3-3", 0, "0-2", "0-6", "follow", "0"),
        ("0-6 0-0 3-3", 6, "2-6", "0-6", "follow", "6"),
        ("0-0 0-1 3-3", 0, "0-2", "0-0 0-1", "trump_no_suit", "0"),
    ],
)
def test_following(hand: str, request_: Any, trick: str, offered: str, code: str, number: str | None) -> None:
    prompt = asked(hand, request_, trick)
    assert (choices(prompt), prompt.rule) == (offered.split(), {"code": code, "number": number})


def test_a_choice_says_what_its_declaration_means() -> None:
    said = {choice["do"]: choice["means"] for choice in table.prompt_json(asked("0-6 3-5 4-4"))["choices"]}
    assert said == {
        "play 0-6 as 0": "ace", "play 0-6 as 6": "lowest", "play 3-5 as 3": "number", "play 3-5 as 5": "number",
        "play 4-4": None,
    }  # fmt: skip


POINTS = """0 5 10 15 20 25 30 35
-5 15 10 15 20 25 30 35
-10 -5 30 15 20 25 30 35
-15 -10 -5 45 20 25 30 35
-20 -15 -10 -5 60 25 30 35
-25 -20 -15 -10 -5 75 30 35
-30 -25 -20 -15 -10 -5 90 35
-50 -50 -50 -50 -50 -50 -50 155"""


def test_the_whole_table_of_points() -> None:
    assert [[scoring.score(bid, took) for took in range(8)] for bid in range(8)] == [
        [int(points) for points in line.split()] for line in POINTS.splitlines()
    ]


def test_every_score_names_its_rule() -> None:
    said = {(bid, took): scoring.why(bid, took) for bid in range(8) for took in range(8)}
    assert said[0, 0] == "nil" and said[7, 7] == "seven_made"
    assert {said[7, took] for took in range(7)} == {"seven_missed"}
    assert {said[bid, bid] for bid in range(1, 7)} == {"exact"}
    assert {said[bid, took] for bid in range(7) for took in range(bid + 1, 8)} == {"over"}
    assert {said[bid, took] for bid in range(7) for took in range(bid)} == {"under"}


@pytest.mark.parametrize(
    ("points", "bids", "tricks", "dealer", "order", "decided"),
    [
        ((9, 8, 7, 6), (0, 0, 0, 0), (0, 0, 0, 0), 0, (0, 1, 2, 3), ("score", "score", "score")),
        ((5, 5, 5, 5), (1, 2, 3, 0), (0, 0, 0, 0), 0, (2, 1, 0, 3), ("bid", "bid", "bid")),
        ((5, 5, 5, 5), (2, 2, 2, 2), (0, 3, 1, 2), 0, (1, 3, 2, 0), ("tricks", "tricks", "tricks")),
        ((5, 5, 5, 5), (2, 2, 2, 2), (1, 1, 1, 1), 2, (3, 0, 1, 2), ("seat", "seat", "seat")),
        ((5, 9, 5, 5), (2, 0, 3, 2), (1, 0, 0, 1), 3, (1, 2, 0, 3), ("score", "bid", "seat")),
    ],
)
def test_ties_and_what_decided_them(
    points: Sequence[int], bids: Sequence[int], tricks: Sequence[int], dealer: int, order: Any, decided: Any
) -> None:
    assert scoring.ranking(points, bids, tricks, dealer) == (order, decided)


def first_choices(game: DominoPoker, deal: Any, bids: Sequence[int] = (0, 0, 0, 0)) -> tuple[State, list[Any]]:
    state, events = table.start(game, deal)
    while prompts := table.waiting(game, state):
        (prompt,) = prompts
        text = f"bid {bids[prompt.seat]}" if prompt.kind == "bid" else str(prompt.choices[0])
        state, more = table.act(game, state, deal, prompt.seat, prompt.step, text)
        events += more
    return state, events


@pytest.mark.parametrize("first", range(4))
def test_the_seat_after_the_dealer_bids_first_and_the_dealer_leads(first: int) -> None:
    game = DominoPoker(1)
    deal = ScriptedDeal([ALL_TILES], first)
    state, _events = table.start(game, deal)
    steps = []
    for _ in range(5):
        (prompt,) = table.waiting(game, state)
        steps.append(prompt.step)
        state, _events = table.act(game, state, deal, prompt.seat, prompt.step, str(prompt.choices[0]))
    assert steps == [f"r1.b.s{(first + turn) % 4}" for turn in (1, 2, 3, 4)] + [f"r1.t1.s{first}"]


def test_the_winner_of_a_round_deals_the_next_and_the_last_round_parts_equal_totals() -> None:
    game = DominoPoker(6)
    state, events = first_choices(game, SecretDeal(b"\x05" * 32, "domino_poker", 5), (1, 2, 0, 3))
    dealers = [event.dealer for event in events if type(event).__name__ == "Dealt"]
    assert dealers[1:] == [one.winner for one in state.scored[:-1]]
    last = state.scored[-1]
    assert state.result is not None
    assert state.totals == tuple(map(sum, zip(*(one.scores for one in state.scored), strict=True)))
    expected = scoring.ranking(state.totals, last.bids, last.tricks, last.dealer)
    assert (state.result.order, state.result.decided) == expected
    outcome = game.outcome(state)
    assert outcome is not None and [outcome.places[seat] for seat in outcome.order] == [1, 2, 3, 4]


def test_each_seat_is_dealt_its_seven_of_the_deck() -> None:
    state, _events = table.start(DominoPoker(1), ScriptedDeal([ALL_TILES]))
    assert "|".join(" ".join(map(str, hand)) for hand in state.hands) == BLOCKS


def test_a_seat_may_leave_once_out_of_turn_and_play_goes_on() -> None:
    game = DominoPoker(1)
    deal = ScriptedDeal([ALL_TILES])
    state, _events = table.start(game, deal)
    (before,) = table.waiting(game, state)
    state, events = table.withdraw(game, state, deal, 3)
    assert [game.event_body(event) for event in events] == [{"seat": 3}]
    assert table.waiting(game, state) == (before,)
    for seat in (3, 4, -1):
        with pytest.raises(Illegal):
            table.withdraw(game, state, deal, seat)
    over, _events = first_choices(DominoPoker(1), deal)
    with pytest.raises(Illegal):
        table.withdraw(game, over, deal, 0)
    with pytest.raises(NoQuestion):
        table.act(game, over, deal, 0, "r1.t7.s0", "bid 1")


@pytest.mark.parametrize("rounds", [0, 51, -1, True, 7.0, "7", None, [], 10**40])
def test_rounds_out_of_range_or_of_another_kind_are_no_options(rounds: Any) -> None:
    with pytest.raises(BadOptions, match="50"):
        registry.build("domino_poker", {"rounds": rounds})


def test_options_and_games_that_do_not_exist_are_refused() -> None:
    for key, options in (("domino_poker", {"stakes": 1}), ("domino_poker", {1: 1, "x": 2}), ("chess", {}), ("", {})):
        with pytest.raises(BadOptions):
            registry.build(key, options)  # type: ignore[arg-type]
    assert registry.build("domino_poker", {}) == DominoPoker(7)


def test_a_log_line_that_is_no_event_is_malformed_and_quotes_no_hand() -> None:
    game = DominoPoker(1)
    for tag, body in (
        ("Dealt", {"round": 1, "dealer": 0, "hands": [["3-5", "5-3"]]}),
        ("Dealt", {"round": 1, "hands": [["3-5"]]}),
        ("BidMade", {"seat": 1}),
        ("BidMade", {"seat": 1, "bid": 2, "more": 3}),
        ("RoundScored", {}),
        ("Nothing", {}),
    ):
        with pytest.raises(Malformed) as refused:
            game.event_from(tag, body)
        assert "3-5" not in str(refused.value)


def test_the_view_has_the_shape_of_the_wire() -> None:
    game = DominoPoker(1)
    deal = ScriptedDeal([ALL_TILES], 1)
    state, _events = table.start(game, deal)
    for text in ("bid 1", "bid 2", "bid 3", "bid 4", "play 2-2"):
        (prompt,) = table.waiting(game, state)
        state, _events = table.act(game, state, deal, prompt.seat, prompt.step, text)
    view = json.loads(wire.encode(game.view(state, 1)))
    marks = view.pop("marks")
    assert marks["trumps"] == TRUMPS.split()
    assert marks["aces"] == {"0-6": "0", "2-2": "2", "3-3": "3", "4-4": "4", "5-5": "5", "6-6": "6"}
    seat = {"tricks": 0, "tiles": 7, "total": 0, "withdrawn": False}
    assert view == {
        "game": "domino_poker",
        "rounds": 1,
        "round": 1,
        "phase": "playing",
        "seat": 1,
        "dealer": 1,
        "leader": 1,
        "turn": 2,
        "hand": ["1-1", "1-6", "1-5", "1-4", "1-3", "1-2"],
        "seats": [{**seat, "bid": 3}, {**seat, "bid": 4, "tiles": 6}, {**seat, "bid": 1}, {**seat, "bid": 2}],
        "trick": {
            "number": 1,
            "leader": 1,
            "request": "2",
            "plays": [{"seat": 1, "tile": "2-2", "as": "2"}],
            "winning": 1,
        },
        "tricks": [],
        "scored": [],
        "result": None,
    }


def test_a_refused_text_of_any_length_is_quoted_short() -> None:
    game = DominoPoker(1)
    deal = ScriptedDeal([ALL_TILES])
    state, _events = table.start(game, deal)
    with pytest.raises(Malformed) as refused:
        table.act(game, state, deal, 1, "r1.b.s1", "bid " + "9" * 10_000)
    assert len(str(refused.value)) < 120


def test_moves_have_one_text_and_a_way_back() -> None:
    game = DominoPoker()
    moves = [*map(Bid, range(8)), *(Play(one, number) for one in ALL_TILES for number in (None, one.low, one.high))]
    assert all(game.parse(str(move)) == move for move in moves)


def test_the_state_of_a_match_shows_no_hand() -> None:
    state, _events = table.start(DominoPoker(1), ScriptedDeal([ALL_TILES]))
    assert replace(state, hands=()) != state
    assert repr(replace(state, hands=())) == repr(state)


class Lenient(DominoPoker):
    """Reads more than one text for the same move."""

    def parse(self, text: str) -> Any:
        return DominoPoker.parse(self, text.strip().lower())


@pytest.mark.parametrize("text", ["bid 1 ", "Bid 1", "\tbid 1"])
def test_the_table_takes_an_action_in_its_one_text_even_of_a_lenient_game(text: str) -> None:
    game, deal = Lenient(1), ScriptedDeal([ALL_TILES])
    state, _events = table.start(game, deal)
    with pytest.raises(Malformed):
        table.act(game, state, deal, 1, "r1.b.s1", text)
    table.act(game, state, deal, 1, "r1.b.s1", "bid 1")
