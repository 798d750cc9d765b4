"""The lobby under load: many tables, many pages, ten changes a second; how late they are seen and what that costs."""

import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from dominopoker.local.place import CHECKOUT
from players.models import Player
from rooms import closing, seating
from rooms.models import Room
from tests.rooms import crowd, stage
from tests.support.commands import environment
from tests.support.site import LiveSite
from tests.support.visitor import Visitor

CHANGES_A_SECOND = 10
SEEN_WITHIN_SECONDS = 2.0
SHARE_OF_A_CORE = 0.5

Change = tuple[int, int | None, float]


class People:
    """Those who sit down, get up, open tables and leave them: one change each time, by the real services."""

    def __init__(self, rooms: list[Room], count: int) -> None:
        self.rooms = rooms
        self.free = deque(stage.person(f"Mover {number}") for number in range(count))
        self.seated: deque[tuple[Player, int]] = deque()
        self.owners: deque[tuple[Player, int]] = deque()
        self.steps = 0

    def change(self) -> Change:
        """Make the next change: which room, its version after it (None: gone), and when it was durable."""
        self.steps += 1
        return (self._sit, self._get_up, self._open, self._close)[self.steps % 4]()

    def _sit(self) -> Change:
        player = self.free.popleft()
        room_id = self.rooms[(self.steps * 7) % len(self.rooms)].pk
        seating.sit(player, room_id)
        self.seated.append((player, room_id))
        return self._at(room_id)

    def _get_up(self) -> Change:
        if not self.seated:
            return self._sit()
        player, room_id = self.seated.popleft()
        closing.leave(room_id, player.pk)
        self.free.append(player)
        return self._at(room_id)

    def _open(self) -> Change:
        player = self.free.popleft()
        sitting = seating.create_room(player, visibility="public", options={"rounds": 7})
        self.owners.append((player, sitting.room_id))
        return self._at(sitting.room_id)

    def _close(self) -> Change:
        if len(self.owners) < 20:
            return self._open()
        player, room_id = self.owners.popleft()
        closing.leave(room_id, player.pk)
        self.free.append(player)
        return (room_id, None, time.monotonic())

    def _at(self, room_id: int) -> Change:
        at = time.monotonic()
        return (room_id, Room.objects.values_list("version", flat=True).get(pk=room_id), at)


@pytest.fixture
def viewers() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []

    def start(url: str, state: str, count: int) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.rooms.lobby_viewers", url, state, str(count)],
            cwd=CHECKOUT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("tables", "pages", "seconds", "patience", "share"),
    [
        pytest.param(60, 20, 5, 5.0, None, id="short"),
        pytest.param(500, 200, 30, SEEN_WITHIN_SECONDS, SHARE_OF_A_CORE, id="long", marks=pytest.mark.soak),
    ],
)
def test_every_change_reaches_every_page_in_time(
    other_site: Any,
    viewers: Callable[..., "subprocess.Popen[str]"],
    capsys: pytest.CaptureFixture[str],
    tables: int,
    pages: int,
    seconds: int,
    patience: float,
    share: float | None,
) -> None:
    site: LiveSite = other_site(LOG_LEVEL="WARNING")
    rooms = crowd.waiting(tables)
    people = People(rooms, 80)
    _status, page = Visitor(site.url).get("/lobby/")
    crowd_of_pages = viewers(site.url, page.split('data-state="')[1].split('"')[0], pages)
    time.sleep(2)
    web = psutil.Process(site.web_pid)
    used, began = sum(web.cpu_times()[:2]), time.monotonic()
    changes = []
    for number in range(seconds * CHANGES_A_SECOND):
        changes.append(people.change())
        time.sleep(max(0.0, began + (number + 1) / CHANGES_A_SECOND - time.monotonic()))
    elapsed = time.monotonic() - began
    load = (sum(web.cpu_times()[:2]) - used) / elapsed
    time.sleep(patience)
    assert crowd_of_pages.stdin is not None and crowd_of_pages.stdout is not None
    crowd_of_pages.stdin.write(json.dumps(changes) + "\n")
    crowd_of_pages.stdin.flush()
    seen = json.loads(crowd_of_pages.stdout.readline())
    with capsys.disabled():
        print(
            f"\nlobby: {tables} tables, {pages} pages,"
            f" {len(changes) / elapsed:.1f} changes a second for {elapsed:.0f} s;"
            f" seen after {seen['median']:.2f} s (median), {seen['worst']:.2f} s (worst);"
            f" web process {100 * load:.0f} % of a core"
        )
    assert seen["missed"] == 0 and seen["closed"] == 0
    assert seen["worst"] <= patience
    assert share is None or load < share
