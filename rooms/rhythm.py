"""What a process does again and again while it serves."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)


async def again_and_again(what: Callable[[], Awaitable[None]], every_seconds: float, failed: str) -> None:
    """Do this from beginning to beginning every so many seconds, until the task is cancelled. What fails (the database
    is away) is a line of the log that begins with `failed`; the next time tries anew."""
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        try:
            await what()
        except Exception as error:  # noqa: BLE001  sockets and pages stay
            log.warning("%s: %s", failed, type(error).__name__)
        await asyncio.sleep(max(0.05, every_seconds - (loop.time() - began)))
