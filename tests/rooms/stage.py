"""What the room tests stand on: people at solo tables, and time that passes when the test says so."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import connection
from django.utils import timezone

from games import history
from games import selectors as game_selectors
from games.engine.table import Prompt
from players.models import Player
from rooms import clock, closing, hosting, playing, presence, seating, snapshots
from rooms.models import Connection, Pulse, Room, Seat

T = TypeVar("T")


def person(name: str) -> Player:
    return Player.objects.create(username=name.lower(), shown_name=name, is_guest=True)


def solo(player: Player, *, rounds: int = 1, clocked: bool = False) -> Room:
    sitting = seating.open_solo(player, {"rounds": rounds}, "medium", clocked=clocked)
    return Room.objects.get(pk=sitting.room_id)


def pass_time(room: Room, seconds: float = 3600.0) -> None:
    """Everything that this room waits for (but its lifetime) comes `seconds` nearer."""
    room.refresh_from_db()
    for name in ("starts_at", "opened_at", "deadline_at", "away_since", "due_at"):
        at = getattr(room, name)
        if at is not None:
            setattr(room, name, at - timedelta(seconds=seconds))
    room.save()


def begun(player: Player, *, rounds: int = 1, clocked: bool = False, present: bool = True) -> Room:
    """A table where the cards are dealt and the first question is put."""
    room = solo(player, rounds=rounds, clocked=clocked)
    if present:
        sit_down(room)
    pass_time(room, 20)
    playing.ring(room.pk)
    room.refresh_from_db()
    assert room.status == Room.Status.PLAYING
    return room


def sit_down(room: Room) -> Connection:
    """The human's page is open."""
    seat = Seat.objects.get(room=room, player__isnull=False)
    Room.objects.filter(pk=room.pk).update(away_since=None)
    return Connection.objects.create(channel=f"page-{seat.pk}", seat=seat, seen_at=clock.now())


def human(room: Room) -> Seat:
    return Seat.objects.get(room=room, player__isnull=False)


def prompts(room: Room) -> tuple[Prompt[Any], ...]:
    room.refresh_from_db()
    assert room.match_id is not None
    return game_selectors.prompts(history.load(room.match_id))


def to_human(room: Room) -> Prompt[Any]:
    """Let the bots play until the human's question is open."""
    for _i in range(200):
        (prompt,) = prompts(room)
        if prompt.seat == human(room).number and room.is_open:
            return prompt
        pass_time(room, 20 if room.deadline_at is None else 0)
        playing.ring(room.pk)
    raise AssertionError("the human was never asked")


def first_choice(room: Room) -> str:
    """The first answer that the page would offer."""
    frame = frame_of(room, human(room).number)
    return str(frame["prompt"]["choices"][0]["do"])


def frame_of(room: Room, seat: int | None, after: int | None = None) -> dict[str, Any]:
    room.refresh_from_db()
    snapshot = snapshots.read(room.pk, room.version)
    assert snapshot is not None
    frame: dict[str, Any] = json.loads(snapshot.update(seat, after))
    return frame


def answer(room: Room, do: str, *, step: str | None = None, action_id: str = "a1", late_seconds: float = 0) -> None:
    seat = human(room)
    if step is None:
        (prompt,) = prompts(room)
        step = prompt.step
    received = (
        clock.now() if not late_seconds else (room.deadline_at or timezone.now()) + timedelta(seconds=late_seconds)
    )
    playing.act(room.pk, seat.pk, seat.number, action_id, step, do, received)


def play_out(room: Room) -> None:
    """The whole match, the human taking the first choice each time."""
    number = 0
    while True:
        room.refresh_from_db()
        if room.status != Room.Status.PLAYING:
            return
        number += 1
        to_human_or_end(room)
        room.refresh_from_db()
        if room.status != Room.Status.PLAYING:
            return
        answer(room, first_choice(room), action_id=f"m{number}")


def to_human_or_end(room: Room) -> None:
    for _i in range(200):
        room.refresh_from_db()
        if room.status != Room.Status.PLAYING:
            return
        (prompt,) = prompts(room)
        if prompt.seat == human(room).number and room.is_open:
            return
        pass_time(room, 20)
        playing.ring(room.pk)
    raise AssertionError("neither the human nor the end came")


def at_once(calls: list[Callable[[], T]]) -> list[T | Exception]:
    """Run all calls at the same time on connections of their own; what each gave or raised."""

    def one(call: Callable[[], T]) -> T | Exception:
        try:
            return call()
        except Exception as error:  # noqa: BLE001  the test looks at it
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


# -- rooms of people ---------------------------------------------------------------------------------------------


