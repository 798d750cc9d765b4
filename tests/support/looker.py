"""A lobby page without a browser: keeps the rows that its socket tells, as the page does."""

import json
import time
from collections.abc import Callable
from typing import Any

from websockets.exceptions import ConnectionClosed

from tests.support.links import open_link
from tests.support.visitor import PATIENCE_SECONDS


class Looker:
    """One open lobby socket and what its page would show."""

    def __init__(self, url: str, *, state: str = "", origin: str | None = None) -> None:
        self.link = open_link(url, f"/ws/lobby/?state={state}", origin=origin)
        self.rows: dict[int, str] = {}
        self.online: dict[str, int] = {}
        self.version: int | None = None
        self.state = state
        self.frames: list[dict[str, Any]] = []

    def send(self, frame: dict[str, Any] | str) -> None:
        self.link.send(frame if isinstance(frame, str) else json.dumps(frame))

    def next(self, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The next frame, applied; raises TimeoutError or ConnectionClosed."""
        frame: dict[str, Any] = json.loads(self.link.recv(timeout=seconds))
        self.frames.append(frame)
        if frame["t"] == "lobby":
            if frame["from"] is None:
                self.rows = {}
            else:
                assert self.version in {None, frame["from"]}, "a gap"
            for number in frame["gone"]:
                self.rows.pop(number, None)
            self.rows |= {row["id"]: row["html"] for row in frame["rows"]}
            self.version, self.state, self.online = frame["v"], frame["state"], frame["online"]
        return frame

    def until(self, right: Callable[["Looker"], bool], seconds: float = PATIENCE_SECONDS) -> float:
        """Read until the page is right; how many seconds that took. Raises AssertionError when it takes longer."""
        began = time.monotonic()
        while not right(self):
            left = seconds - (time.monotonic() - began)
            assert left > 0, f"not within {seconds} s; last: {self.frames[-1:]}"
            try:
                self.next(left)
            except TimeoutError:
                continue
        return time.monotonic() - began

    def closed(self) -> int:
        """Wait for the close; its code."""
        try:
            while True:
                self.next()
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else 1006
