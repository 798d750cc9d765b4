"""What must not be learnt: tiles and keys before their time, codes, and that a private room exists at all."""

import json
import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from django.db.models import QuerySet

from games.engine import deals
from games.models import Match, MatchEvent
from rooms.models import Room, Seat
from tests.support.site import LiveSite
from tests.support.visitor import TableSocket, Visitor

TILE = re.compile(r"(?<![0-9-])([0-6])-([0-6])(?![0-9-])")
HOST_FRAMES: list[tuple[str, dict[str, object]]] = [
    ("move", {"seat": 3}),
    ("bot", {"seat": 3, "level": "medium"}),
    ("clear", {"seat": 1}),
    ("fill", {"level": "medium"}),
    ("remove", {"sitting": 1}),
    ("start", {}),
    ("delete", {}),
    ("watching", {"allowed": False}),
    ("talk", {"say": "hello"}),
]


# -- every byte of a match (B28) ---------------------------------------------------------------------------------


@dataclass
class Truth:
    """What a match's log says: hands by round, and which event laid each tile."""

    match: Match
    hands: dict[int, list[list[str]]] = field(default_factory=dict)
    laid: list[tuple[int, int, str]] = field(default_factory=list)  # number of the event, round, tile
    scored: dict[int, int] = field(default_factory=dict)  # round: number of the event

    def __post_init__(self) -> None:
        rounds = 0
        log: QuerySet[MatchEvent] = MatchEvent.objects.filter(match=self.match).order_by("number")
        for event in log:
            body = json.loads(event.body)
            if event.tag == "Dealt":
                rounds = body["round"]
                self.hands[rounds] = body["hands"]
            elif event.tag == "TilePlayed":
                self.laid.append((event.number, rounds, body["tile"]))
            elif event.tag == "RoundScored":
                self.scored[rounds] = event.number

    def keys(self) -> list[str]:
        """Everything that could deal a round again, as text."""
        secret = bytes(self.match.secret)
        makers = (deals.round_key, deals.round_salt)
        found = [make(secret, self.match.game, self.match.pk, number).hex() for make in makers for number in self.hands]
        return [secret.hex(), *found]


def leaks(texts: list[str], truth: Truth, seat: int | None, secrets: list[str]) -> list[str]:
    """The frames among `texts` that tell this viewer more than the own hand and what lay on the table by then."""
    found, told, number = [], 0, 0
    for text in texts:
        found += [f"a secret in {text[:200]}" for secret in [*truth.keys(), *secrets] if secret in text]
        frame = json.loads(text)
        if frame["t"] != "update":
            found += [f"tile in {text}" for _tile in TILE.findall(text)]
            continue
        told = max([told, *(event["n"] for event in frame["events"])])
        view = frame["view"]
        if view is None:
            found += [f"tile in {text}" for _tile in TILE.findall(text)]
            continue
        number = view["round"]
        view.pop("marks")  # a table of the rules, the same in every frame
        known = {tile for event, _round, tile in truth.laid if event <= told}
        known_now = {tile for event, of, tile in truth.laid if event <= told and of == number}
        if seat is not None:
            known |= {tile for of, hands in truth.hands.items() if of <= number for tile in hands[seat]}
            known_now |= set(truth.hands[number][seat])
        # Tiles of rounds before may be told again by their events; the view speaks of this round alone.
        shown = {f"{a}-{b}" for a, b in TILE.findall(json.dumps(frame["events"]))}
        now = {f"{a}-{b}" for a, b in TILE.findall(json.dumps([view, frame["prompt"], frame["room"]]))}
        found += [f"{tile} in the events of {text[:200]}" for tile in shown - known]
        found += [f"{tile} in {text[:200]}" for tile in now - known_now]
    return found


