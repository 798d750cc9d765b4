"""The socket of a table: who may open it, what it may say, and in which order it is answered."""

import asyncio
import contextlib
import logging
import time
import uuid
from collections import deque
from dataclasses import replace
from typing import Any

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.conf import settings
from django.core.cache import cache
from django.db import Error as DatabaseError
from django.http import parse_cookie
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from games.engine.errors import EngineError
from games.errors import GameError
from players.address import client_address, limit_key
from rooms import clock, closing, explain, frames, hosting, hub, playing, presence, seating, selectors, threads
from rooms.errors import Late, NoSuchRoom, RoomError, RoomFull, Watching
from rooms.models import Room
from rooms.snapshots import Snapshot

log = logging.getLogger(__name__)
INBOX_FRAMES = 64
OUTBOX_FRAMES = 20
# This many frames above the limit at once are refused, and as many a second as are allowed; then the socket is closed.
EXCESS_FRAMES = 200


class Bucket:
    """A token bucket: `rate` a second, at most `burst` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self.tokens, self.at = burst, time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self.tokens = min(self.burst, self.tokens + (now - self.at) * self.rate)
        self.at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class TableConsumer(AsyncConsumer):
    """One socket. Frames are stamped on arrival and answered one after another by a task of their own, so that a
    slow answer delays neither the next stamp nor the updates; one sender writes, newest update first."""

    # Nothing comes to a single socket over the channel layer, so a table opens while Valkey is away.
    channel_layer_alias = "none"

    async def websocket_connect(self, _message: dict[str, Any]) -> None:
        self.channel = uuid.uuid4().hex
        self.alive = True
        self.closing: tuple[int, str] | None = None
        self.member: presence.Membership | None = None
        self.player_id = 0
        self.identity: selectors.Identity | None = None
        self.shown_event: int | None = None
        self.shown_version = 0
        self.update: Snapshot | None = None
        self.outbox: deque[str] = deque()
        self.wake = asyncio.Event()
        self.inbox: asyncio.Queue[tuple[float, frames.Frame]] = asyncio.Queue(INBOX_FRAMES)
        self.frames = Bucket(settings.FRAMES_A_SECOND, settings.FRAMES_BURST)
        self.pings = Bucket(2, 10)
        self.patience = Bucket(settings.FRAMES_A_SECOND, EXCESS_FRAMES)
        self.heard_at = time.monotonic()
        self.tasks: list[asyncio.Task[None]] = []
        self.admitting: asyncio.Task[presence.Membership] | None = None
        await self.send({"type": "websocket.accept"})
        self.tasks.append(asyncio.create_task(self._watch()))
        self.tasks.append(asyncio.create_task(self._write()))
        self.tasks.append(asyncio.create_task(self._enter()))

    def admit(self, session_key: str, cookies: dict[str, str], address: str) -> presence.Membership:
        """Who this is and whether it may come in; runs on the pool. Raises Refuse."""
        return _admit(
            session_key,
            self.scope["url_route"]["kwargs"]["code"],
            cookies.get(settings.SEAT_COOKIE_NAME, ""),
            address,
            self.channel,
        )

    async def _enter(self) -> None:
        # As Django reads them for pages: one strange cookie of another site on this host must not hide ours.
        cookies = parse_cookie(dict(self.scope["headers"]).get(b"cookie", b"").decode("latin-1"))
        address = limit_key(client_address(self.scope))
        self.session_key = cookies.get(settings.SESSION_COOKIE_NAME, "")
        try:
            self.admitting = asyncio.create_task(threads.run(self.admit, self.session_key, cookies, address))
            member = await asyncio.shield(self.admitting)
        except Refuse as refusal:
            self.end(refusal.close_code, refusal.text)
            return
        except Exception as error:  # noqa: BLE001  whatever it is, the page must be told to come again
            log.warning("handshake failed: %s", type(error).__name__)
            self.end(4000)
            return
        self.member, self.player_id = member, member.player_id
        if member.player_id:
            self.identity = selectors.Identity(member.player_id, self.session_key, member.stamp)
        here = hub.get()
        if here.draining:
            self.end(4000)
            return
        others = [
            one
            for table in here.tables.values()
            for one in table.listeners
            if member.player_id and getattr(one, "player_id", 0) == member.player_id
        ]
        if len(others) >= settings.SOCKETS_AN_IDENTITY:
            self.end(4029)
            return
        table = here.join(member.room_id, self)
        if table.snapshot is not None and table.snapshot.version >= table.wanted:
            self.show(table.snapshot)
        here.notice(member.room_id, max(table.wanted, 1))
        self.tasks.append(asyncio.create_task(self._answer()))

    async def rejoin(self) -> None:
        """The lease was lost while the socket lived (the database was away): take it again."""
        if self.member is not None and self.closing is None:
            with contextlib.suppress(DatabaseError, RoomError):
                await threads.run(_be_present, self.member, self.channel)

    # -- upwards -------------------------------------------------------------------------------------------------

    async def websocket_receive(self, message: dict[str, Any]) -> None:
        arrived = self.heard_at = time.monotonic()
        if self.closing is not None:
            return
        text = message.get("text")
        if text is None or len(text) > frames.MAX_FRAME_BYTES or len(text.encode()) > frames.MAX_FRAME_BYTES:
            self.end(4400)
            return
        is_ping = text.startswith('{"t":"ping"')
        if not (self.pings if is_ping else self.frames).take():
            self._refuse("rate", _("Too many messages. Wait a moment."))
            if not self.patience.take():
                self.end(4029)
            return
        try:
            frame = frames.parse(text)
        except frames.BadFrame:
            self._refuse("malformed", _("That message was not understood."))
            return
        if isinstance(frame, frames.Ping):
            self.alive = True
            self._say(frames.pong(self._known_version()))
            return
        if isinstance(frame, frames.Sync):
            self.shown_version = min(self.shown_version, frame.v)
            if self.member is not None:
                here = hub.get()
                table = here.tables.get(self.member.room_id)
                if table is not None and table.snapshot is not None:
                    if frame.v < table.snapshot.version:
                        self.shown_version, self.shown_event = 0, None
                        self.show(table.snapshot)
                    here.notice(self.member.room_id, table.version)
            return
        try:
            self.inbox.put_nowait((arrived, frame))
        except asyncio.QueueFull:
            self._say(frames.refused(getattr(frame, "id", None), "rate", _("Too many messages. Wait a moment.")))

    def _known_version(self) -> int:
        table = hub.get().tables.get(self.member.room_id) if self.member else None
        return table.version if table else self.shown_version

    async def _answer(self) -> None:
        assert self.member is not None
        while True:
            arrived, frame = await self.inbox.get()
            action_id: str | None = getattr(frame, "id", None)
            code, text = "", ""
            try:
                await self._do(frame, arrived)
            except (RoomError, EngineError, GameError) as error:
                code, text = error.code, _sentence(error)
                if isinstance(error, Late):
                    hub.get().ring_soon(self.member.room_id)
            except DatabaseError as error:
                log.warning("action not stored: %s", type(error).__name__)
                code, text = "try_again", _("That did not get through. It will be sent again.")
            except Exception:
                log.exception("action failed in room %s", self.member.room_id)
                code, text = "try_again", _("That did not get through. It will be sent again.")
            self._say(frames.refused(action_id, code, text) if code else frames.ack(action_id or ""))

    async def _do(self, frame: frames.Frame, arrived: float) -> None:
        member = self.member
        assert member is not None
        if member.seat is None:
            raise Watching
        if isinstance(frame, frames.Act):
            await threads.run(
                playing.act,
                member.room_id,
                member.sitting_id or 0,
                member.seat,
                frame.id,
                frame.step,
                frame.do,
                clock.at_monotonic(arrived),
            )
        elif isinstance(frame, frames.TakeControl):
            await threads.run(playing.take_control, member.room_id, member.sitting_id or 0)
        elif isinstance(frame, frames.Leave):
            await threads.run(closing.leave, member.room_id, member.player_id)
        elif isinstance(frame, frames.Move):
            await threads.run(seating.move, member.room_id, member.sitting_id or 0, frame.seat)
        elif isinstance(frame, frames.Talk):
            hub.get().talk(member.room_id, member.seat, frame.say, member.player_id)
        elif not isinstance(frame, frames.Sync | frames.Ping):
            await threads.run(_host, frame, member)

    # -- downwards -----------------------------------------------------------------------------------------------

    def show(self, snapshot: Snapshot) -> None:
        """The newest snapshot waits to be sent; an older one that was not yet sent is dropped (views are complete).
        It also shows whether this socket still belongs here."""
        out = _out(snapshot, self.member) if self.member is not None else None
        if out is not None:
            self.end(*out)
        elif snapshot.version > self.shown_version:
            # People change seats while a room waits: whose eyes these are is looked up anew each time.
            if self.member is not None and self.member.seat is not None:
                seat = snapshot.places.get(self.member.player_id, self.member.seat)
                self.member = replace(self.member, seat=seat)
            self.update = snapshot
            self.wake.set()

    def hear(self, seat: int, say: str) -> None:
        """Somebody at the table said something. Whoever is behind with reading misses it."""
        if len(self.outbox) < OUTBOX_FRAMES:
            self._say(frames.talk(seat, say))

    def end(self, code: int, text: str = "") -> None:
        """Say good-bye and close with the code, after what is already waiting."""
        if self.closing is None:
            self.closing = (code, text or explain.close(code))
            self.wake.set()

    def _refuse(self, code: str, text: str) -> None:
        """Answer a frame that is none. Whoever floods us and reads nothing piles up nothing."""
        if len(self.outbox) < OUTBOX_FRAMES:
            self._say(frames.refused(None, code, text))

    def _say(self, text: str) -> None:
        self.outbox.append(text)
        self.wake.set()

    async def _write(self) -> None:
        try:
            while True:
                await self.wake.wait()
                self.wake.clear()
                while self.update is not None or self.outbox:
                    snapshot, self.update = self.update, None
                    if snapshot is not None and self.member is not None and self.closing is None:
                        text = snapshot.update(self.member.seat, self.shown_event)
                        self.shown_version, self.shown_event = snapshot.version, snapshot.last_event
                        await self._send_text(text)
                    while self.outbox:
                        await self._send_text(self.outbox.popleft())
                if self.closing is not None:
                    code, text = self.closing
                    await self._send_text(frames.bye(code, text))
                    await self.send({"type": "websocket.close", "code": code})
                    return
        except TimeoutError:
            # The reader is lost to us at once; the close frame waits behind what it has not read, perhaps for ever.
            self.closing = self.closing or (4008, "")
            self._part()
            with contextlib.suppress(Exception):
                await self.send({"type": "websocket.close", "code": 4008})
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  the socket went away under the write, or the update failed
            log.warning("socket not served: %s", type(error).__name__)
            with contextlib.suppress(Exception):
                await self.send({"type": "websocket.close", "code": 4000})

    async def _send_text(self, text: str) -> None:
        # The server holds back a send while its buffer is above 64 KiB: a reader that lets it wait so long is lost.
        async with asyncio.timeout(settings.SLOW_READER_SECONDS):
            await self.send({"type": "websocket.send", "text": text})

    async def _watch(self) -> None:
        opened = time.monotonic()
        while True:
            slept_from = time.monotonic()
            await asyncio.sleep(settings.HEARTBEAT_SECONDS)
            if time.monotonic() - slept_from > settings.HEARTBEAT_SECONDS + 1:
                self.heard_at = time.monotonic()  # this process stood still: pings may wait unread
            silent = time.monotonic() - self.heard_at
            if silent > settings.HEARTBEAT_SECONDS * presence.LEASE_HEARTBEATS:
                self.end(4002)
            if time.monotonic() - opened > settings.SOCKET_LIFETIME_SECONDS:
                self.end(4000)

    def _part(self) -> None:
        """Give back what this socket holds in this process, and its presence; once."""
        for task in self.tasks:
            if task is not asyncio.current_task():
                task.cancel()
        here = hub.get()
        if self.member is not None:
            here.leave(self.member.room_id, self)
        if self.admitting is not None and not here.draining:
            here.spawn(_gone(self.admitting, self.channel))
        self.admitting = None

    async def websocket_disconnect(self, _message: dict[str, Any]) -> None:
        self.closing = self.closing or (1000, "")
        for task in self.tasks:
            task.cancel()
        self._part()
        raise StopConsumer


class OnlookerConsumer(TableConsumer):
    """A socket that only looks on: a public room by its number, a private one by its watchers' key."""

    def admit(self, session_key: str, _cookies: dict[str, str], address: str) -> presence.Membership:
        if not handshake_allowed(f"watch:{address}"):
            raise Refuse(4029)
        kwargs = self.scope["url_route"]["kwargs"]
        player = presence.player_in_session(session_key)
        if player is None:
            self.session_key = ""  # nobody in particular: there is no session to end
        try:
            member = presence.onlooker(player, room_id=kwargs.get("room_id"), watch_key=kwargs.get("key"))
            presence.watch(member, self.channel)
        except NoSuchRoom:
            raise Refuse(4404) from None
        except RoomFull:
            raise Refuse(4029, _("Too many people are watching this table. Come back later.")) from None
        return member


