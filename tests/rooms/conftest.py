"""What tests of rooms are given."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.rooms import racing


@pytest.fixture
def wide_pool(transactional_db: None) -> Iterator[None]:
    """Let every thread of a test have its own connection, however many a process of the site has."""
    with racing.wide_pool():
        yield


@pytest.fixture
def race(wide_pool: None, settings: Any) -> None:
    """A connection for everybody, and no bot and no next question that comes in between while we look."""
    settings.BOT_PACE_SECONDS = settings.TRICK_PAUSE_SECONDS = settings.ROUND_PAUSE_SECONDS = 60
