"""Web process and worker killed around the end of paid matches: each pot is paid exactly once."""

import random
import time
from typing import Any

import pytest
from django.db.models import F
from django.test import override_settings

from players.models import Player
from rooms import clock, hosting, playing
from rooms.models import Room
from rooms.table import seconds
from tests.rooms import stage
from tests.rooms.gold import paid, rich
from tests.rooms.test_paid_machine import OneRoom
from wallet import selectors as wallet
from wallet.models import Transaction

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
