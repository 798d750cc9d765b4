"""What the busiest services cost: statements, which can be counted, since time cannot be a test."""

import asyncio
import os
import threading

import pytest
from channels.layers import get_channel_layer
from django.db import connection
from django.test.utils import CaptureQueriesContext

from rooms import broadcast, closing, playing, seating
from rooms.models import Room
from tests.rooms import stage
from tests.rooms.gold import paid, rich
from tests.rooms.test_paid_kill import near_the_end


@pytest.mark.django_db(transaction=True)
def test_sitting_and_leaving_a_paid_room_take_nine_statements_each() -> None:
    ana, host = rich("Ana"), rich("Host")
    room = paid(7, host)
    seating.sit(rich("Ben"), room.pk, agreed_fee=7)  # the room's own account is there from now on
    with CaptureQueriesContext(connection) as sat:
        seating.sit(ana, room.pk, agreed_fee=7)
    with CaptureQueriesContext(connection) as left:
        closing.leave(room.pk, ana.pk)
    assert (len(sat), len(left)) == (9, 9)


@pytest.mark.django_db(transaction=True)
def test_the_end_of_a_paid_match_takes_seventeen_statements() -> None:
    room = near_the_end([rich("Ana"), rich("Ben")], 0.0)
    with CaptureQueriesContext(connection) as ended:
        playing.ring(room.pk)
    assert stage.refreshed(room).status == Room.Status.FINISHED and len(ended) == 17


def _notices() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "notices"]


def test_notices_of_a_worker_share_one_connection_and_a_fork_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def heard(count: int) -> list[object]:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        await layer.group_add(broadcast.GROUP, channel)
        for number in range(count):
            await asyncio.to_thread(broadcast._send, {"type": "room.changed", "room": 9, "v": number})
        async with asyncio.timeout(10):
            return [(await layer.receive(channel))["v"] for _number in range(count)]

    monkeypatch.setattr(broadcast, "_loop", None)
    before = len(_notices())
    assert asyncio.run(heard(3)) == [0, 1, 2]
    assert len(_notices()) == before + 1
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert asyncio.run(heard(1)) == [0]
    assert len(_notices()) == before + 2


def test_a_thread_that_cannot_start_costs_one_notice_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "_loop", None)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _no_more_threads)
        with pytest.raises(RuntimeError):
            broadcast._send({"type": "room.changed", "room": 9, "v": 1})
    broadcast._send({"type": "room.changed", "room": 9, "v": 2})


def _no_more_threads(_thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")
