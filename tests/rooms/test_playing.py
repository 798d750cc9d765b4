"""The loop of a solo table: countdown, bots, people, the clock; each answer counts once."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from games.engine.errors import EngineError, NoQuestion
from games.errors import GameError
from games.models import Match, MatchEvent
from rooms import clock, playing
from rooms.errors import Closed, Late, NotOpen, RoomError
from rooms.models import Room, Seat
from tests.rooms import stage

pytestmark = pytest.mark.django_db(transaction=True)


def match_of(room: Room) -> int:
    assert room.match_id is not None
    return room.match_id


def events(room: Room) -> int:
    return MatchEvent.objects.filter(match=match_of(room)).count()


def test_nothing_is_dealt_before_the_countdown_ends() -> None:
    room = stage.solo(stage.person("Ana"))
    playing.ring(room.pk)
    room.refresh_from_db()
    assert (room.status, events(room)) == ("starting", 0)
    frame = stage.frame_of(room, 0)
    assert frame["view"] is None and frame["prompt"] is None
    assert frame["room"]["commitment"]["round"] == 1 and len(frame["room"]["commitment"]["hash"]) == 64
    with pytest.raises(NotOpen):
        playing.act(room.pk, stage.human(room).pk, 0, "a", "r1.b.s0", "bid 1", clock.now())


def test_the_deal_follows_the_countdown() -> None:
    room = stage.begun(stage.person("Ana"))
    frame = stage.frame_of(room, 0)
    assert len(frame["view"]["hand"]) == 7 and frame["room"]["status"] == "playing"


def test_bots_answer_until_the_human_is_asked_and_then_wait() -> None:
    room = stage.begun(stage.person("Ana"))
    prompt = stage.to_human(room)
    before = events(room)
    for _i in range(3):
        playing.ring(room.pk)
    assert events(room) == before
    assert stage.frame_of(room, 0)["prompt"]["step"] == prompt.step
    assert stage.frame_of(room, 1)["prompt"] is None


def test_ten_rings_at_once_make_one_answer(settings: Any) -> None:
    settings.BOT_PACE_SECONDS = settings.TRICK_PAUSE_SECONDS = 15  # no second answer is due while we look
    room = stage.begun(stage.person("Ana"))
    while stage.prompts(room)[0].seat == 0:
        stage.to_human(room)
        stage.answer(room, stage.first_choice(room))
    stage.pass_time(room, 20)
    before = events(room)
    stage.at_once([partial(playing.ring, room.pk) for _i in range(10)])
    tags = list(MatchEvent.objects.filter(match=match_of(room), number__gt=before).exclude(answer="").values_list("by"))
    assert len(tags) == 1


def test_an_action_sent_again_is_applied_once() -> None:
    room = stage.begun(stage.person("Ana"))
    prompt = stage.to_human(room)
    do = stage.first_choice(room)
    stage.answer(room, do, step=prompt.step, action_id="c1")
    before = events(room)
    stage.answer(room, do, step=prompt.step, action_id="c1")
    assert events(room) == before
    with pytest.raises(GameError):
        stage.answer(room, "bid 7", step=prompt.step, action_id="c1")
    assert events(room) == before


def test_five_copies_at_once_are_one_action() -> None:
    room = stage.begun(stage.person("Ana"))
    prompt = stage.to_human(room)
    do = stage.first_choice(room)
    results = stage.at_once([partial(stage.answer, room, do, step=prompt.step, action_id="c1") for _i in range(5)])
    assert results == [None] * 5
    assert MatchEvent.objects.filter(match=match_of(room), action_id="c1").count() == 1


def test_two_different_actions_at_once_are_one_action_and_one_refusal() -> None:
    room = stage.begun(stage.person("Ana"))
    prompt = stage.to_human(room)
    results = stage.at_once(
        [partial(stage.answer, room, f"bid {n}", step=prompt.step, action_id=f"c{n}") for n in range(4)]
    )
    assert sum(result is None for result in results) == 1
    assert {error.code for error in results if isinstance(error, EngineError)} <= {"stale", "not_your_turn"}
    assert MatchEvent.objects.filter(match=match_of(room), action_id__isnull=False).count() == 1


@pytest.mark.parametrize("do", ["bid 8", "bid -1", "bid 1e3", "bid ٣", "play 0-0", "", "bid  1", "withdraw", "bid 1 "])
def test_a_bad_answer_changes_nothing(do: str) -> None:
    room = stage.begun(stage.person("Ana"))
    stage.to_human(room)
    before = (events(room), Room.objects.get(pk=room.pk).version)
    with pytest.raises(EngineError):
        stage.answer(room, do)
    assert (events(room), Room.objects.get(pk=room.pk).version) == before


def test_an_answer_received_after_the_deadline_is_late() -> None:
    room = stage.begun(stage.person("Ana"), clocked=True)
    prompt = stage.to_human(room)
    with pytest.raises(Late):
        stage.answer(room, "bid 1", step=prompt.step, late_seconds=0.05)
    stage.answer(room, "bid 1", step=prompt.step, late_seconds=-0.05)


def test_who_is_not_asked_is_told_that_and_not_that_it_is_late() -> None:
    room = stage.running(stage.person("Ana"), stage.person("Ben"))
    asked = stage.asked(room)
    (prompt,) = stage.prompts(room)
    (other,) = Seat.objects.filter(room=room, player__isnull=False).exclude(pk=asked.pk)
    deadline = stage.refreshed(room).deadline_at
    assert deadline is not None
    after = deadline + timedelta(seconds=1)
    with pytest.raises(NoQuestion):
        playing.act(room.pk, other.pk, other.number, "early", prompt.step, "bid 1", after)
    with pytest.raises(Late):
        playing.act(room.pk, asked.pk, asked.number, "late", prompt.step, "bid 1", after)


def test_three_missed_turns_are_warning_inactive_auto_play() -> None:
    room = stage.begun(stage.person("Ana"), clocked=True, rounds=2)
    seen = []
    for _i in range(3):
        stage.to_human(room)
        stage.pass_time(room, 11)
        playing.ring(room.pk)
        seat = stage.human(room)
        seen.append((seat.missed, seat.auto_play))
    assert seen == [(1, False), (2, False), (3, True)]
    assert MatchEvent.objects.filter(match=match_of(room), by="idle").count() == 3
    first = MatchEvent.objects.filter(match=match_of(room), by="idle").order_by("number")[0]
    assert first.tag == "BidMade" and '"bid":0' in first.body.replace(" ", "")


def test_taking_control_ends_auto_play() -> None:
    room = stage.begun(stage.person("Ana"), clocked=True)
    Seat.objects.filter(room=room, player__isnull=False).update(missed=3, auto_play=True)
    playing.take_control(room.pk, stage.human(room).pk)
    assert (stage.human(room).missed, stage.human(room).auto_play) == (0, False)


def test_a_timely_answer_lowers_the_missed_turns_by_one() -> None:
    room = stage.begun(stage.person("Ana"), clocked=True)
    stage.to_human(room)
    Seat.objects.filter(room=room, player__isnull=False).update(missed=2)
    stage.answer(room, stage.first_choice(room))
    assert stage.human(room).missed == 1


def test_the_human_without_a_clock_is_never_timed_out() -> None:
    room = stage.begun(stage.person("Ana"))
    stage.to_human(room)
    assert room.deadline_at is None and room.due_at is None
    assert stage.frame_of(room, 0)["ms_left"] is None


def test_the_clock_starts_when_the_question_opens() -> None:
    room = stage.begun(stage.person("Ana"), clocked=True)
    stage.to_human(room)
    room.refresh_from_db()
    assert room.deadline_at is not None
    left = room.deadline_at - clock.now()
    assert timedelta(seconds=room.turn_seconds or 0) - left < timedelta(seconds=1)


def test_a_whole_match_ends_frees_everybody_and_stays_readable() -> None:
    ana = stage.person("Ana")
    room = stage.begun(ana, rounds=2)
    stage.play_out(room)
    room.refresh_from_db()
    assert room.status == "finished" and not Seat.objects.filter(room=room).exists()
    assert Match.objects.get(pk=match_of(room)).status == "finished"
    frame = stage.frame_of(room, 0)
    assert frame["view"]["result"] and frame["room"]["outcome"] == {"reason": "finished"}
    stage.solo(ana)  # free at once
    Room.objects.filter(pk=room.pk).update(expires_at=clock.now(), due_at=clock.now())
    playing.ring(room.pk)
    room.refresh_from_db()
    assert room.status == "destroyed"


def test_after_the_end_the_last_action_is_acknowledged_again_and_others_refused() -> None:
    room = stage.begun(stage.person("Ana"))
    seat = stage.human(room)
    stage.play_out(room)
    last = MatchEvent.objects.filter(match=match_of(room), action_id__isnull=False).order_by("-number")[0]
    playing.act(room.pk, seat.pk, seat.number, last.action_id or "", last.step, last.answer, clock.now())
    with pytest.raises(Closed):
        playing.act(room.pk, seat.pk, seat.number, "new", last.step, last.answer, clock.now())


def test_a_banned_player_cannot_act() -> None:
    ana = stage.person("Ana")
    room = stage.begun(ana)
    stage.to_human(room)
    ana.is_active = False
    ana.save(update_fields=["is_active"])
    with pytest.raises(RoomError):
        stage.answer(room, stage.first_choice(room))
