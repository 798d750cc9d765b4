"""Opening, beginning, answering, withdrawing, abandoning: each counted once, each whole."""

import json

import pytest
from django.db import IntegrityError, transaction
from django.db.transaction import TransactionManagementError

from games import history, selectors, services
from games.engine.deals import SecretDeal
from games.engine.errors import BadOptions, NoQuestion
from games.engine.tiles import ALL_TILES
from games.errors import ActionReused, BadActionId, MatchClosed
from games.models import Match, MatchEvent, MatchSeat
from games.services import SeatSpec
from tests.games import matches

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_new_match_waits_with_a_seal_for_every_round() -> None:
    loaded = matches.opened(rounds=5)
    assert (loaded.status, loaded.version, selectors.prompts(loaded)) == ("waiting", 0, ())
    assert selectors.round_now(loaded) is None
    deal = SecretDeal(loaded.secret, "domino_poker", loaded.match_id)
    assert loaded.commitments == tuple(deal.commitment(number) for number in range(1, 6))
    assert [selectors.commitment(loaded, number) for number in (0, 5, 6)] == [None, loaded.commitments[4], None]
    assert history.load(loaded.match_id).secret == loaded.secret
    assert len(loaded.secret) == 32 and loaded.secret != matches.opened(matches.person("Bo")).secret


def test_seats_are_written_with_their_names() -> None:
    loaded = matches.opened(ana := matches.person("Ana"))
    seats = [(s.number, s.player_id, s.name, s.bot_level) for s in selectors.seats_in(loaded.match_id)]
    assert seats == [
        (0, ana.pk, "Ana", ""),
        (1, None, "West", "medium"),
        (2, None, "North", "medium"),
        (3, None, "East", "medium"),
    ]
    assert selectors.seat_in(loaded.match_id, ana.pk) == 0 and selectors.seat_in(loaded.match_id, ana.pk + 1) is None


@pytest.mark.parametrize("options", [{"rounds": 0}, {"rounds": 51}, {"rounds": True}, {"rounds": "7"}, {"turns": 1}])
def test_bad_options_make_no_match(options: dict[str, object]) -> None:
    with pytest.raises(BadOptions), transaction.atomic():
        services.open_match("domino_poker", options, [SeatSpec(None, "x", "medium")] * 4)
    assert not Match.objects.exists()


def test_a_wrong_number_of_seats_makes_no_match() -> None:
    with pytest.raises(ValueError, match="4 seats, not 3"), transaction.atomic():
        services.open_match("domino_poker", {}, [SeatSpec(None, "x", "medium")] * 3)


def test_without_the_callers_transaction_nothing_is_done() -> None:
    loaded = matches.begun()
    match_id = loaded.match_id
    (prompt,) = selectors.prompts(loaded)
    for call in (
        lambda: services.begin(match_id),
        lambda: services.act(match_id, prompt.seat, prompt.step, "bid 1", "seat"),
        lambda: services.withdraw(match_id, 0, "seat"),
        lambda: services.abandon(match_id),
        lambda: services.open_match("domino_poker", {}, [SeatSpec(None, "x", "medium")] * 4),
    ):
        with pytest.raises(TransactionManagementError):
            call()
    assert history.load(match_id).version == 1


def test_beginning_deals_and_asks_once() -> None:
    loaded = matches.begun()
    assert (loaded.status, loaded.version, selectors.round_now(loaded)) == ("playing", 1, 1)
    assert len(selectors.prompts(loaded)) == 1
    with transaction.atomic():
        again = services.begin(loaded.match_id)
    assert again.repeated and again.events == () and again.loaded.version == 1


def test_the_same_action_again_changes_nothing() -> None:
    match_id = matches.begun().match_id
    (prompt,) = selectors.prompts(history.load(match_id))
    for number in range(3):
        with transaction.atomic():
            step = services.act(match_id, prompt.seat, prompt.step, "bid 3", "seat", "c1")
        assert step.repeated is (number > 0) and step.loaded.version == 2
    assert MatchEvent.objects.filter(match_id=match_id).count() == 2


