"""The doors of rooms as a cheat tries them: foreign origins, forged forms, guessed codes, strange frames, floods."""

import json
import random
import secrets
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from players.models import Player
from rooms.codes import ALPHABET
from rooms.models import Room, Seat
from tests.support.site import LiveSite
from tests.support.visitor import TableSocket, Visitor


def four_paths(site: LiveSite) -> tuple[Visitor, list[str]]:
    """Somebody who may open all four kinds of sockets, and their paths."""
    ana = Visitor(site.url)
    code = ana.open_room(visibility="public")
    room = Room.objects.get(code=code)
    ben = Visitor(site.url)
    private = ben.open_room(visibility="private")
    assert ben.sit(private).do("watching", allowed=True)["t"] == "ack"
    key = Room.objects.get(code=private).watch_key
    return ana, [f"/ws/tables/{code}/", f"/ws/rooms/{room.pk}/", f"/ws/watch/{key}/", "/ws/lobby/?state="]


# -- origins and forms (B27) -------------------------------------------------------------------------------------


def test_only_our_own_pages_open_sockets(live_site: LiveSite) -> None:
    ana, paths = four_paths(live_site)
    host, port = "127.0.0.1", live_site.port
    foreign: list[str | None] = [
        None,
        "null",
        "http://evil.example",
        f"http://evil.example:{port}",
        f"http://{host}.evil.example:{port}",
        f"http://evil.example/{host}:{port}",
        f"http://{host}",
        f"http://{host}:{port + 1}",
        f"http://{host}:{port}1",
        f"https://{host}:{port}",
        f"http://localhost:{port}",
        f"http://{host}@evil.example:{port}",
        f"http://127.0.0.1%00.evil.example:{port}",
        "http://[::1",
        "http://127.0.0.1:abc",
        "http://127.0.0.1:99999999",
        f"http://127.0.0.1:{port}.evil",
        "file://",
        "*",
        "",
    ]
    for path in paths:
        for origin in foreign:
            headers = {"Cookie": ana.cookies} | ({"Origin": origin} if origin is not None else {})
            with pytest.raises(InvalidStatus) as refusal:
                connect(live_site.socket_url(path), additional_headers=headers, compression=None)
            assert refusal.value.response.status_code == 403, origin
        socket = ana.listen(path)
        socket.next()
        socket.link.close()


def test_no_form_is_taken_without_its_token(live_site: LiveSite) -> None:
    ana, ben = Visitor(live_site.url), Visitor(live_site.url)
    code = ana.open_room(visibility="public")
    room = Room.objects.get()
    ben.get("/")
    before = (Room.objects.count(), Seat.objects.count(), Player.objects.count())
    csrf = next(cookie.value for cookie in ana.jar if cookie.name == "csrf")
    forms: list[tuple[str, dict[str, str]]] = [
        ("/rooms/", {"game": "domino_poker", "visibility": "public", "rounds": "1", "give_up": "1"}),
        ("/join/", {"code": code}),
        ("/quick/", {"give_up": "1"}),
        (f"/rooms/{room.pk}/sit/", {}),
        (f"/tables/{code}/leave/", {}),
        (f"/tables/{code}/return/", {}),
        (f"/tables/{code}/rematch/", {}),
        ("/play/", {"rounds": "1", "level": "medium", "give_up": "1"}),
    ]
    for person in (ana, ben):
        for path, fields in forms:
            assert person.post_raw(path, fields)[0] == 403
            assert person.post_raw(path, {**fields, "csrfmiddlewaretoken": "x" * 64})[0] == 403
            forged = {**fields, "csrfmiddlewaretoken": str(csrf)}
            for origin in ("http://evil.example", "null", f"http://127.0.0.1:{live_site.port + 1}"):
                assert person.post_raw(path, forged, Origin=origin)[0] == 403
            assert person.get(path)[0] == 405 or path == "/rooms/"
    assert (Room.objects.count(), Seat.objects.count(), Player.objects.count()) == before


# -- guessed codes (B34) -----------------------------------------------------------------------------------------


