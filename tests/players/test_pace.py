"""Counting within a time: what is counted together, when it is forgotten, and that nobody waits for Valkey."""

import secrets
import time
from typing import Any

import pytest
from django.core.cache import caches

from players import pace, services
from players.files import file_allowed
from players.models import Player
from rooms import seating
from rooms.sockets import handshake_allowed
from tests.players.test_guests import request
from tests.rooms import stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def without_valkey(settings: Any) -> None:
    (cache,) = settings.CACHES.values()
    settings.CACHES = {"default": {**cache, "LOCATION": "redis://127.0.0.1:1/0"}}


def new_key() -> str:
    return f"test:{secrets.token_hex(8)}"


def test_each_key_counts_for_itself() -> None:
    one, other = new_key(), new_key()
    assert pace.counted(one) == 0
    assert [pace.count(one, 60) for _i in range(3)] == [1, 2, 3] and pace.count(other, 60) == 1
    assert (pace.counted(one), pace.counted(one), pace.counted(other)) == (3, 3, 1)


def ms_left(key: str) -> int:
    """How long the server will still know this key."""
    client: Any = caches["default"]._cache.get_client()  # type: ignore[attr-defined]
    return int(client.pttl(caches["default"].make_key(key)))


def test_the_time_begins_with_the_first_and_no_other_prolongs_it() -> None:
    key = new_key()
    pace.count(key, 60)
    time.sleep(0.05)
    left = ms_left(key)
    assert pace.count(key, 60) == 2 and pace.counted(key) == 2
    assert 0 < ms_left(key) <= left < 60_000


def test_after_the_time_it_begins_anew() -> None:
    key = new_key()
    pace.count(key, 1)
    ends = time.monotonic() + 15
    while pace.counted(key):
        assert time.monotonic() < ends, "it is never forgotten"
        time.sleep(0.05)
    assert pace.count(key, 60) == 1 and ms_left(key) > 1000


def test_all_who_count_at_once_are_counted() -> None:
    key = new_key()
    assert sorted(stage.at_once([lambda: pace.count(key, 60)] * 8)) == list(range(1, 9))  # type: ignore[type-var]


def test_without_the_cache_nothing_is_counted(without_valkey: None) -> None:
    key, began = new_key(), time.monotonic()
    assert [pace.count(key, 60) for _i in range(3)] == [0, 0, 0] and pace.counted(key) == 0
    assert time.monotonic() - began < 5


def test_without_the_cache_everybody_may(without_valkey: None, settings: Any) -> None:
    settings.GUESTS_IN_TEN_MINUTES = settings.EXPORTS_AN_HOUR = settings.HANDSHAKES_A_MINUTE = 1
    settings.ROOMS_IN_TEN_MINUTES = 1
    ana = stage.person("Ana")
    for _i in range(3):
        services.sign_in_guest(request())
        seating._check_pace(ana)
        assert file_allowed(ana.pk) and handshake_allowed(f"player:{ana.pk}")
    assert Player.objects.count() == 4
