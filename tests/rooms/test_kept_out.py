"""Who is banned, or closes the account, while a click is under way: the click does nothing, and no name is left."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from games.models import MatchSeat
from players import services as players
from players.models import Player
from rooms import accounts, hosting, seating, tasks
from rooms.errors import KeptOut, RoomError
from rooms.models import Room, Seat
from tests.rooms import stage
from tests.rooms.gold import has, nothing_is_lost, paid, rich
from tests.rooms.pages import client_of, text
from wallet import selectors as wallet

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quiet_site")]

Out = Callable[[Player], object]
OUTS: dict[str, Out] = {
    "banned": lambda player: accounts.ban(player, None, "Rude"),
    "closed": lambda player: accounts.close(player.pk),
}
outs = pytest.mark.parametrize("out", OUTS.values(), ids=OUTS)


def as_asked(player: Player) -> Player:
    """The player as a request has read it before anything happened."""
    return Player.objects.get(pk=player.pk)


def apart(call: Callable[[], object]) -> Any:
    """What it gives, or the refusal, on a connection of its own."""
    try:
        return call()
    except RoomError as error:
        return error
    finally:
        connection.close()


@outs
def test_nobody_who_is_kept_out_takes_a_seat(out: Out) -> None:
    host, ana = rich("Host"), rich("Ana")
    dear, free = paid(100, host), stage.waiting(stage.person("Bo"))
    old = stage.finished(rich("Ben"), ana)
    asked = as_asked(ana)
    out(ana)
    balance = has(ana)
    ways: list[Callable[[], object]] = [
        partial(seating.sit, asked, dear.pk, agreed_fee=100),
        partial(seating.sit, asked, free.pk, 2),
        partial(seating.sit_with_code, asked, free.pk),
        partial(seating.quick_play, asked),
        partial(seating.create_room, asked, visibility="public", options={"rounds": 1}),
        partial(seating.create_room, asked, visibility="public", options={"rounds": 1}, fee=10),
        partial(seating.open_solo, asked, {"rounds": 1}, "medium", clocked=True),
        partial(seating.rematch, asked, old.code),
    ]
    rooms = Room.objects.count()
    for way in ways:
        with pytest.raises(KeptOut):
            way()
    assert not Seat.objects.filter(player=ana).exists() and has(ana) == balance and Room.objects.count() == rooms
    nothing_is_lost()


@outs
@pytest.mark.parametrize("fee", [0, 100])
def test_who_waits_for_the_room_while_the_account_ends_does_not_sit(out: Out, fee: int) -> None:
    host, ana = rich("Host"), rich("Ana")
    room = paid(fee, host) if fee else stage.waiting(host)

    asked = as_asked(ana)
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            Room.objects.select_for_update().get(pk=room.pk)
            sits = pool.submit(apart, partial(seating.sit, asked, room.pk, agreed_fee=fee))
            pool.submit(apart, partial(out, ana)).result(15)
            assert not sits.done()
        assert isinstance(sits.result(15), KeptOut)
    assert not Seat.objects.filter(player=ana).exists()
    nothing_is_lost()


WAITS_FOR_A_LOCK = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"""


def waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITS_FOR_A_LOCK)
        return bool(cursor.fetchone()[0])


