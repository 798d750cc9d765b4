"""The table carries a betting game: seats asked at once, secret answers, amounts, chips, leaving out of turn."""

from games.engine import table
from games.engine.deals import ScriptedDeal
from games.engine.table import Range
from games.engine.tiles import tile
from tests.games.engine.duel import STACK, Acted, Duel, Ended, Left, Opened, Sealed, State
from tests.games.played import seen

DECK = tuple(map(tile, ("0-0", "0-1", "6-6", "5-6", "3-3", "2-3")))
DEAL = ScriptedDeal([DECK], first=1)
GAME = Duel(3)


def _play(*answers: tuple[int, str]) -> tuple[State, list[object]]:
    state, events = table.start(GAME, DEAL)
    seen_events: list[object] = list(events)
    for seat, text in answers:
        prompt = GAME.prompt(state, seat)
        assert prompt is not None
        state, more = table.act(GAME, state, DEAL, seat, prompt.step, text)
        seen_events += more
    return state, seen_events


SEALED = ((2, "seal high"), (0, "seal low"), (1, "seal high"))


def test_all_seats_are_asked_at_once_and_answer_in_any_order() -> None:
    state, _events = _play()
    assert [prompt.seat for prompt in table.waiting(GAME, state)] == [0, 1, 2]
    state, _events = _play(SEALED[0])
    assert [prompt.seat for prompt in table.waiting(GAME, state)] == [0, 1]
    state, events = _play(*SEALED)
    assert events[-1] == Opened(("low", "high", "high"), high=True)
    assert [prompt.seat for prompt in table.waiting(GAME, state)] == [1]


def test_a_sealed_call_is_its_seats_alone_until_all_are_open() -> None:
    high, low = _play((2, "seal high"))[0], _play((2, "seal low"))[0]
    assert high != low and repr(high) == repr(low)
    for viewer in (None, 0, 1):
        assert seen(GAME, high, viewer) == seen(GAME, low, viewer)
        assert GAME.witness(Sealed(2, "high"), viewer) == GAME.witness(Sealed(2, "low"), viewer)
    assert seen(GAME, high, 2) != seen(GAME, low, 2)


def test_a_raise_is_any_amount_of_its_range() -> None:
    state, _events = _play(*SEALED)
    (prompt,) = table.waiting(GAME, state)
    assert prompt.choices[-1] == Range("raise", 2, STACK)
    assert table.prompt_json(prompt)["choices"][-1] == {"do": "raise", "min": 2, "max": STACK}
    state, _events = _play(*SEALED, (1, "raise 7"))
    (prompt,) = table.waiting(GAME, state)
    assert (prompt.seat, prompt.choices[-1]) == (2, Range("raise", 8, STACK))
    state, _events = _play(*SEALED, (1, f"raise {STACK}"))
    (prompt,) = table.waiting(GAME, state)
    assert [str(choice) for choice in prompt.choices] == ["fold", "call"]


def test_the_chips_of_the_outcome_are_what_was_bet() -> None:
    state, events = _play(*SEALED, (1, "raise 7"), (2, "call"), (0, "fold"))
    ended = events[-1]
    assert isinstance(ended, Ended) and ended.hands[0] is None
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.chips == (-1, 8, -7)
    assert outcome.places == (2, 1, 3)
    assert outcome.order == (1, 0, 2)


def test_leaving_out_of_turn_folds_and_may_end_the_hand() -> None:
    state, _events = _play(*SEALED, (1, "raise 7"))
    state, events = table.withdraw(GAME, state, DEAL, 0)
    assert events == [Left(0)]
    assert [prompt.seat for prompt in table.waiting(GAME, state)] == [2]
    state, events = table.withdraw(GAME, state, DEAL, 2)
    assert [type(event) for event in events] == [Left, Ended]
    answers = [*SEALED, (1, "raise 7"), (0, "withdraw"), (2, "withdraw")]
    assert table.replay(GAME, DEAL, answers)[-2:] == events
    assert Acted(1, 7) in table.replay(GAME, DEAL, answers)


def test_leaving_before_a_call_leaves_the_others_to_it() -> None:
    state, _events = _play(SEALED[0], SEALED[1])
    state, events = table.withdraw(GAME, state, DEAL, 1)
    assert events == [Left(1), Opened(("low", None, "high"), high=True)]
    assert [prompt.seat for prompt in table.waiting(GAME, state)] == [2]
