"""The site in a thread of the test's own process, so that a test can count what it keeps: sockets, tasks, tables."""

import asyncio
import gc
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import uvicorn

from rooms import hub


class InsideSite:
    """The web process as a thread; its limits are the settings of the test."""

    def __init__(self, *, send_buffer: int | None = None) -> None:
        self.listening = socket.socket()
        if send_buffer is not None:  # what the kernel keeps for a reader who does not read
            self.listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listening.bind(("127.0.0.1", 0))
        self.port = int(self.listening.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.server: Any = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self, application: Any) -> None:
        config = uvicorn.Config(
            application, lifespan="on", log_level="warning", log_config=None, ws_per_message_deflate=False,
            timeout_graceful_shutdown=5,
        )  # fmt: skip
        self.server = uvicorn.Server(config)
        self._thread.start()
        ends = time.monotonic() + 20
        while not self.server.started:
            assert time.monotonic() < ends and self._thread.is_alive(), "the site did not start"
            time.sleep(0.02)

    def _run(self) -> None:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self.server.serve(sockets=[self.listening]))
        finally:
            self.loop.close()

    def stop(self) -> None:
        self.server.should_exit = True
        self._thread.join(20)
        self.listening.close()

    def ask(self, question: Callable[[], Any]) -> Any:
        """The answer of a question that is put on the site's own loop."""

        async def put() -> Any:
            return question()

        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(put(), self.loop).result(10)

    def kept(self) -> dict[str, int]:
        """How many of everything that a socket brings with it are still there."""

        def count() -> dict[str, int]:
            from rooms.consumers import TableConsumer
            from rooms.lobby_consumer import LobbyConsumer

            gc.collect()
            here = hub.get()
            return {
                "tasks": len(asyncio.all_tasks()),
                "hub tasks": len(here.tasks),
                "tables": len(here.tables),
                "listeners": sum(len(table.listeners) for table in here.tables.values()),
                "alarms": sum(table.alarm is not None for table in here.tables.values()),
                "consumers": sum(issubclass(type(one), TableConsumer | LobbyConsumer) for one in gc.get_objects()),
            }

        answer: dict[str, int] = self.ask(count)
        return answer