class NoSuchSocket(AsyncConsumer):
    """Every address that is no table's: refused before anything is accepted."""

    channel_layer_alias = "none"

    async def websocket_connect(self, _message: dict[str, Any]) -> None:
        await self.send({"type": "websocket.close"})

    async def websocket_disconnect(self, _message: dict[str, Any]) -> None:
        raise StopConsumer


class Refuse(Exception):
    """The socket is closed with this code after `bye`."""

    def __init__(self, close_code: int, text: str = "") -> None:
        super().__init__(close_code)
        self.close_code, self.text = close_code, text


def _admit(session_key: str, code: str, token: str, address: str, channel: str) -> presence.Membership:
    player = presence.player_in_session(session_key)
    if not handshake_allowed(f"player:{player.pk}" if player is not None else address):
        raise Refuse(4029)
    if player is None:
        raise Refuse(4401)
    try:
        member = presence.membership(player, code, token)
    except NoSuchRoom:
        raise Refuse(4404) from None
    presence.connect(member, channel)
    return member


def handshake_allowed(who: str) -> bool:
    """HANDSHAKES_A_MINUTE: of a player (`player:17`) wherever that is, of an address (`limit_key`) for strangers,
    visitors and lobbies, so that none of these use up what a return to a running match needs. Without the cache
    everybody may."""
    key = f"handshakes:{who}:{clock.now():%H%M}"
    try:
        cache.add(key, 0, 120)
        return bool(cache.incr(key) <= settings.HANDSHAKES_A_MINUTE)
    except Exception:  # noqa: BLE001  the cache's errors have no common base
        return True