def test_who_guesses_codes_is_slowed_and_a_friend_gets_in(live_site: LiveSite) -> None:
    """A guesser and a friend behind one address; the friend mistypes twice and reads O for 0."""
    host = Visitor(live_site.url)
    code = host.open_room(visibility="private", rounds=1)
    eve, friend = Visitor(live_site.url), Visitor(live_site.url)
    eve.leave(eve.open_room(visibility="private"))
    friend.leave(friend.open_room(visibility="private"))

    def guess(_number: int) -> tuple[int, str]:
        tried = "".join(secrets.choice(ALPHABET) for _i in range(8))
        status, page = eve.post("/join/", code=tried)
        return status, page.replace(tried, "CODE").replace(f"{tried[:4]}-{tried[4:]}", "CODE")

    answers = [guess(number) for number in range(200)]
    let_through = sum(status == 404 for status, _page in answers)
    assert 8 <= let_through <= 10 and sum(status == 429 for status, _page in answers) == 200 - let_through
    # The right code is told nothing either, once she is slowed.
    assert eve.post("/join/", code=code)[0] == 429

    typos = (code[:7], code[:7] + ("0" if code[7] != "0" else "1"))
    assert [friend.post("/join/", code=typo)[0] for typo in typos] == [404, 404]
    typed = f" {code[:4].lower()} - {code[4:].lower()} ".replace("0", "o").replace("1", "l")
    assert friend.join(typed) == code
    # Another guesser of the same address has what the address has left, and no more.
    others = [Visitor(live_site.url) for _i in range(12)]

    def guess_thrice(person: Visitor) -> list[int]:
        return [person.post("/join/", code="7ZZZZZZ7")[0] for _i in range(8)]

    with ThreadPoolExecutor(6) as pool:
        told = [status for statuses in pool.map(guess_thrice, others) for status in statuses]
    assert told.count(404) <= 60 and told.count(429) >= 96 - 60
    print(f"\n200 codes of one identity: {let_through} looked at; 96 more of 12 browsers: {told.count(404)} looked at")


@pytest.mark.soak
def test_a_thousand_codes_of_one_identity(other_site: Any) -> None:
    site = other_site()
    eve = Visitor(site.url)
    eve.leave(eve.open_room())
    waiting = Visitor(site.url).open_room(visibility="private")
    began, statuses = time.monotonic(), []
    for _i in range(1000):
        tried = "".join(random.Random(_i).choice(ALPHABET) for _j in range(8))
        statuses.append(eve.post("/join/", code=tried)[0])
    minutes = (time.monotonic() - began) / 60
    assert statuses.count(404) <= 10 * (minutes + 1) and set(statuses) <= {404, 429}
    assert Seat.objects.filter(room__code=waiting).count() == 1
    print(f"\n1000 codes in {minutes * 60:.0f} s: {statuses.count(404)} looked at")


# -- limits ------------------------------------------------------------------------------------------------------


def test_no_more_watchers_than_a_room_holds(other_site: Any) -> None:
    site = other_site(WATCHERS_A_ROOM="3")
    ana = Visitor(site.url)
    socket = ana.sit(ana.open_room())
    room = Room.objects.get()
    looking = [Visitor(site.url).watch(room.pk) for _i in range(3)]
    for one in looking:
        one.until(lambda frame: frame["t"] == "update")
    late = Visitor(site.url).watch(room.pk)
    assert late.closed() == 4029 and "Too many people" in json.loads(late.received[-1])["text"]
    looking[0].link.close()
    ends = time.monotonic() + 20
    while not let_in(Visitor(site.url).watch(room.pk)):
        assert time.monotonic() < ends, "the place is never free"
        time.sleep(0.2)
    assert socket.do("fill", level="medium")["t"] == "ack"  # those who play are not hindered


def let_in(socket: TableSocket) -> bool:
    try:
        socket.until(lambda frame: frame["t"] == "update")
    except ConnectionClosed:
        return False
    return True


