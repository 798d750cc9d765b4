"""Guessing codes: few tries for one identity, few for one address, and a friend behind it still gets in."""

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from rooms import limits
from tests.support.services import Run

HOME, ELSEWHERE = "203.0.113.5", "198.51.100.7"


@pytest.fixture(autouse=True)
def own_addresses(services: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test counts under keys of its own."""
    run = secrets.token_hex(4)
    keys = limits._keys
    monkeypatch.setattr(limits, "_keys", lambda *who: [f"{run}:{key}" for key in keys(*who)])
    return


def guess(identity: str, address: str = HOME) -> bool:
    """A wrong code, as the door handles it: whether it was looked at."""
    allowed = limits.guess_allowed(identity, address)
    if allowed:
        limits.guess_failed(identity, address)
    return allowed


def passed(identities: list[str], address: str = HOME, threads: int = 50) -> int:
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda identity: guess(identity, address), identities))


def expire(monkeypatch: pytest.MonkeyPatch, failed: float = 0.3, pending: float = 0.3) -> None:
    monkeypatch.setattr(limits, "FAILED_SECONDS", failed)
    monkeypatch.setattr(limits, "PENDING_SECONDS", pending)


def test_ten_wrong_codes_a_minute() -> None:
    assert [guess("player:1") for _i in range(12)] == [True] * 10 + [False] * 2


def test_fifty_sockets_at_once_get_no_further() -> None:
    assert passed(["player:1"] * 1000) == 10


def test_nothing_is_looked_at_before_it_is_counted() -> None:
    """All fifty ask before any of them has failed."""
    with ThreadPoolExecutor(50) as pool:
        assert sum(pool.map(lambda _i: limits.guess_allowed("player:1", HOME), range(50))) == 10


def test_many_identities_share_their_address() -> None:
    assert passed([f"browser:{number % 100}" for number in range(1000)]) == 60
    assert not guess("browser:fresh") and guess("browser:fresh", ELSEWHERE)


def test_a_blocked_identity_costs_its_address_nothing() -> None:
    assert passed(["player:1"] * 200) == 10
    assert passed([f"player:{number}" for number in range(2, 52)]) == 50
    assert not guess("player:99")


def test_the_friend_mistypes_twice_and_joins_while_somebody_guesses() -> None:
    guesser = ["player:1"] * 500 + [f"browser:{number}" for number in range(500)]
    with ThreadPoolExecutor(20) as pool:
        tries = [pool.submit(guess, identity) for identity in guesser]
        friend = [guess("player:2"), guess("player:2"), limits.guess_allowed("player:2", HOME)]
        tried = sum(one.result() for one in tries)
    assert friend == [True, True, True]
    assert tried == 10 + 60


def test_two_who_never_played_share_an_address() -> None:
    assert passed(["browser:guesser"] * 200) == 10
    assert guess("browser:friend") and guess("browser:friend") and limits.guess_allowed("browser:friend", HOME)


def test_a_household_of_ipv6_is_one_address() -> None:
    tries = [guess(f"browser:{number}", f"2001:db8:1:2::{number:x}") for number in range(1, 80)]
    assert sum(tries) == 60
    assert guess("browser:1", "2001:db8:1:3::1")


def test_a_minute_later_it_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    # The script counts failures in whole seconds of the server: up to one of them is over already.
    expire(monkeypatch, failed=3, pending=1)
    assert passed(["player:1"] * 20) == 10 and not guess("player:1")
    time.sleep(3.1)
    assert guess("player:1")


def test_right_codes_are_soon_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    expire(monkeypatch, failed=60, pending=1)
    assert [limits.guess_allowed("player:1", HOME) for _i in range(11)] == [True] * 10 + [False]
    time.sleep(1.1)
    assert limits.guess_allowed("player:1", HOME)


def test_every_limit_is_a_setting(settings: Any) -> None:
    settings.GUESSES_A_MINUTE_IDENTITY, settings.GUESSES_A_MINUTE_ADDRESS = 3, 5
    assert passed(["player:1"] * 20) == 3 and passed(["player:2"] * 20) == 2


def test_without_valkey_nobody_may_try(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = redis.Redis.from_url("redis://127.0.0.1:1/0", socket_connect_timeout=1)
    monkeypatch.setattr(limits, "_client", lambda: gone)
    began = time.monotonic()
    assert not limits.guess_allowed("player:1", HOME)
    limits.guess_failed("player:1", HOME)
    assert time.monotonic() - began < 30


def test_the_client_gives_up_at_once(services: Run, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    limits._client.cache_clear()
    try:
        began = time.monotonic()
        assert not limits.guess_allowed("player:1", HOME)
        assert time.monotonic() - began < 1
    finally:
        limits._client.cache_clear()


def test_keys_tell_sites_apart() -> None:
    from django.core.cache import cache

    (first, *_others) = [key.partition(":")[2] for key in limits._keys("player:1", HOME)]
    assert first == cache.make_key("guesses:player:1:pending")
