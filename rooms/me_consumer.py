"""The socket of a registered player's pages: tells the balance, says pings only, ends with the session."""

import asyncio
import contextlib
import logging
import time
from typing import Any

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.conf import settings
from django.http import parse_cookie
from django.utils.translation import gettext as _

from players import selectors as player_selectors
from rooms import explain, frames, hub, presence, purses, threads
from rooms.consumers import Bucket, Refuse, handshake_allowed
from rooms.lobby_consumer import SILENT_HEARTBEATS
from rooms.selectors import Identity
from wallet import selectors as wallet

log = logging.getLogger(__name__)


class MeConsumer(AsyncConsumer):
    """One open page of one player."""

    # Nothing comes over the channel layer here, so balances move while Valkey is away.
    channel_layer_alias = "none"

    async def websocket_connect(self, _message: dict[str, Any]) -> None:
        self.identity = Identity(0, "", "")
        self.coins: int | None = None  # to be told
        self.pongs = 0
        self.refusal = ""
        self.closing: int | None = None
        self.wake = asyncio.Event()
        self.pings = Bucket(2, 10)
        self.heard_at = time.monotonic()
        await self.send({"type": "websocket.accept"})
        self.tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._watch())]
        self.tasks.append(asyncio.create_task(self._enter()))

    async def _enter(self) -> None:
        # As Django reads them for pages: one strange cookie of another site on this host must not hide ours.
        cookies = parse_cookie(dict(self.scope["headers"]).get(b"cookie", b"").decode("latin-1"))
        try:
            self.identity, coins = await threads.run(_admit, cookies.get(settings.SESSION_COOKIE_NAME, ""))
        except Refuse as refusal:
            self.end(refusal.close_code)
            return
        except Exception as error:  # noqa: BLE001  whatever it is, the page must be told to come again
            log.warning("handshake failed: %s", type(error).__name__)
            self.end(4000)
            return
        if hub.get().draining:
            self.end(4000)
        elif not purses.get().join(self, coins):
            self.end(4029)

    # -- upwards -------------------------------------------------------------------------------------------------

    async def websocket_receive(self, message: dict[str, Any]) -> None:
        self.heard_at = time.monotonic()
        text = message.get("text")
        if text is None or len(text) > frames.MAX_FRAME_BYTES:
            self.end(4400)
            return
        if not self.pings.take():
            self._refuse("rate", _("Too many messages. Wait a moment."))
            return
        try:
            frame = frames.parse(text)
        except frames.BadFrame:
            self._refuse("malformed", _("That message was not understood."))
            return
        if isinstance(frame, frames.Ping):
            self.pongs = 1
            self.wake.set()
        else:
            self._refuse("watching", _("That message was not understood."))

    # -- downwards -----------------------------------------------------------------------------------------------

    def show(self, coins: int) -> None:
        """The balance is this now; one that was not yet sent is dropped."""
        self.coins = coins
        self.wake.set()

    def end(self, code: int) -> None:
        """Say good-bye and close with the code."""
        if self.closing is None:
            self.closing = code
            self.wake.set()

    def _refuse(self, code: str, text: str) -> None:
        self.refusal = frames.refused(None, code, text)  # only the newest: a page that talks nonsense piles up nothing
        self.wake.set()

    async def _write(self) -> None:
        try:
            while True:
                await self.wake.wait()
                self.wake.clear()
                if self.coins is not None and self.closing is None:
                    coins, self.coins = self.coins, None
                    await self._send_text(frames.balance(coins))
                if self.pongs:
                    self.pongs = 0
                    await self._send_text(frames.pong(0))
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
        except Exception as error:  # noqa: BLE001  the socket went away under the write
            log.warning("balance not told: %s", type(error).__name__)
            await self._close(4000)
        finally:
            purses.get().leave(self)  # a frozen page may keep its end of the line for long

    async def _close(self, code: int) -> None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(1):
                await self.send({"type": "websocket.close", "code": code})

    async def _send_text(self, text: str) -> None:
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
        purses.get().leave(self)
        raise StopConsumer


def _admit(session_key: str) -> tuple[Identity, int]:
    """The registered player of a session, and what the player has. Raises Refuse."""
    player = presence.player_in_session(session_key)
    if player is None or player.is_guest:
        raise Refuse(4401)
    # Counted by player, as pages are: a house full of players shares an address.
    if not handshake_allowed(f"me:{player.pk}"):
        raise Refuse(4029)
    identity = Identity(player.pk, session_key, player_selectors.stamp_of(player))
    return identity, wallet.balance(player.pk)
