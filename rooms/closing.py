"""How a table ends: given up, finished, abandoned, destroyed."""

from datetime import datetime

from django.conf import settings

from games import selectors as game_selectors
from games import services as games
from players import services as players
from players.selectors import Player
from rooms import clock, settlement
from rooms.errors import NoSuchRoom, NotAgreed
from rooms.models import SEATS, Connection, Room, Seat
from rooms.retries import retried
from rooms.table import SUBSTITUTE_LEVEL, Table, grace, in_order, locked, seconds
from stats import services as stats


def free_seats(table: Table) -> None:
    """Everybody may sit elsewhere from the moment that this commits."""
    table.drop(*table.seats)


def finish(table: Table, now: datetime) -> None:
    """The match has its outcome: seats are freed, the result stays readable for RESULT_SECONDS."""
    room = table.room
    room.status = Room.Status.FINISHED
    room.expires_at = now + seconds(settings.RESULT_SECONDS)
    assert table.step is not None and table.step.outcome is not None
    settlement.settle(table, table.step.outcome)
    assert room.match_id is not None
    if not any(seat.player_id is None and not seat.forfeited for seat in table.seats):
        stats.record_match(room.match_id)  # a match with a bot from the start counts nowhere: it need not be read
    _stop_clocks(room)
    free_seats(table)


def abandon(table: Table) -> None:
    """Nobody is left to play it: the match has no result and the table is gone."""
    if table.room.match_id is not None:
        games.abandon(table.room.match_id)
        settlement.abandon(table)
    _end(table)


def destroy(table: Table) -> None:
    """The table is gone. Before the start every fee goes back; a result that was shown has been paid."""
    if table.room.match_id is None:
        settlement.refund(table.room, table.seats)
    _end(table)


def _end(table: Table) -> None:
    room = table.room
    room.status = Room.Status.DESTROYED
    _stop_clocks(room)
    free_seats(table)


def stake(code: str, status: str) -> str:
    """What leaving a table gives up, as a form carries it from the page that asks to the click that agrees: which
    table it is, and whether its match has begun."""
    return f"{code}-{'seat' if status == Room.Status.WAITING else 'match'}"


@retried
def leave(room_id: int, player_id: int, agreed: str | None = None) -> None:
    """A player leaves on purpose. While the room waits the seat is free again; afterwards it is forfeited, and a match
    without any human left is abandoned at once. `agreed` is the `stake` that the player was asked about, None where
    nobody asks. Raises NoSuchRoom for those who don't sit there, NotAgreed when it is another one by now."""
    with locked(room_id) as table:
        leave_table(table, player_id, agreed)


def leave_table(table: Table, player_id: int, agreed: str | None = None) -> None:
    """The same in the transaction of whoever has locked the room, to take another seat with it."""
    seat = table.seat_of(player_id)
    if agreed is not None and agreed != stake(table.room.code, table.room.status):
        raise NotAgreed
    if table.room.status == Room.Status.WAITING:
        vacate(table, seat)
    elif len(table.humans()) == 1:
        abandon(table)
    else:
        _forfeit(table, seat)
    table.save()


def vacate(table: Table, seat: Seat) -> None:
    """The seat of a waiting room is free again, its fee paid back. The host's place goes to the next human clockwise;
    without any human left the room is destroyed."""
    room = table.room
    settlement.refund(room, [seat])
    table.drop(seat)
    humans = table.humans()
    if not humans:
        destroy(table)
    elif room.host_id == seat.player_id:
        room.host_id = _next_human(humans, seat.number).player_id


def _forfeit(table: Table, seat: Seat) -> None:
    """The seat is a bot's for good; whoever is asked now keeps what is left of the clock."""
    room, now = table.room, clock.now()
    assert room.match_id is not None
    was_asked = any(prompt.seat == seat.number for prompt in game_selectors.prompts(table.loaded))
    if room.host_id == seat.player_id:
        others = [one for one in table.humans() if one.pk != seat.pk]
        room.host_id = _next_human(others, seat.number).player_id
    in_order(Connection.objects.filter(seat=seat)).delete()
    seat.player, seat.bot_level, seat.token_hash, seat.forfeited = None, SUBSTITUTE_LEVEL, "", True
    seat.missed, seat.auto_play = 0, False
    seat.connected = False  # type: ignore[attr-defined]
    seat.save()
    table.take(games.withdraw(room.match_id, seat.number, "seat"))
    table.mark_presence(now)
    if was_asked and room.is_open:  # a pause goes on, and the bot answers after it
        table.ask(now, settings.BOT_PACE_SECONDS)


def _next_human(humans: list[Seat], after: int) -> Seat:
    return min(humans, key=lambda seat: (seat.number - after) % SEATS)


def give_up_running(player_id: int, agreed: str | None = None) -> None:
    """Leave whatever table the player sits at; nothing when at none. Raises NotAgreed as `leave`."""
    seat = Seat.objects.filter(player_id=player_id).first()
    if seat is not None:
        try:
            leave(seat.room_id, player_id, agreed)
        except NoSuchRoom:
            return  # it ended by itself meanwhile


def shut_out(player_id: int) -> None:
    """This player is kept out (banned, account closed): the seat of a waiting room is free again, a running match is
    forfeited, and of a closed account no name is left in any match. Safe to repeat."""
    _forget_closed(player_id)  # first as well: while there is a seat, whoever looks again finds it
    give_up_running(player_id)
    _forget_closed(player_id)


def _forget_closed(player_id: int) -> None:
    if Player.objects.filter(pk=player_id, closed_at__isnull=False).exists():
        games.forget_name(player_id, players.former_name(player_id))


def close_due(table: Table) -> bool:
    """Ends of time: the result was shown long enough, a waiting room grew too old, or all humans stayed away."""
    room = table.room
    if room.status in {Room.Status.FINISHED, Room.Status.WAITING} and room.expires_at <= clock.now():
        destroy(table)
        return True
    running = room.status == Room.Status.PLAYING
    if running and room.away_since is not None and room.away_since + grace(room) <= clock.now():
        abandon(table)
        return True
    return False


def _stop_clocks(room: Room) -> None:
    room.opened_at = room.deadline_at = room.away_since = None
    room.is_open = False