def test_one_address_does_not_take_all_places_of_watchers(other_site: Any) -> None:
    site = other_site(WATCHERS_AN_ADDRESS="2")
    ana, eve = Visitor(site.url), Visitor(site.url)
    ana.sit(ana.open_room())
    room = Room.objects.get()
    for _i in range(2):
        eve.watch(room.pk).until(lambda frame: frame["t"] == "update")
    late = eve.watch(room.pk)
    assert late.closed() == 4029 and "from your network" in json.loads(late.received[-1])["text"]


def test_talk_is_limited_by_seat_and_heard_by_all(other_site: Any) -> None:
    one, two = other_site(TALK_SECONDS="2"), other_site(TALK_SECONDS="2")
    ana, ben = Visitor(one.url), Visitor(one.url)
    code = ana.open_room()
    ben.join(code)
    ana_says, ben_says = ana.sit(code), ben.sit(code)
    ben_says.next()
    ben.url = two.url
    far, looking = ben.sit(code), Visitor(two.url).watch(Room.objects.get().pk)
    for socket in (far, looking):
        socket.until(lambda frame: frame["t"] == "update")
    began = time.monotonic()
    for number in range(8):  # in one go: how soon they are answered is the site's affair
        ana_says.send({"t": "talk", "id": f"hello-{number}", "say": "hello"})
    answers = [ana_says.until(lambda frame: frame["t"] in {"ack", "refused"}) for _i in range(8)]
    took = time.monotonic() - began
    assert [answer["t"] for answer in answers[:3]] == ["ack"] * 3
    assert all(answer["t"] == "ack" or answer["code"] == "rate" for answer in answers)
    heard = sum(answer["t"] == "ack" for answer in answers)
    assert heard <= 3 + took / 2
    assert ben_says.do("talk", say="tea")["t"] == "ack"  # each seat has a measure of its own
    for socket in (far, looking, ben_says):
        while '{"t":"talk","seat":1,"say":"tea"}' not in socket.received:
            socket.next()
        socket.drain(0.5)
        talks = [json.loads(text) for text in socket.received if '"t":"talk"' in text]
        assert sum(talk == {"t": "talk", "seat": 0, "say": "hello"} for talk in talks) == heard
    for wrong in ("Hello", "<b>", "", "you lose", None, 3, ["hello"]):
        ana_says.send(json.dumps({"t": "talk", "id": "x", "say": wrong}))
        assert ana_says.until(lambda frame: frame["t"] == "refused")["code"] == "malformed"
    ends = time.monotonic() + 20
    while ana_says.do("talk", say="thanks")["t"] != "ack":
        assert time.monotonic() < ends, "she never speaks again"
        time.sleep(0.2)


def test_a_flood_is_cut_off_and_piles_up_nothing(other_site: Any) -> None:
    """Frames by the ten thousand from somebody who never reads the refusals."""
    site = other_site(FRAMES_A_SECOND="10", FRAMES_BURST="20")
    ana, ben = Visitor(site.url), Visitor(site.url)
    code = ana.open_room()
    ben.join(code)
    socket, other = ana.sit(code), ben.sit(code)
    other.next()
    process = psutil.Process(site.web_pid)
    before = process.memory_info().rss
    most, sent, ends = before, 0, time.monotonic() + 10
    try:
        while sent < 300_000 and time.monotonic() < ends:
            for _i in range(500):
                socket.link.send("{")
            sent += 500
            most = max(most, process.memory_info().rss)
    except (ConnectionClosed, OSError):
        most = max(most, process.memory_info().rss)
    grown = (most - before) / 2**20
    print(f"\n{sent} frames unread: {grown:.1f} MB more")
    assert grown < 8
    other.drain(0.2)
    assert other.do("talk", say="hello")["t"] == "ack"
    assert socket.closed() == 4029
    assert len(socket.received) < 300


@pytest.mark.parametrize("where", ["table", "lobby"])
def test_a_steady_flood_is_cut_off_too(other_site: Any, where: str) -> None:
    """Far above the limit, but slow enough that now and then a frame is allowed."""
    site = other_site(FRAMES_A_SECOND="10", FRAMES_BURST="20")
    ana = Visitor(site.url)
    socket = ana.sit(ana.open_room()) if where == "table" else ana.listen("/ws/lobby/?state=")
    began = time.monotonic()
    try:
        while time.monotonic() < began + 5:
            for _i in range(10):
                socket.send("{")
            socket.drain(0.02)  # some 400 a second
    except (ConnectionClosed, OSError):
        pass
    assert time.monotonic() < began + 5 and socket.closed() == 4029


