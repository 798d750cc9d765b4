"""What race tests stand on: calls that begin together, what must hold after any of them, guards taken away."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import pytest
from django.db import connection, connections, transaction
from psycopg import sql

from games import history
from games.engine.domino_poker.state import Dealt, TilePlayed
from games.engine.errors import EngineError
from games.errors import GameError
from games.models import Match, MatchEvent, MatchSeat
from players.models import Player
from rooms import closing, hosting, playing, presence, seating
from rooms.errors import NoSuchRoom, RoomError
from rooms.models import Room, Seat
from rooms.table import Table
from tests.rooms import stage
from tests.support.services import Run, empty

# Sixteen players at once need a connection each, beside the test's own.
CONNECTIONS = 24
runs = pytest.mark.parametrize("runs", [5, pytest.param(200, marks=pytest.mark.soak)])


@contextmanager
def wide_pool() -> Iterator[None]:
    """Let every thread of a race have its own connection, however many a process of the site has."""
    pool = connections["default"].pool  # type: ignore[attr-defined]
    before = (pool.min_size, pool.max_size)
    pool.resize(1, CONNECTIONS)
    yield
    pool.resize(*before)


@contextmanager
def patient() -> Iterator[None]:
    """A connection that waits for locks until they come: on a busy machine the 2 s that the site gives them can pass
    for sixteen at once, which is a clean refusal but no outcome of the race."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '20s'; SET statement_timeout = '25s'")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout; RESET statement_timeout")


def crowd(count: int) -> list[Player]:
    """So many new guests."""
    names = [f"Guest {number} {secrets.token_hex(6)}" for number in range(count)]
    return Player.objects.bulk_create(
        Player(username=name.lower(), shown_name=name[:8], is_guest=True) for name in names
    )


def together(*calls: Callable[[], object], run: int = 0) -> list[object]:
    """Begin all calls in the same instant, each on a connection of its own; what each gave, or the refusal it got.

    From run to run the first is held back, or the others are, by up to 6 ms, so that each comes first sometimes.
    Anything but a refusal fails the test."""
    gate = threading.Barrier(len(calls))
    ahead = (run % 5 - 2) * 0.003

    def behind_the_gate(call: Callable[[], object], wait_seconds: float) -> Callable[[], object]:
        def go() -> object:
            with patient():
                gate.wait(10)
                time.sleep(max(0.0, wait_seconds))
                return call()

        return go

    results = stage.at_once([behind_the_gate(call, ahead if n == 0 else -ahead) for n, call in enumerate(calls)])
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, RoomError | EngineError | GameError):
            raise result
    return results


def code(result: object) -> str:
    """The refusal's code, or "done"."""
    return str(getattr(result, "code", "refused")) if isinstance(result, Exception) else "done"


def codes(results: Sequence[object]) -> list[str]:
    return [code(result) for result in results]


def ends_as(room: Room) -> tuple[str, int]:
    return stage.refreshed(room).status, Seat.objects.filter(room=room).count()


# -- what must hold ----------------------------------------------------------------------------------------------


def newest() -> int:
    """The number of the newest room: `sound` looks at those after it."""
    return Room.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def sound(since: int = 0) -> None:
    """What holds for every room and match at every moment, whatever was clicked; raises AssertionError."""
    players = list(Seat.objects.filter(player__isnull=False).values_list("player_id", flat=True))
    twice = [player for player, count in Counter(players).items() if count > 1]
    assert not twice, f"players {twice} sit at two tables"
    assert not Match.objects.exclude(pk__in=Room.objects.filter(match__isnull=False).values("match")).exists(), (
        "a match without a table"
    )
    for room in Room.objects.filter(pk__gt=since).order_by("pk"):
        seats = list(Seat.objects.filter(room=room).order_by("number"))
        humans = [seat for seat in seats if seat.player_id is not None]
        numbers = [seat.number for seat in seats]
        where = f"room {room.pk}, {room.status}"
        assert len(set(numbers)) == len(numbers) and set(numbers) <= set(range(4)), f"{where}: seats {numbers}"
        match room.status:
            case "waiting":
                assert room.match_id is None, f"{where}: has a match"
                assert room.host_id in {seat.player_id for seat in humans}, f"{where}: the host does not sit here"
                assert room.due_at == room.expires_at, f"{where}: nobody ends it"
            case "starting" | "playing":
                assert len(seats) == 4, f"{where}: {len(seats)} seats"
                assert room.host_id in {seat.player_id for seat in humans}, f"{where}: the host does not sit here"
                _plays_on(room, seats, where)
            case "finished":
                assert not seats and room.due_at == room.expires_at, f"{where}: seats or no end"
            case "destroyed":
                assert not seats and room.due_at is None, f"{where}: seats or a clock"
        if room.match_id is not None:
            status = Match.objects.get(pk=room.match_id).status
            right = {
                "starting": {"waiting"}, "playing": {"playing"}, "finished": {"finished"},
                "destroyed": {"finished", "abandoned"},
            }  # fmt: skip
            assert status in right[room.status], f"{where}: its match is {status}"
            _tiles_once(room.match_id, where)


