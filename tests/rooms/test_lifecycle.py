"""The life of a room in order: waiting, countdown, turns, forfeits, the end, and what an outage must not cost."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection

from games.models import Match, MatchEvent, MatchSeat
from players.models import Player
from rooms import clock, closing, hosting, playing, presence, seating, tasks
from rooms.errors import (
    AlreadySeated,
    Closed,
    NoOpenSeat,
    NoSuchRoom,
    NotHost,
    NotOpen,
    NotReady,
    Removed,
    RoomError,
    SeatTaken,
    Started,
)
from rooms.models import Connection, Pulse, Room, Seat
from tests.rooms import stage

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


def just_past() -> datetime:
    """A time that has come, however the next reading of the database's clock moves ours."""
    return clock.now() - timedelta(seconds=0.5)


def people(*names: str) -> list[Player]:
    return [stage.person(name) for name in names]


def in_the_frame(room: Room, player: Player, viewer: int = 0) -> dict[str, Any]:
    """What the others are shown of this player's seat."""
    number = stage.seat_of(room, player).number
    found: dict[str, Any] = next(
        seat for seat in stage.frame_of(room, viewer)["room"]["seats"] if seat["number"] == number
    )
    return found


def turn_of(room: Room, player: Player) -> Seat:
    """Let everybody play until this player is asked; the seat, with the question open."""
    for _i in range(200):
        seat = stage.asked(room)
        if seat.player_id == player.pk:
            return seat
        stage.give(room, seat, action_id=f"pass-{room.version}")
    raise AssertionError("the player was never asked")


def miss_turn(room: Room, player: Player) -> None:
    """The player's clock runs out."""
    turn_of(room, player)
    run_out(room)


def run_out(room: Room) -> None:
    stage.pass_time(room, 10.2)
    playing.ring(room.pk)
    room.refresh_from_db()


def answers(room: Room) -> list[tuple[int | None, str, str]]:
    """Who answered which question, in order."""
    log = MatchEvent.objects.filter(match_id=stage.match_of(room)).exclude(answer="").order_by("number")
    return list(log.values_list("seat", "step", "by"))


def forfeiters(room: Room) -> Any:
    """The seats that the record of the match calls given up."""
    return MatchSeat.objects.filter(match_id=stage.match_of(room), forfeited=True).values_list("number", flat=True)


def ends_as(room: Room) -> tuple[str, datetime | None]:
    """The status of the room, and when it is looked at next."""
    room.refresh_from_db()
    return room.status, room.due_at


def finished(*players: Player, rounds: int = 1) -> Room:
    room = stage.running(*players, rounds=rounds)
    stage.play_to_the_end(room)
    assert stage.refreshed(room).status == "finished"
    return room


# -- waiting -----------------------------------------------------------------------------------------------------


def test_the_creator_is_host_in_the_first_seat() -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    assert (room.host_id, stage.seat_of(room, ana).number, stage.seat_of(room, ben).number) == (ana.pk, 0, 1)
    frame = stage.frame_of(room, 1)["room"]
    assert (frame["host"], frame["you"], frame["status"]) == (0, 1, "waiting")
    assert 3_500_000 < frame["expires_in_ms"] <= 3_600_000


def test_seats_are_given_only_while_the_room_waits() -> None:
    ana, ben, eve = people("Ana", "Ben", "Eve")
    room = stage.started(ana, ben)
    for _status in ("starting", "playing"):
        with pytest.raises(Started):
            seating.sit(eve, room.pk)
        with pytest.raises(Started):
            seating.move(room.pk, stage.seat_of(room, ben).pk, 2)
        with pytest.raises(NoOpenSeat):
            seating.join_by_code(eve, room.code, address="192.0.2.1")
        for click in (
            partial(hosting.put_bot, room.pk, ana.pk, 2, "medium"),
            partial(hosting.clear_bot, room.pk, ana.pk, 2),
            partial(hosting.fill_bots, room.pk, ana.pk, "medium"),
            partial(hosting.remove, room.pk, ana.pk, stage.seat_of(room, ben).pk),
            partial(hosting.delete, room.pk, ana.pk),
        ):
            with pytest.raises(Started):
                click()
        stage.pass_time(room, 20)
        playing.ring(room.pk)
    assert not Seat.objects.filter(player=eve).exists() and Seat.objects.filter(room=room).count() == 4


