"""Staff of every role with their browsers, and rooms where gold was played for."""

from typing import Any

from django.contrib.auth.models import Group
from django.test import Client

from players.models import Player, StaffAct
from rooms.models import Room
from tests.players.accounts import account, second_step
from tests.rooms import stage
from tests.rooms.gold import begun, paid

ROLES = ("support", "moderator", "senior", "admin")
HOUSE = "/admin/house"


def member(role: str, name: str = "") -> Player:
    """Somebody of this role, with a second step."""
    player = account(name or f"{role.title()} Sam", is_staff=True)
    player.groups.set(Group.objects.filter(name=role))
    second_step(player)
    return player


def browser_of(player: Player) -> Client:
    client = Client()
    client.force_login(player)
    return client


def staff(role: str, name: str = "") -> Client:
    return browser_of(member(role, name))


def played(*people: Player, fee: int = 300) -> Room:
    """A paid room with these people whose match is over."""
    room = begun(paid(fee, *people))
    stage.play_to_the_end(room)
    return stage.refreshed(room)


def ask(client: Client, player: Player, amount: int = 50, reason: str = "lost by a fault", **more: str) -> Any:
    """Ask for a correction of this player's account, on its page."""
    fields = {"amount": str(amount), "reason": reason, **more}
    return client.post(f"{HOUSE}/players/{player.pk}/correction/", fields)


def acts(**wanted: Any) -> list[str]:
    """What was recorded, in order."""
    return list(StaffAct.objects.filter(**wanted).order_by("pk").values_list("act", flat=True))
