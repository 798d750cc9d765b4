"""Nothing piles up: sockets that come and go by the hundred, and readers who have stopped reading."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
from django.db import connection
from django.db.models import F
from websockets.exceptions import ConnectionClosed

from rooms import hosting, lobby
from rooms.models import Connection, Room, Seat, Watcher
from tests.rooms import crowd
from tests.support.inside import InsideSite
from tests.support.links import open_link
from tests.support.services import Run
from tests.support.visitor import TableSocket, Visitor

Made = Callable[..., InsideSite]


@pytest.fixture
def inside(services: Run, transactional_db: None, settings: Any) -> Iterator[Made]:
    """Makes the site of this test, in this process."""
    made: list[InsideSite] = []

    def make(*, send_buffer: int | None = None, **limits: float) -> InsideSite:
        from dominopoker import asgi

        site = InsideSite(send_buffer=send_buffer)
        made.append(site)
        for name, value in limits.items():
            setattr(settings, name, value)
        # The door was built with the origins of the start of this process.
        door = asgi.application.application_mapping["websocket"]
        door.allowed_origins = [site.url]
        site.start(asgi.application)
        return site

    yield make
    for site in made:
        site.stop()


def settled(look: Callable[[], Any], right: Callable[[Any], bool], seconds: float = 15) -> Any:
    """What is looked at, once it is right or time is up."""
    ends = time.monotonic() + seconds
    while not right(seen := look()) and time.monotonic() < ends:
        time.sleep(0.1)
    return seen


def backends() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


# -- coming and going (B39) --------------------------------------------------------------------------------------


def test_sockets_that_come_and_go_leave_nothing(inside: Made) -> None:
    come_and_go(inside, 150)


@pytest.mark.soak
def test_two_thousand_sockets_that_come_and_go_leave_nothing(inside: Made) -> None:
    come_and_go(inside, 2000)


def come_and_go(inside: Made, cycles: int) -> None:
    """Four kinds of sockets, dropped at every moment of their opening, while bots play."""
    site = inside()
    ana, ben, eve = (Visitor(site.url) for _i in range(3))
    code = ana.open_room(rounds=50)
    room = Room.objects.get()
    ben.join(code)
    stays = ben.sit(code)
    host = ana.sit(code)
    assert host.do("fill", level="medium")["t"] == host.do("start")["t"] == "ack"
    host.drop()
    paths = [(ana, f"/ws/tables/{code}/"), (eve, f"/ws/rooms/{room.pk}/"), (eve, "/ws/lobby/?state=")]
    paths.append((eve, f"/ws/tables/{code}/"))  # refused
    drop_all(paths, 20)  # warm
    stays.drain()
    before = settled(site.kept, lambda kept: kept["consumers"] == 1 and kept["hub tasks"] <= 3)
    assert before["consumers"] == before["listeners"] == 1, before
    base_backends = backends()
    began = time.monotonic()
    for _part in range(0, cycles, 50):
        drop_all(paths, 50)
        stays.drain(0.001)
    took = time.monotonic() - began
    stays.drain()

    def as_before(kept: dict[str, int]) -> bool:
        return all(kept[name] <= before[name] + (3 if "tasks" in name else 0) for name in before)

    after = settled(site.kept, as_before)
    print(
        f"\n{cycles} sockets in {took:.1f} s: {before} before, {after} after, {base_backends} and {backends()} backends"
    )
    assert as_before(after), after
    assert backends() <= 22  # two pools of ten: pages and sockets share one, the test has its own
    assert settled(lambda: Connection.objects.count(), lambda n: n == 1) == 1
    assert settled(lambda: Watcher.objects.count(), lambda n: n == 0) == 0
    stays.seen(lambda update: not update["room"]["seats"][0]["connected"])
    assert Seat.objects.count() == 4 and Room.objects.get().status == "playing"


@pytest.mark.soak
def test_the_memory_of_a_process_stays_flat(other_site: Any) -> None:
    """Two thousand sockets come and go at a process of its own; the first five hundred warm it."""
    site = other_site(TURN_SECONDS="3600")
    ana, eve = Visitor(site.url), Visitor(site.url)
    code = ana.open_room()
    number = Room.objects.values_list("pk", flat=True).get()
    paths = [(ana, f"/ws/tables/{code}/"), (eve, f"/ws/rooms/{number}/"), (eve, "/ws/lobby/?state=")]
    process, sizes = psutil.Process(site.web_pid), []
    for _part in range(4):
        drop_all(paths, 500)
        time.sleep(1)
        sizes.append(process.memory_info().rss / 2**20)
    print(f"\nafter each 500 sockets: {', '.join(f'{size:.1f}' for size in sizes)} MB; {process.num_fds()} descriptors")
    assert sizes[-1] - sizes[0] < 4
    assert process.num_fds() < 60


def drop_all(paths: list[tuple[Visitor, str]], times: int) -> None:
    for number in range(times):
        person, path = paths[number % len(paths)]
        link = open_link(person.url, path, cookies=person.cookies)
        with contextlib.suppress(TimeoutError, ConnectionClosed):
            if number % 3:
                link.recv(timeout=0.002 * (number % 7))
            if number % 5 == 0:
                link.send('{"t":"sync","v":0}')
        with contextlib.suppress(OSError):  # the site was first
            if number % 4:
                link.socket.shutdown(socket.SHUT_RDWR)  # as a killed browser does
                link.socket.close()
            else:
                link.close()


# -- who does not read (B38) -------------------------------------------------------------------------------------


def frozen_socket(person: Visitor, path: str) -> Any:
    """A socket with next to no room for what it does not read."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", int(person.url.rsplit(":", 1)[1])))
    return open_link(person.url, path, cookies=person.cookies, sock=raw, max_queue=1)


