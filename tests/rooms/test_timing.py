"""Answers around the deadline: each counts exactly when it was received in time, and then the time-out does not."""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from websockets.exceptions import ConnectionClosed

from games.engine.errors import EngineError
from games.models import MatchEvent
from rooms import clock, playing, snapshots, tasks
from rooms.errors import Late, RoomError
from rooms.models import Room, Seat
from tests.rooms import racing, stage
from tests.rooms.racing import code
from tests.support.visitor import TableSocket, Visitor

pytestmark = pytest.mark.django_db(transaction=True)

EDGE_SECONDS = 0.3
# How long an answer waits, at most, between its stamp and its transaction: the queue of a busy process.
QUEUE_SECONDS = 0.03
# A process knows the database's clock by readings of at most 50 ms (rooms/clock.py).
CLOCK_SECONDS = 0.05


@dataclass(frozen=True)
class Shot:
    """One answer: to which question, when it was received at the earliest and at the latest, what became of it and
    when that was known here."""

    match_id: int
    step: str
    action_id: str
    deadline: datetime
    earliest: datetime
    latest: datetime
    code: str
    answered_at: datetime

    @property
    def counted(self) -> bool:
        return self.code == "done"

    @property
    def held_up(self) -> bool:
        """Whether the machine may have kept it waiting until the leeway was over, when the table answers for it."""
        leeway = timedelta(seconds=settings.TIMEOUT_LEEWAY_SECONDS)
        return self.answered_at > self.deadline + leeway - timedelta(seconds=CLOCK_SECONDS)


def around(deadline: datetime, chance: random.Random) -> None:
    """Wait for a moment from 300 ms before the deadline to 300 ms after it."""
    moment = deadline + timedelta(seconds=chance.uniform(-EDGE_SECONDS, EDGE_SECONDS))
    time.sleep(max(0.0, (moment - clock.now()).total_seconds()))


def verify(shots: list[Shot]) -> None:
    """Every question has one answer: the person's when it counted, else the table's."""
    for shot in shots:
        assert shot.code in {"done", "late", "stale"}, shot
        events = MatchEvent.objects.filter(match_id=shot.match_id, step=shot.step)
        (event,) = events
        expected = ("seat", shot.action_id) if shot.counted else ("idle", None)
        assert (event.by, event.action_id) == expected, (shot, event.by, event.at)


# -- the services, with the clock as it runs ---------------------------------------------------------------------


class Bells:
    """What rings rooms beside the players: as two web processes do with an alarm each, and as the worker does."""

    def __init__(self, rooms: list[Room]) -> None:
        self.over = threading.Event()
        self.failures: list[Exception] = []
        work: list[Callable[[], None]] = [self.beat]
        for room in rooms:
            work += [lambda room=room: self.alarm(room.pk)] * 2  # type: ignore[misc]
        self.threads = [threading.Thread(target=self.run, args=[one], daemon=True) for one in work]
        for thread in self.threads:
            thread.start()

    def run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001  the test looks at it
            self.failures.append(error)
        finally:
            connection.close()

    def alarm(self, room_id: int) -> None:
        """At the time that the newest snapshot names, as the hub does."""
        while not self.over.is_set():
            snapshot = snapshots.read(room_id, 1)
            due = snapshot.due_at if snapshot is not None else None
            wait = (due - clock.now()).total_seconds() if due is not None else 1.0
            if wait <= 0:
                playing.ring(room_id)
                wait = 0.005
            self.over.wait(min(wait, 0.01))

    def beat(self) -> None:
        while not self.over.wait(0.5):
            tasks.ring_due()

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join(10)
        assert not self.failures, self.failures


def open_question(room: Room) -> Seat | None:
    """Wait for the next question to a person; None when the match is over."""
    for _i in range(2000):
        room.refresh_from_db()
        if room.status == "finished":
            return None
        if room.is_open and room.deadline_at is not None:
            (prompt,) = stage.prompts(room)
            return Seat.objects.get(room=room, number=prompt.seat)
        time.sleep(0.003)
    raise AssertionError(f"room {room.pk} stands still")