def _plays_on(room: Room, seats: list[Seat], where: str) -> None:
    """Somebody will move the game on, and table and match agree on who sits where."""
    assert room.match_id is not None
    assert room.due_at is not None or (room.is_open and room.turn_seconds is None), f"{where}: nobody moves it on"
    for sat, seat in zip(MatchSeat.objects.filter(match_id=room.match_id).order_by("number"), seats, strict=True):
        assert sat.number == seat.number and sat.forfeited == seat.forfeited, f"{where}: seat {seat.number} differs"
        assert sat.player_id == seat.player_id or seat.forfeited, f"{where}: seat {seat.number} is another's"


def _tiles_once(match_id: int, where: str) -> None:
    numbers = list(MatchEvent.objects.filter(match_id=match_id).order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1)), f"{where}: events {numbers}"
    steps = Counter(MatchEvent.objects.filter(match_id=match_id).exclude(step="").values_list("step", flat=True))
    assert not [step for step, count in steps.items() if count > 1], f"{where}: a question answered twice"
    loaded = history.load(match_id)
    hands: list[set[Any]] = []
    for _number, event in loaded.events:
        if isinstance(event, Dealt):
            hands = [set(hand) for hand in event.hands]
            assert sum(map(len, event.hands)) == len(set().union(*hands)) == 28, f"{where}: not 28 tiles"
        elif isinstance(event, TilePlayed):
            hands[event.seat].remove(event.tile)  # KeyError: played twice, or from another hand
    if loaded.status == "playing":
        assert [set(hand) for hand in loaded.state.hands] == hands, f"{where}: hands and plays differ"


# -- the guards taken away ---------------------------------------------------------------------------------------


@contextmanager
def unlocked(parties: int) -> Iterator[None]:
    """Rooms without their lock, and the bad interleaving made sure: `parties` calls have read before one writes."""
    gate = threading.Barrier(parties)

    @contextmanager
    def open_door(room_id: int, *, skip_locked: bool = False) -> Iterator[Table]:
        with transaction.atomic(durable=True):
            room = Room.objects.filter(pk=room_id).first()
            if room is None:
                raise NoSuchRoom
            table = Table(room)
            with suppress(threading.BrokenBarrierError):
                gate.wait(1)
            yield table

    @contextmanager
    def open_doors(room_ids: Collection[int]) -> Iterator[dict[int, Table]]:
        (room_id,) = room_ids
        with open_door(room_id) as table:
            yield {room_id: table}

    with pytest.MonkeyPatch.context() as patch:
        for module in (seating, hosting, closing, playing, presence):
            patch.setattr(module, "locked", open_door)
        patch.setattr(seating, "locked_together", open_doors)
        yield


@contextmanager
def without_unique(run: Run, table: str, *columns: str) -> Iterator[None]:
    """This worker's database without the unique constraint on these columns; emptied and whole again at the end."""
    find = """
        SELECT c.conname, pg_get_constraintdef(c.oid) FROM pg_constraint c WHERE c.conrelid = %s::regclass
        AND c.contype = 'u' AND ARRAY(SELECT a.attname::text FROM pg_attribute a
            WHERE a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey) ORDER BY 1) = %s"""
    with psycopg.connect(run.services.postgres.url("owner", run.database), autocommit=True) as owner:
        row = owner.execute(find, [table, sorted(columns)]).fetchone()
        assert row is not None, f"{table} has no unique constraint on {columns}"
        name, definition = sql.Identifier(row[0]), sql.SQL(row[1])
        owner.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(sql.Identifier(table), name))
        try:
            yield
        finally:
            empty(run.services, run.database)
            owner.execute(
                sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}").format(sql.Identifier(table), name, definition)
            )
