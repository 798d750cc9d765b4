"""One room under its lock: what the services change, when it rings next, and who is told after the commit."""

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Model, QuerySet

from games import history
from games import selectors as game_selectors
from games.services import Step
from players import selectors as players
from rooms import broadcast, clock
from rooms.errors import KeptOut, NoSuchRoom, Started
from rooms.models import Room, Seat
from rooms.retries import retried

M = TypeVar("M", bound=Model)


def seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


# As SQL, since every action at every table begins with it: Django's own making of this query takes as long as all the
# rest of it.
_SEATS = """
SELECT s.*, EXISTS (SELECT FROM rooms_connection c WHERE c.seat_id = s.id) AS connected
FROM rooms_seat s WHERE s.room_id = %s ORDER BY s.number"""


# Connections in the order of their numbers, as by `in_order`; they point at their seat until the commit looks.
_DROP = """
WITH gone AS (
    DELETE FROM rooms_connection WHERE id IN (
        SELECT id FROM rooms_connection WHERE seat_id = ANY(%(seats)s) ORDER BY id FOR UPDATE
    )
)
DELETE FROM rooms_seat WHERE id = ANY(%(seats)s)"""


def seats_of(room_id: int) -> list[Seat]:
    """The seats of a room in order, each with `connected`."""
    return list(Seat.objects.raw(_SEATS, [room_id]))


def grace(room: Room) -> timedelta:
    """How long all humans may be away before the match is abandoned."""
    solo = room.visibility == Room.Visibility.SOLO
    return seconds(settings.SOLO_GRACE_SECONDS if solo else settings.GRACE_SECONDS)


SUBSTITUTE_LEVEL = "medium"  # who plays for auto-play, forfeited and timed-out seats (rules)


class Table:
    """A room, its seats and its match; only `locked` makes one."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.seats = seats_of(room.pk)
        self.step: Step | None = None

    @cached_property
    def loaded(self) -> history.Loaded:
        assert self.room.match_id is not None
        return history.load(self.room.match_id)

    def seat(self, number: int) -> Seat | None:
        return next((seat for seat in self.seats if seat.number == number), None)

    def humans(self) -> list[Seat]:
        return [seat for seat in self.seats if seat.player_id is not None]

    def seat_of(self, player_id: int) -> Seat:
        """The player's seat. Raises NoSuchRoom."""
        seat = next((seat for seat in self.seats if seat.player_id == player_id), None)
        if seat is None:
            raise NoSuchRoom
        return seat

    def add(self, seat: Seat) -> None:
        """A new sitting, not connected yet. The database refuses a second one of the same player or place."""
        seat.room = self.room
        seat.save(force_insert=True)
        seat.connected = False  # type: ignore[attr-defined]
        self.seats = sorted([*self.seats, seat], key=lambda one: one.number)

    def drop(self, *seats: Seat) -> None:
        """These sittings are over, and their connections with them."""
        gone = [seat.pk for seat in seats]
        if not gone:
            return
        self.seats = [one for one in self.seats if one.pk not in gone]
        with connection.cursor() as cursor:
            cursor.execute(_DROP, {"seats": gone})

    def require_waiting(self) -> None:
        """Raises Started when seats are no longer given: it has begun, has ended, or its time has run out."""
        if self.room.status != Room.Status.WAITING or self.room.expires_at <= clock.now():
            raise Started

    def require_active(self, player_id: int) -> None:
        """Raises KeptOut for whoever sits here still and may no longer act."""
        if not players.is_active(player_id):
            raise KeptOut

    def plays_itself(self, number: int) -> bool:
        """Whether the table answers for this seat: a bot, a forfeiter, or a person on auto-play."""
        seat = self.seat(number)
        return seat is None or seat.player_id is None or seat.auto_play

    def take(self, step: Step) -> None:
        """Go on from what the match made of an action."""
        self.step = step
        self.__dict__["loaded"] = step.loaded

    # -- times ---------------------------------------------------------------------------------------------------

    def ask(self, now: datetime, pause_seconds: float) -> None:
        """Put the next question after a pause; without one it opens at once."""
        room = self.room
        room.opened_at = now + seconds(pause_seconds)
        room.is_open = False
        room.deadline_at = None
        if pause_seconds <= 0 and not self.all_by_itself():
            self.open_question(now)

    def open_question(self, now: datetime) -> None:
        """From here the human's clock runs."""
        room = self.room
        room.is_open, room.opened_at = True, now
        room.deadline_at = now + seconds(room.turn_seconds) if room.turn_seconds is not None else None

    def all_by_itself(self) -> bool:
        """Whether no person is asked now."""
        return all(self.plays_itself(prompt.seat) for prompt in game_selectors.prompts(self.loaded))

    def _due_at(self) -> datetime | None:
        room = self.room
        if room.status == Room.Status.WAITING:
            return room.expires_at
        if room.status == Room.Status.STARTING:
            return room.starts_at
        if room.status == Room.Status.FINISHED:
            return room.expires_at
        if room.status == Room.Status.DESTROYED:
            return None
        times = []
        if room.away_since is not None:
            times.append(room.away_since + grace(room))
        if not room.is_open and room.opened_at is not None:
            times.append(room.opened_at)
        elif any(self.plays_itself(prompt.seat) for prompt in game_selectors.prompts(self.loaded)):
            times.append(room.opened_at or room.created_at)
        if room.deadline_at is not None:
            times.append(room.deadline_at + seconds(settings.TIMEOUT_LEEWAY_SECONDS))
        return min(times, default=None)

    def mark_presence(self, now: datetime) -> None:
        """Start the grace when the last human is gone, end it when one is back. A waiting room has no grace."""
        if self.room.status == Room.Status.WAITING or any(seat.connected for seat in self.humans()):  # type: ignore[attr-defined]
            self.room.away_since = None
        elif self.room.away_since is None:
            self.room.away_since = now

    def save(self) -> None:
        """Write the room with its next ring and version, and tell the world once that is durable."""
        room = self.room
        room.due_at = self._due_at()
        room.version += 1
        room.save()
        broadcast.announce(self)
        if room.follows_id is not None and room.status not in {Room.Status.PLAYING, Room.Status.FINISHED}:

            def tell_old_table() -> None:  # by a name: Django writes the name of a hook that fails
                _tell_old_table(room.pk)

            transaction.on_commit(tell_old_table, robust=True)


