"""A person without a browser: visits pages with cookies, and speaks on a table's socket as the page does."""

import contextlib
import json
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.cookiejar import Cookie, CookieJar
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.support.links import open_link

PATIENCE_SECONDS = 15.0


class Visitor:
    """One identity with its cookies."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.jar = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.where = url

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page; `where` is the address that it ended at."""
        return self._open(urllib.request.Request(self.url + path))

    def post(self, path: str, **fields: str) -> tuple[int, str]:
        """Send a form with the token of the start page."""
        _status, page = self.get("/")
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found, "the start page has no form"
        data = urllib.parse.urlencode({"csrfmiddlewaretoken": found[1], **fields}).encode()
        return self._open(urllib.request.Request(self.url + path, data, {"Referer": self.url + "/"}))

    def post_raw(self, path: str, fields: dict[str, str], **headers: str) -> tuple[int, str]:
        """Send a form as it is, from nowhere in particular."""
        data = urllib.parse.urlencode(fields).encode()
        return self._open(urllib.request.Request(self.url + path, data, headers))

    def _open(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=PATIENCE_SECONDS) as answer:
                self.where = answer.geturl()
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            self.where = error.geturl() or ""
            return error.code, error.read().decode()

    def play(self, **fields: str) -> str:
        """Start a solo match; the code of its table."""
        status, _page = self.post("/play/", **{"rounds": "1", "level": "medium", **fields})
        found = re.search(r"/tables/([0-9A-Z]{8})/", self.where)
        assert status == 200 and found, f"no table: {status} at {self.where}"
        return found[1]

    @property
    def cookies(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.jar)

    def set_cookie(self, name: str, value: str) -> None:
        """Put a cookie of the site into this browser."""
        whose = "127.0.0.1", False, False, "/", True, False
        self.jar.set_cookie(Cookie(0, name, value, None, False, *whose, None, False, None, None, {}))

    def open_room(self, *, visibility: str = "public", rounds: int = 1, **fields: str) -> str:
        """Open a room of people and sit in its first seat; its code."""
        wanted = {"game": "domino_poker", "visibility": visibility, "rounds": str(rounds), **fields}
        return self._seated(self.post("/rooms/", **wanted))

    def join(self, code: str, **fields: str) -> str:
        """Sit down by a code as typed; the code of the table."""
        return self._seated(self.post("/join/", code=code, **fields))

    def take_seat(self, room_id: int, **fields: str) -> str:
        """Sit down at a public room; its code."""
        return self._seated(self.post(f"/rooms/{room_id}/sit/", **fields))

    def play_again(self, code: str) -> str:
        """Accept the rematch of a finished table; the code of the next one."""
        return self._seated(self.post(f"/tables/{code}/rematch/"))

    def leave(self, code: str) -> int:
        """Leave by the page's button; the status of the page that comes."""
        return self.post(f"/tables/{code}/leave/")[0]

    def _seated(self, answer: tuple[int, str]) -> str:
        found = re.search(r"/tables/([0-9A-Z]{8})/", self.where)
        assert answer[0] == 200 and found, f"no table: {answer[0]} at {self.where}"
        return found[1]

    def sit(self, code: str, *, origin: str | None = None, cookies: str | None = None) -> "TableSocket":
        """Open the table's socket as the page does."""
        return self.listen(f"/ws/tables/{code}/", origin=origin, cookies=cookies)

    def watch(self, room_id: int) -> "TableSocket":
        """Open the socket of a public room as a visitor's page does."""
        return self.listen(f"/ws/rooms/{room_id}/")

    def listen(self, path: str, *, origin: str | None = None, cookies: str | None = None) -> "TableSocket":
        """Open the socket of any page; `origin` and `cookies` are the page's own unless told otherwise."""
        own = self.cookies if cookies is None else cookies
        return TableSocket(open_link(self.url, path, origin=origin, cookies=own))


class TableSocket:
    """One socket; keeps every text that came and the newest update."""

    def __init__(self, link: ClientConnection) -> None:
        self.link = link
        self.received: list[str] = []
        self.update: dict[str, Any] = {}
        self.acked: list[str] = []
        self.counter = 0
        threading.Thread(target=self._heartbeat, daemon=True).start()

    def _heartbeat(self) -> None:
        with contextlib.suppress(ConnectionClosed, OSError):
            while True:
                time.sleep(2)
                self.ping()

    def send(self, frame: dict[str, Any] | str) -> None:
        self.link.send(frame if isinstance(frame, str) else json.dumps(frame, separators=(",", ":")))

    def next(self, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The next frame; raises TimeoutError or ConnectionClosed."""
        text = self.link.recv(timeout=seconds)
        assert isinstance(text, str)
        self.received.append(text)
        frame: dict[str, Any] = json.loads(text)
        if frame["t"] == "update":
            self.update = frame
        if frame["t"] == "ack":
            self.acked.append(frame["id"])
        return frame

    def drain(self, seconds: float = 0.01) -> None:
        """Take in all that has come."""
        with contextlib.suppress(TimeoutError):
            while True:
                self.next(seconds)

    def until(self, right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first frame that is right."""
        ends = time.monotonic() + 4 * PATIENCE_SECONDS
        while time.monotonic() < ends:
            frame = self.next()
            if right(frame):
                return frame
        raise AssertionError("many frames came, and none was right")

    def asked(self) -> dict[str, Any] | None:
        """Wait for the own question; None when the match has ended."""

        def ready(frame: dict[str, Any]) -> bool:
            return frame["t"] == "update" and (frame["prompt"] is not None or frame["room"]["status"] == "finished")

        if not (self.update and ready(self.update)):
            self.until(ready)
        prompt: dict[str, Any] | None = self.update["prompt"]
        return prompt

    def ping(self) -> None:
        self.send({"t": "ping", "v": self.update.get("v", 0)})

    def act(self, prompt: dict[str, Any], do: str | None = None, action_id: str | None = None) -> dict[str, Any]:
        """Answer; the ack or refusal."""
        self.counter += 1
        name = action_id or f"v{id(self)}-{self.counter}"
        self.send({"t": "act", "id": name, "step": prompt["step"], "do": do or prompt["choices"][0]["do"]})
        answer = self.until(lambda frame: frame["t"] in {"ack", "refused"} and frame["id"] == name)
        if self.update.get("prompt") and self.update["prompt"]["step"] == prompt["step"]:
            self.update = {}
        return answer

    def do(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a frame that is answered (the host's clicks, a move, talk); its ack or refusal."""
        self.counter += 1
        name = f"d{self.counter}"
        self.send({"t": kind, "id": name, **fields})
        return self.until(lambda frame: frame["t"] in {"ack", "refused"} and frame["id"] == name)

    def seen(self, right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The newest update once it is right, waited for if need be."""
        if not (self.update and right(self.update)):
            self.until(lambda frame: frame["t"] == "update" and right(frame))
        return self.update

    def play_out(self, *, answers: int = 10_000) -> None:
        """Take the first choice until the end, or this often."""
        while answers and (prompt := self.asked()) is not None:
            assert self.act(prompt)["t"] == "ack"
            answers -= 1

    def closed(self) -> int:
        """Wait for the close; its code."""
        ends = time.monotonic() + PATIENCE_SECONDS
        try:
            while time.monotonic() < ends:
                self.next()
            raise AssertionError("the socket was not closed")
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else 1006

    def drop(self) -> None:
        """The network goes away without a good-bye."""
        self.link.socket.close()
