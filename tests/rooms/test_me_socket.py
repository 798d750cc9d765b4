"""The balance in every open page: told on opening, moved within two seconds, ended with the session."""

import contextlib
import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import transaction
from django.utils import timezone
from websockets.exceptions import ConnectionClosed, InvalidStatus

from players.models import Player
from rooms import closing, seating
from rooms.models import Room
from tests.rooms import stage
from tests.rooms.gold import begun, has, paid, rich
from tests.support.links import open_link
from tests.support.site import LiveSite
from tests.support.visitor import PATIENCE_SECONDS
from wallet import services as coins
from wallet.models import Transaction

SOON = 2.0
OPEN: "list[MyPage]" = []


@pytest.fixture(autouse=True)
def pages_are_closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().link.close()


def session_of(player: Player) -> str:
    """A session as signing in makes it."""
    session = SessionStore()
    session[SESSION_KEY] = str(player.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = player.get_session_auth_hash()
    session.save()
    assert session.session_key is not None
    return session.session_key


class MyPage:
    """One open page of a player, and what its top bar would show."""

    def __init__(self, url: str, session: str, *, origin: str | None = None) -> None:
        cookies = f"{settings.SESSION_COOKIE_NAME}={session}"
        self.link = open_link(url, "/ws/me/", origin=origin, cookies=cookies)
        self.coins: int | None = None
        self.told: list[int] = []
        OPEN.append(self)

    def next(self, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(self.link.recv(timeout=seconds))
        if frame["t"] == "balance":
            self.coins = frame["coins"]
            self.told.append(frame["coins"])
        return frame

    def until(self, coins: int, seconds: float = SOON) -> None:
        ends = time.monotonic() + seconds
        while self.coins != coins:
            left = ends - time.monotonic()
            assert left > 0, f"{self.told} and not {coins}"
            with contextlib.suppress(TimeoutError):
                self.next(left)

    def send(self, text: str) -> dict[str, Any]:
        """Say something; what is answered."""
        self.link.send(text)
        frame = self.next()
        while frame["t"] == "balance":
            frame = self.next()
        return frame

    def closed(self, seconds: float = PATIENCE_SECONDS) -> int:
        try:
            while True:
                self.next(seconds)
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else 1006


def test_coins_move_in_all_open_pages_within_two_seconds(live_site: LiveSite) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    pages = [MyPage(live_site.url, session_of(ana)) for _i in range(3)]
    other = MyPage(live_site.url, session_of(ben))
    for page in [*pages, other]:
        page.until(5000, PATIENCE_SECONDS)
    room = paid(300, ana)
    for page in pages:
        page.until(4700)
    closing.leave(room.pk, ana.pk)
    for page in pages:
        page.until(5000)
    assert other.told == [5000] and all(page.told == [5000, 4700, 5000] for page in pages)


def test_a_won_pot_arrives(live_site: LiveSite) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    page = MyPage(live_site.url, session_of(ana))
    page.until(4700, PATIENCE_SECONDS)
    closing.leave(room.pk, ben.pk)
    stage.play_to_the_end(room)
    page.until(5300)


@pytest.mark.parametrize(
    "make", [lambda: "", lambda: "x" * 32, lambda: "../etc", lambda: session_of(stage.person("G"))]
)
def test_those_without_a_wallet_are_sent_away(live_site: LiveSite, make: Callable[[], str]) -> None:
    assert MyPage(live_site.url, make()).closed() == 4401


def test_a_foreign_page_hears_nothing(live_site: LiveSite) -> None:
    with pytest.raises(InvalidStatus):
        MyPage(live_site.url, session_of(rich("Ana")), origin="https://evil.example")


def test_the_end_of_a_session_or_a_ban_ends_the_page_within_seconds(live_site: LiveSite) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    session = session_of(ana)
    out, banned, stays = (MyPage(live_site.url, key) for key in (session, session_of(ben), session_of(ana)))
    for page in (out, banned, stays):
        page.until(5000, PATIENCE_SECONDS)
    SessionStore(session).delete()
    assert out.closed(5) == 4403
    Player.objects.filter(pk=ben.pk).update(is_active=False)
    assert banned.closed(5) == 4403
    assert stays.send('{"t":"ping","v":0}') == {"t": "pong", "v": 0}


def test_forged_frames_change_no_coin(live_site: LiveSite) -> None:
    """B02: the line only listens."""
    ana = rich("Ana")
    page = MyPage(live_site.url, session_of(ana))
    page.until(5000, PATIENCE_SECONDS)
    before = Transaction.objects.count()
    forged = (
        "", "{", "[[[[", "null", '{"t":"balance","coins":9999}', '{"t":"reward","coins":300}', '{"t":"leave"}',
        '{"t":"act","id":"a","step":"r1.b.s0","do":"bid 1"}', '{"t":"ping","v":true}', '{"t":"ping","v":-1}',
    )  # fmt: skip
    for frame in forged:
        assert page.send(frame)["t"] == "refused", frame
    assert has(ana) == [5000] and Transaction.objects.count() == before
    page.link.send("x" * 5000)
    assert page.closed() == 4400


def test_forged_frames_at_a_table_change_no_coin(live_site: LiveSite) -> None:
    """B02: at the own table, as a player of a running paid match."""
    ana, ben = rich("Ana"), rich("Ben")
    sitting = seating.create_room(ana, visibility="public", options={"rounds": 1}, fee=300)
    seating.sit(ben, sitting.room_id, agreed_fee=300)
    room = begun(_present(Room.objects.get(pk=sitting.room_id), ana, ben))
    before = Transaction.objects.count()
    cookies = f"{settings.SESSION_COOKIE_NAME}={session_of(ana)}; {settings.SEAT_COOKIE_NAME}={sitting.token}"
    link = open_link(live_site.url, f"/ws/tables/{room.code}/", cookies=cookies)
    forged = (
        '{"t":"settle","id":"a","winner":0}', '{"t":"end","id":"a","places":[1,2,3,4]}', '{"t":"pay","coins":9}',
        '{"t":"act","id":"w1","step":"r1.t7.s0","do":"win"}', '{"t":"act","id":"w2","step":"end","do":"place 1"}',
        '{"t":"start","id":"s"}', '{"t":"delete","id":"d"}', '{"t":"move","id":"m","seat":2}',
    )  # fmt: skip
    for frame in forged:
        link.send(frame)
    refused = 0
    while refused < len(forged):
        refused += json.loads(link.recv(timeout=PATIENCE_SECONDS))["t"] == "refused"
    link.close()
    assert has(ana, ben) == [4700, 4700] and Transaction.objects.count() == before


def _present(room: Room, *people: Player) -> Room:
    for one in people:
        stage.arrive(room, one)
    return stage.refreshed(room)


def test_the_page_comes_back_after_the_server_was_away(live_site: LiveSite) -> None:
    ana = rich("Ana")
    session = session_of(ana)
    page = MyPage(live_site.url, session)
    page.until(5000, PATIENCE_SECONDS)
    live_site.kill()
    with transaction.atomic():
        coins.charge_fee(1, 1, ana.pk, 300)
    live_site.start()
    again = MyPage(live_site.url, session)
    again.until(4700, PATIENCE_SECONDS)
    assert again.told == [4700]


def test_the_file_comes_in_chunks_from_the_real_site(other_site: Any) -> None:
    site = other_site()  # one that has served nothing yet: Python warns once a process
    ana = rich("Ana")
    for number in range(1, 1201):
        with transaction.atomic():
            coins.reward(number, ana.pk, 1, timezone.now())
    request = urllib.request.Request(
        f"{site.url}/wallet/statement.csv",
        headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={session_of(ana)}"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        lines = answer.read().decode("utf-8-sig").splitlines()
        assert answer.headers["Transfer-Encoding"] == "chunked"
    assert len(lines) == 1202 and lines[-1].split(",")[3:5] == ["1", "6200"]
    assert "must consume" not in site.log.read_text()


def test_too_many_pages_of_one_player_are_sent_away(live_site: LiveSite) -> None:
    session = session_of(rich("Ana"))
    pages = [MyPage(live_site.url, session) for _i in range(24)]
    for page in pages:
        page.until(5000, PATIENCE_SECONDS)
    assert MyPage(live_site.url, session).closed() == 4029