def test_a_room_past_its_hour_gives_no_seat_though_nobody_swept_it() -> None:
    ana, ben, eve = people("Ana", "Ben", "Eve")
    room = stage.waiting(ana, ben)
    Room.objects.filter(pk=room.pk).update(expires_at=just_past())
    with pytest.raises(Started):
        seating.sit(eve, room.pk)
    with pytest.raises(NoOpenSeat):
        seating.join_by_code(eve, room.code, address="192.0.2.2")
    with pytest.raises(Started):
        hosting.start(room.pk, ana.pk)
    assert seating.quick_play(eve).room_id != room.pk
    closing.leave(room.pk, ana.pk)
    closing.leave(room.pk, ben.pk)
    assert stage.refreshed(room).status == "destroyed"
    seating.create_room(ana, visibility="public", options={"rounds": 1})


def test_only_the_host_starts_and_only_with_four_seats() -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    before = room.version
    with pytest.raises(NotReady) as refusal:
        hosting.start(room.pk, ana.pk)
    assert "Four seats" in str(refusal.value.text)
    with pytest.raises(NotHost):
        hosting.start(room.pk, ben.pk)
    with pytest.raises(NoSuchRoom):
        hosting.start(room.pk, stage.person("Eve").pk)
    assert stage.refreshed(room).version == before and room.status == "waiting" and not Match.objects.exists()
    hosting.fill_bots(room.pk, ana.pk, "medium")
    with pytest.raises(NotHost):
        hosting.start(room.pk, ben.pk)
    hosting.start(room.pk, ana.pk)
    assert stage.refreshed(room).status == "starting"
    hosting.start(room.pk, ana.pk)  # a double click
    assert Match.objects.count() == 1
    stage.pass_time(room, 20)
    playing.ring(room.pk)
    with pytest.raises(Started):
        hosting.start(room.pk, ana.pk)


def test_the_host_who_leaves_hands_on_to_the_next_human_and_the_last_one_ends_the_room() -> None:
    ana, ben, cleo = people("Ana", "Ben", "Cleo")
    room = stage.waiting(ana, ben, cleo)
    hosting.put_bot(room.pk, ana.pk, 3, "medium")
    closing.leave(room.pk, ana.pk)
    assert stage.refreshed(room).host_id == ben.pk
    with pytest.raises(NoSuchRoom):
        hosting.fill_bots(room.pk, ana.pk, "medium")
    seating.move(room.pk, stage.seat_of(room, ben).pk, 0)
    seating.sit(ana, room.pk)
    assert stage.seat_of(room, ana).number == 1
    closing.leave(room.pk, cleo.pk)
    assert stage.refreshed(room).host_id == ben.pk  # another one's leaving changes nothing
    closing.leave(room.pk, ben.pk)
    assert stage.refreshed(room).host_id == ana.pk
    closing.leave(room.pk, ana.pk)  # only the bot is left
    assert stage.refreshed(room).status == "destroyed" and not Seat.objects.filter(room=room).exists()
    assert room.due_at is None and stage.frame_of(room, None)["room"]["outcome"] == {"reason": "closed"}


def test_moving_needs_an_empty_seat() -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    with pytest.raises(SeatTaken):
        seating.move(room.pk, stage.seat_of(room, ben).pk, 0)
    with pytest.raises(RoomError):
        seating.move(room.pk, stage.seat_of(room, ben).pk, 4)
    seating.move(room.pk, stage.seat_of(room, ana).pk, 3)
    assert stage.seat_of(room, ana).number == 3 and stage.refreshed(room).host_id == ana.pk
    assert stage.frame_of(room, 3)["room"]["host"] == 3


