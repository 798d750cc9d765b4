"""Many waiting tables at once, each with its host present, made in a few statements."""

from datetime import timedelta

from players.models import Player
from rooms import clock
from rooms.codes import new_code
from rooms.models import Connection, Room, Seat


def waiting(count: int) -> list[Room]:
    """This many public tables with one person each; the oldest first."""
    now = clock.now()
    hosts = Player.objects.bulk_create(
        Player(username=f"crowd-{number}", shown_name=f"Person {number}", is_guest=True) for number in range(count)
    )
    rooms = Room.objects.bulk_create(
        Room(
            code=new_code(),
            game="domino_poker",
            visibility=Room.Visibility.PUBLIC,
            turn_seconds=10,
            options={"rounds": 7},
            host=host,
            created_at=now - timedelta(minutes=number % 50),
            expires_at=now + timedelta(hours=1),
            due_at=now + timedelta(hours=1),
        )
        for number, host in enumerate(hosts)
    )
    seats = Seat.objects.bulk_create(
        Seat(room=room, number=0, player=host, name=host.shown_name) for room, host in zip(rooms, hosts, strict=True)
    )
    # Their pages stay open as long as the test lasts.
    Connection.objects.bulk_create(
        Connection(seat=seat, channel=f"crowd-{seat.pk}", seen_at=now + timedelta(hours=1)) for seat in seats
    )
    return rooms
