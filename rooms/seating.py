"""Taking seats: how a table comes to be, who sits at it, and the ways in."""

import contextlib
import hashlib
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext as _

from games import selectors as game_selectors
from games import services as games
from games.engine import registry
from games.services import SeatSpec
from players import pace
from players.names import keys
from players.selectors import Player
from rooms import clock, closing, limits, settlement
from rooms.codes import new_code, normalise
from rooms.errors import (
    AlreadySeated,
    FeeToAgree,
    GuestsCannotPay,
    KeptOut,
    NoOpenSeat,
    NoSuchRoom,
    NoSuchSeat,
    Removed,
    RoomFull,
    SeatTaken,
    Started,
    TooMany,
)
from rooms.models import ARRIVAL_SECONDS, SEATS, Connection, Room, Seat
from rooms.retries import retried
from rooms.table import Table, locked, locked_together, seconds

GAME = "domino_poker"
DEFAULT_ROUNDS = 7  # the rules'
ONE_TABLE = "rooms_seat_player_id_key"  # the database's name for "one seat a player"
QUICK_TRIES = 5  # rooms that quick play looks at before it opens its own
# Every refused code takes this long, so that the time does not tell why it was refused.
REFUSED_CODE_SECONDS = 0.15


@dataclass(frozen=True, slots=True)
class Sitting:
    """A seat just taken: where, the secret that the seat's cookie carries (256 bits), and the room that was left for
    it."""

    code: str
    room_id: int
    token: str
    left: int | None = None


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _check_pace(player: Player) -> None:
    """At most ROOMS_IN_TEN_MINUTES new tables an identity. Raises TooMany. Without the cache it lets pass: a table
    costs nobody anything, and Valkey being away must not stop play."""
    if pace.counted(f"rooms-made:{player.pk}") >= settings.ROOMS_IN_TEN_MINUTES:
        raise TooMany


def _check_paid_pace(player: Player) -> None:
    """At most PAID_SEATS_IN_TEN_MINUTES seats with a fee a player: sitting and leaving fills the ledger. Raises
    TooMany."""
    if pace.counted(f"paid-seats:{player.pk}") >= settings.PAID_SEATS_IN_TEN_MINUTES:
        raise TooMany


# Both are counted after the commit: what was undone, refused or run anew is not counted.
def _count_pace(player: Player) -> None:
    pace.count(f"rooms-made:{player.pk}", 600)


def _count_paid_pace(player: Player) -> None:
    pace.count(f"paid-seats:{player.pk}", 600)


@retried
def new_token(player: Player, code: str) -> str:
    """A new secret for the seat that this player's own session holds; the one before is void. Raises NoSuchRoom
    and KeptOut.

    For a browser that lost the seat's cookie: the session alone shows who it is. A registered player may come from
    another device; that takes the seat over, and the sockets of the device before end."""
    token = secrets.token_urlsafe(32)
    with locked(_room_id(code)) as table:
        seat = table.seat_of(player.pk)
        table.require_active(player.pk)
        seat.token_hash = token_hash(token)
        if not player.is_guest:
            seat.holder += 1
        seat.save(update_fields=["token_hash", "holder"])
        table.save()
    return token


def holds(player: Player, code: str, token: str) -> bool:
    """Whether this token is the one of the player's seat at that table."""
    seat = Seat.objects.filter(room__code=code, player=player).first()
    return seat is not None and secrets.compare_digest(seat.token_hash, token_hash(token))


# -- opening a table ---------------------------------------------------------------------------------------------


@retried
def open_solo(player: Player, options: dict[str, Any], bot_level: str, *, clocked: bool, give_up: str = "") -> Sitting:
    """A table of one human and three bots that begins after a short countdown, in one transaction.

    Raises AlreadySeated (the database allows one seat a player), NotAgreed, TooMany, KeptOut, and BadOptions from the
    engine."""
    _check_pace(player)
    with _seating(player, give_up) as (_tables, left):
        now = clock.now()
        table = _new_table(player, Room.Visibility.SOLO, options, settings.TURN_SECONDS if clocked else None)
        room = table.room
        token = _take(table, player, 0, left)
        for number, name in enumerate((_("West"), _("North"), _("East")), 1):
            table.add(Seat(number=number, name=name, bot_level=bot_level))
        specs = [SeatSpec(seat.player_id, seat.name, seat.bot_level) for seat in table.seats]
        room.match_id = games.open_match(room.game, options, specs).match_id
        room.status = Room.Status.STARTING
        room.starts_at = now + seconds(settings.SOLO_COUNTDOWN_SECONDS)
        table.mark_presence(now)
        table.save()
    _count_pace(player)
    return Sitting(room.code, room.pk, token, left.room_id)


