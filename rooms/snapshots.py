"""What everybody at a table is shown: read once for each version and process, then dressed for each seat."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from django.db import transaction

from games import history
from games import selectors as game_selectors
from games.bots import levels as bot_levels
from games.engine.table import prompt_json
from rooms import settlement
from rooms.models import SEATS, Room, Seat

if TYPE_CHECKING:
    from rooms.table import Table

# As many as the history keeps folded: a snapshot holds its match, about 100 kB at seven rounds.
KEPT = 500
_lock = threading.Lock()
_newest: "OrderedDict[int, Snapshot]" = OrderedDict()


@dataclass(frozen=True, slots=True)
class Occupant:
    number: int
    sitting: int | None
    name: str
    kind: str
    level: str
    connected: bool
    missed: int
    auto_play: bool
    forfeited: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """Whom a rematch that waits still expects, by the seat and the name of the match before, until that one's result is
    put away. Only those who were at that table are told (`told`: their seats now): they have seen these names."""

    people: tuple[tuple[int, str], ...]
    told: frozenset[int]
    until: datetime


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One room at one version. Holds the whole match: only `update` may turn it into bytes."""

    room_id: int
    version: int
    code: str
    game: str
    visibility: str
    watch_key: str | None = field(repr=False)
    watchable: bool
    rounds: int | None
    levels: tuple[str, ...]
    status: str
    expires_at: datetime
    starts_at: datetime | None
    deadline_at: datetime | None
    due_at: datetime | None
    is_open: bool
    turn_seconds: float | None
    host: int | None
    occupants: tuple[Occupant, ...]
    # Which device holds each sitting; a socket of another one is out.
    holders: dict[int, int]
    # The seat of each player who sits here, or who sat here when the match ended.
    places: dict[int, int]
    money: dict[str, Any] | None
    rematch: tuple[int, ...] | None
    rematch_open: bool
    expected: "Expected | None"
    loaded: history.Loaded | None = field(repr=False)

    def update(self, seat: int | None, after: int | None) -> str:
        """The update frame for one seat; events after number `after`, none when that is None."""
        loaded = self.loaded
        begun = loaded is not None and bool(loaded.events)
        frame: dict[str, Any] = {
            "t": "update",
            "v": self.version,
            "room": self._room(seat),
            "events": game_selectors.wire_events(loaded, seat, after) if loaded and after is not None else [],
            "view": msgspec.Raw(game_selectors.view_json(loaded, seat)) if loaded and begun else None,
            "prompt": self._prompt(seat),
            "ms_left": _ms(self.deadline_at) if self.is_open else None,
        }
        return msgspec.json.encode(frame).decode()

    @property
    def finished(self) -> bool:
        """Whether the match came to its result, also when the table is gone since."""
        return self.loaded is not None and self.loaded.status == "finished"

    def may_speak(self, player_id: int) -> bool:
        """Whether this player is heard here: whoever sits, and after the end whoever stayed to it, until the room is
        gone."""
        seat = self.places.get(player_id)
        if seat is None or self.status == Room.Status.DESTROYED:
            return False
        return not any(one.number == seat and one.forfeited for one in self.occupants)

    @property
    def last_event(self) -> int:
        return self.loaded.events[-1][0] if self.loaded and self.loaded.events else 0

    def _prompt(self, seat: int | None) -> dict[str, Any] | None:
        if not self.is_open or self.loaded is None or self.status != Room.Status.PLAYING or seat is None:
            return None
        if any(o.number == seat and o.auto_play for o in self.occupants):
            return None
        return next((prompt_json(p) for p in game_selectors.prompts(self.loaded) if p.seat == seat), None)

    def _room(self, seat: int | None) -> dict[str, Any]:
        loaded = self.loaded
        now_round = (game_selectors.round_now(loaded) or 1) if loaded else None
        sits = seat is not None
        waiting = self.status == Room.Status.WAITING
        return {
            "id": self.room_id if self.visibility == Room.Visibility.PUBLIC else None,
            # Who has the code can sit down: it is for those who sit, to pass on.
            "code": self.code if sits else None,
            "join_path": f"/join/{self.code}/" if sits and self.visibility != Room.Visibility.SOLO else None,
            "watch": {"allowed": self.watchable, "path": self._watch_path() if sits and self.watchable else None},
            "game": self.game,
            "visibility": self.visibility,
            "status": self.status,
            "version": self.version,
            "you": seat,
            "host": self.host,
            "seat_count": SEATS,
            "seats": self.occupants,
            "levels": self.levels if waiting else (),
            "expires_in_ms": _ms(self.expires_at) if waiting else None,
            "starts_in_ms": _ms(self.starts_at) if self.status == Room.Status.STARTING else None,
            "turn_ms": round(self.turn_seconds * 1000) if self.turn_seconds is not None else None,
            "rounds": self.rounds,
            "match": loaded.match_id if loaded else None,
            "commitment": _commitment(loaded, now_round),
            "next_commitment": _commitment(loaded, now_round + 1 if now_round else None),
            "money": self.money,
            "expected": self._expected(seat),
            "rematch": {"seats": self.rematch, "open": self.rematch_open} if self.rematch is not None else None,
            "outcome": self._outcome(),
        }

    def _expected(self, seat: int | None) -> dict[str, Any] | None:
        expected = self.expected
        if expected is None or seat not in expected.told:
            return None
        left = _ms(expected.until)
        people = [{"seat": number, "name": name} for number, name in expected.people]
        return {"seats": people, "ms": left} if left else None

    def _watch_path(self) -> str:
        if self.visibility == Room.Visibility.PUBLIC:
            return f"/rooms/{self.room_id}/"
        return f"/watch/{self.watch_key}/"

    def _outcome(self) -> dict[str, str] | None:
        gone = "abandoned" if self.loaded is not None and not self.finished else "closed"
        if self.finished:
            gone = "finished"
        reasons = {Room.Status.FINISHED.value: "finished", Room.Status.DESTROYED.value: gone}
        return {"reason": reasons[self.status]} if self.status in reasons else None


