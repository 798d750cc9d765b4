"""The only reader and writer of the event log: loading folds it, appending moves the match's version on."""

import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import connection

from games.engine import registry, table
from games.engine.deals import Deal, ScriptedDeal, SecretDeal
from games.engine.table import Game
from games.engine.tiles import tile
from games.engine.wire import canonical
from games.errors import Conflict, NoSuchMatch
from games.models import Match, MatchEvent

__all__ = [
    "Conflict",
    "Loaded",
    "Row",
    "answer_to",
    "append",
    "body_of",
    "deal_of",
    "forget",
    "load",
    "load_row",
    "remember",
    "rows",
    "used",
]

# Matches whose newest state a process keeps; a match of seven rounds takes about 100 kB.
KEPT = 500
_lock = threading.Lock()
_newest: "OrderedDict[int, Loaded]" = OrderedDict()

_NEWER = """
SELECT m.version, m.status, m.created_at, e.number, e.tag, e.body
FROM games_match m LEFT JOIN games_matchevent e ON e.match_id = m.id AND e.number > %s
WHERE m.id = %s ORDER BY e.number"""

# One round trip: the match moves on only from the version that was read, and only then are the events written.
_APPEND = """
WITH moved AS (
    UPDATE games_match SET version = version + %(count)s, status = 'playing'
    WHERE id = %(match)s AND version = %(expected)s AND status IN ('waiting', 'playing') RETURNING id
)
INSERT INTO games_matchevent (match_id, number, tag, body, at, "by", seat, step, answer, action_id)
SELECT moved.id, %(expected)s + line.number, line.tag, line.body, COALESCE(%(at)s::timestamptz, clock_timestamp()),
    CASE line.number WHEN 1 THEN %(by)s ELSE 'table' END, CASE line.number WHEN 1 THEN %(seat)s::smallint END,
    CASE line.number WHEN 1 THEN %(step)s ELSE '' END, CASE line.number WHEN 1 THEN %(answer)s ELSE '' END,
    CASE line.number WHEN 1 THEN %(action)s::varchar END
FROM moved, unnest(%(tags)s::text[], %(bodies)s::text[]) WITH ORDINALITY AS line (tag, body, number)"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A match at one version, folded. Holds all hands and the secret; its repr shows none of them."""

    match_id: int
    key: str
    options: dict[str, Any]
    game: Game[Any, Any, Any] = field(repr=False)
    deal: Deal = field(repr=False)
    state: Any = field(repr=False)
    events: tuple[tuple[int, Any], ...] = field(repr=False)
    version: int
    status: str
    commitments: tuple[str, ...] = field(repr=False)
    secret: bytes = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the log as it is stored."""

    number: int
    tag: str
    body: str = field(repr=False)
    at: datetime
    by: str
    seat: int | None
    step: str
    answer: str


@lru_cache(maxsize=4)
def _forced_decks(text: str) -> ScriptedDeal:
    return ScriptedDeal(tuple(tuple(tile(one) for one in deck) for deck in json.loads(text)))


def deal_of(secret: bytes, key: str, match_id: int) -> Deal:
    """The deals of a match: from its secret, or under test settings from FORCED_DEAL."""
    if settings.FORCED_DEAL:
        return _forced_decks(settings.FORCED_DEAL)
    return SecretDeal(secret, key, match_id)


def load(match_id: int, version: int | None = None) -> Loaded:
    """The match folded up to its newest event. Raises NoSuchMatch.

    With `version`, what this process keeps is good enough when it is that new, and the database is not asked."""
    with _lock:
        known = _newest.get(match_id)
        if known is not None:
            _newest.move_to_end(match_id)
    if known is not None and version is not None and known.version >= version:
        return known
    loaded = _go_on(known) if known is not None else None
    if loaded is None:
        loaded = _go_on(_from_the_beginning(match_id))
    if loaded is None:
        raise NoSuchMatch(match_id)
    if loaded is not known:
        remember(loaded)
    return loaded


def load_row(match: Match) -> Loaded:
    """A match just read or made, before its events are folded."""
    game = registry.build(match.game, match.options)
    secret = bytes(match.secret)
    return Loaded(
        match_id=match.pk,
        key=match.game,
        options=match.options,
        game=game,
        deal=deal_of(secret, match.game, match.pk),
        state=game.open(),
        events=(),
        version=0,
        status=match.status,
        commitments=tuple(match.commitments),
        secret=secret,
        created_at=match.created_at,
    )


def _from_the_beginning(match_id: int) -> Loaded:
    match = Match.objects.filter(pk=match_id).first()
    if match is None:
        raise NoSuchMatch(match_id)
    return load_row(match)


def _go_on(known: Loaded) -> Loaded | None:
    """What is known, with the newer events folded in; None when this is another match than the one known (a database
    that was put back to an older state)."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWER, [known.version, known.match_id])
        found = cursor.fetchall()
    if not found or found[0][2] != known.created_at or found[0][0] < known.version:
        return None
    version, status, _created_at = found[0][:3]
    events = tuple(
        (number, known.game.event_from(tag, json.loads(body)))
        for _v, _s, _c, number, tag, body in found
        if number is not None
    )
    if not events and status == known.status:
        return known
    return replace(
        known,
        state=table.fold(known.game, [event for _number, event in events], known.state),
        events=known.events + events,
        version=version,
        status=status,
    )


