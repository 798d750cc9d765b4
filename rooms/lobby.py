"""The live lobby of a process: while somebody looks, one task asks once a second what has changed and tells all."""

import asyncio
import hashlib
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict
from typing import Protocol

import msgspec
from django.conf import settings
from django.utils import translation

from rooms import threads
from rooms.lobby_rows import Online, Row
from rooms.rhythm import again_and_again

# So many tables that went are remembered; who is further behind is given the whole list.
KEPT_GONE = 1000
# States by which a page just loaded can name what it shows, and go on from there.
KEPT_STATES = 120
# A text may be given to others for so long: the ages in it grow old.
TEXT_SECONDS = 5.0

_feed: "Feed | None" = None


class Viewer(Protocol):
    """An open lobby page."""

    language: str

    def wake_up(self) -> None: ...

    def end(self, code: int) -> None: ...


class Feed:
    """What the open lobbies of this process are shown, as numbered states. A viewer is brought from the state that it
    has to the newest in one message, however many states lie between: a slow reader misses nothing and piles up
    nothing."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.viewers: set[Viewer] = set()
        self.number = 0
        self.rows: dict[int, Row] = {}
        self.online = Online(0, 0)
        self.changed: dict[int, int] = {}
        self.gone: deque[tuple[int, int]] = deque(maxlen=KEPT_GONE)
        self.oldest = 0
        self.state = ""
        self.states: deque[tuple[str, int]] = deque(maxlen=KEPT_STATES)
        self.texts: dict[tuple[int | None, str], tuple[float, asyncio.Task[str]]] = {}
        self.looking: asyncio.Task[None] | None = None

    # -- viewers -------------------------------------------------------------------------------------------------

    def join(self, viewer: Viewer) -> None:
        """A page is open; the first one starts the looking."""
        from rooms import hub

        self.viewers.add(viewer)
        if self.looking is None:
            self.looking = hub.get().spawn(self._look_each_second())

    def leave(self, viewer: Viewer) -> None:
        """A page is closed; the last one ends the looking, and what is known grows old no further."""
        self.viewers.discard(viewer)
        if not self.viewers:
            if self.looking is not None:
                self.looking.cancel()
            self._forget()

    def _forget(self) -> None:
        self.looking = None
        self.number += 1
        self.rows, self.changed, self.texts = {}, {}, {}
        self.gone.clear()
        self.states.clear()
        self.oldest = self.number

    def number_of(self, state: str) -> int | None:
        """The number of the state that a page shows (`state_of` its rows); None when it is not known here."""
        return next((number for known, number in reversed(self.states) if known == state), None)

    # -- looking -------------------------------------------------------------------------------------------------

    async def _look_each_second(self) -> None:
        try:
            await again_and_again(self.look, settings.LOBBY_LOOK_SECONDS, "lobby not read")
        except asyncio.CancelledError:
            for viewer in list(self.viewers):  # told to stop, or nobody is left
                viewer.end(4000)
            raise

    async def look(self) -> None:
        """Ask what has changed since the last time, and wake the viewers when something has."""
        found, online = await threads.run(_read, dict(self.rows), len(self.viewers))
        if found == self.rows and online == self.online and self.number > self.oldest:
            return
        self.number += 1
        for room_id in self.rows.keys() - found.keys():
            if len(self.gone) == KEPT_GONE:
                self.oldest = self.gone[0][0]
            self.gone.append((self.number, room_id))
            self.changed.pop(room_id, None)
        for room_id, row in found.items():
            if self.rows.get(room_id) != row:
                self.changed[room_id] = self.number
        self.rows, self.online = found, online
        self.state = state_of(found.values())
        self.states.append((self.state, self.number))
        self.texts = {}
        for viewer in list(self.viewers):
            viewer.wake_up()

    # -- telling -------------------------------------------------------------------------------------------------

    async def text(self, since: int | None, language: str) -> tuple[int, str]:
        """The message that brings a page from state `since` to the newest, and the newest's number; all rows for None
        or a state that is no longer known. Written once for all viewers that need the same."""
        if since is not None and not self.oldest <= since <= self.number:
            since = None
        key, number = (since, language), self.number
        made_at, task = self.texts.get(key, (0.0, None))
        if task is None or self.loop.time() - made_at > TEXT_SECONDS:
            rows = [row for room_id, row in self.rows.items() if since is None or self.changed[room_id] > since]
            gone = {room_id for at, room_id in self.gone if since is not None and at > since} - self.rows.keys()
            frame = {"t": "lobby", "v": number, "from": since, "state": self.state, "gone": sorted(gone)}
            frame["online"] = asdict(self.online)
            task = self.loop.create_task(threads.run(_frame, frame, rows, language))
            self.texts[key] = (self.loop.time(), task)
        return number, await asyncio.shield(task)


def _read(known: dict[int, Row], viewers: int) -> tuple[dict[int, Row], Online]:
    from rooms import lobby_rows, presence

    versions = lobby_rows.versions()
    stale = [
        number
        for number, version in versions.items()
        if number not in known or known[number].version != version or known[number].unsettled
    ]
    found = {number: row for number, row in known.items() if number in versions}
    if stale:
        for number in stale:
            found.pop(number, None)
        found |= {row.room_id: row for row in lobby_rows.read(stale)}
    return found, lobby_rows.online(viewers, presence.PROCESS)


def _frame(frame: dict[str, object], rows: list[Row], language: str) -> str:
    from rooms import clock

    now = clock.now()
    with translation.override(language):
        shown = [{"id": row.room_id, "age": row.age_seconds(now), "html": row.html(now)} for row in rows]
    return msgspec.json.encode({**frame, "rows": shown}).decode()


def state_of(rows: Iterable[Row]) -> str:
    """A name for what a page shows: the same rows at the same versions have the same name."""
    pairs = sorted((row.room_id, row.version, row.away) for row in rows)
    return hashlib.blake2b(repr(pairs).encode(), digest_size=8).hexdigest()


def get() -> Feed:
    """This process's feed, on the running loop."""
    global _feed
    if _feed is None or _feed.loop is not asyncio.get_running_loop():
        _feed = Feed()
    return _feed


def viewers() -> int:
    """How many lobby pages are open in this process."""
    return len(_feed.viewers) if _feed is not None else 0
