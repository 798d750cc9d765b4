"""The bounded pool on which sockets, and long files, do their database work; Channels' own way has one thread for a
whole process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

_pool = ThreadPoolExecutor(max_workers=settings.SOCKET_THREADS, thread_name_prefix="socket")


def _clean(call: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return call()
    finally:
        close_old_connections()


LINES_AT_ONCE = 500


async def parcels(lines: Iterator[str]) -> AsyncIterator[bytes]:
    """The lines of a file in parcels, each made on a thread that gives its connection back: a long file fills no
    memory, and a slow reader holds no connection."""
    while parcel := await run(lambda: list(islice(lines, LINES_AT_ONCE))):
        yield "".join(parcel).encode()


async def run(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a service on the pool. Its transaction ends even when the awaiting task is cancelled."""
    call: Callable[[], T] = partial(function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_pool, _clean, call)
