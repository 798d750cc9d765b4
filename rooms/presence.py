"""Who is at the table and whether the service was: connections with a lease, and the pulse of our processes."""

import hmac
import os
import socket
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection, transaction
from django.db.models import F, Max, Q
from django.http import HttpRequest
from django.utils.translation import gettext as _

from games import selectors as game_selectors
from players import services as players
from players.selectors import Player, player_of, stamp_of
from rooms import clock, lobby, seating
from rooms.errors import NoSuchRoom, RoomFull
from rooms.models import Connection, Pulse, Room, Seat, Watcher
from rooms.retries import retried
from rooms.table import grace, in_order, locked, seconds

PROCESS = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
LEASE_HEARTBEATS = 3


@dataclass(frozen=True, slots=True)
class Membership:
    """What a socket may do, resolved once at its handshake. `sitting_id` is None when only the result is left, `seat`
    when it only looks on; `player_id` is 0 for a visitor without any identity."""

    room_id: int
    player_id: int
    seat: int | None
    sitting_id: int | None
    holder: int = 0
    stamp: str = ""  # of the player's account (`players.selectors.stamp_of`)


def player_in_session(session_key: str | None) -> Player | None:
    """The signed-in, active player of a session cookie."""
    if not session_key or not (session_key.isascii() and session_key.isalnum()):
        return None
    request = HttpRequest()
    request.session = SessionStore(session_key)
    return player_of(get_user(request))


def membership(player: Player, code: str, token: str) -> Membership:
    """The player's place at a table: by the seat's token while it is played, by the record once it is over, for those
    who stayed to the end. Raises NoSuchRoom for everybody else, whatever the reason."""
    room = Room.objects.filter(code=code).first()
    if room is None:
        raise NoSuchRoom
    seat = Seat.objects.filter(room=room, player=player).first()
    if seat is not None:
        if not hmac.compare_digest(seat.token_hash, seating.token_hash(token)):
            raise NoSuchRoom
        return Membership(room.pk, player.pk, seat.number, seat.pk, seat.holder, stamp_of(player))
    if room.status == Room.Status.FINISHED and room.match_id is not None:
        number = game_selectors.seat_in(room.match_id, player.pk)
        if number is not None and not game_selectors.seats_in(room.match_id)[number].forfeited:
            return Membership(room.pk, player.pk, number, None, stamp=stamp_of(player))
    raise NoSuchRoom


def onlooker(player: Player | None, *, room_id: int | None = None, watch_key: str | None = None) -> Membership:
    """A visitor's place before a room: a public one by its number, a private one by the key that its occupants pass
    on. A public room that waits may always be looked at, the rest only while watching is allowed.

    Raises NoSuchRoom for everything else, whatever the reason."""
    if watch_key is not None:
        room = Room.objects.filter(watch_key=watch_key, visibility=Room.Visibility.PRIVATE).first()
    else:
        room = Room.objects.filter(pk=room_id or 0, visibility=Room.Visibility.PUBLIC).first()
    if room is None or not may_look(room.visibility, room.status, room.watchable):
        raise NoSuchRoom
    if player is None:
        return Membership(room.pk, 0, None, None)
    return Membership(room.pk, player.pk, None, None, stamp=stamp_of(player))


def may_look(visibility: str, status: str, watchable: bool) -> bool:
    """Whether somebody who doesn't sit there may see this room."""
    if status == Room.Status.DESTROYED:
        return False
    return watchable or (visibility == Room.Visibility.PUBLIC and status == Room.Status.WAITING)


@retried
def connect(member: Membership, channel: str) -> None:
    """A socket of this sitting is live. Safe to repeat; nothing when the sitting has ended."""
    if member.sitting_id is None:
        return
    with locked(member.room_id) as table:
        seat = next((s for s in table.seats if s.pk == member.sitting_id), None)
        if seat is None:
            return
        now = clock.now()
        players.touch(member.player_id)
        Connection.objects.update_or_create(channel=channel, defaults={"seat": seat, "seen_at": now})
        if not seat.connected or table.room.away_since is not None:  # type: ignore[attr-defined]
            seat.connected = True  # type: ignore[attr-defined]
            table.mark_presence(now)
            table.save()


@retried
def watch(member: Membership, channel: str, address: str) -> None:
    """A socket looks on, from this address (`limit_key`); safe to repeat. Raises RoomFull when WATCHERS_A_ROOM do
    already, or WATCHERS_AN_ADDRESS from there: one visitor must not take the places of all others."""
    with locked(member.room_id):
        others = Watcher.objects.filter(room_id=member.room_id).exclude(channel=channel)
        if others.count() >= settings.WATCHERS_A_ROOM:
            raise RoomFull(_("Too many people are watching this table. Come back later."))
        if others.filter(address=address).count() >= settings.WATCHERS_AN_ADDRESS:
            raise RoomFull(_("Too many watch this table from your network. Close another page of it first."))
        now = {"room_id": member.room_id, "address": address, "seen_at": clock.now()}
        Watcher.objects.update_or_create(channel=channel, defaults=now)


def unwatch(channel: str) -> None:
    Watcher.objects.filter(channel=channel).delete()


