"""How often something was done within a time, counted in the cache for all processes together.

Without the cache nothing is counted, so nobody is over a limit: what is limited so does no harm, and Valkey being away
must not stop play. What must stay shut then counts elsewhere (`rooms.limits`)."""

from django.core.cache import cache

__all__ = ["count", "counted"]


def count(key: str, seconds: int) -> int:
    """Count this once more; how often that is since the first time, which is forgotten after `seconds`.

    0 without the cache."""
    try:
        cache.add(key, 0, seconds)
        return int(cache.incr(key))
    except Exception:  # noqa: BLE001  the cache's errors have no common base
        return 0


def counted(key: str) -> int:
    """How often it was counted by now, without counting it. 0 without the cache."""
    try:
        return int(cache.get(key, 0))
    except Exception:  # noqa: BLE001  the cache's errors have no common base
        return 0
