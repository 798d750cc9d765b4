"""Turns, missed turns, forfeits, absence, and what an outage of the service must not cost."""

from datetime import timedelta
from typing import Any

import pytest

from games.models import Match, MatchEvent, MatchSeat
from players.models import Player
from rooms import clock, closing, hosting, playing, seating, tasks
from rooms.errors import (
    Closed,
    NoSuchRoom,
    Started,
)
from rooms.models import Connection, Room, Seat
from tests.rooms import stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quiet_site")]


def in_the_frame(room: Room, player: Player, viewer: int = 0) -> dict[str, Any]:
    """What the others are shown of this player's seat."""
    number = stage.seat_of(room, player).number
    found: dict[str, Any] = next(
        seat for seat in stage.frame_of(room, viewer)["room"]["seats"] if seat["number"] == number
    )
    return found


def miss_turn(room: Room, player: Player) -> None:
    """The player's clock runs out."""
    stage.turn_of(room, player)
    run_out(room)


def run_out(room: Room) -> None:
    stage.pass_time(room, 10.2)
    playing.ring(room.pk)
    room.refresh_from_db()


def forfeiters(room: Room) -> Any:
    """The seats that the record of the match calls given up."""
    return MatchSeat.objects.filter(match_id=stage.match_of(room), forfeited=True).values_list("number", flat=True)


# -- turns -------------------------------------------------------------------------------------------------------


def test_missed_turns_are_seen_by_all_and_timely_answers_and_control_take_them_back() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben, rounds=5)
    seen = []
    for _i in range(3):
        miss_turn(room, ana)
        shown = in_the_frame(room, ana, viewer=1)
        seen.append((shown["missed"], shown["auto_play"]))
    assert seen == [(1, False), (2, False), (3, True)]
    assert in_the_frame(room, ana, viewer=0)["auto_play"] and not in_the_frame(room, ben)["missed"]
    # Auto-play needs no clock, and the count stays at three.
    for _i in range(6):
        stage.give(room, stage.asked(room), action_id=f"on-{room.version}")
    assert (stage.seat_of(room, ana).missed, stage.seat_of(room, ana).auto_play) == (3, True)
    playing.take_control(room.pk, stage.seat_of(room, ana).pk)
    assert (in_the_frame(room, ana, 1)["missed"], in_the_frame(room, ana, 1)["auto_play"]) == (0, False)
    miss_turn(room, ana)
    miss_turn(room, ana)
    stage.give(room, stage.turn_of(room, ana), action_id="timely-1")
    assert in_the_frame(room, ana, viewer=1)["missed"] == 1
    stage.give(room, stage.turn_of(room, ana), action_id="timely-2")
    assert in_the_frame(room, ana, viewer=1)["missed"] == 0
    stage.give(room, stage.turn_of(room, ana), action_id="timely-3")
    assert in_the_frame(room, ana, viewer=1)["missed"] == 0


def test_a_timely_answer_on_auto_play_takes_the_seat_back() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben, rounds=3)
    seat = stage.turn_of(room, ana)
    Seat.objects.filter(pk=seat.pk).update(missed=3, auto_play=True)
    stage.give(room, seat, action_id="back")
    assert (stage.seat_of(room, ana).missed, stage.seat_of(room, ana).auto_play) == (2, False)


def test_bots_answer_first_at_their_pace_and_the_human_has_the_full_clock() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben, rounds=2)
    for _i in range(6):
        (prompt,) = stage.prompts(room)
        while Seat.objects.get(room=room, number=prompt.seat).player_id is None:
            assert not room.is_open and room.deadline_at is None and room.opened_at is not None
            assert stage.frame_of(room, 0)["prompt"] is None and stage.frame_of(room, 0)["ms_left"] is None
            stage.pass_time(room, 0.5)
            playing.ring(room.pk)
            (prompt,) = stage.prompts(room)
        if not room.is_open:
            stage.pass_time(room, 0.5)
            playing.ring(room.pk)
            room.refresh_from_db()
        assert room.is_open and room.deadline_at is not None and room.opened_at is not None
        assert room.deadline_at - room.opened_at == timedelta(seconds=10)
        assert 9_000 < stage.frame_of(room, prompt.seat)["ms_left"] <= 10_000
        stage.give(room, stage.asked(room), action_id=f"on-{room.version}")
        room.refresh_from_db()


