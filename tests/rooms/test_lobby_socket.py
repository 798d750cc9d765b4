"""The live lobby with real sockets: rows come, change and go within 2 s; nothing is done unseen; it survives."""

import socket
import time
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone
from websockets.exceptions import InvalidStatus

from rooms import closing, hosting, seating
from rooms.models import Pulse, Room
from tests.rooms import crowd, stage
from tests.support.looker import Looker
from tests.support.site import LiveSite
from tests.support.visitor import Visitor

SOON = 2.0


def test_a_table_appears_fills_and_vanishes_within_two_seconds(live_site: LiveSite) -> None:
    one, two = Looker(live_site.url), Looker(live_site.url)
    for looker in (one, two):
        looker.until(lambda page: page.version is not None)
    ana, bo = stage.person("Ana"), stage.person("Bo")
    room = stage.waiting(ana)
    for looker in (one, two):
        assert looker.until(lambda page: "Ana’s room" in page.rows.get(room.pk, ""), SOON) < SOON
    seating.sit(bo, room.pk)
    for looker in (one, two):
        looker.until(lambda page: "2 of 4 seats" in page.rows[room.pk], SOON)
    hosting.fill_bots(room.pk, ana.pk, "medium")
    for looker in (one, two):
        looker.until(lambda page: "/sit/" not in page.rows[room.pk], SOON)
    hosting.start(room.pk, ana.pk)
    for looker in (one, two):
        looker.until(lambda page: room.pk not in page.rows, SOON)


def test_left_deleted_and_expired_tables_vanish(live_site: LiveSite) -> None:
    people = [stage.person(name) for name in ("Ana", "Bo", "Cem")]
    left, deleted, expired = (stage.waiting(person) for person in people)
    looker = Looker(live_site.url)
    looker.until(lambda page: len(page.rows) == 3)
    closing.leave(left.pk, people[0].pk)
    hosting.delete(deleted.pk, people[1].pk)
    Room.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    looker.until(lambda page: not page.rows, SOON)


def test_private_and_solo_tables_are_never_told(live_site: LiveSite) -> None:
    looker = Looker(live_site.url)
    looker.until(lambda page: page.version is not None)
    private = stage.waiting(stage.person("Ana"), visibility="private")
    Visitor(live_site.url).play()
    public = stage.waiting(stage.person("Bo"))
    looker.until(lambda page: public.pk in page.rows)
    said = str(looker.frames)
    assert list(looker.rows) == [public.pk] and private.code not in said and "Ana" not in said
    assert public.code not in said and str(public.watch_key) not in said


def test_many_changes_in_a_second_are_one_message(live_site: LiveSite) -> None:
    looker = Looker(live_site.url)
    looker.until(lambda page: page.version is not None)
    before = len(looker.frames)
    rooms = [stage.waiting(stage.person(f"P{number}")) for number in range(10)]
    looker.until(lambda page: len(page.rows) == len(rooms), 5)
    assert len(looker.frames) - before <= 4


def test_a_page_just_loaded_is_told_only_what_is_new(live_site: LiveSite) -> None:
    first = Looker(live_site.url)
    old = stage.waiting(stage.person("Ana"))
    # As it is now: the site may have seen the room before its host had come, and then knows no page as new as the next.
    first.until(lambda page: f'data-v="{old.version}"' in page.rows.get(old.pk, ""))
    _status, page = Visitor(live_site.url).get("/lobby/")
    state = page.split('data-state="')[1].split('"')[0]
    looker = Looker(live_site.url, state=state)
    new = stage.waiting(stage.person("Bo"))
    looker.until(lambda page: new.pk in page.rows)
    assert old.pk not in looker.rows
    assert all(frame["from"] is not None for frame in looker.frames if frame["t"] == "lobby")


@pytest.mark.parametrize("state", ["", "0123456789abcdef", "x" * 3000, "%00", "&state=1"])
def test_an_unknown_state_brings_everything(live_site: LiveSite, state: str) -> None:
    room = stage.waiting(stage.person("Ana"))
    looker = Looker(live_site.url, state=state)
    looker.until(lambda page: room.pk in page.rows)
    assert looker.frames[0]["from"] is None


def test_sync_brings_everything_again(live_site: LiveSite) -> None:
    room = stage.waiting(stage.person("Ana"))
    looker = Looker(live_site.url)
    looker.until(lambda page: room.pk in page.rows)
    looker.send({"t": "sync", "v": 0})
    frame = looker.next()
    assert frame["t"] == "lobby" and frame["from"] is None and [row["id"] for row in frame["rows"]] == [room.pk]