@retried
def _tell_old_table(room_id: int) -> None:
    """When this room is a rematch, those who still read the old result see who plays again. Runs after the commit:
    two rooms are locked old one first."""
    old = Room.objects.filter(rematch=room_id, status=Room.Status.FINISHED).values_list("pk", flat=True).first()
    if old is not None:
        with locked(old) as table:
            table.save()


@contextmanager
def locked(room_id: int, *, skip_locked: bool = False) -> Iterator[Table]:
    """The room under its lock, in a transaction of its own. Raises NoSuchRoom, also when another holds it and
    `skip_locked` is set."""
    with transaction.atomic(durable=True):
        room = Room.objects.select_for_update(skip_locked=skip_locked).filter(pk=room_id).first()
        if room is None:
            raise NoSuchRoom
        yield Table(room)


def in_order(rows: QuerySet[M]) -> QuerySet[M]:
    """These rows, for an update or a delete that locks them in the order of their numbers. By itself it takes them as
    they lie, and two that take the same rows in different orders wait for each other."""
    return rows.model._default_manager.filter(pk__in=rows.order_by("pk").select_for_update().values("pk"))


@contextmanager
def locked_together(room_ids: Collection[int]) -> Iterator[dict[int, Table]]:
    """These rooms, as far as they exist, each under its lock, in one transaction; the lower number is locked first."""
    with transaction.atomic(durable=True):
        rooms = Room.objects.select_for_update().filter(pk__in=room_ids).order_by("pk")
        yield {room.pk: Table(room) for room in rooms}


def ms_left(until: datetime | None) -> int | None:
    """Milliseconds until a time by the one clock, never below 0."""
    if until is None:
        return None
    return max(0, math.ceil((until - clock.now()).total_seconds() * 1000))