@pytest.mark.parametrize("question", ["bid", "tile", "last"])
def test_the_clock_runs_on_for_a_player_who_is_gone(question: str) -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben)
    if question == "last":
        seat = stage.last_question(room, ana)
    else:
        seat = stage.turn_of(room, ana)
        if question == "tile":
            stage.give(room, seat, action_id="bid")
            seat = stage.turn_of(room, ana)
    (prompt,) = stage.prompts(room)
    assert prompt.kind == ("bid" if question == "bid" else "play")
    stage.go_away(room, ana)
    stage.pass_time(room, 9.5)
    tasks.ring_due()
    assert stage.prompts(room)[0].step == prompt.step
    stage.pass_time(room, 0.7)
    tasks.ring_due()
    event = MatchEvent.objects.get(match_id=stage.match_of(room), step=prompt.step, by="idle")
    assert event.seat == seat.number and (question != "bid" or event.answer == "bid 0")
    if question == "last":
        stage.play_to_the_end(room)
        assert stage.refreshed(room).status == "finished"
    else:
        assert in_the_frame(room, ana, 1)["missed"] == 1 and not in_the_frame(room, ana, 1)["connected"]


# -- forfeits and absence ----------------------------------------------------------------------------------------


def test_forfeit_in_ones_own_turn_lets_the_bot_go_on() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben)
    seat = stage.turn_of(room, ben)
    (prompt,) = stage.prompts(room)
    closing.leave(room.pk, ben.pk)
    shown = next(one for one in stage.frame_of(room, 0)["room"]["seats"] if one["number"] == seat.number)
    assert (shown["kind"], shown["forfeited"], shown["level"], shown["name"]) == ("bot", True, "medium", "Ben")
    assert room.deadline_at is None and room.due_at is not None
    stage.pass_time(room, 1)
    tasks.ring_due()
    assert MatchEvent.objects.get(match_id=stage.match_of(room), step=prompt.step).by == "bot"
    with pytest.raises(Closed):
        playing.act(room.pk, seat.pk, seat.number, "again", prompt.step, "bid 1", clock.now())
    with pytest.raises(NoSuchRoom):
        seating.new_token(ben, room.code)
    with pytest.raises(Started):
        seating.sit(ben, room.pk)
    stage.waiting(ben)  # free at once
    stage.play_to_the_end(room)
    assert list(forfeiters(room)) == [seat.number] and stage.refreshed(room).status == "finished"


def test_forfeit_out_of_turn_leaves_the_others_clock_alone() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben)
    seat = stage.turn_of(room, ben)
    room.refresh_from_db()
    before = (room.deadline_at, stage.prompts(room)[0].step)
    closing.leave(room.pk, ana.pk)  # the host too
    assert (stage.refreshed(room).deadline_at, stage.prompts(room)[0].step) == before
    assert room.host_id == ben.pk and room.status == "playing"
    stage.give(room, seat, action_id="mine")
    hosting.allow_watching(room.pk, ben.pk, False)
    with pytest.raises(NoSuchRoom):
        hosting.allow_watching(room.pk, ana.pk, True)


def test_forfeit_in_the_countdown_is_a_forfeit() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.started(ana, ben)
    closing.leave(room.pk, ana.pk)
    assert stage.refreshed(room).status == "starting" and room.host_id == ben.pk
    stage.pass_time(room, 20)
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "playing"
    assert stage.frame_of(room, 1)["view"]["seats"][0]["withdrawn"]
    stage.play_to_the_end(room)
    assert list(forfeiters(room)) == [0] and stage.refreshed(room).status == "finished"


def test_when_every_human_has_forfeited_the_match_is_abandoned_at_once() -> None:
    for begun in (stage.started, stage.running):
        ana, ben = stage.people(f"Ana {begun.__name__}", f"Ben {begun.__name__}")
        room = begun(ana, ben)
        closing.leave(room.pk, ben.pk)
        assert stage.refreshed(room).status != "destroyed"
        closing.leave(room.pk, ana.pk)
        assert stage.refreshed(room).status == "destroyed" and room.due_at is None
        assert Match.objects.get(pk=stage.match_of(room)).status == "abandoned"
        assert stage.frame_of(room, None)["room"]["outcome"] == {"reason": "abandoned"}
        for player in (ana, ben):
            stage.waiting(player)


@pytest.mark.parametrize("comes_back", [False, True])
def test_the_last_online_human_forfeits_while_the_other_is_only_disconnected(comes_back: bool) -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben)
    stage.go_away(room, ben)
    assert stage.refreshed(room).away_since is None
    closing.leave(room.pk, ana.pk)
    assert stage.refreshed(room).status == "playing" and room.away_since is not None
    stage.waiting(ana)
    stage.pass_time(room, 58.5)
    tasks.close_abandoned()
    assert stage.refreshed(room).status == "playing"
    if comes_back:
        stage.arrive(room, ben, "back")
        assert stage.refreshed(room).away_since is None
        stage.pass_time(room, 5)
        tasks.close_abandoned()
        stage.play_to_the_end(room)
        assert stage.refreshed(room).status == "finished" and list(forfeiters(room)) == [0]
    else:
        stage.pass_time(room, 2)
        tasks.close_abandoned()
        assert stage.refreshed(room).status == "destroyed"
        assert Match.objects.get(pk=stage.match_of(room)).status == "abandoned"
    stage.waiting(ben)