def _commitment(loaded: history.Loaded | None, number: int | None) -> dict[str, Any] | None:
    if loaded is None or number is None or number > len(loaded.commitments):
        return None
    return {"round": number, "hash": loaded.commitments[number - 1]}


def _ms(until: datetime | None) -> int | None:
    from rooms.table import ms_left

    return ms_left(until)


def of_table(table: "Table") -> Snapshot:
    """The snapshot of a locked table as it will be once its transaction commits."""
    return _build(table.room, table.seats, table.loaded if table.room.match_id is not None else None)


def put(snapshot: Snapshot) -> None:
    """Keep it, unless a newer one is known. Call after the commit."""
    with _lock:
        known = _newest.get(snapshot.room_id)
        if known is None or known.version <= snapshot.version:
            _newest[snapshot.room_id] = snapshot
            _newest.move_to_end(snapshot.room_id)
        while len(_newest) > KEPT:
            _newest.popitem(last=False)


def read(room_id: int, at_least: int) -> Snapshot | None:
    """The room at this version or newer: from memory, else from the database; None when there is no such room."""
    with _lock:
        known = _newest.get(room_id)
    if known is not None and known.version >= at_least:
        return known
    from rooms.table import seats_of

    with transaction.atomic():
        room = Room.objects.filter(pk=room_id).first()
        if room is None:
            return None
        # A writer may commit between these reads: the version is read first, so a newer notice follows.
        seats = seats_of(room_id)
    loaded = history.load(room.match_id) if room.match_id is not None else None
    snapshot = _build(room, seats, loaded)
    put(snapshot)
    return snapshot


