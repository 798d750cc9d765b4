"""Taking seats: how a table comes to be, and who sits at it."""

import contextlib
import hashlib
import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from games import services as games
from games.services import SeatSpec
from players.selectors import Player
from rooms import clock
from rooms.codes import new_code
from rooms.errors import AlreadySeated, NoSuchRoom, TooMany
from rooms.models import Room, Seat
from rooms.table import Table, seconds


@dataclass(frozen=True, slots=True)
class Sitting:
    """A seat just taken: where, and the secret that the seat's cookie carries (256 bits)."""

    code: str
    room_id: int
    token: str


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def check_pace(player: Player) -> None:
    """At most ROOMS_IN_TEN_MINUTES new tables an identity. Raises TooMany. Without the cache it lets pass: a solo
    table costs nobody anything, and Valkey being away must not stop play."""
    try:
        made = cache.get(f"rooms-made:{player.pk}", 0)
    except Exception:  # noqa: BLE001  the cache's errors have no common base
        return
    if made >= settings.ROOMS_IN_TEN_MINUTES:
        raise TooMany


def _count_pace(player: Player) -> None:
    key = f"rooms-made:{player.pk}"
    with contextlib.suppress(Exception):
        cache.add(key, 0, 600)
        cache.incr(key)


def new_token(player: Player, code: str) -> str:
    """A new secret for the seat that this player's own session holds; the one before is void. Raises NoSuchRoom.

    For a browser that lost the seat's cookie: the session alone shows who it is."""
    token = secrets.token_urlsafe(32)
    if not Seat.objects.filter(room__code=code, player=player).update(token_hash=token_hash(token)):
        raise NoSuchRoom
    return token


def open_solo(player: Player, options: dict[str, Any], bot_level: str, *, clocked: bool) -> Sitting:
    """A table of one human and three bots that begins after a short countdown, in one transaction.

    Raises AlreadySeated (the database allows one seat a player), TooMany, and BadOptions from the engine."""
    check_pace(player)
    bots = [_("West"), _("North"), _("East")]
    specs = [SeatSpec(player.pk, player.shown_name), *(SeatSpec(None, name, bot_level) for name in bots)]
    token = secrets.token_urlsafe(32)
    now = clock.now()
    try:
        with transaction.atomic(durable=True):
            room = Room.objects.create(
                code=new_code(),
                game="domino_poker",
                visibility=Room.Visibility.SOLO,
                turn_seconds=settings.TURN_SECONDS if clocked else None,
                options=options,
                host=player,
                created_at=now,
                expires_at=now + seconds(settings.ROOM_TTL_SECONDS),
            )
            Seat.objects.bulk_create(
                Seat(
                    room=room,
                    number=number,
                    player_id=spec.player_id,
                    name=spec.name,
                    bot_level=spec.bot_level,
                    token_hash=token_hash(token) if spec.player_id else "",
                )
                for number, spec in enumerate(specs)
            )
            loaded = games.open_match(room.game, options, specs)
            room.match_id = loaded.match_id
            room.status = Room.Status.STARTING
            room.starts_at = now + seconds(settings.SOLO_COUNTDOWN_SECONDS)
            table = Table(room)
            table.mark_presence(now)
            table.save()
    except IntegrityError as error:
        seated = Seat.objects.filter(player=player).select_related("room").first()
        if seated is None:
            raise
        raise AlreadySeated(seated.room.code) from error
    _count_pace(player)
    return Sitting(room.code, room.pk, token)
