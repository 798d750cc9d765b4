"""The one clock: the database's, as this process knows it by an offset that each pulse renews."""

import threading
import time
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection

_lock = threading.Lock()
_offset: float | None = None
_unsure_until = 0.0


def sample() -> datetime:
    """Read the database's clock and renew the offset; a jump beyond the drift allowed makes this process unsure."""
    before = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        at: datetime = cursor.fetchone()[0]
    set_from(at, before, time.monotonic())
    return at


def set_from(at: datetime, before: float, after: float) -> None:
    """Take a reading `at` that was made between two monotonic times (seconds)."""
    global _offset, _unsure_until
    half_trip = (after - before) / 2
    offset = at.timestamp() - (before + half_trip)
    with _lock:
        known = _offset
        if known is not None and abs(offset - known) > settings.CLOCK_DRIFT_SECONDS + half_trip:
            _unsure_until = after + 1.0
        # A slow reading says little: it must not move a good offset.
        if known is None or half_trip < 0.05 or abs(offset - known) > half_trip:
            _offset = offset


def now() -> datetime:
    """The database's time now, without asking it (asked once when nothing is known yet)."""
    if _offset is None:
        return sample()
    return datetime.fromtimestamp(time.monotonic() + _offset, UTC)


def at_monotonic(moment: float) -> datetime:
    """The database's time at a monotonic moment of this process (the arrival of a frame)."""
    return now() - timedelta(seconds=time.monotonic() - moment)


def sure() -> bool:
    """Whether this process may ring and accept: not within a second of a jump of the clock."""
    return time.monotonic() >= _unsure_until
