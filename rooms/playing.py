"""The authoritative loop: answers of people, bots and the clock, each under the room's lock, each counted once."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from games import history
from games import selectors as game_selectors
from games import services as games
from games.engine.errors import NoQuestion, Stale, shown
from games.services import Step
from players import selectors as players
from rooms import clock, closing, presence
from rooms.errors import ClockUnsure, Closed, Late, NoSuchRoom, NotOpen
from rooms.models import Room, Seat
from rooms.retries import retried
from rooms.table import SUBSTITUTE_LEVEL, Table, locked, seconds

AUTO_PLAY_AFTER = 3  # missed turns (rules: warning, inactive, auto-play)


@dataclass(frozen=True, slots=True)
class Thought:
    """An answer found outside the transaction, for one question alone."""

    step: str
    seat: int
    text: str


@retried
def act(room_id: int, sitting_id: int, number: int, action_id: str, step: str, do: str, received_at: datetime) -> None:
    """A person's answer for seat `number`. It counts when it was received at or before the deadline; the same action
    id again is answered as the first time. Raises RoomError and EngineError; then nothing has changed."""
    if not clock.sure():
        raise ClockUnsure
    with locked(room_id) as table:
        room = table.room
        if room.match_id is not None and games.answered(room.match_id, number, action_id, step, do):
            return  # sent again because the first acknowledgement was lost
        seat = next((s for s in table.seats if s.pk == sitting_id and s.number == number), None)
        if room.status == Room.Status.STARTING:
            raise NotOpen
        if room.status != Room.Status.PLAYING or seat is None or seat.player_id is None:
            raise Closed
        if not players.is_active(seat.player_id):
            raise Closed
        assert room.match_id is not None
        asked = any((one.seat, one.step) == (number, step) for one in game_selectors.prompts(table.loaded))
        if asked and room.deadline_at is not None and received_at > room.deadline_at:
            raise Late((received_at - room.deadline_at).total_seconds())
        try:
            if not room.is_open and (room.opened_at is None or received_at < room.opened_at):
                raise NotOpen
            result = games.act(room.match_id, number, step, do, "seat", action_id, table.loaded)
        except (NotOpen, NoQuestion, Stale):
            _refuse_if_over(room.match_id, number, step, received_at)
            raise
        if seat.missed or seat.auto_play:
            seat.missed, seat.auto_play = max(0, seat.missed - 1), False
            seat.save(update_fields=["missed", "auto_play"])
        _go_on(table, result, by_person=True)
        table.save()


def _refuse_if_over(match_id: int, number: int, step: str, received_at: datetime) -> None:
    """Raises Late when the table has answered this question, Stale when its player has."""
    over = history.answer_to(match_id, number, step)
    if over is not None and over[0] == "idle":
        raise Late((received_at - over[1]).total_seconds())
    if over is not None:
        raise Stale(f"{shown(step)} was answered")


@retried
def take_control(room_id: int, sitting_id: int) -> None:
    """End auto-play: the player is back, the missed turns are forgotten. A question that is open starts afresh."""
    with locked(room_id) as table:
        seat = next((s for s in table.seats if s.pk == sitting_id), None)
        if seat is None or table.room.status != Room.Status.PLAYING:
            raise Closed
        if not seat.auto_play and seat.missed == 0:
            return
        was_automatic = seat.auto_play
        seat.missed, seat.auto_play = 0, False
        seat.save(update_fields=["missed", "auto_play"])
        now, opened_at = clock.now(), table.room.opened_at
        asked = any(prompt.seat == seat.number for prompt in game_selectors.prompts(table.loaded))
        if was_automatic and asked and (opened_at is None or opened_at <= now):
            table.open_question(now)  # in a pause the question opens when the pause is over
        table.save()


def ring(room_id: int) -> None:
    """Look at the room again and do what is due; early, late or repeated calls do no harm."""
    presence.mend_outage()
    if clock.sure():
        _do_due(room_id)


@retried
def _do_due(room_id: int) -> None:
    thought = _think(room_id)
    try:
        with locked(room_id, skip_locked=True) as table:
            if table.room.due_at is None or table.room.due_at > clock.now():
                return
            if closing.close_due(table) or _begin_due(table) or _turn_due(table, thought):
                table.save()
    except NoSuchRoom:
        return


def _begin_due(table: Table) -> bool:
    room, now = table.room, clock.now()
    if room.status != Room.Status.STARTING or room.starts_at is None or room.starts_at > now:
        return False
    assert room.match_id is not None
    room.status = Room.Status.PLAYING
    table.take(games.begin(room.match_id))
    table.ask(now, settings.BOT_PACE_SECONDS)
    return True


def _turn_due(table: Table, thought: Thought | None) -> bool:
    room, now = table.room, clock.now()
    if room.status != Room.Status.PLAYING:
        return False
    prompts = game_selectors.prompts(table.loaded)
    if not room.is_open:
        if room.opened_at is None or room.opened_at > now:
            return False
        if any(not table.plays_itself(prompt.seat) for prompt in prompts):
            table.open_question(now)
            return True
    for prompt in prompts:
        if thought is None or (thought.step, thought.seat) != (prompt.step, prompt.seat):
            continue
        by_itself = table.plays_itself(prompt.seat)
        timed_out = room.deadline_at is not None and room.deadline_at + seconds(settings.TIMEOUT_LEEWAY_SECONDS) <= now
        if not by_itself and not timed_out:
            continue
        seat = table.seat(prompt.seat)
        if timed_out and not by_itself and seat is not None:
            seat.missed = min(seat.missed + 1, AUTO_PLAY_AFTER)
            seat.auto_play = seat.missed >= AUTO_PLAY_AFTER
            seat.save(update_fields=["missed", "auto_play"])
        by: games.By = "bot" if seat is None or seat.player_id is None else "idle"
        loaded = table.loaded
        result = games.act(loaded.match_id, prompt.seat, prompt.step, thought.text, by, loaded=loaded)
        _go_on(table, result, by_person=False)
        return True
    return False


def _go_on(table: Table, result: Step, *, by_person: bool) -> None:
    """Take an action's result: end the match, or put the next question after the pause that the eye needs."""
    table.take(result)
    now = clock.now()
    if result.outcome is not None:
        closing.finish(table, now)
        return
    tags = {type(event).__name__ for _n, event in result.events}
    if "RoundScored" in tags:
        pause = settings.ROUND_PAUSE_SECONDS
    elif "TrickWon" in tags:
        pause = settings.TRICK_PAUSE_SECONDS
    elif by_person and not table.all_by_itself():
        pause = 0.0  # one person after another: no bot needs to be watched
    else:
        pause = settings.BOT_PACE_SECONDS
    table.ask(now, pause)


def _think(room_id: int) -> Thought | None:
    """Outside any lock: what the table would answer for a seat that plays by itself or has run out of time."""
    taken = Seat.objects.filter(room_id=room_id, room__status=Room.Status.PLAYING).select_related("room")
    seats = {seat.number: seat for seat in taken}
    if not seats:
        return None
    room = seats[min(seats)].room
    if room.match_id is None or room.due_at is None or room.due_at > clock.now():
        return None
    loaded = history.load(room.match_id)
    ran_out = room.deadline_at is not None and room.deadline_at <= clock.now()
    for prompt in game_selectors.prompts(loaded):
        seat = seats.get(prompt.seat)
        if seat is None or seat.player_id is None or seat.auto_play:
            level = (seat.bot_level if seat else "") or SUBSTITUTE_LEVEL
            return Thought(prompt.step, prompt.seat, games.think(loaded, prompt.seat, level))
        if ran_out:
            safe_bid = prompt.kind == "bid"
            text = "bid 0" if safe_bid else games.think(loaded, prompt.seat, SUBSTITUTE_LEVEL)
            return Thought(prompt.step, prompt.seat, text)
    return None