def remember(loaded: Loaded) -> None:
    """Keep this as the newest known state of its match. Does nothing inside a transaction, which may be undone."""
    if connection.in_atomic_block:
        return
    with _lock:
        known = _newest.get(loaded.match_id)
        if known is None or known.created_at != loaded.created_at or known.version <= loaded.version:
            _newest[loaded.match_id] = loaded
            _newest.move_to_end(loaded.match_id)
        while len(_newest) > KEPT:
            _newest.popitem(last=False)


def forget() -> None:
    """Drop all that this process keeps."""
    with _lock:
        _newest.clear()


def append(
    loaded: Loaded,
    events: Sequence[Any],
    *,
    answer: str = "",
    step: str = "",
    by: str = "table",
    seat: int | None = None,
    action_id: str | None = None,
    at: datetime | None = None,
) -> None:
    """Write the events that follow `loaded`; the answer's fields belong to the first of them, `at` is the database's
    time when None. Raises Conflict when the match is no longer at that version, or has ended."""
    values = {
        "count": len(events),
        "match": loaded.match_id,
        "expected": loaded.version,
        "at": at,
        "by": by,
        "seat": seat,
        "step": step,
        "answer": answer,
        "action": action_id,
        "tags": [type(event).__name__ for event in events],
        "bodies": [canonical(loaded.game.event_body(event)) for event in events],
    }
    with connection.cursor() as cursor:
        cursor.execute(_APPEND, values)
        if cursor.rowcount != len(events):
            raise Conflict(loaded.match_id, loaded.version)


def used(match_id: int, seat: int, action_id: str) -> tuple[str, str] | None:
    """The step and the answer that came under this action id; None when none did."""
    return (
        MatchEvent.objects.filter(match_id=match_id, seat=seat, action_id=action_id)
        .values_list("step", "answer")
        .first()
    )


def rows(match_id: int, tags: Sequence[str] = ()) -> Iterator[Row]:
    """The log as it is stored, in order; with `tags` only those events."""
    names = ("number", "tag", "body", "at", "by", "seat", "step", "answer")
    found = MatchEvent.objects.filter(match_id=match_id)
    if tags:
        found = found.filter(tag__in=tags)
    return (Row(*values) for values in found.order_by("number").values_list(*names))


def answer_to(match_id: int, seat: int, step: str) -> tuple[str, datetime] | None:
    """Who answered this question of the seat and when; None when nobody has."""
    return MatchEvent.objects.filter(match_id=match_id, seat=seat, step=step).values_list("by", "at").first()


def body_of(row: Row) -> dict[str, Any]:
    """The stored body, read. Raises ValueError when it is not written in the log's own way (it was tampered with)."""
    body = json.loads(row.body)
    if not isinstance(body, dict) or canonical(body) != row.body:
        raise ValueError(f"event {row.number} is not written as the log writes")
    return body
