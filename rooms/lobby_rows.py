"""The rows of the lobby: which public tables wait, what a visitor may know of them, and their markup."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.template import loader
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from games.engine import registry
from rooms import clock, money
from rooms.models import ARRIVAL_SECONDS, SEATS, Connection, Pulse, Room, Seat

# Markup kept for each room, version and language; it is the same for every visitor.
KEPT = 2000
# A process that has not pulsed for so long serves nobody.
PULSE_SECONDS = 5
_lock = threading.Lock()
_markup: "OrderedDict[tuple[int, int, bool, str], str]" = OrderedDict()
# Where the age stands in kept markup: no text of ours or of a visitor holds this symbol.
AGE = "\ue000"


@dataclass(frozen=True, slots=True)
class Mark:
    """One seat of a row: `kind` is human, bot or open."""

    number: int
    kind: str
    host: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One public table that waits, as everybody may see it. `away`: none of its people is connected; `unsettled`:
    not yet, but it is too early to call them away."""

    room_id: int
    version: int
    game: str
    host: str
    marks: tuple[Mark, ...]
    rounds: int | None
    created_at: datetime
    humans: int
    away: bool
    unsettled: bool
    fee: int = 0

    @property
    def title(self) -> str:
        return registry.title(self.game)

    @property
    def taken(self) -> int:
        return sum(mark.kind != "open" for mark in self.marks)

    @property
    def full(self) -> bool:
        return self.taken == len(self.marks)

    @property
    def cost(self) -> str:
        """What the filter asks: free or paid."""
        return "paid" if self.fee else "free"

    @property
    def stake(self) -> money.Stake | None:
        """The pot and its shares with one more who pays."""
        offered = money.stakes(self.fee, self.humans, self.taken - self.humans) if self.fee else ()
        return offered[0] if offered else None

    @property
    def rank(self) -> tuple[int, int, int]:
        """The place in the list: where one can sit down, then full tables, then those whose people are all away; among
        these most people first, then oldest."""
        return (2 if self.away else int(self.full), -self.humans, self.room_id)

    def age_seconds(self, now: datetime) -> int:
        return max(int((now - self.created_at).total_seconds()), 0)

    def html(self, now: datetime, *, hidden: bool = False, own: bool = False) -> str:
        """The row's markup in the language of the moment, with its age put in; `own` as whoever sits there sees it."""
        seconds = self.age_seconds(now)
        html = _drawn(self, own=True) if own else _kept(self)
        html = html.replace(f'"{AGE}"', f'"{seconds}"').replace(AGE, age_text(seconds))
        return html.replace("<li ", "<li hidden ", 1) if hidden else html


def age_text(seconds: int) -> str:
    """How long a table has been waiting, in a word or two."""
    if seconds < 60:
        return _("new")
    return _("%(minutes)d min") % {"minutes": seconds // 60}


def _kept(row: Row) -> str:
    key = (row.room_id, row.version, row.away, get_language() or "")
    with _lock:
        known = _markup.get(key)
    if known is None:
        known = _drawn(row)
        with _lock:
            _markup[key] = known
            while len(_markup) > KEPT:
                _markup.popitem(last=False)
    return known


def _drawn(row: Row, *, own: bool = False) -> str:
    return loader.get_template("lobby/_row.html").render({"row": row, "age": AGE, "own": own}).strip()


def versions() -> dict[int, int]:
    """Every public table that waits, with its version: the one question that is asked each second."""
    return dict(_waiting().values_list("pk", "version"))


def read(room_ids: Iterable[int] | None = None) -> list[Row]:
    """The rows of these tables, of all without a list, in their order; those that no longer wait are left out."""
    rooms = _waiting() if room_ids is None else _waiting().filter(pk__in=list(room_ids))
    # The rooms are read before the seats: what is committed in between has a newer version and is read again.
    told = ("pk", "version", "game", "host_id", "options", "created_at", "fee")
    rows = {room["pk"]: room for room in rooms.values(*told)}
    seats: dict[int, list[Seat]] = {}
    live = Connection.objects.filter(seat=OuterRef("pk"))
    for seat in Seat.objects.filter(room_id__in=list(rows)).annotate(connected=Exists(live)):
        seats.setdefault(seat.room_id, []).append(seat)
    return sorted((_row(room, seats.get(number, [])) for number, room in rows.items()), key=lambda row: row.rank)


def _waiting() -> "QuerySet[Room]":
    # A table whose time is over is gone from the lobby, however late it is swept.
    return Room.objects.filter(
        status=Room.Status.WAITING, visibility=Room.Visibility.PUBLIC, expires_at__gt=clock.now()
    )


def _row(room: Mapping[str, Any], seats: list[Seat]) -> Row:
    taken = {seat.number: seat for seat in seats}
    people = [seat for seat in seats if seat.player_id is not None]
    host = next((seat for seat in people if seat.player_id == room["host_id"]), None)
    empty = not any(seat.connected for seat in people)  # type: ignore[attr-defined]
    young = clock.now() - room["created_at"] < timedelta(seconds=ARRIVAL_SECONDS)
    marks = []
    for number in range(SEATS):
        seat = taken.get(number)
        kind = "open" if seat is None else "human" if seat.player_id is not None else "bot"
        marks.append(Mark(number, kind, seat is not None and seat is host))
    return Row(
        room_id=room["pk"],
        version=room["version"],
        game=room["game"],
        host=host.name if host else "",
        marks=tuple(marks),
        rounds=room["options"].get("rounds"),
        created_at=room["created_at"],
        humans=len(people),
        away=empty and not young,
        unsettled=empty and young,
        fee=room["fee"],
    )


@dataclass(frozen=True, slots=True)
class Online:
    """How many people are here, and how many tables are in use."""

    players: int
    tables: int


def online(own_viewers: int = 0, own_process: str = "") -> Online:
    """People at tables and in lobbies, and tables in use, over all processes.

    Lobby viewers of this process are given, those of others are read from their pulses."""
    since = clock.now() - timedelta(seconds=PULSE_SECONDS)
    elsewhere = Pulse.objects.filter(at__gt=since).exclude(process=own_process).aggregate(n=Sum("viewers"))["n"] or 0
    seated = Connection.objects.filter(seat__player__isnull=False).values("seat__player").distinct().count()
    people = Seat.objects.filter(room=OuterRef("pk"), player__isnull=False)
    in_use = Q(status__in=[Room.Status.STARTING, Room.Status.PLAYING]) | Q(Exists(people), status=Room.Status.WAITING)
    return Online(players=seated + elsewhere + own_viewers, tables=Room.objects.filter(in_use).count())