def test_a_return_cancels_the_grace_and_the_next_absence_has_a_whole_one() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben)
    stage.go_away(room, ana)
    assert stage.refreshed(room).away_since is None
    stage.go_away(room, ben)
    assert stage.refreshed(room).away_since is not None
    stage.pass_time(room, 59)
    stage.arrive(room, ana, "ana-again")
    assert stage.refreshed(room).away_since is None
    stage.pass_time(room, 30)
    tasks.close_abandoned()
    assert stage.refreshed(room).status == "playing"
    stage.go_away(room, ana, "ana-again")
    assert room.away_since is None or room.away_since < clock.now()
    room.refresh_from_db()
    assert room.away_since is not None and clock.now() - room.away_since < timedelta(seconds=5)


def test_people_away_from_the_countdown_on_have_their_grace_too() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.started(ana, ben)
    for player in (ana, ben):
        stage.go_away(room, player)
    stage.pass_time(room, 20)
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "playing" and room.away_since is not None
    stage.pass_time(room, 61)
    tasks.ring_due()
    assert stage.refreshed(room).status == "destroyed"


# -- an outage of the service ------------------------------------------------------------------------------------


def test_an_outage_gives_the_turn_a_fresh_window_and_prolongs_grace_and_countdown() -> None:
    ana, ben, cleo, dora, edda = stage.people("Ana", "Ben", "Cleo", "Dora", "Edda")
    asked, away, counting = stage.running(ana, ben), stage.running(cleo), stage.started(dora, edda)
    stage.turn_of(asked, ana)
    stage.go_away(away, cleo)
    (prompt,) = stage.prompts(asked)
    # They had 4 s, 20 s and 6 s to go when everything went down, a minute ago.
    for room, seconds in ((asked, 66), (away, 100)):
        stage.pass_time(room, seconds)
    Room.objects.filter(pk=counting.pk).update(
        starts_at=clock.now() - timedelta(seconds=54), due_at=clock.now() - timedelta(seconds=54)
    )
    Connection.objects.update(seen_at=clock.now() - timedelta(seconds=61))
    stage.outage(60)
    tasks.ring_due()
    tasks.close_abandoned()
    tasks.drop_stale_connections()
    for room in (asked, away, counting):
        room.refresh_from_db()
    assert stage.prompts(asked)[0].step == prompt.step and stage.seat_of(asked, ana).missed == 0
    assert asked.deadline_at is not None and timedelta(seconds=9) < asked.deadline_at - clock.now()
    assert away.status == "playing" and away.away_since is not None
    assert timedelta(seconds=38) < clock.now() - away.away_since < timedelta(seconds=42)
    assert counting.status == "starting" and counting.starts_at is not None
    assert timedelta(seconds=4) < counting.starts_at - clock.now() <= timedelta(seconds=6)
    assert Connection.objects.filter(seat__player=ana).exists()
    stage.give(asked, stage.seat_of(asked, ana), action_id="after the outage")


# -- rings that come for nothing ---------------------------------------------------------------------------------


def test_a_ring_before_its_time_does_nothing_whatever_the_timer_says(settings: Any) -> None:
    settings.TIMEOUT_LEEWAY_SECONDS = 5
    ana, ben, cleo, dora = stage.people("Ana", "Ben", "Cleo", "Dora")
    asked, paused = stage.running(cleo), stage.running(dora)
    settings.COUNTDOWN_SECONDS = settings.BOT_PACE_SECONDS = settings.TRICK_PAUSE_SECONDS = 60
    waiting, counting = stage.waiting(ana), stage.started(ben)
    stage.turn_of(asked, cleo)
    stage.pass_time(asked, 11)  # the deadline has passed, the leeway has not
    stage.give(paused, stage.asked(paused), action_id="then a bot")
    Room.objects.update(due_at=clock.now() - timedelta(seconds=10))
    before = set(Room.objects.values_list("pk", "version", "status"))
    for room in (waiting, counting, asked, paused):
        playing.ring(room.pk)
    assert set(Room.objects.values_list("pk", "version", "status")) == before
    assert stage.seat_of(asked, cleo).missed == 0
