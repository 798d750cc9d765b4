"""One hub a process: it hears which rooms changed, rings them when they are due, and feeds the sockets at hand."""

import asyncio
import contextlib
import logging
import uuid
from typing import Any, Protocol

from channels.layers import get_channel_layer
from django.conf import settings
from django.utils.translation import gettext as _

from rooms import clock, threads
from rooms.bucket import Bucket
from rooms.errors import Closed, TooMany
from rooms.rhythm import again_and_again

log = logging.getLogger(__name__)
PROCESS = uuid.uuid4().hex
# An alarm is set at most this far ahead, so that a wrong clock or a lost notice mends itself.
LONGEST_ALARM_SECONDS = 60.0

_hub: "Hub | None" = None


class Listener(Protocol):
    """A socket at a table."""

    channel: str
    alive: bool  # pinged since the last lease renewal

    def show(self, snapshot: Any) -> None: ...

    def hear(self, seat: int, say: str) -> None: ...

    def end(self, code: int, text: str = "") -> None: ...


def talker() -> Bucket:
    """How often one person may speak: TALK_BURST at once, then once in TALK_SECONDS."""
    return Bucket(1 / settings.TALK_SECONDS if settings.TALK_SECONDS else 0, settings.TALK_BURST)


class LocalTable:
    """One room that this process has sockets at."""

    def __init__(self, room_id: int) -> None:
        self.room_id = room_id
        self.listeners: set[Listener] = set()
        self.wanted = 0
        self.snapshot: Any = None
        self.refreshing: asyncio.Task[None] | None = None
        self.alarm: asyncio.TimerHandle | None = None
        self.talkers: dict[int, Bucket] = {}

    @property
    def version(self) -> int:
        return max(self.wanted, self.snapshot.version if self.snapshot else 0)


