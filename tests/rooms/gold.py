"""People with gold, rooms where it is at stake, and what must hold of it always."""

from typing import Any

from django.db import transaction
from django.test import override_settings

from games.models import Match
from players.models import Player
from rooms import hosting, playing, seating
from rooms.models import Room
from tests.rooms import stage
from wallet import selectors as wallet
from wallet import services as coins


def rich(name: str, welcome_coins: int = 5000) -> Player:
    """A registered player with a welcome bonus."""
    player = Player.objects.create(username=name.lower(), shown_name=name)
    with override_settings(WELCOME_COINS=welcome_coins), transaction.atomic():
        coins.welcome(player.pk)
    return player


def paid(fee: int, *people: Player, visibility: str = "public") -> Room:
    """A waiting room where each of these has paid the fee."""
    host, *others = people
    sitting = seating.create_room(host, visibility=visibility, options={"rounds": 1}, fee=fee)
    for other in others:
        seating.sit_with_code(other, sitting.room_id, agreed_fee=fee)
    room = Room.objects.get(pk=sitting.room_id)
    for one in people:
        stage.arrive(room, one)
    return stage.refreshed(room)


def begun(room: Room) -> Room:
    """The same with bots in the empty seats and the tiles dealt."""
    host = room.host_id
    assert host is not None
    hosting.fill_bots(room.pk, host, "medium")
    hosting.start(room.pk, host)
    stage.pass_time(room, 20)
    playing.ring(room.pk)
    return stage.refreshed(room)


def escrow(room: Room) -> int:
    """The coins in the pot of this room."""
    return wallet.held(f"room:{room.pk}")


def has(*people: Player) -> list[int]:
    """The coins of each."""
    return [wallet.balance(one.pk) for one in people]


def outcome(room: Room) -> dict[str, Any]:
    """How the match of this room ended."""
    found = Match.objects.get(pk=stage.match_of(room)).outcome
    assert found is not None
    return dict(found)


def nothing_is_lost() -> None:
    """All accounts together hold nothing: each coin that one has is owed by another."""
    assert sum(wallet.totals().values()) == 0