def waiting(*people: Player, visibility: str = "public", rounds: int = 1) -> Room:
    """A room that waits, opened by the first of these people, with the others in the next seats, all present."""
    host, *others = people
    sitting = seating.create_room(host, visibility=visibility, options={"rounds": rounds})
    for other in others:
        seating.sit_with_code(other, sitting.room_id)
    room = Room.objects.get(pk=sitting.room_id)
    for other in people:
        arrive(room, other)
    return refreshed(room)


def by_code(player: Player, code: str, *, address: str, agreed_fee: int = 0) -> seating.Sitting:
    """Sit down by a code, as the page does it for whoever sits nowhere."""
    room_id = seating.room_for_code(code, identity=f"player:{player.pk}", address=address)
    return seating.sit_with_code(player, room_id, agreed_fee=agreed_fee)


def started(*people: Player, visibility: str = "public", rounds: int = 1) -> Room:
    """The same with bots in the empty seats, in the countdown."""
    room = waiting(*people, visibility=visibility, rounds=rounds)
    hosting.fill_bots(room.pk, people[0].pk, "medium")
    hosting.start(room.pk, people[0].pk)
    return refreshed(room)


def running(*people: Player, visibility: str = "public", rounds: int = 1) -> Room:
    """The same with the tiles dealt."""
    room = started(*people, visibility=visibility, rounds=rounds)
    pass_time(room, 20)
    playing.ring(room.pk)
    assert refreshed(room).status == Room.Status.PLAYING
    return room


def stake(room: Room) -> str:
    """What the page says now that leaving this room gives up."""
    return closing.stake(room.code, refreshed(room).status)


def refreshed(room: Room) -> Room:
    room.refresh_from_db()
    return room


def match_of(room: Room) -> int:
    assert room.match_id is not None
    return room.match_id


def seat_of(room: Room, player: Player) -> Seat:
    return Seat.objects.get(room=room, player=player)


def member(room: Room, player: Player) -> presence.Membership:
    seat = seat_of(room, player)
    return presence.Membership(room.pk, player.pk, seat.number, seat.pk, seat.holder)


def arrive(room: Room, player: Player, channel: str = "") -> None:
    """The player's page is open."""
    presence.connect(member(room, player), channel or f"page-{player.pk}")


def go_away(room: Room, player: Player, channel: str = "") -> None:
    """The player's page is gone."""
    presence.disconnect(room.pk, [channel or f"page-{player.pk}"])


def asked(room: Room) -> Seat:
    """Let the bots play until a person is asked; that person's seat, with the question open."""
    for _i in range(400):
        (prompt,) = prompts(room)
        seat = Seat.objects.get(room=room, number=prompt.seat)
        if seat.player_id is not None and not seat.auto_play and room.is_open:
            return seat
        pass_time(room, 20 if room.deadline_at is None else 0)
        playing.ring(room.pk)
    raise AssertionError("nobody was ever asked")


def give(room: Room, seat: Seat, *, action_id: str, choice: int = 0, received_at: datetime | None = None) -> None:
    """This seat's answer to its open question, one of the choices offered."""
    (prompt,) = prompts(room)
    do = str(frame_of(room, seat.number)["prompt"]["choices"][choice]["do"])
    playing.act(room.pk, seat.pk, seat.number, action_id, prompt.step, do, received_at or clock.now())


def play_to_the_end(room: Room) -> None:
    """The whole match, every person taking the first choice."""
    number = 0
    while refreshed(room).status == Room.Status.PLAYING:
        number += 1
        (prompt,) = prompts(room)
        seat = Seat.objects.get(room=room, number=prompt.seat)
        if seat.player_id is not None and not seat.auto_play and room.is_open:
            give(room, seat, action_id=f"all{number}")
        else:
            pass_time(room, 20 if room.deadline_at is None else 0)
            playing.ring(room.pk)


def people(*names: str) -> list[Player]:
    return [person(name) for name in names]


def just_past() -> datetime:
    """A time that has come, however the next reading of the database's clock moves ours."""
    return clock.now() - timedelta(seconds=0.5)


def turn_of(room: Room, player: Player) -> Seat:
    """Let everybody play until this player is asked; the seat, with the question open."""
    for _i in range(200):
        seat = asked(room)
        if seat.player_id == player.pk:
            return seat
        give(room, seat, action_id=f"pass-{room.version}")
    raise AssertionError("the player was never asked")


def last_question(room: Room, player: Player) -> Seat:
    """The player's last question of the match."""
    while True:
        seat = turn_of(room, player)
        if prompts(room)[0].step.startswith("r1.t7"):
            return seat
        give(room, seat, action_id=f"own-{room.version}")


def finished(*players: Player, rounds: int = 1) -> Room:
    room = running(*players, rounds=rounds)
    play_to_the_end(room)
    assert refreshed(room).status == "finished"
    return room


def outage(seconds: float) -> None:
    """The service was last seen so long ago."""
    Pulse.objects.all().delete()
    Pulse.objects.create(process="before", at=clock.now() - timedelta(seconds=seconds))