def test_neighbours_use_up_no_handshakes_of_those_who_play(other_site: Any) -> None:
    """Everybody here comes from one address."""
    site = other_site(HANDSHAKES_A_MINUTE="3")
    ana = Visitor(site.url)
    code = ana.open_room()
    room = Room.objects.get()
    looking = [Visitor(site.url).watch(room.pk) for _i in range(8)]  # the minute may end in between
    assert "bye" in {socket.next()["t"] for socket in looking}
    nobody = [Visitor(site.url).sit(code).next()["code"] for _i in range(8)]
    assert 4029 in nobody and set(nobody) <= {4401, 4029}
    assert ana.sit(code).next()["t"] == "update"
    assert "bye" in {ana.sit(code).next()["t"] for _i in range(7)}


# -- strange frames ----------------------------------------------------------------------------------------------

VALUES: list[Any] = [
    None, True, False, 0, 1, 2, 3, 4, 6, 7, -1, 99, 2**31, 2**63 - 1, 2**63, 1e300, 0.5, "", "0", "a", "bid 0",
    "play 0-0", "play 0-0 as 0", "r1.b.s0", "medium", "epic", "hard", "hello", "tea", "\u0000", "\ud800", "\u202e",
    "é" * 40, "x" * 80, "x" * 4000, "' OR 1=1 --", "%s%n", "{{7*7}}", [], {}, [[]], {"a": 1}, ["medium"],
]  # fmt: skip
FIELDS = ["id", "seat", "level", "sitting", "allowed", "say", "step", "do", "v", "extra", "t", "now"]
KINDS = [
    "act", "leave!", "take_control", "sync", "ping", "move", "bot", "clear", "fill", "remove", "start", "delete!",
    "watching", "talk", "update", "ack", "bye", "__class__", "",
]  # fmt: skip
RIGHT: dict[str, dict[str, Any]] = {
    "act": {"id": "a1", "step": "r1.b.s0", "do": "bid 0"},
    "take_control": {},
    "sync": {"v": 1},
    "ping": {"v": 1},
    "move": {"id": "m1", "seat": 1},
    "bot": {"id": "b1", "seat": 2, "level": "medium"},
    "clear": {"id": "c1", "seat": 2},
    "fill": {"id": "f1", "level": "medium"},
    "remove": {"id": "r1", "sitting": 5},
    "start": {"id": "s1"},
    "watching": {"id": "w1", "allowed": True},
    "talk": {"id": "t1", "say": "hello"},
}
BROKEN = ["", "\x00", "{", "}", '"', ",", "\\u", "\\ud800", "\x7f", "1e999"]


def strange_frame(chance: random.Random) -> str:
    """A frame that is nearly right, or not at all."""
    kind = chance.choice(KINDS)
    if kind.endswith("!"):  # leaving and deleting work; only their broken forms are tried
        body: dict[str, Any] = {"t": kind[:-1], chance.choice(FIELDS[1:]): chance.choice(VALUES)}
        return json.dumps(body)
    body = {"t": kind, **RIGHT.get(kind, {})}
    for _i in range(chance.choice([0, 0, 1, 1, 1, 2, 3])):
        if chance.random() < 0.2 and len(body) > 1:
            body.pop(chance.choice(list(body)))
        else:
            body[chance.choice([*body, *FIELDS])] = chance.choice(VALUES)
    text = json.dumps(body)
    if chance.random() < 0.25:
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(BROKEN) + text[at + 1 :]
    if '"leave"' in text or '"delete"' in text:
        return text[:-1]
    return text


