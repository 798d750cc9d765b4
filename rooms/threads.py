"""The bounded pool on which sockets do their database work; Channels' own way has one thread for a whole process."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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


async def run(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a service on the pool. Its transaction ends even when the awaiting task is cancelled."""
    call: Callable[[], T] = partial(function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_pool, _clean, call)
