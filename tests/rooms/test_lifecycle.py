"""The life of a room in order: waiting, countdown, turns, forfeits, the end, and what an outage must not cost."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from games.models import Match, MatchEvent
from rooms import clock, closing, hosting, playing, presence, seating, snapshots, tasks
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
from rooms.models import Room, Seat
from tests.rooms import stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quiet_site")]

HOUR = timedelta(hours=1)


def ends_as(room: Room) -> tuple[str, datetime | None]:
    """The status of the room, and when it is looked at next."""
    room.refresh_from_db()
    return room.status, room.due_at


# -- waiting -----------------------------------------------------------------------------------------------------


def test_the_creator_is_host_in_the_first_seat() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    assert (room.host_id, stage.seat_of(room, ana).number, stage.seat_of(room, ben).number) == (ana.pk, 0, 1)
    frame = stage.frame_of(room, 1)["room"]
    assert (frame["host"], frame["you"], frame["status"]) == (0, 1, "waiting")
    assert 3_500_000 < frame["expires_in_ms"] <= 3_600_000


def test_names_that_look_alike_are_told_apart_at_a_table() -> None:
    bob, cyrillic, zero, other = stage.people("BOB", "\u0412\u041e\u0412", "B0b", "Rob")
    room = stage.waiting(bob, cyrillic, zero, other)
    names = [seat["name"] for seat in stage.frame_of(room, 0)["room"]["seats"]]
    assert names == ["BOB", "\u0412\u041e\u0412 (2)", "B0b (3)", "Rob"]


def test_seats_are_given_only_while_the_room_waits() -> None:
    ana, ben, eve = stage.people("Ana", "Ben", "Eve")
    room = stage.started(ana, ben)
    for _status in ("starting", "playing"):
        with pytest.raises(Started):
            seating.sit(eve, room.pk)
        with pytest.raises(Started):
            seating.move(room.pk, stage.seat_of(room, ben).pk, 2)
        with pytest.raises(NoOpenSeat):
            stage.by_code(eve, room.code, address="192.0.2.1")
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
    ana, ben, eve = stage.people("Ana", "Ben", "Eve")
    room = stage.waiting(ana, ben)
    Room.objects.filter(pk=room.pk).update(expires_at=stage.just_past())
    with pytest.raises(Started):
        seating.sit(eve, room.pk)
    with pytest.raises(NoOpenSeat):
        stage.by_code(eve, room.code, address="192.0.2.2")
    with pytest.raises(Started):
        hosting.start(room.pk, ana.pk)
    assert seating.quick_play(eve).room_id != room.pk
    closing.leave(room.pk, ana.pk)
    closing.leave(room.pk, ben.pk)
    assert stage.refreshed(room).status == "destroyed"
    seating.create_room(ana, visibility="public", options={"rounds": 1})


def test_only_the_host_starts_and_only_with_four_seats() -> None:
    ana, ben = stage.people("Ana", "Ben")
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
    ana, ben, cleo = stage.people("Ana", "Ben", "Cleo")
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
    ana, ben = stage.people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    with pytest.raises(SeatTaken):
        seating.move(room.pk, stage.seat_of(room, ben).pk, 0)
    with pytest.raises(RoomError):
        seating.move(room.pk, stage.seat_of(room, ben).pk, 4)
    seating.move(room.pk, stage.seat_of(room, ana).pk, 3)
    assert stage.seat_of(room, ana).number == 3 and stage.refreshed(room).host_id == ana.pk
    assert stage.frame_of(room, 3)["room"]["host"] == 3


def test_whoever_was_sent_away_does_not_get_in_again() -> None:
    ana, ben = stage.people("Ana", "Ben")
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
        stage.by_code(ben, room.code, address="192.0.2.3")
    other = seating.quick_play(ben)
    assert other.room_id != room.pk
    with pytest.raises(NotHost):
        hosting.remove(room.pk, ana.pk, stage.seat_of(room, ana).pk)


def test_one_table_at_a_time_whichever_way_in() -> None:
    ana, ben = stage.people("Ana", "Ben")
    home, other = stage.waiting(ana), stage.waiting(ben)
    hidden = stage.waiting(stage.person("Cleo"), visibility="private")
    ways: list[Callable[[], object]] = [
        partial(seating.create_room, ana, visibility="private", options={"rounds": 1}),
        partial(seating.sit, ana, other.pk),
        partial(stage.by_code, ana, hidden.code, address="192.0.2.4"),
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
    ana, ben = stage.people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    assert room.expires_at - room.created_at == HOUR and room.due_at == room.expires_at
    Room.objects.filter(pk=room.pk).update(expires_at=clock.now() + timedelta(seconds=1))
    tasks.expire_rooms()
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "waiting"
    Room.objects.filter(pk=room.pk).update(expires_at=stage.just_past(), due_at=stage.just_past())
    tasks.expire_rooms()
    assert stage.refreshed(room).status == "destroyed" and not Seat.objects.exists()
    for player in (ana, ben):
        stage.waiting(player)  # nobody stays locked in


def test_the_hour_never_cuts_a_start_or_a_match() -> None:
    ana, ben = stage.people("Ana", "Ben")
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
    ana, ben = stage.people("Ana", "Ben")
    room = stage.finished(ana, ben)
    assert not Seat.objects.filter(room=room).exists()
    left = room.expires_at - clock.now()
    assert timedelta(seconds=50) < left <= timedelta(seconds=60) and room.due_at == room.expires_at
    frame = stage.frame_of(room, 1)
    assert frame["view"]["result"] and frame["room"]["outcome"] == {"reason": "finished"} and frame["prompt"] is None
    for player in (ana, ben):
        stage.waiting(player)
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "finished"
    Room.objects.filter(pk=room.pk).update(expires_at=stage.just_past(), due_at=stage.just_past())
    tasks.expire_rooms()
    assert ends_as(room) == ("destroyed", None)
    assert Match.objects.get(pk=stage.match_of(room)).status == "finished"


def test_who_forfeited_does_not_come_back_for_the_result() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben)
    closing.leave(room.pk, ben.pk)
    stage.play_to_the_end(room)
    assert presence.membership(ana, room.code, "").seat == 0
    with pytest.raises(NoSuchRoom):
        presence.membership(ben, room.code, "")


# -- the countdown -----------------------------------------------------------------------------------------------


def test_nobody_acts_in_the_countdown_and_who_reloads_sees_what_is_left_of_it(settings: Any) -> None:
    settings.COUNTDOWN_SECONDS = 100
    ana, ben = stage.people("Ana", "Ben")
    room = stage.started(ana, ben)
    first = stage.frame_of(room, 0)["room"]["starts_in_ms"]
    assert 80_000 < first <= 100_000
    stage.pass_time(room, 30)
    stage.go_away(room, ana)
    stage.arrive(room, ana, "reloaded")
    assert 50_000 < stage.frame_of(room, 0)["room"]["starts_in_ms"] < first - 29_000
    for player in (ana, ben):
        seat = stage.seat_of(room, player)
        with pytest.raises(NotOpen):
            playing.act(room.pk, seat.pk, seat.number, "early", f"r1.b.s{seat.number}", "bid 1", clock.now())
        with pytest.raises(Closed):
            playing.take_control(room.pk, seat.pk)
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "starting" and not MatchEvent.objects.exists()


# -- once more ---------------------------------------------------------------------------------------------------


def test_a_rematch_is_a_new_room_with_the_same_seats_and_nothing_carried_over() -> None:
    ana, ben, cleo, eve = stage.people("Ana", "Ben", "Cleo", "Eve")
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
    ana, ben, cleo = stage.people("Ana", "Ben", "Cleo")
    old = stage.finished(ana, ben, cleo)
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
    Room.objects.filter(pk=old.pk).update(expires_at=stage.just_past(), due_at=stage.just_past())
    tasks.expire_rooms()
    with pytest.raises(NoSuchRoom):
        seating.rematch(cleo, old.code)


def test_a_rematch_that_waits_tells_the_old_players_whom_it_expects() -> None:
    ana, ben, cleo, dora, eve = stage.people("Ana", "Ben", "Cleo", "Dora", "Eve")
    old = stage.running(ana, ben, cleo, dora)
    closing.leave(old.pk, dora.pk)
    stage.play_to_the_end(old)
    new = Room.objects.get(pk=seating.rematch(ben, old.code).room_id)
    stage.arrive(new, ben)

    def shown(seat: int | None) -> Any:
        return stage.frame_of(new, seat)["room"]["expected"]

    told = shown(1)
    assert told["seats"] == [{"seat": 0, "name": "Ana"}, {"seat": 2, "name": "Cleo"}] and 0 < told["ms"] <= 60_000
    seating.sit(eve, new.pk, 3)
    assert shown(1)["seats"] == told["seats"]
    assert shown(3) is None and shown(None) is None  # they have never seen these names
    seating.rematch(ana, old.code)
    assert [one["name"] for one in shown(0)["seats"]] == ["Cleo"]
    hosting.put_bot(new.pk, ben.pk, 2, "medium")
    assert shown(0) is None  # her seat is given away
    hosting.clear_bot(new.pk, ben.pk, 2)
    assert shown(1) is not None
    Room.objects.filter(pk=old.pk).update(expires_at=stage.just_past(), due_at=stage.just_past())
    tasks.expire_rooms()
    seating.move(new.pk, stage.seat_of(new, eve).pk, 2)
    assert shown(1) is None  # the way in is closed


def test_who_may_be_heard_at_a_table_that_is_over() -> None:
    ana, ben, eve = stage.people("Ana", "Ben", "Eve")
    room = stage.running(ana, ben)
    closing.leave(room.pk, ben.pk)

    def heard() -> list[bool]:
        snapshot = snapshots.read(room.pk, stage.refreshed(room).version)
        assert snapshot is not None
        return [snapshot.may_speak(player.pk) for player in (ana, ben, eve)]

    assert heard() == [True, False, False]
    stage.play_to_the_end(room)
    assert heard() == [True, False, False]
    Room.objects.filter(pk=room.pk).update(expires_at=stage.just_past(), due_at=stage.just_past())
    tasks.expire_rooms()
    assert heard() == [False, False, False]


def test_those_at_the_result_see_who_leaves_the_rematch_and_when_it_starts() -> None:
    ana, ben, cleo = stage.people("Ana", "Ben", "Cleo")
    old = stage.finished(ana, ben, cleo)

    def shown() -> Any:
        return stage.frame_of(old, 2)["room"]["rematch"]

    new = seating.rematch(ana, old.code).room_id
    closing.leave(new, ana.pk)
    assert shown() is None  # gone with its last player: whoever asks next opens another
    new = seating.rematch(ana, old.code).room_id
    seating.rematch(ben, old.code)
    assert shown() == {"seats": [0, 1], "open": True}
    closing.leave(new, ana.pk)
    assert shown() == {"seats": [1], "open": True}
    hosting.fill_bots(new, ben.pk, "medium")
    hosting.start(new, ben.pk)
    assert shown() == {"seats": [1], "open": False}


# -- watchers ----------------------------------------------------------------------------------------------------


def test_the_switch_of_watching() -> None:
    ana, ben = stage.people("Ana", "Ben")
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
    cleo, dora = stage.people("Cleo", "Dora")
    waits = stage.waiting(cleo, dora)
    with pytest.raises(NotHost):
        hosting.allow_watching(waits.pk, dora.pk, False)
    hosting.allow_watching(waits.pk, cleo.pk, False)
    assert look(waits).seat is None  # who looks for a seat may always see a public room