def fuzz(site: LiveSite, frames: int, seed: int) -> dict[str, int]:
    """Strange frames to the host's socket, a guest's, a watcher's and the lobby's; how often each answer came."""
    chance = random.Random(seed)
    ana, ben, eve = (Visitor(site.url) for _i in range(3))
    code = ana.open_room(visibility="public", rounds=1)
    room_id = Room.objects.get(code=code).pk
    ben.join(code)
    paths = [(ana, f"/ws/tables/{code}/"), (ben, f"/ws/tables/{code}/"), (eve, f"/ws/rooms/{room_id}/")]
    paths.append((eve, "/ws/lobby/?state="))
    sockets: list[TableSocket | None] = [None] * len(paths)
    every: list[TableSocket] = []
    told: dict[str, int] = {}
    for number in range(frames):
        place = number % len(paths)
        socket = sockets[place]
        if socket is None:
            person, path = paths[place]
            socket = sockets[place] = person.listen(path)
            every.append(socket)
        try:
            text = strange_frame(chance)
            socket.link.send(text.encode("utf-8", "surrogatepass") if chance.random() < 0.002 else text)
            if number % 40 < len(paths):
                socket.drain(0.001)
        except ConnectionClosed:
            sockets[place] = None
    for socket in every:
        try:
            socket.drain(0.5)  # also what came before a close
        except ConnectionClosed as end:
            close = end.rcvd.code if end.rcvd else 1006
            told[str(close)] = told.get(str(close), 0) + 1
        for text in socket.received:
            kind = json.loads(text)
            name = kind.get("code") or kind["t"] if kind["t"] in {"refused", "ack"} else kind["t"]
            told[str(name)] = told.get(str(name), 0) + 1
    return told


def test_strange_frames_are_refused(other_site: Any) -> None:
    # How much talk is let through depends on how quickly frames come: here all of it is, so that acks are no chance.
    site = other_site(TALK_BURST="1000")
    told = fuzz(site, 500, 1)
    assert told.get("malformed", 0) > 100 and told.get("ack", 0) > 3
    no_harm(site, told)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 6))
def test_twenty_thousand_strange_frames_are_refused(other_site: Any, seed: int) -> None:
    site = other_site()
    told = fuzz(site, 5000, seed)
    print(f"\n5000 frames: {dict(sorted(told.items()))}")
    no_harm(site, told)


def no_harm(site: LiveSite, told: dict[str, int]) -> None:
    assert not {"1011", "1006", "try_again", "4000"} & set(told), told
    log = site.log_text()
    assert "Traceback" not in log and " ERROR " not in log, site.log_tail()
    with urllib.request.urlopen(site.url + "/healthz", timeout=5) as answer:
        assert answer.status == 200


def test_good_game_is_said_until_the_room_is_gone(other_site: Any) -> None:
    site = other_site(RESULT_SECONDS="6", worker=True)
    ana, ben, cleo = Visitor(site.url), Visitor(site.url), Visitor(site.url)
    code = ana.open_room()
    for other in (ben, cleo):
        other.join(code)
    room = Room.objects.get()
    sockets = ana_says, ben_says, cleo_says = ana.sit(code), ben.sit(code), cleo.sit(code)
    assert ana_says.do("fill", level="medium")["t"] == "ack" and ana_says.do("start")["t"] == "ack"
    for socket in sockets:
        socket.seen(lambda frame: frame["room"]["status"] == "playing")
    cleo_says.send({"t": "leave"})
    looking = Visitor(site.url).watch(room.pk)
    with ThreadPoolExecutor() as pool:
        list(pool.map(TableSocket.play_out, (ana_says, ben_says)))
    for socket in (ana_says, ben_says, looking):
        socket.seen(lambda frame: frame["room"]["status"] == "finished")
    assert ana_says.do("talk", say="good_game")["t"] == "ack"
    for socket in (ben_says, looking):
        assert socket.until(lambda frame: frame["t"] == "talk") == {"t": "talk", "seat": 0, "say": "good_game"}
    assert looking.do("talk", say="good_game")["code"] == "watching"
    assert cleo_says.closed() == 4404  # who gave up is heard no more, and gets no new socket either
    assert cleo.sit(code).closed() == 4404
    ben_says.seen(lambda frame: frame["room"]["status"] == "destroyed")
    assert ben_says.do("talk", say="good_game")["code"] == "closed"