@retried
def create_room(
    player: Player,
    *,
    visibility: str,
    options: dict[str, Any],
    game: str = GAME,
    fee: int = 0,
    give_up: str = "",
) -> Sitting:
    """A room that waits for people, with its host in the first seat. Others may watch a public one until the host says
    no, a private one once the host says yes. Everybody who sits down, the host first, pays `fee` coins.

    Raises TooMany, AlreadySeated, NotAgreed, GuestsCannotPay, NotEnough, and BadOptions from the engine."""
    if visibility not in {Room.Visibility.PUBLIC, Room.Visibility.PRIVATE}:
        raise ValueError(f"a room is public or private, not {visibility!r}")
    registry.build(game, options)
    if fee and player.is_guest:
        raise GuestsCannotPay
    _check_pace(player)
    with _seating(player, give_up) as (_tables, left):
        table = _new_table(player, Room.Visibility(visibility), options, settings.TURN_SECONDS, game, fee)
        token = _take(table, player, 0, left)
        table.save()
    _count_pace(player)
    return Sitting(table.room.code, table.room.pk, token, left.room_id)


def _new_table(
    host: Player,
    visibility: Room.Visibility,
    options: dict[str, Any],
    turn_seconds: float | None,
    game: str = GAME,
    fee: int = 0,
) -> Table:
    now = clock.now()
    room = Room.objects.create(
        code=new_code(),
        game=game,
        visibility=visibility,
        watchable=visibility == Room.Visibility.PUBLIC,
        turn_seconds=turn_seconds,
        options=options,
        fee=fee,
        host=host,
        created_at=now,
        expires_at=now + seconds(settings.ROOM_TTL_SECONDS),
    )
    return Table(room)


# -- the ways in -------------------------------------------------------------------------------------------------


@retried
def sit(player: Player, room_id: int, seat: int | None = None, *, agreed_fee: int = 0, give_up: str = "") -> Sitting:
    """Take a seat at a public room, the first free one unless told which. `agreed_fee` is the price that the player
    was shown: no other is ever charged. `give_up` is the `closing.stake` of another seat that is left for this one,
    in the same transaction: a seat that cannot be had costs none.

    Raises NoSuchRoom (also for private rooms), Started, RoomFull, SeatTaken, NoSuchSeat, Removed, AlreadySeated,
    NotAgreed, FeeToAgree, GuestsCannotPay, NotEnough."""
    with _seating(player, give_up, room_id) as (tables, left):
        table = tables[room_id]
        if table.room.visibility != Room.Visibility.PUBLIC:
            raise NoSuchRoom
        token = _join(table, player, seat, agreed_fee, left)
    return Sitting(table.room.code, room_id, token, left.room_id)


def room_for_code(text: str, *, identity: str, address: str) -> int:
    """The room behind a code that somebody typed, when it has an open seat. Failures are counted against `identity`
    first, then `address`; wrong, unknown, full and started codes get the same answer after the same time.

    Raises NoOpenSeat, and TooMany for those who guess."""
    began = time.monotonic()
    if not limits.guess_allowed(identity, address):
        raise TooMany
    code = normalise(text)
    room = Room.objects.filter(code=code or "").annotate(taken=Count("seats")).first()
    if (
        room is None
        or room.visibility == Room.Visibility.SOLO
        or room.status != Room.Status.WAITING
        or room.expires_at <= clock.now()
        or room.taken >= SEATS
    ):
        limits.guess_failed(identity, address)
        time.sleep(max(0.0, REFUSED_CODE_SECONDS - (time.monotonic() - began)))
        raise NoOpenSeat
    return room.pk


@retried
def sit_with_code(player: Player, room_id: int, *, agreed_fee: int = 0, give_up: str = "") -> Sitting:
    """Take the first free seat of a room whose code was just shown. Raises NoOpenSeat, AlreadySeated, NotAgreed,
    FeeToAgree, GuestsCannotPay, NotEnough."""
    try:
        with _seating(player, give_up, room_id) as (tables, left):
            table = tables[room_id]
            token = _join(table, player, None, agreed_fee, left)
    except (Started, RoomFull, SeatTaken, Removed, NoSuchRoom):
        raise NoOpenSeat from None  # it filled, started or closed meanwhile: strangers need not know which
    return Sitting(table.room.code, room_id, token, left.room_id)


