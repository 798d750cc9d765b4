"""The ASGI application: pages, sockets, and the server's start and stop."""

import gc
import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dominopoker.settings")

from django.core.asgi import get_asgi_application  # noqa: E402

pages = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import path  # noqa: E402

from rooms import hub  # noqa: E402
from rooms.consumers import TableConsumer  # noqa: E402

SOCKETS = [path("ws/tables/<str:code>/", TableConsumer.as_asgi())]


class FullOriginValidator(OriginValidator):
    """Only pages of our own full origins (scheme, host, port); a missing Origin is nobody's page."""

    def valid_origin(self, parsed_origin: Any) -> bool:
        return parsed_origin is not None and super().valid_origin(parsed_origin)


async def lifespan(_scope: Any, receive: Any, send: Any) -> None:
    """Start the hub before the first request; on the way down send every socket elsewhere."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            hub.get()
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
        "websocket": FullOriginValidator(URLRouter(SOCKETS), settings.ALLOWED_ORIGINS),
        "lifespan": lifespan,
    }
)
