"""A process killed around the end of paid matches, at each statement and at any moment: each pot is paid once."""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test import override_settings

from players.models import Player
from rooms import clock, closing, hosting, playing
from rooms.models import Room, Seat
from rooms.table import seconds
from tests.rooms import stage
from tests.rooms.gold import begun, escrow, has, nothing_is_lost, outcome, paid, rich
from tests.rooms.test_once import everything
from tests.rooms.test_paid_machine import Killed, OneRoom, killed_after
from wallet import selectors as wallet
from wallet.models import Resolution, Transaction

FEE, ROOMS, PATIENCE_SECONDS = 101, 3, 20


def near_the_end(people: list[Player], ends_in_seconds: float) -> Room:
    """A paid match whose last tile the table plays by itself at that time."""
    room = paid(FEE, *people)
    hosting.fill_bots(room.pk, people[0].pk, "medium")
    hosting.start(room.pk, people[0].pk)
    stage.pass_time(room, 20)
    playing.ring(room.pk)
    table = OneRoom.__new__(OneRoom)
    table.room_id = room.pk
    table.to_the_last_answer()
    due = clock.now() + seconds(ends_in_seconds)
    Room.objects.filter(pk=room.pk).update(opened_at=due, due_at=due, version=F("version") + 1)
    return stage.refreshed(room)


def kill_around_the_end(other_site: Any, times: int, seed: int) -> None:
    chance = random.Random(seed)
    couples = [[rich(f"Ana {n}"), rich(f"Ben {n}")] for n in range(ROOMS)]
    site = other_site(worker=True)
    for number in range(1, times + 1):
        with override_settings(ROOMS_IN_TEN_MINUTES=10**6):
            rooms = [near_the_end(couple, 1.0 + 0.1 * at) for at, couple in enumerate(couples)]
        time.sleep(chance.uniform(0.6, 1.9))
        site.kill()
        site.kill_worker()
        site.start(worker=True)
        ends = time.monotonic() + PATIENCE_SECONDS
        while Room.objects.filter(pk__in=[room.pk for room in rooms], status=Room.Status.PLAYING).exists():
            assert time.monotonic() < ends, site.log_tail()
            time.sleep(0.1)
        for room in rooms:
            assert stage.refreshed(room).status in {"finished", "destroyed"}
            assert wallet.held(f"room:{room.pk}") == 0
            payout = Transaction.objects.get(reference=f"match:{room.match_id}:payout")
            assert sorted(payout.postings.values_list("amount", flat=True)) == [60, 142]
        assert Transaction.objects.filter(kind="payout").count() == number * ROOMS
    assert Transaction.objects.filter(kind="abandoned").count() == 0
    assert all(wallet.balance(a.pk) + wallet.balance(b.pk) == 10000 for a, b in couples)
    assert sum(wallet.totals().values()) == 0


def test_killed_around_the_end_a_match_is_paid_once(other_site: Any) -> None:
    kill_around_the_end(other_site, 1, 1)


@pytest.mark.soak
def test_killed_around_the_end_fifty_times_a_match_is_paid_once(other_site: Any) -> None:
    kill_around_the_end(other_site, 50, 2)


# -- between any two statements ----------------------------------------------------------------------------------


def rung(*people: Player) -> tuple[Room, Callable[[], object]]:
    """The table plays the last tile."""
    room = near_the_end([*people], 0.0)
    return room, partial(playing.ring, room.pk)


def answered(*people: Player) -> tuple[Room, Callable[[], object]]:
    """A person plays the last tile."""
    room, _ring = rung(*people)
    Seat.objects.filter(room=room).update(auto_play=False)
    playing.ring(room.pk)  # opens the question
    (prompt,) = stage.prompts(room)
    assert room.is_open
    seat = Seat.objects.get(room=room, number=prompt.seat)
    do = str(stage.frame_of(room, seat.number)["prompt"]["choices"][0]["do"])
    return room, partial(playing.act, room.pk, seat.pk, seat.number, "last", prompt.step, do, clock.now())


def given_up(*people: Player) -> tuple[Room, Callable[[], object]]:
    """The last who is left leaves."""
    room = begun(paid(FEE, *people))
    for one in people[1:]:
        closing.leave(room.pk, one.pk)
    return room, partial(closing.leave, room.pk, people[0].pk)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("quiet_site")
@pytest.mark.parametrize("ends", [rung, answered, given_up], ids=lambda ends: ends.__name__)
def test_killed_at_any_statement_a_match_is_over_and_paid_or_neither(
    ends: Callable[..., tuple[Room, Callable[[], object]]],
) -> None:
    people = [rich(name) for name in ("Ana", "Ben", "Cleo", "Dan")]
    room, end = ends(*people)
    before, kills = everything(), 0
    while True:
        try:
            with connection.execute_wrapper(killed_after(kills)):
                end()
        except Killed:
            kills += 1
            if stage.refreshed(room).status == Room.Status.PLAYING:
                assert everything() == before, f"half done after {kills - 1} statements"
                continue
        # The commit was done: whoever was killed after it has left nothing to do.
        break
    assert kills >= 10
    won = {0: 283, 1: 121}  # of 404
    if ends is given_up:
        assert stage.refreshed(room).status == Room.Status.DESTROYED
        assert has(*people) == [5000 - FEE] * 4 and wallet.held("house:abandoned") == 4 * FEE
    else:
        assert stage.refreshed(room).status == Room.Status.FINISHED
        order = outcome(room)["order"]
        seats = [people[number] for number in order]  # they sat down in this order
        assert has(*seats) == [5000 - FEE + won.get(place, 0) for place in range(4)]
    assert escrow(room) == 0 and Resolution.objects.count() == 4
    nothing_is_lost()
    if ends is rung:
        after = everything()
        playing.ring(room.pk)
        assert everything() == after