@outs
@pytest.mark.parametrize("fee", [0, 100])
def test_who_ends_an_account_waits_for_the_seat_that_is_being_taken(out: Out, fee: int) -> None:
    """The player was read and found welcome, the seat is not written yet: it will be, and must be found then."""
    host, ana = rich("Host"), rich("Ana")
    room = paid(fee, host) if fee else stage.waiting(host)
    writes, goes_on = threading.Event(), threading.Event()

    def stops_at_the_seat(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "rooms_seat"'):
            writes.set()
            assert goes_on.wait(15)
        return execute(sql, *rest)

    def sits() -> object:
        with connection.execute_wrapper(stops_at_the_seat):
            return seating.sit(as_asked(ana), room.pk, agreed_fee=fee)

    with ThreadPoolExecutor(2) as pool:
        try:
            sat = pool.submit(apart, sits)
            assert writes.wait(15)
            ended = pool.submit(apart, partial(out, ana))
            ends = time.monotonic() + 15
            while not (waited := waits_for_a_lock()) and not ended.done():
                assert time.monotonic() < ends, "neither done nor waiting"
                time.sleep(0.01)
        finally:
            goes_on.set()
        assert isinstance(sat.result(15), seating.Sitting) and not isinstance(ended.result(15), Exception)
    assert waited, "the account was ended beside the seat"
    assert not Seat.objects.filter(player=ana).exists()
    assert stage.refreshed(room).status == "waiting" and wallet.held(f"room:{room.pk}") == fee
    nothing_is_lost()


def test_who_sits_down_while_the_account_ends_leaves_no_name_behind() -> None:
    """The other order: the seat is written first, and the end of the account waits for it, then takes it away."""
    host = rich("Host")
    for number in range(6):
        ana = rich(f"Ana {number}")
        room = stage.waiting(stage.person(f"Bo {number}")) if number % 2 else paid(100, rich(f"Cleo {number}"))
        clicks: list[Callable[[], object]] = [
            partial(seating.sit, as_asked(ana), room.pk, agreed_fee=room.fee),
            partial(accounts.close, ana.pk),
        ]
        stage.at_once(clicks)
        assert Player.objects.get(pk=ana.pk).closed_at is not None
        assert not Seat.objects.filter(player=ana).exists()
    assert has(host) == [5000]
    nothing_is_lost()


@outs
def test_a_seat_shows_the_name_that_the_player_has_now(out: Out) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    asked = as_asked(ana)
    accounts.rename(ana, "Anabel")
    room = stage.waiting(ben)
    seating.sit(asked, room.pk)
    assert stage.seat_of(room, ana).name == "Anabel"
    out(ana)
    assert not Seat.objects.filter(player=ana).exists()


def test_a_host_who_is_kept_out_does_nothing_more() -> None:
    host, ben = stage.people("Host", "Ben")
    room = stage.waiting(host, ben)
    seat = stage.seat_of(room, host).pk
    players.ban(host, None, "Rude")  # the seat is not given up yet
    clicks: list[Callable[[], object]] = [
        partial(hosting.put_bot, room.pk, host.pk, 2, "medium"),
        partial(hosting.clear_bot, room.pk, host.pk, 2),
        partial(hosting.fill_bots, room.pk, host.pk, "medium"),
        partial(hosting.remove, room.pk, host.pk, stage.seat_of(room, ben).pk),
        partial(hosting.allow_watching, room.pk, host.pk, False),
        partial(hosting.start, room.pk, host.pk),
        partial(hosting.delete, room.pk, host.pk),
        partial(seating.move, room.pk, seat, 3),
        partial(seating.new_token, host, room.code),
    ]
    before = list(Seat.objects.order_by("pk").values())
    for click in clicks:
        with pytest.raises(KeptOut):
            click()
    assert list(Seat.objects.order_by("pk").values()) == before and stage.refreshed(room).status == "waiting"


def test_a_closed_account_that_was_left_at_a_table_is_forgotten_there_too() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = stage.waiting(ben, ana)
    players.close_account(ana.pk)  # a process that was killed before it came to the seat
    hosting.fill_bots(room.pk, ben.pk, "medium")
    hosting.start(room.pk, ben.pk)
    assert MatchSeat.objects.get(player=ana).name == "Ana"
    assert tasks.shut_out_banned() == 1
    assert MatchSeat.objects.get(player=ana).name == f"Former player {ana.pk}"
    assert not Seat.objects.filter(player=ana).exists()


def test_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ana = rich("Ana")
    client = client_of(ana)
    room = stage.waiting(stage.person("Bo"))
    for path, service in ((f"/rooms/{room.pk}/sit/", "sit"), ("/play/", "open_solo")):
        way = getattr(seating, service)

        def meanwhile(*args: Any, way: Any = way, **fields: Any) -> object:
            Player.objects.filter(pk=ana.pk).update(is_active=False)
            return way(*args, **fields)

        monkeypatch.setattr(seating, service, meanwhile)
        Player.objects.filter(pk=ana.pk).update(is_active=True)
        answer = client.post(path, {"rounds": "1", "level": "medium"})
        assert answer.status_code == 403 and str(KeptOut.text) in text(answer)
