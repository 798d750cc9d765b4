"""What the host of a waiting room may do: bots, sending people away, who may watch, the start, the end."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.utils.translation import gettext as _

from games import services as games
from games.bots import levels
from games.services import SeatSpec
from rooms import clock, closing
from rooms.errors import NoSuchLevel, NoSuchSeat, NotHost, NotReady, SeatTaken
from rooms.models import SEATS, Room, Seat
from rooms.retries import retried
from rooms.table import Table, locked, seconds


@retried
def put_bot(room_id: int, by: int, seat: int, level: str) -> None:
    """Seat a bot, or change the level of the bot that sits there. Raises SeatTaken when a person does, NoSuchLevel."""
    with _as_host(room_id, by) as table:
        there = table.seat(seat)
        if there is not None and there.player_id is not None:
            raise SeatTaken
        if there is not None:
            table.drop(there)
        _seat_bot(table, seat, level)
        table.save()


@retried
def clear_bot(room_id: int, by: int, seat: int) -> None:
    """Send a bot away; an empty seat is left as it is. Raises SeatTaken when a person sits there."""
    with _as_host(room_id, by) as table:
        there = table.seat(seat)
        if there is None:
            return
        if there.player_id is not None:
            raise SeatTaken
        table.drop(there)
        table.save()


@retried
def fill_bots(room_id: int, by: int, level: str) -> None:
    """A bot for every empty seat; nobody who sits is touched."""
    with _as_host(room_id, by) as table:
        empty = [number for number in range(SEATS) if table.seat(number) is None]
        for number in empty:
            _seat_bot(table, number, level)
        if empty:
            table.save()


@retried
def remove(room_id: int, by: int, sitting_id: int) -> None:
    """Send a person away for good. Nothing when that sitting is over already. Raises NotHost for the own seat."""
    with _as_host(room_id, by) as table:
        seat = next((one for one in table.humans() if one.pk == sitting_id), None)
        if seat is None:
            return
        if seat.player_id == by:
            raise NotHost(_("You can't send yourself away: leave the table instead."))
        table.room.removed = [*table.room.removed, seat.player_id]
        closing.vacate(table, seat)
        table.save()


@retried
def allow_watching(room_id: int, by: int, allowed: bool) -> None:
    """Whether others may look on, at any time until the end; those who watch already are sent away by a no."""
    with locked(room_id) as table:
        _require_host(table, by)
        if table.room.watchable != allowed:
            table.room.watchable = allowed
            table.save()


@retried
def start(room_id: int, by: int) -> None:
    """Open the match and count down to its first deal; from here nobody can sit down any more. A second click does
    nothing. Raises NotReady while a seat is empty."""
    with locked(room_id) as table:
        _require_host(table, by)
        room, now = table.room, clock.now()
        if room.status == Room.Status.STARTING:
            return
        table.require_waiting()
        if len(table.seats) < SEATS:
            raise NotReady
        specs = [SeatSpec(seat.player_id, seat.name, seat.bot_level) for seat in table.seats]
        room.match_id = games.open_match(room.game, room.options, specs).match_id
        room.status = Room.Status.STARTING
        room.starts_at = now + seconds(settings.COUNTDOWN_SECONDS)
        table.mark_presence(now)
        table.save()


@retried
def delete(room_id: int, by: int) -> None:
    """Close a waiting room for everybody."""
    with _as_host(room_id, by) as table:
        closing.destroy(table)
        table.save()


@contextmanager
def _as_host(room_id: int, by: int) -> Iterator[Table]:
    """The room under its lock, for its host, while it waits. Raises NoSuchRoom, NotHost, KeptOut, Started."""
    with locked(room_id) as table:
        _require_host(table, by)
        table.require_waiting()
        yield table


def _require_host(table: Table, by: int) -> None:
    table.seat_of(by)
    if table.room.host_id != by:
        raise NotHost
    table.require_active(by)


def _seat_bot(table: Table, number: int, level: str) -> None:
    if not 0 <= number < SEATS:
        raise NoSuchSeat
    if not levels(table.room.game).get(level):
        raise NoSuchLevel
    names = (_("Birch"), _("Cedar"), _("Maple"), _("Willow"))
    table.add(Seat(number=number, name=names[number], bot_level=level))