def test_whoever_was_sent_away_does_not_get_in_again() -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    sitting = stage.seat_of(room, ben).pk
    with pytest.raises(NotHost):
        hosting.remove(room.pk, ben.pk, stage.seat_of(room, ana).pk)
    hosting.remove(room.pk, ana.pk, sitting)
    hosting.remove(room.pk, ana.pk, sitting)  # a double click
    assert stage.refreshed(room).removed == [ben.pk] and not Seat.objects.filter(player=ben).exists()
    with pytest.raises(Removed):
        seating.sit(ben, room.pk)
    with pytest.raises(NoOpenSeat):
        seating.join_by_code(ben, room.code, address="192.0.2.3")
    other = seating.quick_play(ben)
    assert other.room_id != room.pk
    with pytest.raises(NotHost):
        hosting.remove(room.pk, ana.pk, stage.seat_of(room, ana).pk)


def test_one_table_at_a_time_whichever_way_in() -> None:
    ana, ben = people("Ana", "Ben")
    home, other = stage.waiting(ana), stage.waiting(ben)
    hidden = stage.waiting(stage.person("Cleo"), visibility="private")
    ways: list[Callable[[], object]] = [
        partial(seating.create_room, ana, visibility="private", options={"rounds": 1}),
        partial(seating.sit, ana, other.pk),
        partial(seating.join_by_code, ana, hidden.code, address="192.0.2.4"),
        partial(seating.quick_play, ana),
        partial(seating.open_solo, ana, {"rounds": 1}, "medium", clocked=True),
    ]
    before = Room.objects.count()
    for way in ways:
        with pytest.raises(AlreadySeated) as refusal:
            way()
        assert refusal.value.room_code == home.code
    assert Room.objects.count() == before


# -- the hour ----------------------------------------------------------------------------------------------------


def test_a_waiting_room_lives_for_an_hour_from_its_creation() -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    assert room.expires_at - room.created_at == HOUR and room.due_at == room.expires_at
    Room.objects.filter(pk=room.pk).update(expires_at=clock.now() + timedelta(seconds=1))
    tasks.expire_rooms()
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "waiting"
    Room.objects.filter(pk=room.pk).update(expires_at=just_past(), due_at=just_past())
    tasks.expire_rooms()
    assert stage.refreshed(room).status == "destroyed" and not Seat.objects.exists()
    for player in (ana, ben):
        stage.waiting(player)  # nobody stays locked in


def test_the_hour_never_cuts_a_start_or_a_match() -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.started(ana, ben)
    past = {"created_at": clock.now() - 2 * HOUR, "expires_at": clock.now() - HOUR}
    Room.objects.filter(pk=room.pk).update(**past)
    tasks.expire_rooms()
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "starting"
    stage.pass_time(room, 20)
    tasks.expire_rooms()
    tasks.ring_due()
    assert stage.refreshed(room).status == "playing"
    for _i in range(4):
        Room.objects.filter(pk=room.pk).update(**past)
        tasks.expire_rooms()
        seat = stage.asked(room)
        stage.give(room, seat, action_id=f"late-{room.version}")
    assert stage.refreshed(room).status == "playing"


def test_the_end_frees_everybody_at_once_and_stays_readable_for_a_minute() -> None:
    ana, ben = people("Ana", "Ben")
    room = finished(ana, ben)
    assert not Seat.objects.filter(room=room).exists()
    left = room.expires_at - clock.now()
    assert timedelta(seconds=50) < left <= timedelta(seconds=60) and room.due_at == room.expires_at
    frame = stage.frame_of(room, 1)
    assert frame["view"]["result"] and frame["room"]["outcome"] == {"reason": "finished"} and frame["prompt"] is None
    for player in (ana, ben):
        stage.waiting(player)
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "finished"
    Room.objects.filter(pk=room.pk).update(expires_at=just_past(), due_at=just_past())
    tasks.expire_rooms()
    assert ends_as(room) == ("destroyed", None)
    assert Match.objects.get(pk=stage.match_of(room)).status == "finished"