def quick_play(player: Player, *, give_up: str = "") -> Sitting:
    """The fullest free public room that waits and has somebody there or on the way, the oldest of equals; or a new one.

    Raises TooMany, AlreadySeated, NotAgreed."""
    here = Q(Exists(Connection.objects.filter(seat__room=OuterRef("pk"))))
    here |= Q(created_at__gt=clock.now() - seconds(ARRIVAL_SECONDS))
    waiting = (
        Room.objects.filter(
            status=Room.Status.WAITING, visibility=Room.Visibility.PUBLIC, fee=0, expires_at__gt=clock.now()
        )
        .annotate(taken=Count("seats"), people=Count("seats", filter=Q(seats__player__isnull=False)))
        .filter(here, ~Exists(Seat.objects.filter(room=OuterRef("pk"), player=player)), taken__lt=SEATS)
        .order_by("-people", "created_at")
    )
    for room_id in list(waiting.values_list("pk", flat=True)[:QUICK_TRIES]):
        with contextlib.suppress(NoSuchRoom, Started, RoomFull, Removed):
            return sit(player, room_id, give_up=give_up)
    options = {"rounds": DEFAULT_ROUNDS}
    return create_room(player, visibility=Room.Visibility.PUBLIC, options=options, give_up=give_up)


@retried
def move(room_id: int, sitting_id: int, number: int) -> None:
    """Change to an empty seat of the same room while it waits. Raises NoSuchRoom, NoSuchSeat, SeatTaken, KeptOut,
    Started."""
    with locked(room_id) as table:
        seat = next((one for one in table.humans() if one.pk == sitting_id), None)
        if seat is None or seat.player_id is None:
            raise NoSuchRoom
        table.require_active(seat.player_id)
        table.require_waiting()
        if seat.number == number:
            return
        _require_empty(table, number)
        seat.number = number
        seat.save(update_fields=["number"])
        table.seats.sort(key=lambda one: one.number)
        table.save()


@retried
def rematch(player: Player, code: str) -> Sitting:
    """Play again with those who were at a finished table: the first to say so opens a new room with the same options
    and bots, everybody gets the own seat again while it is free. Nothing else is carried over: a fee is paid anew.

    Raises NoSuchRoom (also when the result is no longer shown, and for those who forfeited), Started, RoomFull,
    AlreadySeated, TooMany."""
    _check_pace(player)
    opened = False
    with _one_table(player), locked(_room_id(code)) as old:
        match_id = old.room.match_id
        number = game_selectors.seat_in(match_id, player.pk) if match_id is not None else None
        if old.room.status != Room.Status.FINISHED or number is None or old.room.visibility == Room.Visibility.SOLO:
            raise NoSuchRoom
        assert match_id is not None
        sat = game_selectors.seats_in(match_id)
        if sat[number].forfeited:
            raise NoSuchRoom
        # Old rooms have the lower number: two rooms are always locked in this order.
        room = Room.objects.select_for_update().filter(pk=old.room.rematch_id or 0).first()
        if room is None or room.status == Room.Status.DESTROYED:
            opened = True
            visibility = Room.Visibility(old.room.visibility)
            table = _new_table(player, visibility, old.room.options, old.room.turn_seconds, old.room.game, old.room.fee)
            table.room.watchable = old.room.watchable
            for one in sat:
                if one.bot_level:
                    table.add(Seat(number=one.number, name=one.name, bot_level=one.bot_level))
            table.room.follows_id = old.room.pk
            old.room.rematch_id = table.room.pk
        else:
            table = Table(room)
        token = _join(table, player, number if table.seat(number) is None else None, old.room.fee)
        old.save()
    if opened:
        _count_pace(player)
    return Sitting(table.room.code, table.room.pk, token)


# -- one seat ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Left:
    """The table that is left for a new seat, None without one, and the `closing.stake` that the player agreed to."""

    table: Table | None
    agreed: str

    @property
    def room_id(self) -> int | None:
        return None if self.table is None else self.table.room.pk


