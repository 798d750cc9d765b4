"""How a table ends: given up, finished, abandoned, destroyed."""

from datetime import datetime

from django.conf import settings

from games import services as games
from rooms import clock
from rooms.errors import NoSuchRoom
from rooms.models import Room, Seat
from rooms.table import Table, grace, locked, seconds


def free_seats(table: Table) -> None:
    """Everybody may sit elsewhere from the moment that this commits."""
    Seat.objects.filter(room=table.room).delete()
    table.seats = []


def finish(table: Table, now: datetime) -> None:
    """The match has its outcome: seats are freed, the result stays readable for RESULT_SECONDS."""
    room = table.room
    room.status = Room.Status.FINISHED
    room.expires_at = now + seconds(settings.RESULT_SECONDS)
    _stop_clocks(room)
    free_seats(table)


def abandon(table: Table) -> None:
    """Nobody is left to play it: the match has no result and the table is gone."""
    if table.room.match_id is not None:
        games.abandon(table.room.match_id)
    destroy(table)


def destroy(table: Table) -> None:
    room = table.room
    room.status = Room.Status.DESTROYED
    _stop_clocks(room)
    free_seats(table)


def leave(room_id: int, player_id: int) -> None:
    """A player leaves on purpose. A solo match has nobody else, so it is given up. Raises NoSuchRoom."""
    with locked(room_id) as table:
        seat = next((seat for seat in table.seats if seat.player_id == player_id), None)
        if seat is None:
            raise NoSuchRoom
        abandon(table)
        table.save()


def give_up_running(player_id: int) -> None:
    """Leave whatever table the player sits at; nothing when at none."""
    seat = Seat.objects.filter(player_id=player_id).first()
    if seat is not None:
        try:
            leave(seat.room_id, player_id)
        except NoSuchRoom:
            return  # it ended by itself meanwhile


def close_due(table: Table) -> bool:
    """Ends of time: the result was shown long enough, a waiting room grew too old, or all humans stayed away."""
    room = table.room
    if room.status in {Room.Status.FINISHED, Room.Status.WAITING} and room.expires_at <= clock.now():
        destroy(table)
        return True
    if room.away_since is not None and room.away_since + grace(room) <= clock.now():
        abandon(table)
        return True
    return False


def _stop_clocks(room: Room) -> None:
    room.opened_at = room.deadline_at = room.away_since = None
    room.is_open = False
