"""Questions about rooms that change nothing."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib.sessions.models import Session
from django.urls import reverse

from games import history
from games import selectors as game_selectors
from players import selectors as player_selectors
from rooms import clock, presence
from rooms.models import Room, Seat


class Identity(NamedTuple):
    """Who opened a socket, by which session, and the stamp of the account at that time."""

    player_id: int
    session_key: str
    stamp: str


def versions(room_ids: list[int]) -> dict[int, int]:
    """The newest version of each of these rooms."""
    if not room_ids:
        return {}
    return dict(Room.objects.filter(pk__in=room_ids).values_list("pk", "version"))


def ended_identities(seen: set[Identity]) -> tuple[set[Identity], set[int]]:
    """Those of these identities that are over: signed out, with another password by now, or of a player who may no
    longer act; and the players of the last kind."""
    if not seen:
        return set(), set()
    stamps = player_selectors.stamps({one.player_id for one in seen})
    alive = set(
        Session.objects.filter(
            session_key__in={one.session_key for one in seen}, expire_date__gt=clock.now()
        ).values_list("session_key", flat=True)
    )
    ended = {one for one in seen if one.session_key not in alive or stamps.get(one.player_id) != one.stamp}
    return ended, {one.player_id for one in seen} - set(stamps)


def seated_without_right() -> list[int]:
    """Players who sit somewhere and may no longer act."""
    seated = set(Seat.objects.filter(player__isnull=False).values_list("player_id", flat=True))
    return sorted(seated - player_selectors.active(seated))


def running_table(player_id: int | None) -> dict[str, object] | None:
    """The table where the player sits now, for the offer to go back: room (its number), code, game, status, visibility,
    fee, round, rounds, and whether the player is its host."""
    if player_id is None:
        return None
    seat = Seat.objects.filter(player_id=player_id).select_related("room").first()
    if seat is None:
        return None
    room = seat.room
    loaded = history.load(room.match_id) if room.match_id is not None else None
    return {
        "room": room.pk,
        "code": room.code,
        "game": room.game,
        "status": room.status,
        "visibility": room.visibility,
        "fee": room.fee,
        "round": (game_selectors.round_now(loaded) if loaded else None) or 1,
        "rounds": room.options.get("rounds"),
        "is_host": room.host_id == player_id,
    }


def room_by_code(code: str) -> Room | None:
    return Room.objects.filter(code=code).first()


@dataclass(frozen=True, slots=True)
class RoomPage:
    """A room as a statement speaks of it: its price, its match, and where this player may look at it (or nowhere)."""

    fee: int
    match_id: int | None
    path: str


def pages_of(room_ids: Collection[int], player_id: int) -> dict[int, RoomPage]:
    """These rooms, each with the page of it that this player may open now."""
    own = Seat.objects.filter(player_id=player_id).values_list("room_id", flat=True).first()
    found = Room.objects.filter(pk__in=room_ids).only("code", "fee", "match_id", "visibility", "status", "watchable")
    return {room.pk: RoomPage(room.fee, room.match_id, _path(room, own)) for room in found}


def _path(room: Room, own: int | None) -> str:
    if room.pk == own:
        return reverse("table", args=[room.code])
    looks = presence.may_look(room.visibility, room.status, room.watchable)
    return reverse("room", args=[room.pk]) if looks and room.visibility == Room.Visibility.PUBLIC else ""


def is_public(room_id: int) -> bool:
    """Whether there is, or was, a public room of this number."""
    return Room.objects.filter(pk=room_id, visibility=Room.Visibility.PUBLIC).exists()


def public_page(room_id: int) -> str:
    """Where a public room may be looked at; "" for others."""
    return reverse("room", args=[room_id]) if is_public(room_id) else ""


def is_paid(room_id: int) -> bool:
    """Whether this is a public room that waits and where a seat costs coins."""
    waiting = Room.objects.filter(pk=room_id, status=Room.Status.WAITING, visibility=Room.Visibility.PUBLIC)
    return waiting.filter(fee__gt=0).exists()


def code_of(room_id: int) -> str | None:
    return Room.objects.filter(pk=room_id).values_list("code", flat=True).first()