def shoot(room: Room, count: int, chance: random.Random) -> list[Shot]:
    """So many answers around their deadlines."""
    shots: list[Shot] = []
    while len(shots) < count:
        seat = open_question(room)
        assert seat is not None and room.deadline_at is not None
        (prompt,) = stage.prompts(room)
        do = str(stage.frame_of(room, seat.number)["prompt"]["choices"][0]["do"])
        name, deadline = f"shot-{len(shots)}", room.deadline_at
        around(deadline, chance)
        received_at = clock.now()
        time.sleep(chance.uniform(0, QUEUE_SECONDS))
        try:
            playing.act(room.pk, seat.pk, seat.number, name, prompt.step, do, received_at)
            result = "done"
        except (RoomError, EngineError) as error:
            result = code(error)
        match_id, answered_at = stage.match_of(room), clock.now()
        shots.append(Shot(match_id, prompt.step, name, deadline, received_at, received_at, result, answered_at))
        until_answered(room, prompt.step)
        with suppress(RoomError):
            playing.take_control(room.pk, seat.pk)  # a third miss in a row would be auto-play
    return shots


def until_answered(room: Room, step: str) -> None:
    for _i in range(1000):
        if MatchEvent.objects.filter(match_id=stage.match_of(room), step=step).exists():
            return
        time.sleep(0.005)
    raise AssertionError(f"nobody answered {step} in room {room.pk}")