# -- the countdown -----------------------------------------------------------------------------------------------


def test_nobody_acts_in_the_countdown_and_who_reloads_sees_what_is_left_of_it(settings: Any) -> None:
    settings.COUNTDOWN_SECONDS = 10
    ana, ben = people("Ana", "Ben")
    room = stage.started(ana, ben)
    first = stage.frame_of(room, 0)["room"]["starts_in_ms"]
    assert 8_000 < first <= 10_000
    time.sleep(0.3)
    stage.go_away(room, ana)
    stage.arrive(room, ana, "reloaded")
    assert 5_000 < stage.frame_of(room, 0)["room"]["starts_in_ms"] <= first - 300
    for player in (ana, ben):
        seat = stage.seat_of(room, player)
        with pytest.raises(NotOpen):
            playing.act(room.pk, seat.pk, seat.number, "early", f"r1.b.s{seat.number}", "bid 1", clock.now())
        with pytest.raises(Closed):
            playing.take_control(room.pk, seat.pk)
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "starting" and not MatchEvent.objects.exists()


# -- turns -------------------------------------------------------------------------------------------------------


def test_missed_turns_are_seen_by_all_and_timely_answers_and_control_take_them_back() -> None:
    ana, ben = people("Ana", "Ben")
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
    stage.give(room, turn_of(room, ana), action_id="timely-1")
    assert in_the_frame(room, ana, viewer=1)["missed"] == 1
    stage.give(room, turn_of(room, ana), action_id="timely-2")
    assert in_the_frame(room, ana, viewer=1)["missed"] == 0
    stage.give(room, turn_of(room, ana), action_id="timely-3")
    assert in_the_frame(room, ana, viewer=1)["missed"] == 0


def test_a_timely_answer_on_auto_play_takes_the_seat_back() -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.running(ana, ben, rounds=3)
    seat = turn_of(room, ana)
    Seat.objects.filter(pk=seat.pk).update(missed=3, auto_play=True)
    stage.give(room, seat, action_id="back")
    assert (stage.seat_of(room, ana).missed, stage.seat_of(room, ana).auto_play) == (2, False)


def test_bots_answer_first_at_their_pace_and_the_human_has_the_full_clock() -> None:
    ana, ben = people("Ana", "Ben")
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


def last_question(room: Room, player: Player) -> Seat:
    """The player's last question of the match."""
    while True:
        seat = turn_of(room, player)
        if stage.prompts(room)[0].step.startswith("r1.t7"):
            return seat
        stage.give(room, seat, action_id=f"own-{room.version}")


@pytest.mark.parametrize("question", ["bid", "tile", "last"])
def test_the_clock_runs_on_for_a_player_who_is_gone(question: str) -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.running(ana, ben)
    if question == "last":
        seat = last_question(room, ana)
    else:
        seat = turn_of(room, ana)
        if question == "tile":
            stage.give(room, seat, action_id="bid")
            seat = turn_of(room, ana)
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
    ana, ben = people("Ana", "Ben")
    room = stage.running(ana, ben)
    seat = turn_of(room, ben)
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
    ana, ben = people("Ana", "Ben")
    room = stage.running(ana, ben)
    seat = turn_of(room, ben)
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
    ana, ben = people("Ana", "Ben")
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
        ana, ben = people(f"Ana {begun.__name__}", f"Ben {begun.__name__}")
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
    ana, ben = people("Ana", "Ben")
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
    ana, ben = people("Ana", "Ben")
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
    ana, ben = people("Ana", "Ben")
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


def outage(seconds: float) -> None:
    """The service was last seen so long ago."""
    Pulse.objects.all().delete()
    Pulse.objects.create(process="before", at=clock.now() - timedelta(seconds=seconds))