class Hub:
    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.tables: dict[int, LocalTable] = {}
        self.tasks: set[asyncio.Task[Any]] = set()
        self.draining = False
        self.spawn(self._listen())
        self.spawn(again_and_again(self._each_second, 1.0, "pulse missed"))

    def spawn(self, work: Any) -> "asyncio.Task[Any]":
        task: asyncio.Task[Any] = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    # -- sockets -------------------------------------------------------------------------------------------------

    def join(self, room_id: int, listener: Listener) -> LocalTable:
        table = self.tables.setdefault(room_id, LocalTable(room_id))
        table.listeners.add(listener)
        return table

    def leave(self, room_id: int, listener: Listener) -> None:
        table = self.tables.get(room_id)
        if table is None:
            return
        table.listeners.discard(listener)
        if not table.listeners:
            if table.alarm:
                table.alarm.cancel()
            del self.tables[room_id]

    def talk(self, room_id: int, seat: int, say: str, who: int) -> None:
        """Pass on what somebody at a table says, here and in the other processes; kept nowhere.
        `who` is measured, in whichever seat. Raises TooMany, and Closed for those who may no longer speak."""
        table = self.tables.get(room_id)
        if table is not None and table.snapshot is not None and not table.snapshot.may_speak(who):
            raise Closed(_("You are no longer at this table."))
        if table is None or not table.talkers.setdefault(who, talker()).take():
            raise TooMany(_("Let the others say something too."))
        self.heard(room_id, seat, say)
        self.spawn(self._send({"type": "room.talk", "room": room_id, "seat": seat, "say": say, "from": PROCESS}))

    def heard(self, room_id: int, seat: int, say: str) -> None:
        table = self.tables.get(room_id)
        for listener in list(table.listeners) if table is not None else []:
            listener.hear(seat, say)

    # -- versions ------------------------------------------------------------------------------------------------

    def notice(self, room_id: int, version: int) -> None:
        """Room `room_id` is at `version`: fetch it once, whoever asks, and show it to all."""
        table = self.tables.get(room_id)
        if table is None:
            return
        table.wanted = max(table.wanted, version)
        shown = table.snapshot.version if table.snapshot else 0
        if table.wanted > shown and table.refreshing is None:
            table.refreshing = self.spawn(self._refresh(table))

    async def _refresh(self, table: LocalTable) -> None:
        from rooms import snapshots

        try:
            while table.snapshot is None or table.snapshot.version < table.wanted:
                snapshot = await threads.run(snapshots.read, table.room_id, table.wanted)
                if snapshot is None:
                    for listener in list(table.listeners):
                        listener.end(4404)
                    return
                table.snapshot = snapshot
                table.wanted = max(table.wanted, snapshot.version)
                for listener in list(table.listeners):
                    listener.show(snapshot)
        except Exception as error:  # noqa: BLE001  the next second asks again
            table.wanted = table.snapshot.version if table.snapshot else 0
            log.warning("room %s not read: %s", table.room_id, type(error).__name__)
        finally:
            table.refreshing = None
            self.set_alarm(table)

    # -- timers --------------------------------------------------------------------------------------------------

    def set_alarm(self, table: LocalTable, wait_seconds: float | None = None) -> None:
        if table.alarm:
            table.alarm.cancel()
            table.alarm = None
        due = table.snapshot.due_at if table.snapshot else None
        if due is None or not table.listeners or self.draining:
            return
        wait = max((due - clock.now()).total_seconds(), 0.0) if wait_seconds is None else wait_seconds
        table.alarm = self.loop.call_later(min(wait, LONGEST_ALARM_SECONDS), self._alarm, table)

    def _alarm(self, table: LocalTable) -> None:
        self.spawn(self._ring(table))

    async def _ring(self, table: LocalTable) -> None:
        from rooms import playing

        before = table.version
        try:
            await threads.run(playing.ring, table.room_id)
        except Exception as error:  # noqa: BLE001  beat and the next alarm ring again
            log.warning("room %s not rung: %s", table.room_id, type(error).__name__)
        if table.version == before:  # somebody else holds it, or it was early: look again soon
            self.set_alarm(table, 0.25)

    def ring_soon(self, room_id: int) -> None:
        """Somebody was late: what is due there is due now."""
        table = self.tables.get(room_id)
        if table is not None:
            self._alarm(table)

    async def _each_second(self) -> None:
        from rooms import presence, selectors

        await threads.run(presence.pulse)
        for room_id, version in (await threads.run(selectors.versions, list(self.tables))).items():
            self.notice(room_id, version)
        await self._renew_leases()
        await self._check_identities()

    async def _renew_leases(self) -> None:
        from rooms import presence

        pinged = [one for table in self.tables.values() for one in table.listeners if one.alive]
        kept = await threads.run(presence.touch, [one.channel for one in pinged])
        for one in pinged:
            one.alive = False
            if one.channel not in kept:
                rejoin = getattr(one, "rejoin", None)
                if rejoin is not None:
                    self.spawn(rejoin())

    async def _check_identities(self) -> None:
        from rooms import closing, selectors

        # Visitors without an identity have none that could end.
        listeners = {
            one: identity
            for table in self.tables.values()
            for one in table.listeners
            if (identity := getattr(one, "identity", None)) is not None
        }
        ended, shut_out = await threads.run(selectors.ended_identities, set(listeners.values()))
        for one, identity in listeners.items():
            if identity in ended:
                one.end(4403, _("This account may not play now.") if identity.player_id in shut_out else "")
        for player_id in shut_out:
            self.spawn(threads.run(closing.shut_out, player_id))

    # -- the channel layer ---------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        from rooms.broadcast import GROUP

        while True:
            try:
                layer = get_channel_layer()
                channel = await layer.new_channel()
                await layer.group_add(GROUP, channel)
                while True:
                    message = await layer.receive(channel)
                    if message.get("from") == PROCESS:
                        continue
                    if message["type"] == "room.talk":
                        self.heard(message["room"], message["seat"], message["say"])
                    else:
                        self.notice(message["room"], message["v"])
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001  versions are polled each second as well
                log.warning("notices interrupted: %s", type(error).__name__)
                await asyncio.sleep(1)

    async def _send(self, message: dict[str, Any]) -> None:
        from rooms.broadcast import GROUP

        try:
            async with asyncio.timeout(2):
                await get_channel_layer().group_send(GROUP, message)
        except Exception as error:  # noqa: BLE001  pings and the second's look at the versions make up for it
            log.warning("notice not sent: %s", type(error).__name__)

    def changed_here(self, room_id: int, version: int) -> None:
        from rooms.broadcast import notice

        self.notice(room_id, version)
        self.spawn(self._send(notice(room_id, version)))

    # -- the end -------------------------------------------------------------------------------------------------

    async def drain(self) -> None:
        """The process is told to stop: clients go elsewhere, running work ends."""
        self.draining = True
        for table in list(self.tables.values()):
            if table.alarm:
                table.alarm.cancel()
            for listener in list(table.listeners):
                listener.end(4000)
        for task in list(self.tasks):
            task.cancel()
        with contextlib.suppress(Exception):
            await asyncio.sleep(0.1)


def get() -> Hub:
    """This process's hub, made on the running loop at the first call."""
    global _hub
    loop = asyncio.get_running_loop()
    if _hub is None or _hub.loop is not loop:
        _hub = Hub()
    return _hub


def notice_from_thread(room_id: int, version: int) -> bool:
    """Pass on a commit of this process; False where no hub runs (a worker, a command)."""
    if _hub is None or _hub.loop.is_closed():
        return False
    _hub.loop.call_soon_threadsafe(_hub.changed_here, room_id, version)
    return True


def draining() -> bool:
    return _hub is not None and _hub.draining
