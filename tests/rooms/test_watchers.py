"""How many may look on: of one room, and of one room from one address."""

import pytest
from django.conf import settings

from rooms import presence
from rooms.errors import RoomFull
from rooms.models import Watcher
from tests.rooms import stage

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_address_leaves_places_to_others() -> None:
    room, other = stage.waiting(stage.person("Ana")), stage.waiting(stage.person("Bo"))
    here, there = (presence.onlooker(None, room_id=one.pk) for one in (room, other))
    for number in range(settings.WATCHERS_AN_ADDRESS):
        presence.watch(here, f"eve-{number}", "192.0.2.1")
    with pytest.raises(RoomFull) as full:
        presence.watch(here, "eve-late", "192.0.2.1")
    assert "from your network" in str(full.value.text)
    presence.watch(here, "eve-0", "192.0.2.1")  # the same socket again
    presence.watch(there, "eve-there", "192.0.2.1")
    presence.watch(here, "ben", "192.0.2.2")
    presence.unwatch("eve-1")
    presence.watch(here, "eve-late", "192.0.2.1")
    assert Watcher.objects.filter(room=room).count() == settings.WATCHERS_AN_ADDRESS + 1


def test_a_room_is_full_for_every_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "WATCHERS_A_ROOM", 2)
    here = presence.onlooker(None, room_id=stage.waiting(stage.person("Ana")).pk)
    for number in range(2):
        presence.watch(here, f"one-{number}", f"192.0.2.{number}")
    with pytest.raises(RoomFull) as full:
        presence.watch(here, "late", "192.0.2.9")
    assert "Too many people" in str(full.value.text)
