"""Leaving, rematch, answers and time-outs in the same instant have one outcome; the controls show each race."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from games import history
from games.models import Match, MatchEvent
from players.models import Player
from rooms import clock, closing, hosting, playing, seating, tasks
from rooms.models import Room, Seat
from rooms.seating import Sitting
from tests.rooms import racing, stage
from tests.rooms.racing import code, codes, crowd, runs, sound, together
from tests.support.services import Run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("race")]

# -- leaving -----------------------------------------------------------------------------------------------------


@runs
@pytest.mark.parametrize("when", ["waiting", "starting", "playing"])
def test_the_last_people_leave_at_once(runs: int, when: str) -> None:
    make = {"waiting": stage.waiting, "starting": stage.started, "playing": stage.running}[when]
    for run in range(runs):
        since, people = racing.newest(), crowd(2 + run % 3)
        room = make(*people)
        results = together(*[partial(closing.leave, room.pk, player.pk) for player in people], run=run)
        assert codes(results) == ["done"] * len(people)
        assert racing.ends_as(room) == ("destroyed", 0)
        if when != "waiting":
            assert Match.objects.get(pk=stage.match_of(room)).status == "abandoned"
        sound(since)


@runs
def test_leaving_twice_is_leaving_once(runs: int) -> None:
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = stage.running(ana, ben)
        results = together(*[partial(closing.leave, room.pk, ben.pk)] * 3, run=run)
        assert sorted(codes(results)) == ["done", "no_room", "no_room"]
        assert racing.ends_as(room) == ("playing", 4)
        assert MatchEvent.objects.filter(match_id=stage.match_of(room), tag="SeatWithdrawn").count() == 1
        sound(since)


@pytest.mark.parametrize("when", ["waiting", "playing"])
def test_control_without_the_lock_a_room_of_nobody_lives_on(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, ben = crowd(2)
    room = stage.waiting(ana, ben) if when == "waiting" else stage.started(ana, ben)
    with racing.unlocked(2):
        results = together(partial(closing.leave, room.pk, ana.pk), partial(closing.leave, room.pk, ben.pk))
    assert codes(results) == ["done", "done"] and stage.refreshed(room).status != "destroyed"
    assert not Seat.objects.filter(room=room, player__isnull=False).exists()
    with pytest.raises(AssertionError, match="the host does not sit here"):
        sound()


# -- once more ---------------------------------------------------------------------------------------------------


def ended(*people: Player) -> Room:
    """A finished room, by the short way: one question is left of the match when it is won."""
    room = stage.running(*people)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.BOT_PACE_SECONDS", 0)
        stage.play_to_the_end(room)
    return stage.refreshed(room)


@runs
def test_four_at_once_meet_in_one_rematch(runs: int) -> None:
    people = crowd(4)
    old = ended(*people)
    for run in range(runs):
        since = racing.newest()
        Room.objects.filter(pk=old.pk).update(rematch=None, expires_at=clock.now() + timedelta(hours=1))
        results = together(*[partial(seating.rematch, player, old.code) for player in people], run=run)
        assert codes(results) == ["done"] * 4
        (room,) = Room.objects.filter(pk__gt=since)
        assert {result.room_id for result in results if isinstance(result, Sitting)} == {room.pk}
        seated = dict(Seat.objects.filter(room=room).values_list("number", "player_id"))
        assert seated == {number: player.pk for number, player in enumerate(people)}
        assert stage.refreshed(old).rematch_id == room.pk
        sound(since)
        hosting.delete(room.pk, room.host_id or 0)


@runs
def test_a_double_click_on_rematch_and_a_stranger_on_the_same_seat(runs: int) -> None:
    ana, ben, *strangers = crowd(2 + runs)
    old = ended(ana, ben)
    for run in range(runs):
        since = racing.newest()
        Room.objects.filter(pk=old.pk).update(rematch=None, expires_at=clock.now() + timedelta(hours=1))
        first = seating.rematch(ana, old.code)
        results = together(
            partial(seating.rematch, ben, old.code),
            partial(seating.rematch, ben, old.code),
            partial(seating.sit, strangers[run], first.room_id, 1),
            run=run,
        )
        # Whoever was the first to sit, the second click is led to the table and hears of no full room.
        assert sorted(codes(results[:2])) in [["already_seated", "done"], ["full", "full"]]
        assert racing.ends_as(Room.objects.get(pk=first.room_id)) == ("waiting", 4)
        sound(since)
        hosting.delete(first.room_id, ana.pk)


def test_control_without_the_lock_everybody_opens_a_rematch_of_ones_own() -> None:
    people = crowd(4)
    old = ended(*people)
    since = racing.newest()
    with racing.unlocked(4):
        together(*[partial(seating.rematch, player, old.code) for player in people])
    assert Room.objects.filter(pk__gt=since).count() == 4


# -- answers -----------------------------------------------------------------------------------------------------


def answer(room: Room, seat: Seat, step: str, do: str, name: str, received_at: Any) -> Callable[[], object]:
    return partial(playing.act, room.pk, seat.pk, seat.number, name, step, do, received_at)


def run_out(room: Room) -> tuple[Seat, str, str, Any]:
    """Somebody is asked, has sent an answer in the last millisecond, and the clock has run out since."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.BOT_PACE_SECONDS", 0)
        seat = stage.asked(room)
    (prompt,) = stage.prompts(room)
    do = str(stage.frame_of(room, seat.number)["prompt"]["choices"][-1]["do"])
    stage.pass_time(room, 10.2)
    room.refresh_from_db()
    assert room.deadline_at is not None
    return seat, prompt.step, do, room.deadline_at - timedelta(milliseconds=1)


