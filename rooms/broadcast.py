"""Telling the world, after the commit, that a room has a new version: our sockets directly, the others by a notice."""

import logging
from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from games import history
from rooms import hub, snapshots

if TYPE_CHECKING:
    from rooms.table import Table

log = logging.getLogger(__name__)
GROUP = "rooms"


def announce(table: "Table") -> None:
    """Once the transaction is durable: keep what was read, tell local sockets, send one notice. Never fails it."""
    snapshot = snapshots.of_table(table)

    def tell() -> None:
        if table.step is not None:
            history.remember(table.step.loaded)
        snapshots.put(snapshot)
        if hub.notice_from_thread(snapshot.room_id, snapshot.version):
            return  # this process has a loop: it also sends the notice
        try:
            async_to_sync(get_channel_layer().group_send)(GROUP, notice(snapshot.room_id, snapshot.version))
        except Exception:  # noqa: BLE001  whatever ails the layer, the action is done; pings will tell
            log.warning("notice not sent", extra={"room": snapshot.room_id})

    transaction.on_commit(tell, robust=True)


def notice(room_id: int, version: int) -> dict[str, object]:
    """All that ever crosses the channel layer: which room is at which version."""
    return {"type": "room.changed", "room": room_id, "v": version, "from": hub.PROCESS}
