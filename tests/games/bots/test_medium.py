"""Medium of Domino Poker: legal, repeatable, blind to what its seat cannot see, and clearly better than chance."""

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from games import bots
from games.bots import Draw
from games.engine import table
from games.engine.deals import ScriptedDeal, SecretDeal
from games.engine.domino_poker.game import DominoPoker
from games.engine.tiles import ALL_TILES, tile

KEY = "domino_poker"


def match(number: int, mediums: tuple[int, ...], rounds: int = 7) -> Any:
    """The last state of a match; seats without a bot answer by lot."""
    game = DominoPoker(rounds)
    deal = SecretDeal(number.to_bytes(32, "big"), KEY, number)
    draw = Draw(deal.secret, "test")
    state, _events = table.start(game, deal)
    while prompts := table.waiting(game, state):
        (prompt,) = prompts
        if prompt.seat in mediums:
            text = bots.answer(KEY, "medium", game.view(state, prompt.seat), prompt, draw)
        else:
            text = str(prompt.choices[draw.below(len(prompt.choices))])
        state, _events = table.act(game, state, deal, prompt.seat, prompt.step, text)  # refuses what is not legal
    return state


def asked(hand: str, *, bid: int, tricks: int = 0, request: Any = None, trick: str = "", done: int = 0) -> str:
    """What Medium plays from seat 3 with this hand, bid and tricks taken, on these tiles."""
    held = tuple(map(tile, hand.split()))
    plays = tuple(enumerate(map(tile, trick.split()), 3 - len(trick.split())))
    game = DominoPoker(1)
    state = replace(
        game.open(),
        round=1,
        phase="playing",
        leader=plays[0][0] if plays else 3,
        hands=((), (), (), held),
        bids=(0, 0, 0, bid),
        taken=(done - tricks, 0, 0, tricks),
        request=request,
        plays=plays,
    )
    prompt = game.prompt(state, 3)
    assert prompt is not None
    return bots.answer(KEY, "medium", game.view(state, 3), prompt, Draw(b"seed", "asked"))


def test_medium_is_far_better_than_players_by_lot() -> None:
    """Where all played alike each seat would win a quarter; over 60 matches 40 wins are out of chance's reach."""
    states = [(number % 4, match(number, (number % 4,))) for number in range(60)]
    assert sum(state.result.order[0] == seat for seat, state in states) >= 45
    own = sum(state.totals[seat] for seat, state in states) / len(states)
    others = sum(sum(state.totals) - state.totals[seat] for seat, state in states) / len(states) / 3
    assert own > others + 80


def test_three_mediums_leave_little_to_a_player_by_lot() -> None:
    assert sum(match(number, (0, 1, 2)).result.order[0] == 3 for number in range(40)) <= 6


def test_four_mediums_bid_about_what_there_is_and_often_meet_it() -> None:
    scored = [one for number in range(20) for one in match(number, (0, 1, 2, 3)).scored]
    assert 5.5 < sum(sum(one.bids) for one in scored) / len(scored) < 8.5
    met = sum(bid == took for one in scored for bid, took in zip(one.bids, one.tricks, strict=True))
    assert met / (4 * len(scored)) > 0.38


def test_seven_sure_tricks_are_bid_and_nothing_is_bid_on_nothing() -> None:
    best = [tile(text) for text in ["0-0", "1-1", "1-6", "1-5", "1-4", "1-3", "1-2"]]
    worst = [tile(text) for text in ["0-2", "2-3", "2-4", "3-4", "0-3", "0-4", "2-5"]]
    rest = [one for one in ALL_TILES if one not in best + worst]
    game = DominoPoker(1)
    deal = ScriptedDeal([(*best, *worst, *rest)], first=3)
    state, _events = table.start(game, deal)
    for seat, bid in ((0, "bid 7"), (1, "bid 0")):
        prompt = game.prompt(state, seat)
        assert prompt is not None
        text = bots.answer(KEY, "medium", game.view(state, seat), prompt, Draw(b"seed", "bid"))
        assert text == bid
        state, _events = table.act(game, state, deal, seat, prompt.step, text)


@pytest.mark.parametrize(
    ("situation", "text"),
    [
        ({"hand": "0-0 1-5 0-1", "bid": 1, "request": "T", "trick": "1-2 1-3 1-4"}, "play 1-5"),  # as cheap as it gets
        ({"hand": "2-2 2-3", "bid": 1, "tricks": 1, "request": 2, "trick": "2-5"}, "play 2-3"),  # has its trick: ducks
        ({"hand": "2-6 2-3", "bid": 0, "request": 2, "trick": "2-2"}, "play 2-6"),  # gets rid of the dangerous one
        ({"hand": "0-0 2-3", "bid": 1}, "play 0-0"),  # leads what nothing beats
        ({"hand": "2-2 2-3", "bid": 0, "tricks": 2, "request": 2, "trick": "2-5"}, "play 2-2"),  # over: each pays again
        (
            {"hand": "4-4 3-4", "bid": 7, "tricks": 0, "done": 5, "request": 4, "trick": "4-5"},
            "play 3-4",
        ),  # seven is lost
    ],
)
def test_medium_takes_or_ducks_as_its_bid_needs(situation: dict[str, Any], text: str) -> None:
    assert asked(**situation) == text


def test_the_same_view_question_and_seed_give_the_same_answers_in_every_process() -> None:
    program = "from tests.games.bots.test_medium import match; print(match(5, (0, 1, 2, 3), 2).totals)"
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{match(5, (0, 1, 2, 3), 2).totals}\n"}


def test_hard_and_epic_are_named_but_cannot_be_asked() -> None:
    assert bots.levels(KEY) == {"medium": True, "hard": False, "epic": False}
    game = DominoPoker(1)
    state, _events = table.start(game, SecretDeal(bytes(32), KEY, 1))
    (prompt,) = table.waiting(game, state)
    for level in ("hard", "epic"):
        with pytest.raises(ValueError, match=level):
            bots.answer(KEY, level, game.view(state, prompt.seat), prompt, Draw(b"seed", "x"))


def test_draws_repeat_by_seed_and_label_and_stay_below_their_limit() -> None:
    def numbers(seed: bytes, label: str) -> list[int]:
        draw = Draw(seed, label)
        return [draw.below(6) for _ in range(600)]

    first = numbers(b"a", "x")
    assert numbers(b"a", "x") == first != numbers(b"a", "y")
    assert numbers(b"b", "x") != first
    assert all(60 < first.count(number) < 140 for number in range(6))
