"""The ASGI application: pages, sockets, and the server's start and stop."""

import asyncio
import gc
import os
import signal
import threading
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dominopoker.settings")

from django.core.asgi import get_asgi_application

pages = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator, WebsocketDenier  # noqa: E402
from django.conf import settings  # noqa: E402

from dominopoker.urls import socket_patterns  # noqa: E402
from rooms import hub  # noqa: E402


class FullOriginValidator(OriginValidator):
    """Only pages of our own full origins (scheme, host, port); a missing Origin is nobody's page."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """What cannot be read as an address is nobody's page either."""
        try:
            for name, value in scope["headers"]:
                if name == b"origin":
                    urlsplit(value.decode("latin1")).port  # noqa: B018  it is read when it is asked for
        except ValueError:
            await WebsocketDenier()(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    def valid_origin(self, parsed_origin: Any) -> bool:
        return parsed_origin is not None and super().valid_origin(parsed_origin)


DRAIN_SECONDS = 0.5  # what a `bye` and a close frame need to reach the browser


def drain_first() -> None:
    """On SIGTERM send the sockets elsewhere (4000) before the server's own handler cuts them."""
    then = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or not callable(then):
        return
    loop = asyncio.get_running_loop()

    def on_term(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(lambda: loop.create_task(hub.get().drain()))
        loop.call_soon_threadsafe(loop.call_later, DRAIN_SECONDS, then, number, frame)

    signal.signal(signal.SIGTERM, on_term)


async def lifespan(_scope: Any, receive: Any, send: Any) -> None:
    """Start the hub before the first request; on the way down send every socket elsewhere."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            hub.get()
            drain_first()
            gc.collect()
            gc.freeze()
            gc.set_threshold(50_000, 20, 20)
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await hub.get().drain()
            await send({"type": "lifespan.shutdown.complete"})
            return


application = ProtocolTypeRouter(
    {
        "http": pages,
        "websocket": FullOriginValidator(URLRouter(socket_patterns), settings.ALLOWED_ORIGINS),
        "lifespan": lifespan,
    }
)