def test_an_outage_gives_the_turn_a_fresh_window_and_prolongs_grace_and_countdown() -> None:
    ana, ben, cleo, dora, edda = people("Ana", "Ben", "Cleo", "Dora", "Edda")
    asked, away, counting = stage.running(ana, ben), stage.running(cleo), stage.started(dora, edda)
    turn_of(asked, ana)
    stage.go_away(away, cleo)
    (prompt,) = stage.prompts(asked)
    # They had 4 s, 20 s and 6 s to go when everything went down, a minute ago.
    for room, seconds in ((asked, 66), (away, 100)):
        stage.pass_time(room, seconds)
    Room.objects.filter(pk=counting.pk).update(
        starts_at=clock.now() - timedelta(seconds=54), due_at=clock.now() - timedelta(seconds=54)
    )
    outage(60)
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


# -- once more ---------------------------------------------------------------------------------------------------


def test_a_rematch_is_a_new_room_with_the_same_seats_and_nothing_carried_over() -> None:
    ana, ben, cleo, eve = people("Ana", "Ben", "Cleo", "Eve")
    old = stage.running(ana, ben, cleo, rounds=2)
    closing.leave(old.pk, cleo.pk)
    stage.play_to_the_end(old)
    assert stage.refreshed(old).status == "finished"
    for player in (cleo, eve):  # who forfeited, and who was never there
        with pytest.raises(NoSuchRoom):
            seating.rematch(player, old.code)
    assert stage.frame_of(old, 0)["room"]["rematch"] is None
    first = seating.rematch(ben, old.code)
    new = Room.objects.get(pk=first.room_id)
    assert (new.status, new.host_id, new.options, new.visibility) == ("waiting", ben.pk, old.options, old.visibility)
    assert new.match_id is None and new.expires_at - new.created_at == HOUR and new.code != old.code
    seats = {seat.number: seat for seat in Seat.objects.filter(room=new)}
    assert seats[1].player_id == ben.pk and seats[3].bot_level == "medium" and set(seats) == {1, 3}
    assert (seats[1].missed, seats[1].auto_play, seats[1].forfeited) == (0, False, False)
    assert stage.frame_of(old, 0)["room"]["rematch"] == {"seats": [1], "open": True}
    with pytest.raises(AlreadySeated):
        seating.rematch(ben, old.code)
    seating.sit(eve, new.pk)  # takes Ana's seat 0
    assert seating.rematch(ana, old.code).room_id == new.pk
    assert stage.seat_of(new, ana).number == 2
    assert stage.frame_of(old, 0)["room"]["rematch"]["seats"] == [0, 1]
    hosting.start(new.pk, ben.pk)
    assert not stage.frame_of(new, 0)["view"]


def test_a_rematch_that_was_given_up_or_has_started() -> None:
    ana, ben, cleo = people("Ana", "Ben", "Cleo")
    old = finished(ana, ben, cleo)
    first = seating.rematch(ana, old.code)
    closing.leave(first.room_id, ana.pk)
    second = seating.rematch(ben, old.code)
    assert second.room_id != first.room_id
    seating.rematch(ana, old.code)
    hosting.fill_bots(second.room_id, ben.pk, "medium")
    hosting.start(second.room_id, ben.pk)
    with pytest.raises(Started):
        seating.rematch(cleo, old.code)
    assert not Seat.objects.filter(player=cleo).exists()
    Room.objects.filter(pk=old.pk).update(expires_at=just_past(), due_at=just_past())
    tasks.expire_rooms()
    with pytest.raises(NoSuchRoom):
        seating.rematch(cleo, old.code)


# -- watchers ----------------------------------------------------------------------------------------------------


def test_the_switch_of_watching() -> None:
    ana, ben = people("Ana", "Ben")
    public, private = stage.running(ana), stage.running(ben, visibility="private")

    def look(room: Room) -> presence.Membership:
        if room.visibility == "public":
            return presence.onlooker(None, room_id=room.pk)
        return presence.onlooker(None, watch_key=room.watch_key)

    assert look(public).seat is None
    for room, host in ((public, ana), (private, ben)):
        hosting.allow_watching(room.pk, host.pk, False)
        with pytest.raises(NoSuchRoom):
            look(room)
        hosting.allow_watching(room.pk, host.pk, True)
        assert look(room).sitting_id is None
    with pytest.raises(NoSuchRoom):
        presence.onlooker(None, room_id=private.pk)
    cleo, dora = people("Cleo", "Dora")
    waits = stage.waiting(cleo, dora)
    with pytest.raises(NotHost):
        hosting.allow_watching(waits.pk, dora.pk, False)
    hosting.allow_watching(waits.pk, cleo.pk, False)
    assert look(waits).seat is None  # who looks for a seat may always see a public room