async def _gone(admitting: "asyncio.Task[presence.Membership]", channel: str) -> None:
    """End the presence of a socket, also of one that went away while it was still being let in."""
    try:
        member = await admitting
        if member.sitting_id is not None:
            await threads.run(presence.disconnect, member.room_id, [channel])
        elif member.seat is None:
            await threads.run(presence.unwatch, channel)
    except Refuse:
        return
    except Exception as error:  # noqa: BLE001  the lease runs out by itself
        log.warning("disconnect not stored: %s", type(error).__name__)


def _be_present(member: presence.Membership, channel: str) -> None:
    if member.seat is None:
        presence.watch(member, channel)
    else:
        presence.connect(member, channel)


def _out(snapshot: Snapshot, member: presence.Membership) -> tuple[int, str] | None:
    """Why a socket of this member does not belong to the room any more: a close code and a sentence; else None."""
    if member.seat is None:
        if presence.may_look(snapshot.visibility, snapshot.status, snapshot.watchable):
            return None
        return 4404, _("This table can't be watched any more.")
    if member.sitting_id is None or snapshot.status in {Room.Status.FINISHED, Room.Status.DESTROYED}:
        return None
    holder = snapshot.holders.get(member.sitting_id)
    if holder is None:
        return 4404, _("You don't sit at this table any more.")
    return (4409, "") if holder != member.holder else None


def _host(frame: frames.Hosting, member: presence.Membership) -> None:
    """The host's clicks."""
    room, by = member.room_id, member.player_id
    match frame:
        case frames.Bot(seat=seat, level=level):
            hosting.put_bot(room, by, seat, level)
        case frames.Clear(seat=seat):
            hosting.clear_bot(room, by, seat)
        case frames.Fill(level=level):
            hosting.fill_bots(room, by, level)
        case frames.Remove(sitting=sitting):
            hosting.remove(room, by, sitting)
        case frames.Start():
            hosting.start(room, by)
        case frames.Delete():
            hosting.delete(room, by)
        case frames.Watching(allowed=allowed):
            hosting.allow_watching(room, by, allowed)


def _sentence(error: RoomError | EngineError | GameError) -> str:
    if isinstance(error, RoomError):
        text: str | Promise = error.text
        return str(text)
    return explain.refusal(error.code)
