"""People at a table with others go away and come back: clocks go on, seats stay, and only their holders sit in them."""

import random
import time
import uuid
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from games.models import MatchEvent
from players.models import Player
from rooms import clock
from rooms.models import Connection, Room, Seat
from tests.support.site import LiveSite
from tests.support.visitor import TableSocket, Visitor


def two_at_a_table(site: LiveSite, *, rounds: int = 1) -> tuple[list[Visitor], list[TableSocket], str]:
    """Two people and two bots; the match has begun."""
    ana, ben = Visitor(site.url), Visitor(site.url)
    code = ana.open_room(rounds=rounds)
    ben.join(code)
    sockets = [ana.sit(code), ben.sit(code)]
    assert sockets[0].do("fill", level="medium")["t"] == sockets[0].do("start")["t"] == "ack"
    for socket in sockets:
        socket.seen(lambda update: update["view"] is not None)
    return [ana, ben], sockets, code


def seats(socket: TableSocket) -> dict[int, dict[str, Any]]:
    return {seat["number"]: seat for seat in socket.update["room"]["seats"]}


def test_who_changes_seats_sees_the_own_hand_alone(live_site: LiveSite) -> None:
    """The socket was opened in another seat than the one that is dealt to."""
    ana, ben = Visitor(live_site.url), Visitor(live_site.url)
    code = ana.open_room()
    one = ana.sit(code)
    assert one.do("move", seat=2)["t"] == "ack"
    ben.join(code)
    two = ben.sit(code)  # in the first seat, where Ana's socket was opened
    assert one.do("fill", level="medium")["t"] == "ack" and one.do("start")["t"] == "ack"
    ana_sees = one.seen(lambda update: update["view"] is not None)
    ben_sees = two.seen(lambda update: update["view"] is not None)
    assert (ana_sees["room"]["you"], ben_sees["room"]["you"]) == (2, 0)
    assert (ana_sees["view"]["seat"], ben_sees["view"]["seat"]) == (2, 0)
    assert not set(ana_sees["view"]["hand"]) & set(ben_sees["view"]["hand"])
    assert [seat["name"] for seat in ana_sees["room"]["seats"]][2] == Seat.objects.get(number=2).name
    prompt = one.asked()
    assert prompt is not None and one.act(prompt)["t"] == "ack"
    assert Room.objects.get().status == "playing"


# -- the clock of who is gone (B16) ------------------------------------------------------------------------------


def phases_of(update: dict[str, Any]) -> set[str]:
    view = update["view"]
    last = {"last trick"} if view["trick"] and view["trick"]["number"] == 7 else set()
    return {view["phase"], *last}


@pytest.mark.parametrize(
    ("phase", "left", "how"),
    [
        ("bidding", 0.9, "killed"),
        ("playing", 0.1, "killed"),
        ("playing", 0.9, "silent"),
        ("last trick", 0.1, "killed"),
        pytest.param("bidding", 0.1, "silent", marks=pytest.mark.soak),
        pytest.param("last trick", 0.9, "silent", marks=pytest.mark.soak),
        pytest.param("last trick", 0.9, "killed", marks=pytest.mark.soak),
    ],
)
def test_the_clock_runs_on_without_the_player(other_site: Any, phase: str, left: float, how: str) -> None:
    """The connection ends with this part of the turn left, or stays open with nobody behind it."""
    turn = 2.0
    site = other_site(TURN_SECONDS=str(turn))
    _people, sockets, _code = two_at_a_table(site)
    gone, other = sockets
    while True:
        other.drain()
        gone.drain()
        if (prompt := gone.update.get("prompt")) is not None and phase in phases_of(gone.update):
            break
        for socket in sockets:
            if socket.update.get("prompt"):
                assert socket.act(socket.update["prompt"])["t"] == "ack"
    deadline = Room.objects.get().deadline_at
    assert deadline is not None
    seat = gone.update["room"]["you"]
    time.sleep(max(0.0, (deadline - clock.sample()).total_seconds() - turn * left))
    if how == "killed":
        gone.drop()

    def answered(update: dict[str, Any]) -> bool:
        return any(e["type"] in {"BidMade", "TilePlayed"} and e["seat"] == seat for e in update["events"])

    other.update = {}
    frame = other.seen(answered)
    event = MatchEvent.objects.get(step=prompt["step"])
    late = (event.at - deadline).total_seconds()  # by the one clock, whoever was held up
    assert 0 <= late <= 1.0, f"played {late:.2f} s after the deadline"
    assert event.by == "idle" and event.answer in [choice["do"] for choice in prompt["choices"]]
    assert phase != "bidding" or event.answer == "bid 0"
    if phase == "last trick":
        while other.asked() is not None:
            assert other.act(other.update["prompt"])["t"] == "ack"
        assert other.update["view"]["result"] and other.update["room"]["status"] == "finished"
        return
    shown = {one["number"]: one for one in frame["room"]["seats"]}[seat]
    assert shown["missed"] == 1 and not shown["auto_play"]
    if how == "killed":
        assert not other.seen(lambda update: not seats(other)[seat]["connected"])["room"]["outcome"]