@pytest.mark.parametrize(("step", "text"), [(None, "bid 4"), ("r9.b.s0", "bid 3"), ("", "bid 3")])
def test_an_action_id_carries_one_action_only(step: str | None, text: str) -> None:
    match_id = matches.begun().match_id
    (prompt,) = selectors.prompts(history.load(match_id))
    with transaction.atomic():
        services.act(match_id, prompt.seat, prompt.step, "bid 3", "seat", "c1")
    with pytest.raises(ActionReused) as refusal, transaction.atomic():
        services.act(match_id, prompt.seat, prompt.step if step is None else step, text, "seat", "c1")
    assert refusal.value.code == "action_reused"
    assert history.load(match_id).version == 2


def test_another_seat_may_use_the_same_action_id() -> None:
    match_id = matches.begun().match_id
    matches.answer(match_id, "c1")
    assert not matches.answer(match_id, "c1").repeated
    assert MatchEvent.objects.filter(match_id=match_id, action_id="c1").count() == 2


@pytest.mark.parametrize("action_id", ["", "x" * 65, "a\x00b", "a\nb"])
def test_action_ids_are_short_texts(action_id: str) -> None:
    match_id = matches.begun().match_id
    with pytest.raises(BadActionId):
        matches.answer(match_id, action_id)


def test_a_refused_answer_leaves_no_trace_and_its_id_free() -> None:
    match_id = matches.begun().match_id
    (prompt,) = selectors.prompts(history.load(match_id))
    assert matches.refused(match_id, prompt.seat, prompt.step, "bid 8") in {"malformed", "illegal"}
    assert matches.refused(match_id, prompt.seat, "r1.t1.s0", "bid 1") == "stale"
    assert matches.refused(match_id, (prompt.seat + 1) % 4, prompt.step, "bid 1") == "not_your_turn"
    assert history.load(match_id).version == 1
    assert not matches.answer(match_id, "c1").repeated


def test_the_end_is_written_with_the_last_answer() -> None:
    match_id = matches.begun(rounds=2).match_id
    step = matches.played_out(match_id)
    match = Match.objects.get(pk=match_id)
    assert step.outcome is not None and match.outcome is not None
    assert (match.status, match.outcome["order"]) == ("finished", list(step.outcome.order))
    assert match.finished_at is not None and match.finished_at >= match.created_at
    assert step.loaded.status == "finished" and selectors.prompts(step.loaded) == ()
    assert match.version == step.loaded.version == MatchEvent.objects.filter(match_id=match_id).count()
    assert selectors.is_finished(match_id)
    with pytest.raises(MatchClosed), transaction.atomic():
        services.act(match_id, 0, "r2.t7.s0", "play 0-0", "seat")


def test_the_last_action_sent_again_is_answered_as_the_first_time() -> None:
    match_id = matches.begun().match_id
    while True:
        (prompt,) = selectors.prompts(history.load(match_id))
        text = str(prompt.choices[0])
        with transaction.atomic():
            step = services.act(match_id, prompt.seat, prompt.step, text, "seat", prompt.step)
        if step.outcome is not None:
            break
    with transaction.atomic():
        again = services.act(match_id, prompt.seat, prompt.step, text, "seat", prompt.step)
    assert again.repeated and again.outcome == step.outcome


def test_an_undone_end_is_no_end() -> None:
    match_id = matches.begun().match_id
    with transaction.atomic():
        while True:
            (prompt,) = selectors.prompts(history.load(match_id))
            if services.act(match_id, prompt.seat, prompt.step, str(prompt.choices[0]), "seat").outcome is not None:
                break
        transaction.set_rollback(True)
    match = Match.objects.get(pk=match_id)
    assert (match.status, match.version, match.outcome) == ("playing", 1, None)


