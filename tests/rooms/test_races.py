"""Whatever is clicked in the same instant has one outcome; the controls show the race where the guard is taken away."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from games.models import Match
from players.models import Player
from rooms import clock, closing, hosting, playing, seating, tasks
from rooms.errors import AlreadySeated
from rooms.models import Room, Seat
from rooms.seating import Sitting
from tests.rooms import racing, stage
from tests.rooms.racing import code, codes, crowd, runs, sound, together
from tests.support.services import Run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("race")]

OPTIONS = {"rounds": 1}


def address(player: Player) -> str:
    """Everybody guesses from an address of their own."""
    return f"2001:db8:{player.pk // 65536 % 65536:x}:{player.pk % 65536:x}::1"


def full(*people: Player) -> Room:
    """A waiting room whose other seats have bots."""
    room = stage.waiting(*people)
    hosting.fill_bots(room.pk, people[0].pk, "medium")
    return stage.refreshed(room)


def free_seat(room: Room, number: int) -> None:
    hosting.clear_bot(room.pk, room.host_id or 0, number)


# -- seats -------------------------------------------------------------------------------------------------------


def rush(room: Room, players: list[Player]) -> list[Callable[[], object]]:
    """Everybody wants the last seat, by the lobby, by its number, or by the code."""
    calls: list[Callable[[], object]] = []
    for number, player in enumerate(players):
        calls.append(
            partial(stage.by_code, player, room.code, address=address(player))
            if number % 4 == 0
            else partial(seating.sit, player, room.pk, 3 if number % 4 == 1 else None)
        )
    return calls


@runs
def test_sixteen_players_at_once_for_the_last_seat(runs: int) -> None:
    for run in range(runs):
        since, (ana, *others) = racing.newest(), crowd(17)
        room = full(ana)
        free_seat(room, 3)
        results = together(*rush(room, others), run=run)
        assert sum(isinstance(result, Sitting) for result in results) == 1
        assert set(codes(results)) <= {"done", "full", "seat_taken", "no_open_seat"}
        won = next(player for player, result in zip(others, results, strict=True) if isinstance(result, Sitting))
        assert Seat.objects.get(room=room, number=3).player_id == won.pk
        assert Seat.objects.filter(room=room).count() == 4
        sound(since)


def test_control_sixteen_in_one_seat_without_lock_and_constraint(services: Run) -> None:
    ana, *others = crowd(17)
    room = full(ana)
    free_seat(room, 3)
    with racing.without_unique(services, "rooms_seat", "room_id", "number"), racing.unlocked(16):
        together(*[partial(seating.sit, player, room.pk) for player in others])
        assert Seat.objects.filter(room=room, number=3).count() == 16
        with pytest.raises(AssertionError, match="seats"):
            sound()


def eight_ways(player: Player, hosts: list[Player]) -> list[Callable[[], object]]:
    """As many rooms as ways in: two new ones, two by the lobby, two by code, quick play, solo."""
    one, two, three, four, _five = (
        stage.waiting(host, visibility="private" if number in {2, 3} else "public") for number, host in enumerate(hosts)
    )
    return [
        partial(seating.create_room, player, visibility="public", options=OPTIONS),
        partial(seating.create_room, player, visibility="private", options=OPTIONS),
        partial(seating.sit, player, one.pk),
        partial(seating.sit, player, two.pk, 3),
        partial(stage.by_code, player, three.code, address=address(player)),
        partial(stage.by_code, player, four.code, address=address(player)),
        partial(seating.quick_play, player),
        partial(seating.open_solo, player, OPTIONS, "medium", clocked=True),
    ]


@runs
def test_one_player_into_eight_rooms_at_once(runs: int) -> None:
    for run in range(runs):
        since, (ana, *hosts) = racing.newest(), crowd(6)
        results = together(*eight_ways(ana, hosts), run=run)
        (won,) = [result for result in results if isinstance(result, Sitting)]
        assert {result.room_code for result in results if isinstance(result, AlreadySeated)} == {won.code}
        assert sum(isinstance(result, AlreadySeated) for result in results) == 7
        assert Seat.objects.get(player=ana).room_id == won.room_id
        assert Room.objects.filter(host=ana).exclude(pk=won.room_id).count() == 0
        sound(since)
        for room in Room.objects.filter(pk__gt=since, status="waiting"):
            closing.leave(room.pk, room.host_id or 0)  # quick play of the next run would come here


def test_control_one_player_in_many_rooms_without_the_constraint(services: Run) -> None:
    ana, *hosts = crowd(6)
    with racing.without_unique(services, "rooms_seat", "player_id"):
        results = together(*eight_ways(ana, hosts))
        assert sum(isinstance(result, Sitting) for result in results) >= 7  # quick play may come to where she sits
        assert Seat.objects.filter(player=ana).count() >= 7
        with pytest.raises(AssertionError, match="two tables"):
            sound()


@runs
def test_three_seats_for_one_player_from_two_browsers(runs: int) -> None:
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = stage.waiting(ana)
        results = together(*[partial(seating.sit, ben, room.pk, seat) for seat in (1, 2, 3, 1, 2, 3)], run=run)
        assert sorted(codes(results)) == ["already_seated"] * 5 + ["done"]
        assert Seat.objects.filter(player=ben).count() == 1
        sound(since)


@runs
def test_leaving_one_table_while_sitting_down_at_another(runs: int) -> None:
    for run in range(runs):
        since, (ana, ben, cleo) = racing.newest(), crowd(3)
        old, new = stage.waiting(ana, cleo), stage.waiting(ben)
        left, sat = together(partial(closing.leave, old.pk, cleo.pk), partial(seating.sit, cleo, new.pk), run=run)
        # "rate": refused for a seat that was gone a moment later.
        assert left is None and code(sat) in {"done", "already_seated", "rate"}
        assert Seat.objects.filter(player=cleo).count() == (code(sat) == "done")
        sound(since)


@runs
def test_a_seat_moved_to_and_sat_down_on(runs: int) -> None:
    for run in range(runs):
        since, (ana, ben, cleo) = racing.newest(), crowd(3)
        room = stage.waiting(ana, ben)
        results = together(
            partial(seating.sit, cleo, room.pk, 2),
            partial(seating.move, room.pk, stage.seat_of(room, ana).pk, 2),
            partial(seating.move, room.pk, stage.seat_of(room, ben).pk, 2),
            run=run,
        )
        assert sorted(codes(results)) == ["done", "seat_taken", "seat_taken"]
        assert Seat.objects.filter(room=room, number=2).count() == 1
        sound(since)


@runs
def test_quick_play_of_four_fills_one_room(runs: int) -> None:
    for run in range(runs):
        since, (ana, *others) = racing.newest(), crowd(5)
        room = stage.waiting(ana)
        results = together(*[partial(seating.quick_play, player) for player in others], run=run)
        assert codes(results) == ["done"] * 4
        assert sum(isinstance(result, Sitting) and result.room_id == room.pk for result in results) == 3
        sound(since)
        Room.objects.filter(pk__gt=since).update(visibility="private")


# -- the start ---------------------------------------------------------------------------------------------------


@runs
def test_start_against_the_leaving_of_another(runs: int) -> None:
    seen = set()
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = full(ana, ben)
        start, left = together(
            partial(hosting.start, room.pk, ana.pk), partial(closing.leave, room.pk, ben.pk), run=run
        )
        assert left is None and not Seat.objects.filter(player=ben).exists()
        if code(start) == "done":
            assert racing.ends_as(room) == ("starting", 4) and Seat.objects.get(room=room, number=1).forfeited
        else:
            assert (code(start), racing.ends_as(room)) == ("not_ready", ("waiting", 3))
        sound(since)
        seen.add(code(start))
    assert runs < 100 or len(seen) == 2


@runs
def test_start_against_the_leaving_of_the_host(runs: int) -> None:
    seen = set()
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = full(ana, ben)
        start, left = together(
            partial(hosting.start, room.pk, ana.pk), partial(closing.leave, room.pk, ana.pk), run=run
        )
        assert left is None and stage.refreshed(room).host_id == ben.pk
        expected = {"done": ("starting", 4), "no_room": ("waiting", 3)}
        assert racing.ends_as(room) == expected[code(start)]
        sound(since)
        seen.add(code(start))
    assert runs < 100 or len(seen) == 2


@runs
def test_start_against_delete(runs: int) -> None:
    seen = set()
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = full(ana, ben)
        results = together(partial(hosting.start, room.pk, ana.pk), partial(hosting.delete, room.pk, ana.pk), run=run)
        expected = {("done", "started"): ("starting", 4), ("no_room", "done"): ("destroyed", 0)}
        outcome = (code(results[0]), code(results[1]))
        assert racing.ends_as(room) == expected[outcome]
        sound(since)
        seen.add(outcome)
    assert runs < 100 or len(seen) == 2


@runs
def test_start_against_the_end_of_the_hour(runs: int) -> None:
    seen = set()
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = full(ana, ben)
        end = clock.now() + timedelta(milliseconds=run % 8 * 4)
        Room.objects.filter(pk=room.pk).update(expires_at=end, due_at=end)
        results = together(
            partial(hosting.start, room.pk, ana.pk),
            tasks.expire_rooms,
            partial(playing.ring, room.pk),
            tasks.ring_due,
            run=run,
        )
        tasks.expire_rooms()
        if code(results[0]) == "done":
            assert racing.ends_as(room) == ("starting", 4)
        else:
            assert code(results[0]) in {"started", "no_room"}
            while clock.now() < end:
                pass
            playing.ring(room.pk)
            assert racing.ends_as(room) == ("destroyed", 0)
        sound(since)
        seen.add(code(results[0]) == "done")
    assert runs < 100 or len(seen) == 2


@runs
def test_start_against_sit_fill_and_move(runs: int) -> None:
    for run in range(runs):
        since, (ana, ben, cleo) = racing.newest(), crowd(3)
        room = full(ana, ben)
        free_seat(room, 3)
        start, sat, filled, moved = together(
            partial(hosting.start, room.pk, ana.pk),
            partial(seating.sit, cleo, room.pk),
            partial(hosting.fill_bots, room.pk, ana.pk, "medium"),
            partial(seating.move, room.pk, stage.seat_of(room, ben).pk, 3),
            run=run,
        )
        status, seats = racing.ends_as(room)
        assert (code(start), status) in {("done", "starting"), ("not_ready", "waiting")} and seats in {3, 4}
        assert code(sat) in {"done", "full", "started"} and code(filled) in {"done", "started"}
        assert code(moved) in {"done", "seat_taken", "started"}
        assert Seat.objects.filter(player=cleo).exists() == (code(sat) == "done")
        assert (stage.seat_of(room, ben).number == 3) == (code(moved) == "done")
        sound(since)


@pytest.mark.parametrize("other", ["leave", "host leaves", "delete", "hour", "remove"])
def test_control_a_start_without_the_lock_is_half_undone(other: str) -> None:
    ana, ben = crowd(2)
    room = full(ana, ben)
    against: dict[str, Callable[[], object]] = {
        "leave": partial(closing.leave, room.pk, ben.pk),
        "host leaves": partial(closing.leave, room.pk, ana.pk),
        "delete": partial(hosting.delete, room.pk, ana.pk),
        "hour": partial(playing.ring, room.pk),
        "remove": partial(hosting.remove, room.pk, ana.pk, stage.seat_of(room, ben).pk),
    }
    if other == "hour":
        Room.objects.filter(pk=room.pk).update(
            expires_at=clock.now() + timedelta(seconds=0.3), due_at=clock.now() - timedelta(seconds=1)
        )

    def sleepy(table: Any, _real: Callable[[Any], bool] = closing.close_due) -> bool:
        while table.room.expires_at > clock.now():
            pass
        return _real(table)

    with pytest.MonkeyPatch.context() as patch, racing.unlocked(2):
        patch.setattr(closing, "close_due", sleepy)
        results = together(partial(hosting.start, room.pk, ana.pk), against[other])
    assert codes(results) == ["done", "done"]  # both believe that they have won
    with pytest.raises(AssertionError, match=r"a match without a table|seats|is waiting|has a match|differs"):
        sound()


# -- hosts -------------------------------------------------------------------------------------------------------


@runs
def test_the_hosts_double_start_from_two_tabs(runs: int) -> None:
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = full(ana, ben)
        results = together(*[partial(hosting.start, room.pk, ana.pk)] * 3, run=run)
        assert codes(results) == ["done"] * 3 and racing.ends_as(room) == ("starting", 4)
        assert room.starts_at is not None
        sound(since)  # which knows of no second match


def test_control_a_double_start_without_the_lock_opens_two_matches() -> None:
    (ana,) = crowd(1)
    room = full(ana)
    with racing.unlocked(2):
        together(*[partial(hosting.start, room.pk, ana.pk)] * 2)
    assert Match.objects.count() == 2
    with pytest.raises(AssertionError, match="a match without a table"):
        sound()


@runs
def test_fill_against_a_person_who_sits_down(runs: int) -> None:
    seen = set()
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = stage.waiting(ana)
        filled, sat = together(
            partial(hosting.fill_bots, room.pk, ana.pk, "medium"), partial(seating.sit, ben, room.pk, 2), run=run
        )
        assert filled is None and racing.ends_as(room) == ("waiting", 4)
        assert code(sat) in {"done", "seat_taken"}
        assert (Seat.objects.get(room=room, number=2).player_id == ben.pk) == (code(sat) == "done")
        sound(since)
        seen.add(code(sat))
    assert runs < 100 or len(seen) == 2


def test_control_a_bot_on_a_persons_lap_without_lock_and_constraint(services: Run) -> None:
    ana, ben = crowd(2)
    room = stage.waiting(ana)
    with racing.without_unique(services, "rooms_seat", "room_id", "number"), racing.unlocked(2):
        together(partial(hosting.fill_bots, room.pk, ana.pk, "medium"), partial(seating.sit, ben, room.pk, 2))
        assert Seat.objects.filter(room=room).count() == 5
        with pytest.raises(AssertionError, match="seats"):
            sound()


@runs
def test_remove_against_start(runs: int) -> None:
    seen = set()
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = full(ana, ben)
        sitting = stage.seat_of(room, ben).pk
        results = together(
            partial(hosting.start, room.pk, ana.pk), partial(hosting.remove, room.pk, ana.pk, sitting), run=run
        )
        outcome = (code(results[0]), code(results[1]))
        expected = {("done", "started"): ("starting", 4), ("not_ready", "done"): ("waiting", 3)}
        assert racing.ends_as(room) == expected[outcome]
        assert (room.removed == [ben.pk]) == (outcome[1] == "done")
        sound(since)
        seen.add(outcome)
    assert runs < 100 or len(seen) == 2


@runs
def test_remove_against_the_same_persons_leaving_and_coming_back(runs: int) -> None:
    for run in range(runs):
        since, (ana, ben) = racing.newest(), crowd(2)
        room = stage.waiting(ana, ben)
        sitting = stage.seat_of(room, ben).pk

        def leave_and_return(player: Player = ben, room: Room = room) -> Sitting:
            closing.leave(room.pk, player.pk)
            return seating.sit(player, room.pk)

        removed, back = together(partial(hosting.remove, room.pk, ana.pk, sitting), partial(leave_and_return), run=run)
        assert removed is None and code(back) in {"done", "no_room", "removed"}
        # A click on a sitting that is over touches neither the next sitting nor the person.
        assert (stage.refreshed(room).removed == [ben.pk]) == (code(back) != "done")
        assert Seat.objects.filter(player=ben).exists() == (code(back) == "done")
        sound(since)


@runs
@pytest.mark.parametrize("click", ["start", "fill", "delete", "remove"])
def test_the_host_leaves_while_the_old_hosts_second_tab_clicks(runs: int, click: str) -> None:
    for run in range(runs):
        since, (ana, ben, cleo) = racing.newest(), crowd(3)
        room = full(ana, ben, cleo)
        clicks: dict[str, Callable[[], object]] = {
            "start": partial(hosting.start, room.pk, ana.pk),
            "fill": partial(hosting.put_bot, room.pk, ana.pk, 3, "medium"),
            "delete": partial(hosting.delete, room.pk, ana.pk),
            "remove": partial(hosting.remove, room.pk, ana.pk, stage.seat_of(room, cleo).pk),
        }
        left, clicked, by_new_host = together(
            partial(closing.leave, room.pk, ana.pk),
            clicks[click],
            partial(hosting.fill_bots, room.pk, ben.pk, "medium"),
            run=run,
        )
        status = stage.refreshed(room).status
        if status == "destroyed":
            assert click == "delete" and code(clicked) == "done" and code(left) in {"done", "no_room"}
        else:
            assert left is None and room.host_id == ben.pk
            assert code(clicked) in {"done", "no_room"} and code(by_new_host) in {"done", "not_host", "started"}
            assert status == ("starting" if click == "start" and code(clicked) == "done" else "waiting")
        sound(since)


def test_control_without_the_lock_the_host_is_gone_and_host() -> None:
    ana, ben = crowd(2)
    room = stage.waiting(ana, ben)
    with racing.unlocked(2):
        # The click of the second tab writes back the room as it was before the host left.
        together(partial(hosting.fill_bots, room.pk, ana.pk, "medium"), partial(closing.leave, room.pk, ana.pk))
        together(partial(hosting.allow_watching, room.pk, ben.pk, False))
    hosts = {stage.refreshed(room).host_id}
    for _i in range(20):
        if hosts != {ben.pk}:
            break
        room = stage.waiting(ana := crowd(1)[0], crowd(1)[0])
        with racing.unlocked(2):
            together(
                partial(closing.leave, room.pk, ana.pk),
                partial(hosting.fill_bots, room.pk, ana.pk, "medium"),
                run=_i,
            )
        if stage.refreshed(room).host_id == ana.pk:
            break
    with pytest.raises(AssertionError, match="the host does not sit here"):
        sound()