def test_no_byte_of_a_match_tells_too_much(live_site: LiveSite) -> None:
    """Four people and a watcher keep everything that reaches them; everybody also tries what is not allowed."""
    people = [Visitor(live_site.url) for _i in range(4)]
    watcher = Visitor(live_site.url)
    code = people[0].open_room(visibility="public", rounds=2)
    room = Room.objects.get(code=code)
    for other in people[1:]:
        other.join(code)
    pages = [page_of(person, code) for person in people]
    sockets = [person.sit(code) for person in people]
    looking = watcher.watch(room.pk)
    seen_by_watcher = watcher.get(f"/rooms/{room.pk}/")[1]
    assert sockets[0].do("start")["t"] == "ack"

    talked = False
    while sockets[0].update.get("room", {}).get("status") != "finished":
        for socket in [*sockets, looking]:
            socket.drain()
        for number, socket in enumerate(sockets):
            prompt = socket.update.get("prompt")
            if prompt is None:
                continue
            mine = set(socket.update["view"]["hand"])
            foreign = next(f"{a}-{b}" for a in range(7) for b in range(a, 7) if f"{a}-{b}" not in mine)
            for wrong in (f"play {foreign}", f"play {foreign} as {foreign[0]}", "bid 9", f"play {foreign} "):
                assert socket.act(prompt, wrong)["t"] == "refused"
            for neighbour in sockets:
                if neighbour is not socket:
                    assert neighbour.act(prompt)["code"] in {"not_your_turn", "illegal", "stale"}
            if not talked:
                talked = socket.do("talk", say="good_luck")["t"] == "ack"
            pages[number] += page_of(people[number], code)
            assert socket.act(prompt)["t"] == "ack"
    for socket in [*sockets, looking]:
        socket.drain(0.3)

    match = Match.objects.get()
    truth = Truth(match)
    assert len(truth.laid) == 56 and set(truth.scored) == {1, 2}
    hidden = [str(room.watch_key)]
    tokens = [cookie.value or "" for person in people for cookie in person.jar if cookie.name != "csrf"]
    for seat, socket in enumerate(sockets):
        own = {cookie.value for cookie in people[seat].jar}
        others = [token for token in tokens if token not in own]
        assert len(others) == 6
        assert not leaks(socket.received, truth, seat, [*hidden, *others])
        assert not TILE.search(pages[seat]) and not [one for one in [*truth.keys(), *others] if one in pages[seat]]
        assert code in "".join(socket.received)
    assert not leaks(looking.received, truth, None, [*hidden, *tokens, code])
    assert (
        not TILE.search(re.sub("<svg.*?</svg>", "", seen_by_watcher, flags=re.DOTALL)) and code not in seen_by_watcher
    )
    heard = [json.loads(text) for text in looking.received]
    assert any(frame["t"] == "talk" for frame in heard)
    assert all(frame["prompt"] is None for frame in heard if frame["t"] == "update")

    # The controls: another seat's stream judged as one's own, and a stream with a key in it.
    assert leaks(sockets[1].received, truth, 0, []) and leaks(sockets[1].received, truth, None, [])
    assert leaks([json.dumps({"t": "talk", "seat": 0, "say": truth.keys()[1]})], truth, 0, [])


def page_of(person: Visitor, code: str) -> str:
    """Everything that the table's pages say to somebody who sits there."""
    status, page = person.get(f"/tables/{code}/")
    drawn, picture = person.get(f"/tables/{code}/qr.svg")
    assert (status, drawn) == (200, 200)
    words = re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]+"|<svg.*?</svg>', "", page, flags=re.DOTALL)
    # The picture is a path of numbers, among which any pair of digits may be found.
    assert code not in picture
    return words


def test_a_round_is_opened_when_it_is_scored_and_to_those_who_play(live_site: LiveSite) -> None:
    ana, ben, eve = (Visitor(live_site.url) for _i in range(3))
    code = ana.open_room(rounds=2)
    ben.join(code)
    one, two = ana.sit(code), ben.sit(code)
    assert one.do("fill", level="medium")["t"] == one.do("start")["t"] == "ack"
    one.seen(lambda update: update["view"] is not None)
    match = Match.objects.get()
    assert ana.get(f"/matches/{match.pk}/rounds/1/")[0] == 404
    in_turn([one, two], lambda: (one.update.get("view") or {}).get("round") == 2)
    truth = Truth(match)
    keys = {number: deals.round_key(bytes(match.secret), match.game, match.pk, number).hex() for number in (1, 2)}
    assert set(truth.scored) == {1}
    status, page = ana.get(f"/matches/{match.pk}/rounds/1/")
    assert status == 200 and keys[1] in page and keys[2] not in page and bytes(match.secret).hex() not in page
    for path in ("rounds/2/", "rounds/3/", "export.json", ""):
        assert ana.get(f"/matches/{match.pk}/{path}")[0] == 404
    for path in ("rounds/1/", "rounds/2/", "export.json", ""):
        assert eve.get(f"/matches/{match.pk}/{path}")[0] == 404


def in_turn(sockets: list[TableSocket], done: Callable[[], bool]) -> None:
    """Everybody takes the first choice until it is done."""
    while not done():
        for socket in sockets:
            socket.drain()
            if (prompt := socket.update.get("prompt")) is not None:
                assert socket.act(prompt)["t"] == "ack"


# -- private rooms (B33) -----------------------------------------------------------------------------------------