def test_three_misses_are_seen_and_taken_back(other_site: Any) -> None:
    """Warning, inactive, auto-play; the connection is lost meanwhile, and who comes back takes control (B26)."""
    site = other_site(TURN_SECONDS="1")
    people, (gone, other), code = two_at_a_table(site, rounds=2)
    seat = gone.update["room"]["you"]
    gone.drop()
    told: list[tuple[int, bool]] = []
    ends = time.monotonic() + 60
    while not told or not told[-1][1]:
        assert time.monotonic() < ends, told
        frame = other.next()
        if frame["t"] == "update":
            now = seats(other)[seat]
            if (now["missed"], now["auto_play"]) not in told:
                told.append((now["missed"], now["auto_play"]))
            if frame["prompt"]:
                assert other.act(frame["prompt"])["t"] == "ack"
    assert told == [(0, False), (1, False), (2, False), (3, True)]
    assert not seats(other)[seat]["connected"]

    back = people[0].sit(code)
    back.until(lambda frame: frame["t"] == "update")
    assert back.update["room"]["you"] == seat and seats(back)[seat]["auto_play"]
    assert back.update["view"]["hand"] is not None
    back.send({"t": "take_control"})
    mine = back.seen(lambda update: not seats(back)[seat]["auto_play"] and seats(back)[seat]["missed"] == 0)
    assert seats(back)[seat]["connected"]
    ends = time.monotonic() + 30
    while mine["prompt"] is None:
        assert time.monotonic() < ends, "never asked again"
        other.drain()
        if other.update.get("prompt"):
            assert other.act(other.update["prompt"])["t"] == "ack"
        back.drain()
        mine = back.update
    assert back.act(mine["prompt"])["t"] == "ack"
    other.drain(0.3)
    assert (seats(other)[seat]["missed"], seats(other)[seat]["auto_play"]) == (0, False)


# -- coming back is not leaving (B26) ----------------------------------------------------------------------------


def as_the_page(socket: TableSocket) -> dict[str, Any]:
    """Answer the open question; "try again" (a process that was held up is unsure of its clock) is sent again, as the
    page does, under the same id."""
    prompt, name = socket.update["prompt"], f"again-{uuid.uuid4().hex[:8]}"
    for _i in range(10):
        told = socket.act(prompt, action_id=name)
        if told.get("code") != "try_again":
            break
        time.sleep(0.5)
    return told


def test_ten_losses_of_the_network_cost_nothing(other_site: Any) -> None:
    """Ten times in a match the connection ends without a good-bye, and comes back."""
    site = other_site(worker=True)
    people, (one, two), code = two_at_a_table(site, rounds=2)
    chance = random.Random(26)
    seat, lost = one.update["room"]["you"], 0
    while True:
        two.drain()
        one.drain()
        if one.update["room"]["status"] == "finished":
            break
        if lost < 10 and chance.random() < 0.4:
            hand, round_now = one.update["view"]["hand"], one.update["view"]["round"]
            one.drop()
            time.sleep(chance.uniform(0, 0.3))
            one = people[0].sit(code)
            one.until(lambda frame: frame["t"] == "update")
            lost += 1
            assert one.update["room"]["you"] == seat
            if one.update["view"]["round"] == round_now:
                assert set(one.update["view"]["hand"]) == set(hand)  # nobody played for it
        for socket in (one, two):
            if socket.update.get("prompt"):
                told = as_the_page(socket)
                assert told["t"] == "ack", told
                socket.update = socket.update or socket.seen(bool)
    assert lost == 10
    assert not MatchEvent.objects.filter(by="idle").exists()
    two.seen(lambda update: update["room"]["status"] == "finished")
    assert MatchEvent.objects.filter(by="seat").count() == 32


def test_who_has_forfeited_does_not_come_back(live_site: LiveSite) -> None:
    people, (one, two), code = two_at_a_table(live_site)
    seat = one.update["room"]["you"]
    cookies = people[0].cookies
    one.send({"t": "leave"})
    assert one.closed() == 4404
    assert people[0].sit(code, cookies=cookies).closed() == 4404
    for path in ("return", "rematch"):
        people[0].post(f"/tables/{code}/{path}/")
        assert code not in people[0].where
    status, page = people[0].get(f"/tables/{code}/")
    assert status == 200 and people[0].where.endswith("/lobby/") and "You left that match" in page
    assert people[0].open_room(visibility="private") != code
    assert two.seen(lambda update: seats(two)[seat]["forfeited"]) and seats(two)[seat]["kind"] == "bot"
    two.play_out()
    assert two.update["view"]["result"]