@contextlib.contextmanager
def _seating(player: Player, give_up: str, *room_ids: int) -> Iterator[tuple[dict[int, Table], _Left]]:
    """One transaction for a seat at one of these rooms, or at a new one, and for leaving the one before when that was
    agreed to. Raises NoSuchRoom and AlreadySeated."""
    before = Seat.objects.filter(player=player).values_list("room_id", flat=True).first() if give_up else None
    wanted = {*room_ids} if before is None else {*room_ids, before}
    with _one_table(player), locked_together(wanted) as tables:
        if not tables.keys() >= {*room_ids}:
            raise NoSuchRoom
        yield tables, _Left(None if before is None else tables.get(before), give_up)


def _join(table: Table, player: Player, number: int | None, agreed_fee: int, left: _Left | None = None) -> str:
    """Sit down at a waiting room and save it; the seat's token."""
    if any(seat.player_id == player.pk for seat in table.seats):
        raise AlreadySeated(table.room.code)  # a second click: whoever sits here must not hear that the room is full
    table.require_waiting()
    if player.pk in table.room.removed:
        raise Removed
    if agreed_fee != table.room.fee:
        raise FeeToAgree(table.room.fee)
    if table.room.fee:
        _check_paid_pace(player)
    if number is None:
        number = next((n for n in range(SEATS) if table.seat(n) is None), None)
        if number is None:
            raise RoomFull
    token = _take(table, player, number, left)
    table.save()
    if table.room.fee:
        transaction.on_commit(partial(_count_paid_pace, player), robust=True)
    return token


def _take(table: Table, player: Player, number: int, left: _Left | None = None) -> str:
    """The one place where a seat is given, once the one before is left. Raises KeptOut, NotAgreed, and what a place and
    a fee may raise."""
    _require_empty(table, number)
    # As the player is now, under the row's lock: who bans somebody or closes an account waits for this seat and finds
    # it, or was quicker and is obeyed here. Weaker than FOR UPDATE, so that nobody waits who only points at the player.
    now = Player.objects.select_for_update(no_key=True).filter(pk=player.pk, is_active=True).first()
    if now is None:
        raise KeptOut
    if left is not None and left.table is not None:
        with contextlib.suppress(NoSuchRoom):  # it ended by itself meanwhile
            closing.leave_table(left.table, player.pk, left.agreed)
    token = secrets.token_urlsafe(32)
    name = _name_at(table, now)
    seat = Seat(number=number, player=now, name=name, token_hash=token_hash(token), paid=table.room.fee)
    table.add(seat)
    settlement.charge(table.room, seat, now)
    return token


@retried
def rename(player: Player) -> None:
    """The player is called otherwise now (`player.shown_name`): so is the seat, and the one in a match that runs.
    Everybody at the table sees it at once; matches that are over keep the name that was played under."""
    seat = Seat.objects.filter(player=player).first()
    if seat is None:
        return
    with contextlib.suppress(NoSuchRoom), locked(seat.room_id) as table:
        own = table.seat_of(player.pk)
        own.name = ""
        own.name = _name_at(table, player)
        own.save(update_fields=["name"])
        if table.room.match_id is not None:
            games.rename_seat(table.room.match_id, player.pk, own.name)
        table.save()


def _require_empty(table: Table, number: int) -> None:
    if not 0 <= number < SEATS:
        raise NoSuchSeat
    if table.seat(number) is not None:
        raise SeatTaken


def _name_at(table: Table, player: Player) -> str:
    """The player's name, told apart from the others at this table and from what looks like them."""
    taken = {key for seat in table.seats for key in keys(seat.name)}
    name, count = player.shown_name, 1
    while not taken.isdisjoint(keys(name)):
        count += 1
        name = f"{player.shown_name[:34]} ({count})"
    return name


def _room_id(code: str) -> int:
    room_id = Room.objects.filter(code=code).values_list("pk", flat=True).first()
    if room_id is None:
        raise NoSuchRoom
    return room_id


@contextlib.contextmanager
def _one_table(player: Player) -> Iterator[None]:
    """The database allows a player one seat: its refusal says where that seat is. Raises AlreadySeated, or TooMany when
    it was left in the same moment; what other rules refuse is not ours to hide."""
    try:
        yield
    except IntegrityError as error:
        assert not connection.in_atomic_block
        if getattr(getattr(error.__cause__, "diag", None), "constraint_name", "") != ONE_TABLE:
            raise
        seated = Seat.objects.filter(player=player).select_related("room").first()
        if seated is None:
            raise TooMany from error
        raise AlreadySeated(seated.room.code) from error
