"""What the ledger cannot know and check_ledger asks of us: coins in rooms that are over, fees that nobody ended."""

from collections.abc import Iterator

from rooms.models import Room
from wallet import selectors as wallet

OVER = (Room.Status.FINISHED, Room.Status.DESTROYED)


def escrows() -> Iterator[str]:
    """One line for each room that holds coins although it is over or unknown, and for each whose coins are not what
    its seats have paid."""
    held = wallet.open_escrows()
    rooms = {room.pk: room for room in Room.objects.filter(pk__in=held).prefetch_related("seats")}
    for room_id, coins in sorted(held.items()):
        room = rooms.get(room_id)
        if room is None:
            yield f"escrow: room:{room_id}: {coins} coins of a room that does not exist"
        elif room.status in OVER:
            yield f"escrow: room:{room_id}: {coins} coins although it is {room.status}"
        elif (paid := sum(seat.paid for seat in room.seats.all())) != coins:
            yield f"escrow: room:{room_id}: {coins} coins, but its seats have paid {paid}"
    owing = Room.objects.filter(fee__gt=0, seats__paid__gt=0).exclude(pk__in=held).distinct()
    for room_id in owing.values_list("pk", flat=True):
        yield f"escrow: room:{room_id}: seats have paid, but it holds no coins"