# -- work on a schedule ------------------------------------------------------------------------------------------


TABLES = ("rooms_room", "rooms_seat", "rooms_connection", "games_match", "games_matchseat", "games_matchevent")


def everything(*tables: str) -> list[Any]:
    """All rows of these tables."""
    found: list[Any] = []
    with connection.cursor() as cursor:
        for table in tables or TABLES:
            cursor.execute(f"SELECT t::text FROM {table} t ORDER BY 1")
            found += [(table, *row) for row in cursor.fetchall()]
    return found


def test_every_task_run_twice_late_and_beside_itself_does_its_work_once(settings: Any) -> None:
    settings.BOT_PACE_SECONDS = settings.TRICK_PAUSE_SECONDS = 60  # nothing more falls due while we look
    names = ("old", "read", "counting", "late", "away", "bot's", "fresh", "idle")
    host = {name: stage.person(name) for name in names}
    room = {"old": stage.waiting(host["old"]), "fresh": stage.waiting(host["fresh"])}
    room["counting"] = stage.started(host["counting"])
    for name in ("read", "late", "away", "bot's"):
        room[name] = stage.running(host[name])
    stage.play_to_the_end(room["read"])
    turn_of(room["late"], host["late"])
    turn_of(room["bot's"], host["bot's"])
    stage.give(room["bot's"], stage.seat_of(room["bot's"], host["bot's"]), action_id="then a bot")
    stage.go_away(room["away"], host["away"])
    for name in ("old", "read"):
        Room.objects.filter(pk=room[name].pk).update(expires_at=just_past(), due_at=just_past())
    for name in ("counting", "late", "away", "bot's"):
        stage.pass_time(room[name], 3600)
    Connection.objects.filter(seat__room=room["fresh"]).update(seen_at=clock.now() - timedelta(seconds=60))
    Player.objects.filter(pk=host["idle"].pk).update(last_seen_at=clock.now() - timedelta(days=31))
    before = {name: len(answers(one)) for name, one in room.items()}
    due: list[Callable[[], int]] = [
        tasks.ring_due,
        tasks.expire_rooms,
        tasks.close_abandoned,
        tasks.drop_stale_connections,
        tasks.forget_idle_guests,
    ]
    ran = stage.at_once([*due, *due])
    assert not [result for result in ran if isinstance(result, Exception)]
    for task in due:
        task()  # what a sweep left to the other because it held the lock
    status = {name: stage.refreshed(one).status for name, one in room.items()}
    assert status == {
        "old": "destroyed", "read": "destroyed", "counting": "playing", "late": "playing", "away": "destroyed",
        "bot's": "playing", "fresh": "waiting",
    }  # fmt: skip
    more = {name: len(answers(one)) - before[name] for name, one in room.items()}
    assert more == {"old": 0, "read": 0, "counting": 0, "late": 1, "away": 0, "bot's": 1, "fresh": 0}
    assert stage.seat_of(room["late"], host["late"]).missed == 1
    assert not Connection.objects.filter(seat__room=room["fresh"]).exists()
    assert not Player.objects.filter(pk=host["idle"].pk).exists()
    after = everything()
    for task in (*due, *due):
        task()
    stage.at_once([*due, *due])
    assert everything() == after


def test_a_backlog_of_an_hour_ends_no_fresh_room() -> None:
    ana, ben = people("Ana", "Ben")
    fresh, playing_now = stage.waiting(ana), stage.running(ben)
    turn_of(playing_now, ben)
    before = everything()
    for _i in range(20):
        tasks.ring_due()
        tasks.expire_rooms()
        tasks.close_abandoned()
    assert everything() == before and stage.refreshed(fresh).status == "waiting"


