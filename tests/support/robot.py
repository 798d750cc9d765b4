"""A player in a thread: answers what it is asked, comes back as the page does, notes all that it saw."""

import random
import threading
import time
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.visitor import TableSocket, Visitor

# The page's own way back (static/js/table/socket.js): these waits, each a quarter more or less.
BACKOFF_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)


def table_of(
    urls: list[str], people: int, *, rounds: int, number: int, visibility: str = "private", think_seconds: float = 0.2
) -> "list[Robot]":
    """A started match of this many people and bots for the rest; its people in turn at the addresses given.

    Nobody has sat down at the running table yet: start the robots."""
    visitors = [Visitor(urls[place % len(urls)]) for place in range(people)]
    code = visitors[0].open_room(visibility=visibility, rounds=rounds)
    for other in visitors[1:]:
        other.join(code)
    host = visitors[0].sit(code)
    if people < 4:
        assert host.do("fill", level="medium")["t"] == "ack"
    assert host.do("start")["t"] == "ack"
    host.link.close()
    robots = []
    for place, visitor in enumerate(visitors):
        own_first = [visitor.url, *(url for url in urls if url != visitor.url)]
        robots.append(Robot(visitor, code, own_first, seed=number * 10 + place, think_seconds=think_seconds))
    return robots


class Robot(threading.Thread):
    """One person at one table. `urls` are the addresses that it tries in turn when its connection is lost."""

    def __init__(self, visitor: Visitor, code: str, urls: list[str], *, seed: int, think_seconds: float = 0.2) -> None:
        super().__init__(daemon=True)
        self.visitor, self.code, self.urls = visitor, code, urls
        self.chance, self.think_seconds = random.Random(seed), think_seconds
        self.seat: int | None = None
        self.acked: list[tuple[str, float]] = []  # action ids with the time of the acknowledgement
        self.first_seen: dict[int, float] = {}  # number of an event: when it was first told
        self.missed = 0  # the most missed turns that were shown for any seat
        self.lost: list[float] = []  # when sockets ended
        self.waited: list[float] = []  # how long it then waited by its own choice
        self.back: list[float] = []  # when the first update came again
        self.resent = 0
        self.failure = ""
        self.final: dict[str, Any] = {}
        self._pending: tuple[dict[str, Any], str, str] | None = None

    def run(self) -> None:
        tries = 0
        while not self.final and not self.failure:
            try:
                socket = self.visitor.sit(self.code)
                self._note(socket, socket.until(lambda frame: frame["t"] == "update"))
                if self.lost:
                    self.back.append(time.monotonic())
                tries = 0
                self._play(socket)
            except AssertionError as error:
                self.failure = str(error) or "an assertion"
            except (ConnectionClosed, InvalidStatus, OSError) as error:
                if tries >= 12:
                    self.failure = f"never came back: {error}"
                    return
                if tries == 0:
                    self.lost.append(time.monotonic())
                wait = BACKOFF_SECONDS[min(tries, 4)] * self.chance.uniform(0.75, 1.25)
                self.waited.append(wait)
                time.sleep(wait)
                # The first try goes where the lost socket was, as from a proxy that has not noticed yet.
                self.visitor.url = self.urls[tries % len(self.urls)]
                tries += 1

    def _play(self, socket: TableSocket) -> None:
        while True:
            if self._pending is not None:
                self.resent += 1
                self._answer(socket)
                continue
            while not self._ready(socket.update):
                self._note(socket, socket.next())
            if socket.update["room"]["status"] != "playing":
                self.final = socket.update
                return
            time.sleep(self.chance.uniform(0, self.think_seconds))
            prompt = socket.update["prompt"]
            do = str(self.chance.choice(prompt["choices"])["do"])
            self._pending = prompt, do, f"{self.code}-{prompt['step'].replace('.', '-')}"
            self._answer(socket)

    @staticmethod
    def _ready(update: dict[str, Any]) -> bool:
        return bool(update) and (update["prompt"] is not None or update["room"]["status"] in {"finished", "destroyed"})

    def _answer(self, socket: TableSocket) -> None:
        assert self._pending is not None
        prompt, do, name = self._pending
        socket.send({"t": "act", "id": name, "step": prompt["step"], "do": do})
        while True:
            frame = socket.next()
            self._note(socket, frame)
            if frame["t"] == "ack" and frame["id"] == name:
                self.acked.append((name, time.monotonic()))
                self._pending = None
                if socket.update["prompt"] and socket.update["prompt"]["step"] == prompt["step"]:
                    socket.update = {}
                return
            if frame["t"] == "refused":
                assert frame["code"] == "try_again", f"{name}: {frame}"
                time.sleep(0.2)
                return  # still pending: the same action again

    def _note(self, socket: TableSocket, frame: dict[str, Any]) -> None:
        if frame["t"] != "update":
            return
        self.seat = frame["room"]["you"]
        for event in frame["events"]:
            self.first_seen.setdefault(event["n"], time.monotonic())
        self.missed = max([self.missed, *(seat["missed"] for seat in frame["room"]["seats"])])
