"""What holds for every game at the table, shown on matches of random play."""

import re
from random import Random
from typing import Any

import pytest

from games.engine import registry, table
from games.engine.errors import EngineError, NoQuestion, Stale
from games.engine.table import Range
from games.engine.tiles import ALL_TILES
from tests.games.engine.duel import HAND
from tests.games.played import NAMES, SMALL, Played, hidden, logged, play, redealt, seen, texts

SEEDS = range(30)
TILE = re.compile(r"\d-\d")
NONSENSE = (
    "", " ", "\n", "\x00", "bid 8", "bid -1", "bid ٣", "bid 3", "bid  1", "bid 1 ", " bid 1", "bid 01", "bid 1.0",
    "bid " + "9" * 5000, "BID 1", "bid", "play", "PLAY", "play 0-0 as 1", "play 0-0 as 0", "play 6-0", "play 7-7",
    "play 3-5 as 4", "play 3-5  as 3", "play 3-5 as", "play 3–5", "raise", "raise 0", "raise -3", "raise ٣",
    "raise 1e1", "raise " + "9" * 5000, "raise 999", "withdraw", "null", "{}", "fold call", "é" * 3000,
)  # fmt: skip


@pytest.fixture(params=NAMES)
def matches(request: pytest.FixtureRequest) -> list[Played]:
    return [play(request.param, seed) for seed in SEEDS]


def test_every_registered_game_is_played_here() -> None:
    assert set(SMALL) == set(registry.KEYS)


def test_the_state_is_the_fold_of_the_events(matches: list[Played]) -> None:
    for match in matches:
        game = match.game
        assert table.fold(game, match.events) == match.state
        again = [logged(game, event) for event in match.events]
        assert again == match.events
        assert table.fold(game, again) == match.state
        for stop in match.stops:
            assert table.fold(game, again[: stop.events]) == stop.state


def test_somebody_is_asked_until_it_is_over(matches: list[Played]) -> None:
    for match in matches:
        game = match.game
        for stop in match.stops:
            assert game.outcome(stop.state) is None
            assert stop.prompts
            asked = {prompt.seat: prompt for prompt in stop.prompts}
            assert [game.prompt(stop.state, seat) for seat in range(game.seats())] == [
                asked.get(seat) for seat in range(game.seats())
            ]
            assert all(prompt.choices for prompt in stop.prompts)
            assert game.forced(stop.state, match.deal) is None
        assert table.waiting(game, match.state) == ()
        assert game.forced(match.state, match.deal) is None


def test_every_question_has_a_step_of_its_own(matches: list[Played]) -> None:
    for match in matches:
        answered = []
        acts = zip(match.stops, match.answers, strict=True)
        for stop, (seat, text) in acts:
            if text != table.WITHDRAW:
                answered += [prompt.step for prompt in stop.prompts if prompt.seat == seat]
        assert len(answered) == len(set(answered))


def test_every_choice_is_accepted(matches: list[Played]) -> None:
    for match in matches[::3]:
        game = match.game
        for stop in match.stops:
            for prompt in stop.prompts:
                for text in texts(prompt):
                    action = game.parse(text)
                    assert str(action) == text
                    state, events = table.act(game, stop.state, match.deal, prompt.seat, prompt.step, text)
                    assert events[0] == game.decide(stop.state, prompt.seat, action)
                    assert state == table.fold(game, events, stop.state)
                for choice in prompt.choices:
                    assert isinstance(choice, Range) or game.parse(str(choice)) == choice


def _twisted(text: str) -> list[str]:
    wide = "".join(chr(ord(sign) + 0xFEE0) if sign.isdigit() else sign for sign in text)
    twisted = [text.upper(), f"{text} ", f" {text}", f"{text}\n", f"{text}\x00", text.replace(" ", "  "), wide]
    return [other for other in (*twisted, text.replace(" ", "\t"), text.replace(" ", "")) if other != text]


def _refused(match: Played, state: Any, seat: int, step: str, text: str) -> type[EngineError]:
    with pytest.raises(EngineError) as caught:
        table.act(match.game, state, match.deal, seat, step, text)
    assert len(str(caught.value)) < 160
    assert str(caught.value).isprintable()
    return caught.type


def _known(match: Played) -> list[str]:
    """Every answer that was open to anybody at any time, and every declaration of every tile."""
    known = {text for stop in match.stops for prompt in stop.prompts for text in texts(prompt)}
    known |= {f"play {one}" for one in ALL_TILES}
    known |= {f"play {one} as {number}" for one in ALL_TILES for number in range(7)}
    return sorted(known)


