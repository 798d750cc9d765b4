"""Many lobby pages in a process of their own, so that their work is not counted as the server's.

python -m tests.rooms.lobby_viewers URL STATE COUNT: says "ready" once all are open; then a line of JSON, a list of
changes [room, version or null for gone, when], is answered by one about how late each page saw each of them. Times are
seconds of the machine's monotonic clock, which all processes share."""

import asyncio
import json
import random
import re
import sys
import time
from typing import Any

from websockets.asyncio.client import connect
from websockets.typing import Origin

PING_SECONDS = 10.0
PATIENCE_SECONDS = 15.0
VERSION = re.compile(r' data-v="(\d+)"')

Seen = dict[int, list[tuple[float, int | None]]]


async def look(url: str, state: str, ready: "asyncio.Semaphore", seen: Seen) -> None:
    """One page: notes when it sees a room at a version, or gone (None)."""
    address = url.replace("http", "ws", 1) + f"/ws/lobby/?state={state}"
    async with connect(address, origin=Origin(url), compression=None, max_size=None) as link:
        pinging = asyncio.create_task(ping(link))
        ready.release()
        async for text in link:
            frame = json.loads(text)
            if frame["t"] != "lobby":
                continue
            now = time.monotonic()
            for number in frame["gone"]:
                seen.setdefault(number, []).append((now, None))
            for row in frame["rows"]:
                version = VERSION.search(row["html"])
                assert version is not None
                seen.setdefault(row["id"], []).append((now, int(version[1])))
        pinging.cancel()


async def ping(link: Any) -> None:
    await asyncio.sleep(random.uniform(0, PING_SECONDS))
    while True:
        await link.send('{"t":"ping","v":0}')
        await asyncio.sleep(PING_SECONDS)


def delay(seen: Seen, room: int, version: int | None, at: float) -> float | None:
    """Seconds from the change until this page saw it, or something newer; None when it never did."""
    for when, found in seen.get(room, []):
        if found is None or (version is not None and found >= version):
            return when - at
    return None


async def main(url: str, state: str, count: int) -> None:
    ready = asyncio.Semaphore(0)
    pages: list[Seen] = [{} for _n in range(count)]
    tasks = [asyncio.create_task(look(url, state, ready, seen)) for seen in pages]
    for _n in range(count):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await ready.acquire()
    print("ready", flush=True)
    changes = json.loads(await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline))
    delays = [delay(seen, *change) for seen in pages for change in changes]
    known = sorted(one for one in delays if one is not None)
    answer = {
        "missed": len(delays) - len(known),
        "seen": len(known),
        "median": known[len(known) // 2] if known else 0.0,
        "worst": known[-1] if known else 0.0,
        "closed": sum(task.done() for task in tasks),
    }
    print(json.dumps(answer), flush=True)
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
