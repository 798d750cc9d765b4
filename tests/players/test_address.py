"""The visitor's address: the peer, or as many entries from the right of X-Forwarded-For as there are proxies."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from dominopoker.address import ClientAddress
from players.address import client_address, limit_key

PEER = "10.0.0.9"


def scope(*forwarded: str, peer: str | None = PEER) -> dict[str, Any]:
    return {
        "type": "websocket",
        "client": (peer, 4711) if peer is not None else None,
        "headers": [(b"host", b"x"), *((b"x-forwarded-for", line.encode()) for line in forwarded)],
    }


CASES = [
    (0, [], PEER),
    (0, ["203.0.113.5"], PEER),  # nobody in front of us: the header is the visitor's own invention
    (1, ["203.0.113.5"], "203.0.113.5"),
    (1, ["198.51.100.1, 203.0.113.5"], "203.0.113.5"),
    (2, ["1.1.1.1, 203.0.113.5, 198.51.100.1"], "203.0.113.5"),
    (2, ["1.1.1.1, 203.0.113.5", "198.51.100.1"], "203.0.113.5"),  # two lines are one list
    (2, ["203.0.113.5"], PEER),
    (1, [], PEER),
    (1, [""], PEER),
    (1, ["203.0.113.5, what'); DROP"], PEER),
    (1, ["203.0.113.5, 999.1.1.1"], PEER),
    (1, ["203.0.113.5:4711"], "203.0.113.5"),
    (1, ["[2001:db8::7]:4711"], "2001:db8::7"),
    (1, ["2001:DB8:0::7"], "2001:db8::7"),
    (1, ["::ffff:203.0.113.5"], "203.0.113.5"),
    (1, ["fe80::1%eth0"], "fe80::1"),
    (1, ["\xff\xfe"], PEER),
]


@pytest.mark.parametrize(("proxies", "forwarded", "expected"), CASES)
def test_sockets_and_pages_agree(settings: Any, proxies: int, forwarded: list[str], expected: str) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert client_address(scope(*forwarded)) == expected
    headers = {"X-Forwarded-For": ",".join(forwarded)} if forwarded else {}
    assert client_address(RequestFactory().get("/", headers=headers, REMOTE_ADDR=PEER)) == expected


def test_a_peer_without_an_address() -> None:
    assert client_address(scope(peer=None)) == "" and client_address(scope(peer="")) == ""
    assert client_address({"type": "websocket"}) == ""


def test_a_proxy_on_a_unix_socket_is_trusted_like_any_other(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    assert client_address(scope("203.0.113.5", peer=None)) == "203.0.113.5"


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("", "unknown"),
        ("nonsense", "unknown"),
    ],
)
def test_limits_count_a_household_as_one(address: str, key: str) -> None:
    assert limit_key(address) == key


def test_the_middleware_says_it_once(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    seen: list[Any] = []

    def page(request: Any) -> HttpResponse:
        seen.append((request.client_address, request.META["REMOTE_ADDR"]))
        return HttpResponse()

    ClientAddress(page)(RequestFactory().get("/", REMOTE_ADDR=PEER, HTTP_X_FORWARDED_FOR="6.6.6.6, 203.0.113.5"))
    assert seen == [("203.0.113.5", "203.0.113.5")]


def test_it_comes_before_everything_that_asks(settings: Any) -> None:
    assert settings.MIDDLEWARE[0] == "dominopoker.address.ClientAddress"
