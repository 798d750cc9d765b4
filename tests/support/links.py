"""Sockets as pages open them, for tests that speak on one longer than a block of code lasts."""

from contextlib import AbstractContextManager
from typing import Any

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

_open: list[ClientConnection] = []


def open_link(
    site_url: str, path: str, *, origin: str | None = None, cookies: str = "", **more: Any
) -> ClientConnection:
    """The socket at `path` of a site, from a page of that site unless another origin is named; it is closed with
    the test at the latest. Raises InvalidStatus when it is refused before it opens."""
    opening: AbstractContextManager[ClientConnection] = connect(
        site_url.replace("http", "ws", 1) + path,
        additional_headers={"Cookie": cookies} if cookies else None,
        origin=Origin(origin or site_url),
        compression=None,
        **more,
    )
    link = opening.__enter__()  # the library wants a context; ours ends with the test
    _open.append(link)
    return link


def close_links() -> None:
    """End every socket that a test has opened, without waiting for servers that may be gone."""
    while _open:
        _open.pop().close_socket()