def test_any_other_text_is_refused_and_changes_nothing(matches: list[Played]) -> None:
    for match in matches[::10]:
        known = _known(match)
        for stop in match.stops:
            for prompt in stop.prompts:
                good = texts(prompt)
                bad = [text for text in known if text not in good] + [odd for text in good for odd in _twisted(text)]
                for choice in prompt.choices:
                    if isinstance(choice, Range):
                        inside = range(choice.low, choice.high + 1)
                        bad = [
                            text
                            for text in bad
                            if not re.fullmatch(rf"{choice.word} [0-9]+", text) or int(text.split()[1]) not in inside
                        ]
                        bad += [f"{choice.word} {choice.low - 1}", f"{choice.word} {choice.high + 1}"]
                for text in (*NONSENSE, *bad):
                    if text not in good:
                        _refused(match, stop.state, prompt.seat, prompt.step, text)
            assert stop.state == table.fold(match.game, match.events[: stop.events])


def test_a_seat_that_is_not_asked_cannot_answer(matches: list[Played]) -> None:
    for match in matches[::5]:
        for stop in match.stops:
            asked = {prompt.seat for prompt in stop.prompts}
            for seat in set(range(-1, match.game.seats() + 1)) - asked:
                for prompt in stop.prompts:
                    assert _refused(match, stop.state, seat, prompt.step, texts(prompt)[0]) is NoQuestion
        for seat in range(match.game.seats()):
            assert _refused(match, match.state, seat, match.stops[-1].prompts[0].step, "fold") is NoQuestion


def test_an_answer_to_an_earlier_question_is_stale(matches: list[Played]) -> None:
    for match in matches[::5]:
        past: set[str] = set()
        for stop, (seat, text) in zip(match.stops, match.answers, strict=True):
            for prompt in stop.prompts:
                for step in (*past, "", f"{prompt.step} ", f"{prompt.step}0"):
                    assert _refused(match, stop.state, prompt.seat, step, texts(prompt)[0]) is Stale
            if text != table.WITHDRAW:  # a withdrawal answers nothing
                past |= {prompt.step for prompt in stop.prompts if prompt.seat == seat}


def test_the_answers_alone_replay_the_match(matches: list[Played]) -> None:
    for match in matches:
        assert table.replay(match.game, match.deal, match.answers) == match.events


def test_a_match_has_a_bounded_number_of_events(matches: list[Played]) -> None:
    for match in matches:
        assert len(match.events) <= match.most + match.withdrawals
        if match.game.key == "domino_poker":
            assert len(match.events) == match.most + match.withdrawals


def test_the_outcome_places_every_seat(matches: list[Played]) -> None:
    for match in matches:
        outcome = match.game.outcome(match.state)
        assert outcome is not None
        seats = range(match.game.seats())
        assert sorted(outcome.order) == list(seats)
        assert [outcome.places[seat] for seat in outcome.order] == sorted(outcome.places)
        assert min(outcome.places) == 1
        assert outcome.chips is None or (len(outcome.chips) == len(seats) and sum(outcome.chips) == 0)


def test_no_tile_is_lost_or_there_twice(matches: list[Played]) -> None:
    for match in matches:
        state = match.game.open()
        for event in match.events:
            state = match.game.apply(state, event)
            tiles = [one for hand in state.hands for one in hand]
            if match.game.key == "duel":
                assert len(tiles) == HAND * match.game.seats()
            else:
                tiles += [one for _seat, one in state.plays]
                tiles += [one for trick in state.tricks for _seat, one in trick.plays]
                assert len(tiles) == 28
            assert len(set(tiles)) == len(tiles)


def test_views_are_blind_to_what_is_hidden(matches: list[Played]) -> None:
    """Swap the hidden tiles among the other hands: nothing that this viewer is shown changes."""
    moved = 0
    for number, match in enumerate(matches):
        chance = Random(f"cut {match.name} {number}")
        game = match.game
        for cut in chance.sample(range(1, len(match.events)), 4):
            events = match.events[: cut + 1]
            state = table.fold(game, events)
            for seat in (None, *range(game.seats())):
                tiles = hidden(game, state, seat)
                swap = dict(zip(tiles, chance.sample(tiles, len(tiles)), strict=True))
                others = redealt(game, events, swap)
                other = table.fold(game, others)
                moved += other != state
                assert [len(hand) for hand in other.hands] == [len(hand) for hand in state.hands]
                assert seen(game, other, seat) == seen(game, state, seat)
                assert [game.witness(event, seat) for event in others] == [
                    game.witness(event, seat) for event in events
                ]
    assert moved > len(matches)


def test_no_text_for_people_shows_a_hand(matches: list[Played]) -> None:
    for match in matches[::3]:
        state = match.game.open()
        for event in match.events:
            state = match.game.apply(state, event)
            if type(event).__name__ == "Dealt":
                assert not TILE.search(repr(event))
            if match.game.key == "duel" and state.phase == "over":
                continue  # the showdown shows them
            shown = {*TILE.findall(repr(state))}
            assert not shown & {one.text for hand in state.hands for one in hand}
        for stop in match.stops:
            assert not any(TILE.search(repr(prompt)) for prompt in stop.prompts)
            for seat in range(match.game.seats()):
                view = match.game.view(stop.state, seat)
                if not isinstance(view, dict):
                    assert not set(TILE.findall(repr(view))) & set(view.hand)