def test_withdrawing_marks_the_seat_once() -> None:
    match_id = matches.begun().match_id
    with transaction.atomic():
        step = services.withdraw(match_id, 0, "seat")
    assert [type(event).__name__ for _n, event in step.events] == ["SeatWithdrawn"]
    with transaction.atomic():
        assert services.withdraw(match_id, 0, "seat").repeated
    assert MatchSeat.objects.get(match_id=match_id, number=0).forfeited
    assert history.load(match_id).version == 2


def test_abandoning_ends_without_a_result() -> None:
    match_id = matches.begun().match_id
    with transaction.atomic():
        services.abandon(match_id)
        services.abandon(match_id)
    match = Match.objects.get(pk=match_id)
    assert (match.status, match.outcome) == ("abandoned", None) and match.finished_at is not None
    assert not selectors.is_finished(match_id) and selectors.prompts(history.load(match_id)) == ()
    with pytest.raises(MatchClosed), transaction.atomic():
        services.begin(match_id)
    with pytest.raises(MatchClosed), transaction.atomic():
        services.withdraw(match_id, 0, "seat")


def test_a_result_is_not_abandoned() -> None:
    match_id = matches.begun().match_id
    matches.played_out(match_id)
    with transaction.atomic():
        services.abandon(match_id)
    assert Match.objects.get(pk=match_id).status == "finished"


@pytest.mark.parametrize(
    "bad",
    [
        {"status": "finished"},
        {"status": "waiting"},
        {"status": "abandoned"},
        {"version": 0},
        {"outcome": {"reason": "finished"}},
    ],
)
def test_the_database_refuses_half_ends(bad: dict[str, object]) -> None:
    match_id = matches.begun().match_id
    with pytest.raises(IntegrityError):
        Match.objects.filter(pk=match_id).update(**bad)


def test_a_bot_thinks_the_same_twice_and_answers_by_its_choices() -> None:
    match_id = matches.begun().match_id
    for _i in range(20):
        loaded = history.load(match_id)
        (prompt,) = selectors.prompts(loaded)
        text = services.think(loaded, prompt.seat, "medium")
        assert text == services.think(loaded, prompt.seat, "medium")
        assert text in {str(choice) for choice in prompt.choices}
        matches.answer(match_id, text=text)
    with pytest.raises(NoQuestion):
        services.think(loaded, (prompt.seat + 1) % 4, "medium")


def test_a_seat_sees_its_own_tiles_alone() -> None:
    loaded = matches.begun()
    hands = [[tile.text for tile in hand] for hand in loaded.state.hands]
    for seat in range(4):
        view = json.loads(selectors.view_json(loaded, seat))
        assert sorted(view["hand"]) == sorted(hands[seat])
        (event,) = selectors.wire_events(loaded, seat, 0)
        assert (event["n"], event["type"], sorted(event["hand"])) == (1, "Dealt", sorted(hands[seat]))
    assert json.loads(selectors.view_json(loaded, None))["hand"] is None
    assert selectors.wire_events(loaded, None, 0)[0]["hand"] is None
    assert selectors.wire_events(loaded, 0, 1) == []


def test_events_go_on_after_the_number_asked_for() -> None:
    match_id = matches.begun().match_id
    step = matches.answers(match_id, 9)
    numbers = [event["n"] for event in selectors.wire_events(step.loaded, 0, 4)]
    assert numbers == list(range(5, step.loaded.version + 1))


def test_a_forced_deal_deals_what_it_says(settings: object) -> None:
    decks = [[tile.text for tile in ALL_TILES], [tile.text for tile in reversed(ALL_TILES)]]
    settings.FORCED_DEAL = json.dumps(decks)  # type: ignore[attr-defined]
    loaded = matches.begun(rounds=3)
    assert [tile.text for hand in loaded.state.hands for tile in hand] == decks[0]
    rounds = {}
    for _n, event in matches.played_out(loaded.match_id).loaded.events:
        if type(event).__name__ == "Dealt":
            rounds[event.round] = [tile.text for hand in event.hands for tile in hand]
    assert rounds == {1: decks[0], 2: decks[1], 3: decks[0]}