@pytest.mark.usefixtures("wide_pool")
@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.soak)])
def test_answers_count_exactly_when_received_in_time(count: int, settings: Any) -> None:
    settings.TURN_SECONDS = 0.4
    tables = 4
    rooms = [stage.running(*racing.crowd(4), rounds=50) for _i in range(tables)]
    bells = Bells(rooms)

    def play(number: int) -> list[Shot]:
        try:
            return shoot(rooms[number], count // tables, random.Random(number + count))
        finally:
            connection.close()

    try:
        with ThreadPoolExecutor(tables) as pool:
            shots = [shot for found in pool.map(play, range(tables)) for shot in found]
    finally:
        bells.stop()
    assert len(shots) == count
    timely = [shot for shot in shots if shot.earliest <= shot.deadline]
    assert not [shot for shot in timely if not shot.counted and not shot.held_up]
    assert not [shot for shot in shots if shot.counted and shot not in timely]
    verify(shots)
    assert sum(shot.counted for shot in shots) > count / 4 and not all(shot.counted for shot in shots)
    racing.sound()


def asked_with_an_answer() -> tuple[Room, Seat, str, str]:
    room = stage.running(*racing.crowd(2))
    seat = stage.asked(room)
    (prompt,) = stage.prompts(room)
    return room, seat, prompt.step, str(stage.frame_of(room, seat.number)["prompt"]["choices"][0]["do"])


@pytest.mark.parametrize(("microseconds", "counts"), [(-1, True), (0, True), (1, False)])
def test_the_deadline_itself_is_in_time(microseconds: int, counts: bool) -> None:
    room, seat, step, do = asked_with_an_answer()
    assert room.deadline_at is not None
    received_at = room.deadline_at + timedelta(microseconds=microseconds)
    if counts:
        playing.act(room.pk, seat.pk, seat.number, "edge", step, do, received_at)
    else:
        with pytest.raises(Late):
            playing.act(room.pk, seat.pk, seat.number, "edge", step, do, received_at)
    assert MatchEvent.objects.filter(match_id=stage.match_of(room), step=step).exists() == counts


def test_an_answer_received_in_time_may_commit_until_the_leeway_is_over(settings: Any) -> None:
    settings.TIMEOUT_LEEWAY_SECONDS = 5
    room, seat, step, do = asked_with_an_answer()
    stage.pass_time(room, 12)
    room.refresh_from_db()
    assert room.deadline_at is not None
    playing.ring(room.pk)  # too early: the answer may still be under way
    playing.act(room.pk, seat.pk, seat.number, "edge", step, do, room.deadline_at)
    assert MatchEvent.objects.get(match_id=stage.match_of(room), step=step).by == "seat"


def test_control_without_the_leeway_a_timely_answer_loses(settings: Any) -> None:
    settings.TIMEOUT_LEEWAY_SECONDS = 0
    room, seat, step, do = asked_with_an_answer()
    stage.pass_time(room, 12)
    room.refresh_from_db()
    assert room.deadline_at is not None
    received_at = room.deadline_at
    playing.ring(room.pk)
    with pytest.raises(RoomError) as refusal:
        playing.act(room.pk, seat.pk, seat.number, "edge", step, do, received_at)
    assert code(refusal.value) == "late"
    assert MatchEvent.objects.get(match_id=stage.match_of(room), step=step).by == "idle"


@pytest.mark.parametrize("seconds_after_the_time_out", [0, 30])
def test_who_is_late_hears_that_and_who_answers_twice_hears_that_it_is_done(seconds_after_the_time_out: float) -> None:
    room, seat, step, do = asked_with_an_answer()
    stage.pass_time(room, 10.2)
    playing.ring(room.pk)
    if seconds_after_the_time_out:  # the others have played on since
        stage.pass_time(room, seconds_after_the_time_out)
        playing.ring(room.pk)
    with pytest.raises(Late):
        playing.act(room.pk, seat.pk, seat.number, "late", step, do, clock.now())
    other = stage.asked(room)
    (prompt,) = stage.prompts(room)
    stage.give(room, other, action_id="first")
    with pytest.raises(EngineError) as refusal:
        playing.act(room.pk, other.pk, other.number, "second tab", prompt.step, "bid 0", clock.now())
    assert refusal.value.code == "stale"


# -- the sockets -------------------------------------------------------------------------------------------------


def shoot_by_socket(socket: TableSocket, room: Room, count: int, chance: random.Random) -> list[Shot]:
    """So many answers over the wire. When exactly one arrives only the server knows; it is after it was sent here, and
    before the server refused the malformed frame that was sent behind it, which needs no queue and no database."""
    shots: list[Shot] = []
    while len(shots) < count:
        prompt = socket.asked()
        assert prompt is not None
        room.refresh_from_db()
        assert room.deadline_at is not None
        name, deadline = f"shot-{len(shots)}", room.deadline_at
        around(deadline, chance)
        socket.drain(0)
        earliest = clock.now()
        socket.send({"t": "act", "id": name, "step": prompt["step"], "do": prompt["choices"][0]["do"]})
        socket.send("{")
        latest, answer = None, None
        while latest is None or answer is None:
            frame = socket.next()
            if frame["t"] == "refused" and frame["code"] == "malformed":
                latest = clock.now()
            elif frame["t"] in {"ack", "refused"} and frame["id"] == name:
                answer, answered_at = "done" if frame["t"] == "ack" else frame["code"], clock.now()
        match_id = stage.match_of(room)
        shots.append(Shot(match_id, prompt["step"], name, deadline, earliest, latest, answer, answered_at))
        until_answered(room, prompt["step"])
        socket.send({"t": "take_control"})
        if socket.update.get("prompt") and socket.update["prompt"]["step"] == prompt["step"]:
            socket.update = {}
    return shots


@pytest.mark.parametrize("count", [24, pytest.param(500, marks=pytest.mark.soak)])
def test_answers_by_socket_count_when_they_arrive_in_time(count: int, other_site: Any) -> None:
    site = other_site(TURN_SECONDS="1", worker=True)
    tables = 6 if count < 100 else 10
    clock.sample()

    def play(number: int) -> list[Shot]:
        try:
            visitor = Visitor(site.url)
            table = visitor.open_room(rounds=50)
            socket = visitor.sit(table)
            assert socket.do("fill", level="medium")["t"] == "ack" and socket.do("start")["t"] == "ack"
            room = Room.objects.get(code=table)
            shots = shoot_by_socket(socket, room, count // tables, random.Random(number + count))
            with suppress(ConnectionClosed):
                socket.link.close()
            return shots
        finally:
            connection.close()

    with ThreadPoolExecutor(tables) as pool:
        shots = [shot for found in pool.map(play, range(tables)) for shot in found]
    assert len(shots) == count
    verify(shots)
    # What this clock cannot know: an arrival on one side of the deadline for us and on the other for the server.
    unsure = timedelta(seconds=CLOCK_SECONDS)
    timely = [shot for shot in shots if shot.latest < shot.deadline - unsure]
    late = [shot for shot in shots if shot.earliest > shot.deadline + unsure]
    assert not [shot for shot in timely if not shot.counted and not shot.held_up]
    assert not [shot for shot in late if shot.counted]
    assert any(shot.counted for shot in timely)
    assert len(timely) + len(late) > count / 2 and timely and late
