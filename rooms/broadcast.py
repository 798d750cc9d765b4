"""Telling the world, after the commit, that a room has a new version: our sockets directly, the others by a notice."""

import asyncio
import logging
import os
import threading
from typing import TYPE_CHECKING

from channels.layers import get_channel_layer
from django.db import transaction

from games import history
from rooms import hub, snapshots

if TYPE_CHECKING:
    from rooms.table import Table

log = logging.getLogger(__name__)
GROUP = "rooms"
# A notice that has not gone out by then is left: the second's look at the versions makes up for it.
NOTICE_SECONDS = 2.0

_lock = threading.Lock()
_loop: tuple[int, asyncio.AbstractEventLoop] | None = None


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
            _send(notice(snapshot.room_id, snapshot.version))
        except Exception:  # noqa: BLE001  whatever ails the layer, the action is done; pings will tell
            log.warning("notice not sent", extra={"room": snapshot.room_id})

    transaction.on_commit(tell, robust=True)


def notice(room_id: int, version: int) -> dict[str, object]:
    """All that ever crosses the channel layer: which room is at which version."""
    return {"type": "room.changed", "room": room_id, "v": version, "from": hub.PROCESS}


def _send(message: dict[str, object]) -> None:
    """Send it from a process that serves no sockets, and wait for that: a command may end right after.

    The loop, and with it the connection to Valkey, is kept: a new one for each commit costs more than the commit. A
    worker is a fork, so the loop is known by the process that it runs in."""
    global _loop
    with _lock:
        if _loop is None or _loop[0] != os.getpid():
            begun = asyncio.new_event_loop()
            threading.Thread(target=begun.run_forever, name="notices", daemon=True).start()
            _loop = (os.getpid(), begun)
        loop = _loop[1]
    sending = asyncio.run_coroutine_threadsafe(get_channel_layer().group_send(GROUP, message), loop)
    try:
        sending.result(NOTICE_SECONDS)
    except BaseException:
        sending.cancel()
        raise