def test_who_is_sent_away_is_out(live_site: LiveSite) -> None:
    ana, ben = Visitor(live_site.url), Visitor(live_site.url)
    code = ana.open_room(visibility="public")
    room = Room.objects.get()
    ben.join(code)
    one, two = ana.sit(code), ben.sit(code)
    cookies = ben.cookies
    sitting = Seat.objects.get(number=1).pk
    assert two.do("remove", sitting=sitting)["code"] == "not_host"
    assert one.do("remove", sitting=sitting)["t"] == "ack"
    assert two.closed() == 4404
    assert ben.sit(code, cookies=cookies).closed() == 4404
    assert ben.get(f"/tables/{code}/")[0] == 404
    for path, fields in (("/join/", {"code": code}), (f"/rooms/{room.pk}/sit/", {}), (f"/tables/{code}/return/", {})):
        ben.post(path, **fields)
        assert code not in ben.where and Seat.objects.count() == 1
    ben.post("/quick/")
    assert code not in ben.where


# -- whose seat it is --------------------------------------------------------------------------------------------


def registered(name: str) -> Player:
    player = Player(username=name, shown_name=name.title())
    player.set_password("a long password of nobody else")
    player.save()
    return player


def sign_in(player: Player, visitor: Visitor) -> None:
    """A session as the sign-in makes one, in this visitor's browser."""
    session = SessionStore()
    session[SESSION_KEY] = str(player.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = player.get_session_auth_hash()
    session.create()
    assert session.session_key is not None
    visitor.set_cookie(settings.SESSION_COOKIE_NAME, session.session_key)


def test_a_registered_player_takes_the_seat_over_on_another_device(live_site: LiveSite) -> None:
    player = registered("carla")
    phone, desk, ben = (Visitor(live_site.url) for _i in range(3))
    sign_in(player, phone)
    sign_in(player, desk)
    code = phone.open_room()
    ben.join(code)
    tabs = [phone.sit(code), phone.sit(code)]
    assert tabs[0].do("fill", level="medium")["t"] == tabs[0].do("start")["t"] == "ack"
    for tab in tabs:  # tabs of one browser all stay live
        tab.seen(lambda update: update["view"] is not None)
    assert desk.sit(code).closed() == 4404  # the session alone is not the seat
    desk.post(f"/tables/{code}/return/")
    assert code in desk.where
    socket = desk.sit(code)
    assert [tab.closed() for tab in tabs] == [4409, 4409]
    assert phone.sit(code).closed() == 4404
    socket.seen(lambda update: update["view"] is not None)
    assert socket.update["room"]["you"] == 0 and seats(socket)[0]["connected"]
    other = ben.sit(code)
    prompt = None
    while prompt is None:
        for one in (socket, other):
            one.drain()
            if one.update.get("prompt"):
                prompt = one.update["prompt"] if one is socket else prompt
                assert one.act(one.update["prompt"])["t"] == "ack"
    assert MatchEvent.objects.filter(by="seat", seat=0).exists()


def test_a_copied_seat_is_worth_nothing_without_its_session(live_site: LiveSite) -> None:
    people, _sockets, code = two_at_a_table(live_site)
    eve = Visitor(live_site.url)
    eve.leave(eve.open_room())
    token = next(cookie.value for cookie in people[0].jar if cookie.name == settings.SEAT_COOKIE_NAME)
    session = next(cookie.value for cookie in eve.jar if cookie.name == settings.SESSION_COOKIE_NAME)
    assert eve.sit(code, cookies=f"seat={token}").closed() == 4401
    assert eve.sit(code, cookies=f"seat={token}; session={session}").closed() == 4404
    eve.set_cookie("seat", str(token))
    assert eve.get(f"/tables/{code}/")[0] == 404
    assert eve.post(f"/tables/{code}/return/")[0] == 200 and code not in eve.where
    # Two people at one table: the session of one with the seat of the other.
    other = next(cookie.value for cookie in people[1].jar if cookie.name == settings.SESSION_COOKIE_NAME)
    assert people[1].sit(code, cookies=f"seat={token}; session={other}").closed() == 4404


def test_a_killed_process_leaves_nobody_present(other_site: Any) -> None:
    """No handler ran: the lease ends by itself, and who is at the other process sees it."""
    heartbeat = 1.0
    one, two = other_site(HEARTBEAT_SECONDS="1"), other_site(worker=True, HEARTBEAT_SECONDS=str(heartbeat))
    ana, ben = Visitor(one.url), Visitor(two.url)
    code = ana.open_room()
    ben.join(code)
    ana.sit(code)
    socket = ben.sit(code)
    socket.seen(lambda _update: bool(seats(socket).get(0, {}).get("connected")))
    eve = Visitor(one.url)
    eve.watch(Room.objects.get().pk).until(lambda frame: frame["t"] == "update")
    one.kill()
    began = time.monotonic()
    socket.seen(lambda update: not seats(socket)[0]["connected"])
    took = time.monotonic() - began
    # Three heartbeats and two seconds of lease, then the next look of the beat (every five seconds).
    assert took <= 3 * heartbeat + 2 + 5 + 2
    assert Connection.objects.filter(seat__room__code=code).count() == 1
    assert Seat.objects.count() == 2