def private_match(live_site: LiveSite) -> tuple[Visitor, TableSocket, Room]:
    """A running private room that may be watched by those who have its key: its host, the host's socket, the room."""
    ana = Visitor(live_site.url)
    socket = ana.sit(ana.open_room(visibility="private", rounds=3, name="Anastasia"))
    assert socket.do("watching", allowed=True)["t"] == "ack"
    assert socket.do("fill", level="medium")["t"] == socket.do("start")["t"] == "ack"
    socket.asked()
    return ana, socket, Room.objects.get()


def stranger(live_site: LiveSite, kind: str) -> Visitor:
    person = Visitor(live_site.url)
    if kind == "guest":
        person.leave(person.open_room(name="Eva"))
    elif kind == "seated":
        person.open_room(name="Eva", visibility="private")
    return person


def answer(person: Visitor, method: str, path: str, names: dict[str, str], **fields: str) -> tuple[object, ...]:
    """What this person gets there: status, where it led, every byte, all but tokens and what was asked for."""
    status, page = person.get(path) if method == "GET" else person.post(path, **fields)
    where = urllib.parse.urlsplit(person.where).path
    page, where = re.sub(r"/\d+/", "/NUMBER/", page), re.sub(r"/\d+/", "/NUMBER/", where)
    for name, stands_for in names.items():
        page, where = page.replace(name, stands_for), where.replace(name, stands_for)
    page = re.sub(r'(csrfmiddlewaretoken" value)="[^"]+"', r"\1", page)
    # The person's own table, and the name that a new guest was given.
    page = re.sub(r"/tables/[0-9A-Z]{8}/", "/tables/CODE/", page)
    return status, re.sub(r"/tables/[0-9A-Z]{8}/", "/tables/CODE/", where), re.sub(r"Guest \d{4}", "Guest", page)


@pytest.mark.parametrize("who", ["nobody", "guest", "seated"])
def test_a_private_room_does_not_exist_for_strangers(live_site: LiveSite, who: str) -> None:
    _ana, _socket, room = private_match(live_site)
    waiting = Visitor(live_site.url).open_room(visibility="private")
    waits = Room.objects.get(code=waiting)
    own = [stranger(live_site, who) for _i in range(3)]
    before = state()

    real = str(room.pk), str(room.match_id), room.code, "bbbbbbbbbbbbbbbbbbbbbb"
    also = str(waits.pk), "987654322", waits.code, str(waits.watch_key)
    fake = "987654321", "987654322", "7ZZZZZZ7", "aaaaaaaaaaaaaaaaaaaaaa"

    def all_doors(names: tuple[str, str, str, str], person: Visitor) -> dict[str, tuple[object, ...]]:
        number, match, code, key = names
        whole = {key: "KEY", code: "CODE", f"{code[:4]}-{code[4:]}": "CODE"}
        gets = [
            f"/rooms/{number}/",
            f"/watch/{key}/",
            f"/tables/{code}/",
            f"/tables/{code}/qr.svg",
            f"/matches/{match}/",
            f"/matches/{match}/rounds/1/",
            f"/matches/{match}/export.json",
            f"/join/{code}/",
        ]
        posts: list[tuple[str, dict[str, str]]] = [
            (f"/rooms/{number}/sit/", {}),
            (f"/rooms/{number}/sit/", {"seat": "1", "give_up": "1"}),
            (f"/tables/{code}/leave/", {}),
            (f"/tables/{code}/return/", {}),
            (f"/tables/{code}/rematch/", {}),
        ]
        doors = {f"GET {path}": answer(person, "GET", path, whole) for path in gets}
        doors |= {f"POST {path} {fields}": answer(person, "POST", path, whole, **fields) for path, fields in posts}
        for path in (f"/ws/rooms/{number}/", f"/ws/tables/{code}/", f"/ws/watch/{key}/"):
            socket = person.listen(path)
            doors[path] = (socket.closed(), *socket.received)
        return doors

    unknown = list(all_doors(fake, own[0]).items())
    for names, person in ((real, own[1]), (also, own[2])):
        for (name, answered), (_name, expected) in zip(all_doors(names, person).items(), unknown, strict=True):
            assert answered == expected, name
    closed = [told[0] for name, told in unknown if "POST /tables" not in name and "join" not in name]
    assert len(closed) == 12 and set(closed) <= {404, 4404, 4401}
    # A running room's code opens nothing, and says no more than one that does not exist.
    codes = [answer(own[0], "POST", "/join/", {code: "CODE"}, code=code) for code in (room.code, "7ZZZZZZ7")]
    assert codes[0] == codes[1] and codes[0][0] == 404
    assert state() == before


def state() -> list[object]:
    """All that strangers could have changed at the tables."""
    rooms = Room.objects.exclude(visibility="solo").exclude(status="destroyed").order_by("pk")
    return [
        *rooms.values_list("pk", "status", "host_id", "watchable", "removed"),
        *Seat.objects.order_by("pk").values_list("pk", "room_id", "number", "player_id", "bot_level", "forfeited"),
    ]


