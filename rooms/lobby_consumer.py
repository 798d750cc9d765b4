"""The socket of a lobby page: needs no identity, says pings only, is brought from what it shows to what there is."""

import asyncio
import contextlib
import logging
import time
from typing import Any
from urllib.parse import parse_qs

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.conf import settings
from django.http import HttpRequest, parse_cookie
from django.utils import translation
from django.utils.translation import gettext as _

from players.address import client_address, limit_key
from rooms import explain, frames, hub, lobby, threads
from rooms.consumers import EXCESS_FRAMES, Bucket, handshake_allowed

log = logging.getLogger(__name__)
SILENT_HEARTBEATS = 3


class LobbyConsumer(AsyncConsumer):
    """One open lobby page."""

    # Nothing comes over the channel layer here, so a lobby opens while Valkey is away.
    channel_layer_alias = "none"

    async def websocket_connect(self, _message: dict[str, Any]) -> None:
        self.shown: int | None = None
        self.wanted = False
        self.pongs = 0
        self.refusal = ""
        self.closing: int | None = None
        self.wake = asyncio.Event()
        self.pings = Bucket(2, 10)
        self.patience = Bucket(settings.FRAMES_A_SECOND, EXCESS_FRAMES)
        self.heard_at = time.monotonic()
        headers = dict(self.scope["headers"])
        self.language = _language(headers)
        await self.send({"type": "websocket.accept"})
        self.tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._watch())]
        self.tasks.append(asyncio.create_task(self._enter()))

    async def _enter(self) -> None:
        try:
            address = limit_key(client_address(self.scope))
            allowed = await threads.run(handshake_allowed, f"lobby:{address}")
        except Exception as error:  # noqa: BLE001  whatever it is, the page must be told to come again
            log.warning("lobby handshake failed: %s", type(error).__name__)
            self.end(4000)
            return
        if not allowed:
            self.end(4029)
            return
        if hub.get().draining:
            self.end(4000)
            return
        feed = lobby.get()
        state = parse_qs(self.scope["query_string"].decode("latin-1")).get("state", [""])[0]
        self.shown = feed.number_of(state)
        feed.join(self)
        if feed.number > feed.oldest:  # else the first look wakes us
            self.wake_up()

    # -- upwards -------------------------------------------------------------------------------------------------

    async def websocket_receive(self, message: dict[str, Any]) -> None:
        self.heard_at = time.monotonic()
        if self.closing is not None:
            return
        text = message.get("text")
        if text is None or len(text) > frames.MAX_FRAME_BYTES:
            self.end(4400)
            return
        if not self.pings.take():
            self._refuse(frames.refused(None, "rate", _("Too many messages. Wait a moment.")))
            if not self.patience.take():
                self.end(4029)
            return
        try:
            frame = frames.parse(text)
        except frames.BadFrame:
            self._refuse(frames.refused(None, "malformed", _("That message was not understood.")))
            return
        if isinstance(frame, frames.Ping):
            self.pongs = 1
            self.wake.set()
        elif isinstance(frame, frames.Sync):  # the page found a gap
            self.shown = None
            self.wake_up()
        else:
            self._refuse(frames.refused(None, "watching", _("That message was not understood.")))

    # -- downwards -----------------------------------------------------------------------------------------------

    def wake_up(self) -> None:
        """There is something new."""
        self.wanted = True
        self.wake.set()

    def end(self, code: int) -> None:
        """Say good-bye and close with the code."""
        if self.closing is None:
            self.closing = code
            self.wake.set()

    def _refuse(self, text: str) -> None:
        self.refusal = text  # only the newest: a page that talks nonsense piles up nothing
        self.wake.set()

    async def _write(self) -> None:
        feed = lobby.get()
        try:
            while True:
                await self.wake.wait()
                self.wake.clear()
                if self.wanted and self.closing is None:
                    self.wanted = False
                    self.shown, text = await feed.text(self.shown, self.language)
                    await self._send_text(text)
                if self.pongs:
                    self.pongs = 0
                    await self._send_text(frames.pong(self.shown or 0))
                if self.refusal:
                    text, self.refusal = self.refusal, ""
                    await self._send_text(text)
                if self.closing is not None:
                    await self._send_text(frames.bye(self.closing, explain.close(self.closing)))
                    await self.send({"type": "websocket.close", "code": self.closing})
                    return
        except TimeoutError:
            await self._close(4008)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  the socket went away under the write, or the rows were not read
            log.warning("lobby not served: %s", type(error).__name__)
            await self._close(4000)
        finally:
            feed.leave(self)  # a frozen page may keep its end of the line for long

    async def _close(self, code: int) -> None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(1):
                await self.send({"type": "websocket.close", "code": code})

    async def _send_text(self, text: str) -> None:
        # The server holds back a send while its buffer is above 64 KiB: a reader that lets it wait so long is lost.
        async with asyncio.timeout(settings.SLOW_READER_SECONDS):
            await self.send({"type": "websocket.send", "text": text})

    async def _watch(self) -> None:
        opened, beat = time.monotonic(), settings.LOBBY_HEARTBEAT_SECONDS
        while True:
            slept_from = time.monotonic()
            await asyncio.sleep(beat)
            if time.monotonic() - slept_from > beat + 1:
                self.heard_at = time.monotonic()  # this process stood still: pings may wait unread
            if time.monotonic() - self.heard_at > beat * SILENT_HEARTBEATS:
                self.end(4002)
            if time.monotonic() - opened > settings.SOCKET_LIFETIME_SECONDS:
                self.end(4000)

    async def websocket_disconnect(self, _message: dict[str, Any]) -> None:
        self.closing = self.closing or 1000
        for task in self.tasks:
            task.cancel()
        lobby.get().leave(self)
        raise StopConsumer


def _language(headers: dict[bytes, bytes]) -> str:
    """The language that pages speak to this visitor."""
    request = HttpRequest()
    request.COOKIES = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", b"").decode("latin-1")
    return translation.get_language_from_request(request)
