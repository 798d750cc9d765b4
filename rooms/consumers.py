"""The socket of a table: who may open it, what it may say, and in which order it is answered."""

import asyncio
import contextlib
import logging
import uuid
from dataclasses import replace

from django.conf import settings
from django.db import Error as DatabaseError
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from games.engine.errors import EngineError
from games.errors import GameError
from rooms import clock, closing, explain, frames, hosting, hub, playing, presence, seating, selectors, threads
from rooms.bucket import Bucket
from rooms.errors import Late, NoSuchRoom, RoomError, RoomFull, Watching
from rooms.models import Room
from rooms.snapshots import Snapshot
from rooms.sockets import OUTBOX_FRAMES, Refuse, Socket, handshake_allowed

log = logging.getLogger(__name__)
INBOX_FRAMES = 64


class TableConsumer(Socket):
    """One socket. Frames are stamped on arrival and answered one after another by a task of their own, so that a
    slow answer delays neither the next stamp nor the updates; the newest update is sent first."""

    def __init__(self) -> None:
        super().__init__()
        self.channel = uuid.uuid4().hex
        self.alive = True
        self.member: presence.Membership | None = None
        self.player_id = 0
        self.identity: selectors.Identity | None = None
        self.session_key = ""
        self.shown_event: int | None = None
        self.shown_version = 0
        self.update: Snapshot | None = None
        self.inbox: asyncio.Queue[tuple[float, frames.Frame]] = asyncio.Queue(INBOX_FRAMES)
        self.frames = Bucket(settings.FRAMES_A_SECOND, settings.FRAMES_BURST)
        self.admitting: asyncio.Task[presence.Membership] | None = None

    def admit(self, session_key: str, cookies: dict[str, str], address: str) -> presence.Membership:
        """Who this is and whether it may come in; runs on the pool. Raises Refuse."""
        return _admit(
            session_key,
            self.scope["url_route"]["kwargs"]["code"],
            cookies.get(settings.SEAT_COOKIE_NAME, ""),
            address,
            self.channel,
        )

    async def enter(self) -> None:
        cookies = self.cookies
        self.session_key = cookies.get(settings.SESSION_COOKIE_NAME, "")
        self.admitting = asyncio.create_task(threads.run(self.admit, self.session_key, cookies, self.address))
        member = await asyncio.shield(self.admitting)
        self.member, self.player_id = member, member.player_id
        if member.player_id:
            self.identity = selectors.Identity(member.player_id, self.session_key, member.stamp)
        here = hub.get()
        if here.draining:
            raise Refuse(4000)
        others = [
            one
            for table in here.tables.values()
            for one in table.listeners
            if member.player_id and getattr(one, "player_id", 0) == member.player_id
        ]
        if len(others) >= settings.SOCKETS_AN_IDENTITY:
            raise Refuse(4029)
        table = here.join(member.room_id, self)
        if table.snapshot is not None and table.snapshot.version >= table.wanted:
            self.show(table.snapshot)
        here.notice(member.room_id, max(table.wanted, 1))
        self.tasks.append(asyncio.create_task(self._answer()))

    async def rejoin(self) -> None:
        """The lease was lost while the socket lived (the database was away): take it again."""
        if self.member is not None and self.closing is None:
            with contextlib.suppress(DatabaseError, RoomError):
                await threads.run(_be_present, self.member, self.channel, self.address)

    # -- upwards -------------------------------------------------------------------------------------------------

    def bucket(self, text: str) -> Bucket:
        return self.pings if text.startswith('{"t":"ping"') else self.frames

    def heartbeat_seconds(self) -> float:
        return settings.HEARTBEAT_SECONDS

    def take(self, frame: frames.Frame, arrived: float) -> None:
        if isinstance(frame, frames.Ping):
            self.alive = True
            self.say(frames.pong(self._known_version()))
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
            self.say(frames.refused(getattr(frame, "id", None), "rate", _("Too many messages. Wait a moment.")))

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
            self.say(frames.refused(action_id, code, text) if code else frames.ack(action_id or ""))

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
            self.say(frames.talk(seat, say))

    async def tell(self) -> None:
        while self.update is not None or self.outbox:
            snapshot, self.update = self.update, None
            if snapshot is not None and self.member is not None and self.closing is None:
                text = snapshot.update(self.member.seat, self.shown_event)
                self.shown_version, self.shown_event = snapshot.version, snapshot.last_event
                await self.send_text(text)
            await super().tell()

    def leave(self) -> None:
        here = hub.get()
        if self.member is not None:
            here.leave(self.member.room_id, self)
        if self.admitting is not None and not here.draining:
            here.spawn(_gone(self.admitting, self.channel))
        self.admitting = None


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
            presence.watch(member, self.channel, address)
        except NoSuchRoom:
            raise Refuse(4404) from None
        except RoomFull as full:
            raise Refuse(4029, str(full.text)) from None
        return member


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


def _be_present(member: presence.Membership, channel: str, address: str) -> None:
    if member.seat is None:
        presence.watch(member, channel, address)
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