@retried
def disconnect(room_id: int, channels: list[str]) -> None:
    """These sockets are gone. Their seats stay; the last human gone starts the grace."""
    try:
        with locked(room_id) as table:
            before = {seat.pk: seat.connected for seat in table.seats}  # type: ignore[attr-defined]
            in_order(Connection.objects.filter(channel__in=channels)).delete()
            live = set(Connection.objects.filter(seat__room_id=room_id).values_list("seat_id", flat=True))
            for seat in table.seats:
                seat.connected = seat.pk in live  # type: ignore[attr-defined]
            if any(before[seat.pk] != seat.connected for seat in table.seats):  # type: ignore[attr-defined]
                table.mark_presence(clock.now())
                table.save()
    except NoSuchRoom:
        return


# Locked in the order of their numbers, as by `in_order`.
_RENEW = """
UPDATE {table} SET seen_at = clock_timestamp()
WHERE id IN (SELECT id FROM {table} WHERE channel = ANY(%s) ORDER BY id FOR UPDATE) RETURNING channel"""


@retried
def touch(channels: list[str]) -> set[str]:
    """Renew the leases of sockets that pinged; those in the answer still have one."""
    if not channels:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_RENEW.format(table="rooms_connection"), [channels])
        kept = {channel for (channel,) in cursor.fetchall()}
        cursor.execute(_RENEW.format(table="rooms_watcher"), [channels])
        return kept | {channel for (channel,) in cursor.fetchall()}


def drop_stale(limit: int = 200) -> int:
    """End the leases of sockets that no process has renewed (their process was killed). Returns how many."""
    mend_outage()
    oldest = clock.now() - seconds(settings.HEARTBEAT_SECONDS * LEASE_HEARTBEATS + 2)
    stale: dict[int, list[str]] = {}
    rows = Connection.objects.filter(seen_at__lt=oldest).values_list("seat__room_id", "channel")[:limit]
    for room_id, channel in rows:
        stale.setdefault(room_id, []).append(channel)
    for room_id, channels in stale.items():
        disconnect(room_id, channels)
    in_order(Watcher.objects.filter(seen_at__lt=oldest)).delete()
    return sum(map(len, stale.values()))


def pulse() -> None:
    """Say that this process serves, once a second; after a silence of all of them, give the lost time back.

    Only processes that serve sockets pulse: while they are all away nobody can answer, whatever the worker does."""
    clock.sample()
    mend_outage()
    Pulse.objects.update_or_create(process=PROCESS, defaults={"at": clock.now(), "viewers": lobby.viewers()})


@retried
def mend_outage() -> timedelta | None:
    """When no process has pulsed for more than OUTAGE_SECONDS, the service was down: open questions get a fresh
    window, pauses and grace are prolonged by the gap, leases are renewed. Returns the gap that was mended."""
    newest = Pulse.objects.aggregate(at=Max("at"))["at"]
    if newest is None or clock.now() - newest <= seconds(settings.OUTAGE_SECONDS):
        return None
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('rooms.pulse'))")
        # Another process may have mended it while this one waited for the lock.
        newest = Pulse.objects.aggregate(at=Max("at"))["at"]
        now = clock.now()
        gap: timedelta = now - newest
        if gap <= seconds(settings.OUTAGE_SECONDS):
            return None
        _give_back(newest, now, gap)
        Pulse.objects.filter(at__lt=now - timedelta(days=1)).delete()
        Pulse.objects.update_or_create(process=PROCESS, defaults={"at": now})
    return gap


def _give_back(since: datetime, now: datetime, gap: timedelta) -> None:
    # Rooms in the order of their numbers too, as by everybody who locks two.
    live = Q(status=Room.Status.PLAYING) & (Q(deadline_at__isnull=False) | Q(away_since__isnull=False))
    waits = live | Q(status=Room.Status.STARTING) | Q(away_since__isnull=False)
    held = list(Room.objects.filter(waits).select_for_update().order_by("pk").values_list("pk", flat=True))
    rooms = Room.objects.filter(pk__in=held)
    # A question whose time had run out before the silence is left as it was.
    rooms.filter(status=Room.Status.PLAYING, deadline_at__gte=since, turn_seconds__isnull=False).update(
        opened_at=now, deadline_at=now + F("turn_seconds") * timedelta(seconds=1), version=F("version") + 1
    )
    rooms.filter(status=Room.Status.STARTING).update(
        starts_at=F("starts_at") + gap, due_at=F("starts_at") + gap, version=F("version") + 1
    )
    rooms.filter(away_since__isnull=False).update(away_since=F("away_since") + gap)
    in_order(Connection.objects.all()).update(seen_at=now)
    in_order(Watcher.objects.all()).update(seen_at=now)
    # Whatever was due is looked at again with the new times.
    for room in rooms.filter(live):
        times = [
            t
            for t in (
                room.deadline_at and room.deadline_at + seconds(settings.TIMEOUT_LEEWAY_SECONDS),
                None if room.is_open else room.opened_at,
            )
            if t is not None
        ]
        if room.away_since is not None:
            times.append(room.away_since + grace(room))
        Room.objects.filter(pk=room.pk).update(due_at=min(times))