def test_a_ping_is_answered_and_all_else_is_refused(live_site: LiveSite) -> None:
    looker = Looker(live_site.url)
    looker.until(lambda page: page.version is not None)
    for text in ("", "{", "[[[[", '{"t":"bogus"}', '{"t":"leave"}', '{"t":"start","id":"a"}', '{"t":"ping","v":true}'):
        looker.send(text)
        frame = looker.next()
        while frame["t"] == "lobby":
            frame = looker.next()
        assert frame["t"] == "refused", text
        time.sleep(0.3)
    looker.send({"t": "ping", "v": 1})
    frame = looker.next()
    while frame["t"] == "lobby":
        frame = looker.next()
    assert frame["t"] == "pong"
    looker.send("x" * 5000)
    assert looker.closed() == 4400


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_another_origin_is_refused(live_site: LiveSite, origin: str) -> None:
    with pytest.raises(InvalidStatus):
        Looker(live_site.url, origin=origin)


def test_who_is_online_is_counted(live_site: LiveSite) -> None:
    visitor = Visitor(live_site.url)
    looker, other = Looker(live_site.url), Looker(live_site.url)
    looker.until(lambda page: page.online.get("players") == 2)
    code = visitor.play()
    table = visitor.sit(code)
    table.asked()
    looker.until(lambda page: page.online == {"players": 3, "tables": 1})
    other.link.close()
    looker.until(lambda page: page.online == {"players": 2, "tables": 1})
    ends = time.monotonic() + 15
    while not Pulse.objects.filter(viewers=1).exists():
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_nothing_is_asked_while_nobody_looks(live_site: LiveSite) -> None:
    looker = Looker(live_site.url)
    looker.until(lambda page: page.version is not None)
    assert questions(3, enough=2) >= 2
    looker.link.close()
    ends = time.monotonic() + 20
    while asked := questions(3, enough=1):
        assert time.monotonic() < ends, f"{asked} questions, and nobody looks"
        time.sleep(0.5)


def questions(seconds: float, enough: int | None = None) -> int:
    """How many times in these seconds some connection's newest question was one of the lobby's two: which tables wait,
    and how many are in use. So many are `enough` to stop looking."""
    seen: set[tuple[int, Any]] = set()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and (enough is None or len(seen) < enough):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid, query_start FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND query_start > clock_timestamp() - interval '2 seconds'"
                ' AND (query LIKE \'%%"rooms_room"."visibility"%%\' OR query LIKE \'SELECT COUNT(*)%%"rooms_room"%%\')'
            )
            seen.update(cursor.fetchall())
        time.sleep(0.004)
    return len(seen)


def test_a_silent_page_is_closed_and_a_pinging_one_stays(other_site: Any) -> None:
    site = other_site(LOBBY_HEARTBEAT_SECONDS="0.8")
    silent, alive = Looker(site.url), Looker(site.url)
    for _n in range(12):
        time.sleep(0.3)
        alive.send({"t": "ping", "v": 0})
    assert silent.closed() == 4002
    alive.send({"t": "ping", "v": 0})
    alive.until(lambda page: sum(frame["t"] == "pong" for frame in page.frames) == 13)


def test_a_frozen_reader_is_closed_and_holds_up_nobody(other_site: Any) -> None:
    site = other_site(SLOW_READER_SECONDS="1")
    crowd.waiting(500)
    frozen = socket.socket()
    frozen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    frozen.connect(("127.0.0.1", site.port))
    frozen.sendall(
        f"GET /ws/lobby/ HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nOrigin: {site.url}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    alive = Looker(site.url)
    alive.until(lambda page: page.online.get("players") == 502)
    ends = time.monotonic() + 20
    while alive.online["players"] != 501:
        assert time.monotonic() < ends, "the frozen page is still counted"
        Room.objects.update(version=F("version") + 1)
        alive.until(changed(alive), SOON)
    frozen.close()


def changed(page: Looker) -> Any:
    """Whether a frame with rows came since now."""
    seen = len(page.frames)
    return lambda one: any(frame.get("rows") for frame in one.frames[seen:])


def test_every_page_is_sent_elsewhere_when_the_process_is_told_to_stop(other_site: Any) -> None:
    site = other_site()
    looker = Looker(site.url)
    looker.until(lambda page: page.version is not None)
    site.terminate()
    assert looker.closed() == 4000
    assert looker.frames[-1]["t"] == "bye"


def test_the_lobby_goes_on_without_valkey_and_after_the_database_was_away(lone_site: LiveSite) -> None:
    looker = Looker(lone_site.url)
    looker.until(lambda page: page.version is not None)
    lone_site.services.valkey.kill()
    late = Looker(lone_site.url)
    ana = Visitor(lone_site.url)
    status, _page = ana.post("/rooms/", game="domino_poker", visibility="public", rounds="1", name="Ana")
    assert status == 200
    for page in (looker, late):
        page.until(lambda one: any("Ana" in html for html in one.rows.values()), 5)
    lone_site.services.valkey.start()
    lone_site.restart_postgres(seconds_down=1)
    bo = Visitor(lone_site.url)
    bo.post("/rooms/", game="domino_poker", visibility="public", rounds="1", name="Bo")
    looker.until(lambda one: any("Bo’s" in html for html in one.rows.values()), 10)