@runs
def test_an_answer_against_the_time_out(runs: int) -> None:
    seen = set()
    for run in range(runs):
        since, people = racing.newest(), crowd(2)
        room = stage.running(*people)
        seat, step, do, received_at = run_out(room)
        answered, *_rings = together(
            answer(room, seat, step, do, "mine", received_at),
            partial(playing.ring, room.pk),
            tasks.ring_due,
            partial(playing.ring, room.pk),
            run=run,
        )
        (event,) = MatchEvent.objects.filter(match_id=stage.match_of(room), step=step)
        if code(answered) == "done":
            assert (event.by, event.answer, event.action_id) == ("seat", do, "mine")
            assert Seat.objects.get(pk=seat.pk).missed == 0
        else:
            assert code(answered) == "late"
            assert (event.by, event.action_id) == ("idle", None) and Seat.objects.get(pk=seat.pk).missed == 1
        assert (
            stage.refreshed(room).version > 1
            and not MatchEvent.objects.filter(match_id=stage.match_of(room), number__gt=event.number)
            .exclude(answer="")
            .exists()
        )
        sound(since)
        seen.add(code(answered) == "done")
    assert runs < 100 or len(seen) == 2


@runs
def test_a_forfeit_against_ones_own_answer(runs: int) -> None:
    for run in range(runs):
        since, people = racing.newest(), crowd(2)
        room = stage.running(*people)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("django.conf.settings.BOT_PACE_SECONDS", 0)
            seat = stage.asked(room)
        (prompt,) = stage.prompts(room)
        do = str(stage.frame_of(room, seat.number)["prompt"]["choices"][0]["do"])
        answered, left = together(
            answer(room, seat, prompt.step, do, "last", clock.now()),
            partial(closing.leave, room.pk, seat.player_id or 0),
            run=run,
        )
        assert left is None and code(answered) in {"done", "closed"}
        assert MatchEvent.objects.filter(match_id=stage.match_of(room), step=prompt.step).count() == (
            code(answered) == "done"
        )
        assert racing.ends_as(room) == ("playing", 4) and Seat.objects.get(pk=seat.pk).forfeited
        sound(since)


@runs
def test_taking_control_against_the_table_that_plays_for_one(runs: int) -> None:
    for run in range(runs):
        since, people = racing.newest(), crowd(2)
        room = stage.running(*people)
        seat, step, _do, _at = run_out(room)
        Seat.objects.filter(pk=seat.pk).update(missed=3, auto_play=True)
        control, _ring = together(
            partial(playing.take_control, room.pk, seat.pk), partial(playing.ring, room.pk), run=run
        )
        assert control is None and not Seat.objects.get(pk=seat.pk).auto_play
        played = MatchEvent.objects.filter(match_id=stage.match_of(room), step=step).count()
        if not played:
            assert stage.refreshed(room).deadline_at is not None and room.deadline_at is not None
            assert room.deadline_at > clock.now() + timedelta(seconds=8)
        sound(since)


def test_control_without_the_lock_a_question_has_two_answers(services: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    append, gate = history.append, threading.Barrier(2)

    def append_together(*args: Any, **kwargs: Any) -> None:
        with suppress(threading.BrokenBarrierError):
            gate.wait(1)
        append(*args, **kwargs)

    def race() -> tuple[Room, str, list[object]]:
        room = stage.running(*crowd(2))
        seat, step, do, received_at = run_out(room)
        gate.reset()
        with pytest.MonkeyPatch.context() as patch, racing.unlocked(2):
            patch.setattr(history, "append", append_together)
            results = together(answer(room, seat, step, do, "mine", received_at), partial(playing.ring, room.pk))
        return room, step, results

    room, step, results = race()
    assert sorted(codes(results)) == ["conflict", "done"]  # the log's own guard refuses what the lock should have
    guard = "AND version = %(expected)s "
    assert guard in history._APPEND
    monkeypatch.setattr(history, "_APPEND", history._APPEND.replace(guard, ""))
    with racing.without_unique(services, "games_matchevent", "match_id", "number"):
        room, step, results = race()
        assert codes(results) == ["done", "done"]
        assert MatchEvent.objects.filter(match_id=stage.match_of(room), step=step).count() == 2
        with pytest.raises(AssertionError, match="events"):
            sound()
    history.forget()