def test_a_private_room_is_nowhere_to_be_seen(live_site: LiveSite) -> None:
    host = Visitor(live_site.url)
    code = host.open_room(visibility="private", name="Anastasia")
    room = Room.objects.get()
    eve = Visitor(live_site.url)
    lobby = eve.listen("/ws/lobby/?state=")
    _status, page = eve.get("/lobby/")
    lobby.drain(1.5)
    host.leave(code)
    lobby.drain(1.5)
    for text in [page, *lobby.received]:
        assert code not in text and "Anastasia" not in text and f"room-{room.pk}" not in text
        assert str(room.watch_key) not in text


# -- watchers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_a_watcher_only_looks(live_site: LiveSite, visibility: str) -> None:
    ana = Visitor(live_site.url)
    code = ana.open_room(visibility=visibility, rounds=3)
    socket = ana.sit(code)
    assert socket.do("watching", allowed=True)["t"] == "ack"
    path = socket.seen(lambda update: update["room"]["watch"]["path"] is not None)["room"]["watch"]["path"]
    assert socket.do("fill", level="medium")["t"] == socket.do("start")["t"] == "ack"
    prompt = socket.asked()
    assert prompt is not None
    eve = Visitor(live_site.url)
    eve.leave(eve.open_room(visibility="private"))  # with an identity
    for person in (eve, Visitor(live_site.url)):
        assert person.get(path)[0] == 200
        looking = person.listen("/ws" + path)
        looking.until(lambda frame: frame["t"] == "update")
        before = (state(), socket.update["v"])
        for do in (prompt["choices"][0]["do"], "play 0-0", "bid 0"):
            assert looking.act(prompt, do)["code"] == "watching"
        for kind, fields in HOST_FRAMES:
            assert looking.do(kind, **fields)["code"] == "watching"
        for kind in ("leave", "take_control"):
            looking.send({"t": kind})
            assert looking.until(lambda frame: frame["t"] == "refused")["code"] == "watching"
        socket.drain()
        assert (state(), socket.update["v"]) == before
        everything = "".join(looking.received) + person.get(path)[1]
        assert code not in everything and "/join/" not in "".join(looking.received)
        assert looking.update["room"]["watch"]["path"] is None and looking.update["room"]["you"] is None
        looking.link.close()
    assert socket.act(prompt)["t"] == "ack"


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_watchers_go_when_the_host_says_so(live_site: LiveSite, visibility: str) -> None:
    ana, eve = Visitor(live_site.url), Visitor(live_site.url)
    socket = ana.sit(ana.open_room(visibility=visibility))
    assert socket.do("watching", allowed=True)["t"] == "ack"
    path = socket.seen(lambda update: update["room"]["watch"]["path"] is not None)["room"]["watch"]["path"]
    assert socket.do("fill", level="medium")["t"] == socket.do("start")["t"] == "ack"
    looking = eve.listen("/ws" + path)
    looking.until(lambda frame: frame["t"] == "update")
    assert socket.do("watching", allowed=False)["t"] == "ack"
    assert looking.closed() == 4404
    assert eve.get(path)[0] == 404
    assert eve.listen("/ws" + path).closed() == 4404
    assert socket.asked() is not None


def test_the_code_of_a_public_room_is_for_those_who_sit(live_site: LiveSite) -> None:
    ana, ben, eve = (Visitor(live_site.url) for _i in range(3))
    code = ana.open_room()
    room = Room.objects.get()
    lobby, looking = eve.listen("/ws/lobby/?state="), eve.watch(room.pk)
    lobby.until(lambda frame: frame["t"] == "lobby" and room.pk in {row["id"] for row in frame["rows"]})
    seen = [eve.get("/lobby/")[1], eve.get(f"/rooms/{room.pk}/")[1], eve.get("/")[1]]
    assert ben.take_seat(room.pk) == code
    socket = ana.sit(code)
    assert socket.do("fill", level="medium")["t"] == socket.do("start")["t"] == "ack"
    socket.asked()
    seen += [eve.get("/lobby/")[1], eve.get(f"/rooms/{room.pk}/")[1]]
    looking.seen(lambda update: update["room"]["status"] == "playing")
    lobby.until(lambda frame: frame["t"] == "lobby" and room.pk in frame["gone"])
    assert len(looking.received) >= 3
    for text in [*seen, *looking.received, *lobby.received]:
        assert code not in text and f"{code[:4]}-{code[4:]}" not in text
    assert f"room-{room.pk}" in seen[0]
    socket.drain()
    assert code in "".join(socket.received) and code in ana.get(f"/tables/{code}/")[1]
