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
from games.engine.table import prompt_json
from rooms.models import Room, Seat

if TYPE_CHECKING:
    from rooms.table import Table

# As many as the history keeps folded: a snapshot holds its match, about 100 kB at seven rounds.
KEPT = 500
_lock = threading.Lock()
_newest: "OrderedDict[int, Snapshot]" = OrderedDict()


@dataclass(frozen=True, slots=True)
class Occupant:
    number: int
    name: str
    kind: str
    level: str
    connected: bool
    missed: int
    auto_play: bool
    forfeited: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One room at one version. Holds the whole match: only `update` may turn it into bytes."""

    room_id: int
    version: int
    code: str
    game: str
    visibility: str
    status: str
    starts_at: datetime | None
    deadline_at: datetime | None
    due_at: datetime | None
    is_open: bool
    turn_seconds: float | None
    host: int | None
    occupants: tuple[Occupant, ...]
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
        return {
            "code": self.code,
            "game": self.game,
            "visibility": self.visibility,
            "status": self.status,
            "version": self.version,
            "you": seat,
            "host": self.host,
            "seats": self.occupants,
            "starts_in_ms": _ms(self.starts_at) if self.status == Room.Status.STARTING else None,
            "turn_ms": round(self.turn_seconds * 1000) if self.turn_seconds is not None else None,
            "rounds": loaded.options.get("rounds") if loaded else None,
            "match": loaded.match_id if loaded else None,
            "commitment": _commitment(loaded, now_round),
            "next_commitment": _commitment(loaded, now_round + 1 if now_round else None),
            "outcome": self._outcome(),
        }

    def _outcome(self) -> dict[str, str] | None:
        reasons = {Room.Status.FINISHED.value: "finished", Room.Status.DESTROYED.value: "abandoned"}
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
        occupants = tuple(
            Occupant(
                number=seat.number,
                name=seat.name,
                kind="human" if seat.player_id is not None else "bot",
                level=seat.bot_level,
                connected=seat.player_id is None or seat.connected,  # type: ignore[attr-defined]
                missed=seat.missed,
                auto_play=seat.auto_play,
                forfeited=False,
            )
            for seat in seats
        )
    else:
        occupants = tuple(
            Occupant(
                number=sat.number,
                name=sat.name,
                kind="bot" if sat.bot_level else "human",
                level=sat.bot_level,
                connected=True,
                missed=0,
                auto_play=False,
                forfeited=sat.forfeited,
            )
            for sat in game_selectors.seats_in(loaded.match_id)
        )
    host = next((seat.number for seat in seats if seat.player_id == room.host_id and seat.player_id is not None), None)
    return Snapshot(
        room_id=room.pk,
        version=room.version,
        code=room.code,
        game=room.game,
        visibility=room.visibility,
        status=room.status,
        starts_at=room.starts_at,
        deadline_at=room.deadline_at,
        due_at=room.due_at,
        is_open=room.is_open,
        turn_seconds=room.turn_seconds,
        host=host,
        occupants=occupants,
        loaded=loaded,
    )