@pytest.mark.parametrize("stays", [True, False])
def test_a_frozen_reader_gets_one_whole_update_and_holds_up_nobody(inside: Made, stays: bool) -> None:
    """One socket reads nothing while a round is played and the room changes 200 times; then it reads again, or was
    closed because it took longer than SLOW_READER_SECONDS."""
    patience = 60 if stays else 2
    site = inside(send_buffer=4096, SLOW_READER_SECONDS=patience)
    ana, ben = Visitor(site.url), Visitor(site.url)
    code = ana.open_room(rounds=3)
    room = Room.objects.get()
    ben.join(code)
    host, other = ana.sit(code), ben.sit(code)
    frozen = frozen_socket(ben, f"/ws/tables/{code}/")
    pings = threading.Event()
    threading.Thread(target=keep_pinging, args=(frozen, pings), daemon=True).start()
    assert host.do("fill", level="medium")["t"] == host.do("start")["t"] == "ack"
    slowest, changes = 0.0, 0
    host_id = Room.objects.values_list("host_id", flat=True).get()
    assert host_id is not None
    while changes < 200 or host.update.get("view") is None or host.update["view"]["round"] < 2:
        for one in (host, other):
            one.drain(0.001)
            if one.update.get("prompt"):
                began = time.monotonic()
                assert one.act(one.update["prompt"])["t"] == "ack"
                slowest = max(slowest, time.monotonic() - began)
        if changes < 200:
            changes += 1
            hosting.allow_watching(room.pk, host_id, changes % 2 == 1)
            one = host if changes % 2 else other
            one.seen(lambda update: update["room"]["watch"]["allowed"] == (changes % 2 == 1))  # noqa: B023
    version = Room.objects.values_list("version", flat=True).get()
    other.seen(lambda update: update["v"] >= version)
    if stays:
        updates = read_on(frozen, version)
        # What was on its way, and then the newest alone: not the hundreds between.
        assert updates[-1]["v"] >= version and updates[-1]["view"]["hand"] == other.update["view"]["hand"]
        skipped = version - len(updates)
        assert skipped > 100, f"{len(updates)} updates of {version} versions"
        print(f"\n{version} versions, {len(updates)} updates to the frozen; slowest action of others {slowest:.3f} s")
    else:
        # It was given up though it never said good-bye, and although its pings go on; somebody else counts as there.
        assert settled(site.kept, lambda now: now["listeners"] == 2)["listeners"] == 2
        assert settled(lambda: Connection.objects.count(), lambda count: count == 2) == 2
        close, texts = close_of(frozen)
        assert close == 4008
        again = ben.sit(code)
        assert again.until(lambda frame: frame["t"] == "update")["v"] >= version
        print(f"\nclosed with {close} after {len(texts)} frames; slowest action of others {slowest:.3f} s")
    pings.set()
    assert slowest < 2.0


def test_a_frozen_lobby_page_is_let_go_and_told_so_when_it_reads_again(inside: Made) -> None:
    """Its close waits behind what it has not read, for as long as that takes; nothing else waits for it."""
    site = inside(send_buffer=4096, SLOW_READER_SECONDS=1)
    crowd.waiting(500)
    frozen = frozen_socket(Visitor(site.url), "/ws/lobby/?state=")
    assert settled(lambda: site.ask(lambda: len(lobby.get().viewers)), lambda count: count == 1) == 1
    while site.ask(lambda: len(lobby.get().viewers)):
        Room.objects.update(version=F("version") + 1)  # something to tell, until it is no longer told
        time.sleep(0.5)
    time.sleep(1.5)  # a page in the background stays there for a while
    close, texts = close_of(frozen)
    assert close == 4008, f"{close} after {len(texts)} frames"


def keep_pinging(link: Any, done: threading.Event) -> None:
    with contextlib.suppress(ConnectionClosed, OSError):
        while not done.wait(2):
            link.send('{"t":"ping","v":0}')


def read_on(link: Any, version: int) -> list[dict[str, Any]]:
    reader = TableSocket(link)
    updates: list[dict[str, Any]] = []
    while not updates or updates[-1]["v"] < version:
        frame = reader.next()
        if frame["t"] == "update":
            updates.append(frame)
    return updates


def close_of(link: Any) -> tuple[int, list[str]]:
    texts: list[str] = []
    try:
        while True:
            texts.append(link.recv(timeout=10))
    except ConnectionClosed as end:
        return (end.rcvd.code if end.rcvd else 1006), texts