def _build(room: Room, seats: list[Seat], loaded: history.Loaded | None) -> Snapshot:
    if seats or loaded is None:
        places = {seat.player_id: seat.number for seat in seats if seat.player_id is not None}
        occupants = tuple(
            Occupant(
                number=seat.number,
                sitting=seat.pk,
                name=seat.name,
                kind="human" if seat.player_id is not None else "bot",
                level=seat.bot_level,
                connected=seat.player_id is None or seat.connected,  # type: ignore[attr-defined]
                missed=seat.missed,
                auto_play=seat.auto_play,
                forfeited=seat.forfeited,
            )
            for seat in seats
        )
    else:
        sat_there = game_selectors.seats_in(loaded.match_id)
        places = {sat.player_id: sat.number for sat in sat_there if sat.player_id is not None}
        occupants = tuple(
            Occupant(
                number=sat.number,
                sitting=None,
                name=sat.name,
                kind="bot" if sat.bot_level else "human",
                level=sat.bot_level,
                connected=True,
                missed=0,
                auto_play=False,
                forfeited=sat.forfeited,
            )
            for sat in sat_there
        )
    host = next((seat.number for seat in seats if seat.player_id == room.host_id and seat.player_id is not None), None)
    rematch, rematch_open = _rematch(room, loaded)
    return Snapshot(
        room_id=room.pk,
        version=room.version,
        code=room.code,
        game=room.game,
        visibility=room.visibility,
        watch_key=room.watch_key,
        watchable=room.watchable,
        rounds=room.options.get("rounds"),
        levels=tuple(level for level, ready in bot_levels(room.game).items() if ready),
        status=room.status,
        expires_at=room.expires_at,
        starts_at=room.starts_at,
        deadline_at=room.deadline_at,
        due_at=room.due_at,
        is_open=room.is_open,
        turn_seconds=room.turn_seconds,
        host=host,
        occupants=occupants,
        holders={seat.pk: seat.holder for seat in seats if seat.player_id is not None},
        places=places,
        money=settlement.money(room, seats, places),
        rematch=rematch,
        rematch_open=rematch_open,
        expected=_expected(room, seats) if room.status == Room.Status.WAITING else None,
        loaded=loaded,
    )


def _rematch(room: Room, loaded: history.Loaded | None) -> tuple[tuple[int, ...] | None, bool]:
    """The old seats of those who play again, and whether the new table still waits; None when nobody has asked, or the
    new table is gone: then the next one opens another."""
    if room.status != Room.Status.FINISHED or room.rematch_id is None or loaded is None:
        return None, False
    new = Room.objects.filter(pk=room.rematch_id).values_list("status", flat=True).first()
    if new in {None, Room.Status.DESTROYED}:
        return None, False
    again = set(Seat.objects.filter(room_id=room.rematch_id, player__isnull=False).values_list("player_id", flat=True))
    sat = game_selectors.seats_in(loaded.match_id)
    return tuple(one.number for one in sat if one.player_id in again), new == Room.Status.WAITING


def _expected(room: Room, seats: list[Seat]) -> Expected | None:
    """Who was at the match before, may come back to the own seat there, and has not done so yet."""
    if room.follows_id is None:
        return None
    old = Room.objects.filter(rematch_id=room.pk, status=Room.Status.FINISHED).values("match_id", "expires_at").first()
    if old is None or old["match_id"] is None:
        return None
    stayed = [sat for sat in game_selectors.seats_in(old["match_id"]) if sat.player_id and not sat.forfeited]
    here = {seat.player_id: seat.number for seat in seats if seat.player_id is not None}
    taken = {seat.number for seat in seats}
    people = tuple(
        (sat.number, sat.name)
        for sat in stayed
        if sat.player_id not in here and sat.number not in taken and sat.player_id not in room.removed
    )
    told = frozenset(here[sat.player_id] for sat in stayed if sat.player_id in here)
    return Expected(people, told, old["expires_at"]) if people and told else None
