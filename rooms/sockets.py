"""What all our sockets have in common: how one opens, how its frames are limited, who writes, and how it ends."""

import asyncio
import contextlib
import logging
import time
from collections import deque
from typing import Any

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.conf import settings
from django.http import parse_cookie
from django.utils.translation import gettext as _

from players import pace
from players.address import client_address, limit_key
from rooms import clock, explain, frames, presence
from rooms.bucket import Bucket

log = logging.getLogger(__name__)
OUTBOX_FRAMES = 20
# This many frames above the limit at once are refused, and as many a second as are allowed; then the socket is closed.
EXCESS_FRAMES = 200


class Refuse(Exception):
    """The socket is closed with this code after `bye`."""

    def __init__(self, close_code: int, text: str = "") -> None:
        super().__init__(close_code)
        self.close_code, self.text = close_code, text


class Socket(AsyncConsumer):
    """One open page. It is accepted first and let in (`enter`) or sent away after; a task of its own writes, so that a
    slow reader holds up nobody, and another one listens for silence. What it holds in this process is given back once
    (`leave`), when it ends or its reader is lost.

    A kind of socket says how it is entered, what its frames do (`take`), what it tells beside the answers to them
    (`tell`), and what it gives back."""

    # Nothing comes to a single socket over the channel layer, so all of them open while Valkey is away.
    channel_layer_alias = "none"

    def __init__(self) -> None:
        self.closing: tuple[int, str] | None = None
        self.outbox: deque[str] = deque()
        self.wake = asyncio.Event()
        self.pings = Bucket(2, 10)
        self.patience = Bucket(settings.FRAMES_A_SECOND, EXCESS_FRAMES)
        self.heard_at = time.monotonic()
        self.tasks: list[asyncio.Task[None]] = []

    # -- what a kind of socket says ------------------------------------------------------------------------------

    async def enter(self) -> None:
        """Let the page in. Raises Refuse; after anything else the page is told to come again."""
        raise NotImplementedError

    def take(self, frame: frames.Frame, arrived: float) -> None:
        """A frame came at this time of the monotonic clock."""
        raise NotImplementedError

    async def tell(self) -> None:
        """Send all that waits."""
        while self.outbox:
            await self.send_text(self.outbox.popleft())

    def leave(self) -> None:
        """Give back what `enter` took; again does nothing."""
        raise NotImplementedError

    def bucket(self, _text: str) -> Bucket:
        """What limits this frame: pings are all that most pages say."""
        return self.pings

    def heartbeat_seconds(self) -> float:
        """The page pings so often."""
        return settings.LOBBY_HEARTBEAT_SECONDS

    # -- opening -------------------------------------------------------------------------------------------------

    async def websocket_connect(self, _message: dict[str, Any]) -> None:
        await self.send({"type": "websocket.accept"})
        self.tasks += [asyncio.create_task(work) for work in (self._watch(), self._write(), self._enter())]

    async def _enter(self) -> None:
        try:
            await self.enter()
        except Refuse as refusal:
            self.end(refusal.close_code, refusal.text)
        except Exception as error:  # noqa: BLE001  whatever it is, the page must be told to come again
            log.warning("handshake of %s failed: %s", type(self).__name__, type(error).__name__)
            self.end(4000)

    @property
    def cookies(self) -> dict[str, str]:
        """As Django reads them for pages: one strange cookie of another site on this host must not hide ours."""
        return parse_cookie(self.header(b"cookie"))

    @property
    def address(self) -> str:
        """Whose tries are counted together when nobody is signed in."""
        return limit_key(client_address(self.scope))

    def header(self, name: bytes) -> str:
        value: bytes = dict(self.scope["headers"]).get(name, b"")
        return value.decode("latin-1")

    # -- upwards -------------------------------------------------------------------------------------------------

    async def websocket_receive(self, message: dict[str, Any]) -> None:
        arrived = self.heard_at = time.monotonic()
        if self.closing is not None:
            return
        text = message.get("text")
        if text is None or len(text) > frames.MAX_FRAME_BYTES or len(text.encode()) > frames.MAX_FRAME_BYTES:
            self.end(4400)
            return
        if not self.bucket(text).take():
            self.refuse("rate", _("Too many messages. Wait a moment."))
            if not self.patience.take():
                self.end(4029)
            return
        try:
            frame = frames.parse(text)
        except frames.BadFrame:
            self.refuse("malformed", _("That message was not understood."))
            return
        self.take(frame, arrived)

    # -- downwards -----------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Send this after what waits already."""
        self.outbox.append(text)
        self.wake.set()

    def refuse(self, code: str, text: str) -> None:
        """Answer a frame that is none. Whoever floods us and reads nothing piles up nothing."""
        if len(self.outbox) < OUTBOX_FRAMES:
            self.say(frames.refused(None, code, text))

    def end(self, code: int, text: str = "") -> None:
        """Say good-bye and close with the code, after what is already waiting."""
        if self.closing is None:
            self.closing = (code, text or explain.close(code))
            self.wake.set()

    async def _write(self) -> None:
        try:
            while True:
                await self.wake.wait()
                self.wake.clear()
                await self.tell()
                if self.closing is not None:
                    break
            code, text = self.closing
            await self.send_text(frames.bye(code, text))
            await self.send({"type": "websocket.close", "code": code})
        except TimeoutError:
            await self._let_go(4008)
        except Exception as error:  # noqa: BLE001  the socket went away under the write, or there was nothing to tell
            log.warning("%s not served: %s", type(self).__name__, type(error).__name__)
            await self._let_go(4000)
        finally:
            self._part()

    async def _let_go(self, code: int) -> None:
        """The reader is lost to us at once; the close frame waits behind what it has not read, perhaps for ever."""
        self.closing = self.closing or (code, "")
        self._part()
        with contextlib.suppress(Exception):
            await self.send({"type": "websocket.close", "code": code})

    async def send_text(self, text: str) -> None:
        # The server holds back a send while its buffer is above 64 KiB: a reader that lets it wait so long is lost.
        async with asyncio.timeout(settings.SLOW_READER_SECONDS):
            await self.send({"type": "websocket.send", "text": text})

    async def _watch(self) -> None:
        opened, beat = time.monotonic(), self.heartbeat_seconds()
        while True:
            slept_from = time.monotonic()
            await asyncio.sleep(beat)
            if time.monotonic() - slept_from > beat + 1:
                self.heard_at = time.monotonic()  # this process stood still: pings may wait unread
            if time.monotonic() - self.heard_at > beat * presence.LEASE_HEARTBEATS:
                self.end(4002)
            if time.monotonic() - opened > settings.SOCKET_LIFETIME_SECONDS:
                self.end(4000)

    # -- the end -------------------------------------------------------------------------------------------------

    def _part(self) -> None:
        for task in self.tasks:
            if task is not asyncio.current_task():
                task.cancel()
        self.leave()

    async def websocket_disconnect(self, _message: dict[str, Any]) -> None:
        self.closing = self.closing or (1000, "")
        self._part()
        raise StopConsumer


class NoSuchSocket(AsyncConsumer):
    """Every address that is no socket's: refused before anything is accepted."""

    channel_layer_alias = "none"

    async def websocket_connect(self, _message: dict[str, Any]) -> None:
        await self.send({"type": "websocket.close"})

    async def websocket_disconnect(self, _message: dict[str, Any]) -> None:
        raise StopConsumer


def handshake_allowed(who: str) -> bool:
    """HANDSHAKES_A_MINUTE: of a player (`player:17`) wherever that is, of an address (`limit_key`) for strangers,
    visitors and lobbies, so that none of these use up what a return to a running match needs. Without the cache
    everybody may."""
    return bool(pace.count(f"handshakes:{who}:{clock.now():%H%M}", 120) <= settings.HANDSHAKES_A_MINUTE)
