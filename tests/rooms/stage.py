"""What the room tests stand on: people at solo tables, and time that passes when the test says so."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, TypeVar

from django.db import connection
from django.utils import timezone

from games import history
from games import selectors as game_selectors
from games.engine.table import Prompt
from players.models import Player
from rooms import clock, playing, seating, snapshots
from rooms.models import Connection, Room, Seat

T = TypeVar("T")


def person(name: str) -> Player:
    return Player.objects.create(username=name.lower(), shown_name=name, is_guest=True)


def solo(player: Player, *, rounds: int = 1, clocked: bool = False) -> Room:
    sitting = seating.open_solo(player, {"rounds": rounds}, "medium", clocked=clocked)
    return Room.objects.get(pk=sitting.room_id)


def pass_time(room: Room, seconds: float = 3600.0) -> None:
    """Everything that this room waits for (but its lifetime) comes `seconds` nearer."""
    room.refresh_from_db()
    for name in ("starts_at", "opened_at", "deadline_at", "away_since", "due_at"):
        at = getattr(room, name)
        if at is not None:
            setattr(room, name, at - timedelta(seconds=seconds))
    room.save()


def begun(player: Player, *, rounds: int = 1, clocked: bool = False, present: bool = True) -> Room:
    """A table where the cards are dealt and the first question is put."""
    room = solo(player, rounds=rounds, clocked=clocked)
    if present:
        sit_down(room)
    pass_time(room, 20)
    playing.ring(room.pk)
    room.refresh_from_db()
    assert room.status == Room.Status.PLAYING
    return room


def sit_down(room: Room) -> Connection:
    """The human's page is open."""
    seat = Seat.objects.get(room=room, player__isnull=False)
    Room.objects.filter(pk=room.pk).update(away_since=None)
    return Connection.objects.create(channel=f"page-{seat.pk}", seat=seat, seen_at=clock.now())


def human(room: Room) -> Seat:
    return Seat.objects.get(room=room, player__isnull=False)


def prompts(room: Room) -> tuple[Prompt[Any], ...]:
    room.refresh_from_db()
    assert room.match_id is not None
    return game_selectors.prompts(history.load(room.match_id))


def to_human(room: Room) -> Prompt[Any]:
    """Let the bots play until the human's question is open."""
    for _i in range(200):
        (prompt,) = prompts(room)
        if prompt.seat == human(room).number and room.is_open:
            return prompt
        pass_time(room, 20 if room.deadline_at is None else 0)
        playing.ring(room.pk)
    raise AssertionError("the human was never asked")


def first_choice(room: Room) -> str:
    """The first answer that the page would offer."""
    frame = frame_of(room, human(room).number)
    return str(frame["prompt"]["choices"][0]["do"])


def frame_of(room: Room, seat: int | None, after: int | None = None) -> dict[str, Any]:
    room.refresh_from_db()
    snapshot = snapshots.read(room.pk, room.version)
    assert snapshot is not None
    frame: dict[str, Any] = json.loads(snapshot.update(seat, after))
    return frame


def answer(room: Room, do: str, *, step: str | None = None, action_id: str = "a1", late_seconds: float = 0) -> None:
    seat = human(room)
    if step is None:
        (prompt,) = prompts(room)
        step = prompt.step
    received = (
        clock.now() if not late_seconds else (room.deadline_at or timezone.now()) + timedelta(seconds=late_seconds)
    )
    playing.act(room.pk, seat.pk, seat.number, action_id, step, do, received)


def play_out(room: Room) -> None:
    """The whole match, the human taking the first choice each time."""
    number = 0
    while True:
        room.refresh_from_db()
        if room.status != Room.Status.PLAYING:
            return
        number += 1
        to_human_or_end(room)
        room.refresh_from_db()
        if room.status != Room.Status.PLAYING:
            return
        answer(room, first_choice(room), action_id=f"m{number}")


def to_human_or_end(room: Room) -> None:
    for _i in range(200):
        room.refresh_from_db()
        if room.status != Room.Status.PLAYING:
            return
        (prompt,) = prompts(room)
        if prompt.seat == human(room).number and room.is_open:
            return
        pass_time(room, 20)
        playing.ring(room.pk)
    raise AssertionError("neither the human nor the end came")


def at_once(calls: list[Callable[[], T]]) -> list[T | Exception]:
    """Run all calls at the same time on connections of their own; what each gave or raised."""

    def one(call: Callable[[], T]) -> T | Exception:
        try:
            return call()
        except Exception as error:  # noqa: BLE001  the test looks at it
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))
