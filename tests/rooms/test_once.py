"""Scheduled work done twice, late or beside itself is done once; a process killed at any moment has done nothing."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection

from games.models import MatchEvent
from players.models import Player
from rooms import clock, closing, hosting, playing, seating, tasks
from rooms.models import Connection, Room, Seat
from tests.rooms import stage
from tests.rooms.gold import begun, has, nothing_is_lost, paid, rich

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quiet_site")]


def answers(room: Room) -> list[tuple[int | None, str, str]]:
    """Who answered which question, in order."""
    log = MatchEvent.objects.filter(match_id=room.match_id or 0).exclude(answer="").order_by("number")
    return list(log.values_list("seat", "step", "by"))


TABLES = (
    *("rooms_room", "rooms_seat", "rooms_connection", "games_match", "games_matchseat", "games_matchevent"),
    *("wallet_account", "wallet_transaction", "wallet_posting", "wallet_resolution", "wallet_reward"),
    *("stats_matchfact", "stats_playerfact", "stats_roundfact"),
)


def everything() -> list[Any]:
    """All that is stored of rooms, matches, coins and facts."""
    found: list[Any] = []
    with connection.cursor() as cursor:
        for table in TABLES:
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
    stage.turn_of(room["late"], host["late"])
    stage.turn_of(room["bot's"], host["bot's"])
    stage.give(room["bot's"], stage.seat_of(room["bot's"], host["bot's"]), action_id="then a bot")
    stage.go_away(room["away"], host["away"])
    for name in ("old", "read"):
        Room.objects.filter(pk=room[name].pk).update(expires_at=stage.just_past(), due_at=stage.just_past())
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
    ana, ben = stage.people("Ana", "Ben")
    fresh, playing_now = stage.waiting(ana), stage.running(ben)
    stage.turn_of(playing_now, ben)
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
    ana, ben, cleo = stage.people("Ana", "Ben", "Cleo")
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
    seat = stage.turn_of(room, ana)
    counts["act"] = at_every_statement(lambda: stage.give(room, seat, action_id="act"), room)
    stage.turn_of(room, ana)
    stage.pass_time(room, 10.2)
    counts["time-out"] = at_every_statement(lambda: playing.ring(room.pk), room)
    last = stage.last_question(room, ana)
    while not Seat.objects.filter(room=room, number=stage.prompts(room)[0].seat, player=ana).exists():
        stage.give(room, stage.asked(room), action_id=f"on-{room.version}")
    counts["last tile"] = at_every_statement(lambda: stage.give(room, last, action_id="last"), room)
    stage.play_to_the_end(room)
    counts["rematch"] = at_every_statement(lambda: seating.rematch(ana, room.code), room)
    Room.objects.filter(pk=room.pk).update(expires_at=stage.just_past(), due_at=stage.just_past())
    counts["expire"] = at_every_statement(lambda: playing.ring(room.pk), room)
    assert all(count >= 3 for count in counts.values()), counts


def test_a_forfeit_killed_at_any_statement_is_none() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben)
    stage.turn_of(room, ben)
    assert at_every_statement(lambda: closing.leave(room.pk, ben.pk), room) >= 6
    assert at_every_statement(lambda: closing.leave(room.pk, ana.pk), room) >= 4  # abandons the match
    other = stage.waiting(ben)
    assert at_every_statement(lambda: hosting.delete(other.pk, ben.pk), other) >= 3


def test_a_change_of_tables_killed_at_any_statement_is_none() -> None:
    """Both fees, the forfeit and the new seat: all of it or nothing."""
    host, other, ana = rich("Host"), rich("Other"), rich("Ana")
    own, new = begun(paid(300, host, ana)), paid(50, other)
    move = partial(seating.sit, ana, new.pk, agreed_fee=50, give_up=stage.stake(own))
    assert at_every_statement(move, own) >= 15
    assert Seat.objects.get(player=ana).room_id == new.pk and has(ana) == [4650]
    nothing_is_lost()