# -- killed at any moment ----------------------------------------------------------------------------------------


class Killed(Exception):
    """The process ends here."""


def at_every_statement(do: Callable[[], object], room: Room) -> int:
    """Run `do` again and again, killed before its first, its second ... statement and before its commit: nothing must
    be half-done. Then let it pass. How many statements it has."""

    class KillBefore:
        def __init__(self, number: int) -> None:
            self.left = number

        def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            if self.left == 0:
                raise Killed
            self.left -= 1
            return execute(sql, params, many, context)

    def shown() -> list[dict[str, Any]]:
        frames = []
        for seat in (None, 0, 1):
            frame = stage.frame_of(room, seat)
            frame["ms_left"] = frame["room"]["starts_in_ms"] = frame["room"]["expires_in_ms"] = None
            frames.append(frame)
        return frames

    before, frames, number = everything(), shown(), 0
    while True:
        try:
            with connection.execute_wrapper(KillBefore(number)), pytest.MonkeyPatch.context() as patch:
                patch.setattr(connection, "_commit", _no_commit)
                do()
        except Killed:
            number += 1
        except OperationalError:  # all statements passed, the commit did not
            break
        finally:
            assert everything() == before and shown() == frames
        assert number < 200
    do()
    assert everything() != before
    return number


def _no_commit() -> None:
    raise OperationalError("the disk is full")


def test_a_process_killed_at_any_statement_has_done_nothing() -> None:
    ana, ben, cleo = people("Ana", "Ben", "Cleo")
    room = stage.waiting(ana, ben)
    counts = {
        "sit": at_every_statement(lambda: seating.sit(cleo, room.pk), room),
        "host leaves": at_every_statement(lambda: closing.leave(room.pk, ana.pk), room),
        "remove": at_every_statement(lambda: hosting.remove(room.pk, ben.pk, stage.seat_of(room, cleo).pk), room),
        "join": at_every_statement(lambda: seating.sit_with_code(ana, room.pk), room),
        "fill": at_every_statement(lambda: hosting.fill_bots(room.pk, ben.pk, "medium"), room),
        "start": at_every_statement(lambda: hosting.start(room.pk, ben.pk), room),
    }
    stage.arrive(room, ana, "ana-again")
    stage.pass_time(room, 20)
    counts["begin"] = at_every_statement(lambda: playing.ring(room.pk), room)
    seat = turn_of(room, ana)
    counts["act"] = at_every_statement(lambda: stage.give(room, seat, action_id="act"), room)
    turn_of(room, ana)
    stage.pass_time(room, 10.2)
    counts["time-out"] = at_every_statement(lambda: playing.ring(room.pk), room)
    last = last_question(room, ana)
    while not Seat.objects.filter(room=room, number=stage.prompts(room)[0].seat, player=ana).exists():
        stage.give(room, stage.asked(room), action_id=f"on-{room.version}")
    counts["last tile"] = at_every_statement(lambda: stage.give(room, last, action_id="last"), room)
    stage.play_to_the_end(room)
    counts["rematch"] = at_every_statement(lambda: seating.rematch(ana, room.code), room)
    Room.objects.filter(pk=room.pk).update(expires_at=just_past(), due_at=just_past())
    counts["expire"] = at_every_statement(lambda: playing.ring(room.pk), room)
    assert all(count >= 3 for count in counts.values()), counts


def test_a_forfeit_killed_at_any_statement_is_none() -> None:
    ana, ben = people("Ana", "Ben")
    room = stage.running(ana, ben)
    turn_of(room, ben)
    assert at_every_statement(lambda: closing.leave(room.pk, ben.pk), room) >= 6
    assert at_every_statement(lambda: closing.leave(room.pk, ana.pk), room) >= 4  # abandons the match
    other = stage.waiting(ben)
    assert at_every_statement(lambda: hosting.delete(other.pk, ben.pk), other) >= 3
