"""Questions about players that change nothing."""

from collections.abc import Collection
from typing import Any

from players.models import Player

__all__ = ["Player", "active", "is_active", "player_of", "public_name", "registered"]


def player_of(user: Any) -> Player | None:
    """The player behind a request's or a session's user; None for anonymous visitors and for those who are banned."""
    return user if isinstance(user, Player) and user.is_active else None


def is_active(player_id: int) -> bool:
    """Whether this player exists and may act."""
    return Player.objects.filter(pk=player_id, is_active=True).exists()


def active(player_ids: Collection[int]) -> set[int]:
    """Those of these players who may act."""
    return set(Player.objects.filter(pk__in=player_ids, is_active=True).values_list("pk", flat=True))


def registered(player_ids: Collection[int]) -> set[int]:
    """Those of these players who are registered now."""
    return set(Player.objects.filter(pk__in=player_ids, is_guest=False).values_list("pk", flat=True))


def public_name(player_id: int) -> str | None:
    """The name of a registered player whom others may look up; None for guests, and for those banned or gone."""
    found = Player.objects.filter(pk=player_id, is_guest=False, is_active=True)
    return found.values_list("shown_name", flat=True).first()
