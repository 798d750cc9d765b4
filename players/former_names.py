"""Names that somebody gave up: known to staff and the owner, and nobody else's for a while."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models.functions import Now

from players import keys, lookalikes
from players.models import FormerName, Player, key_of

__all__ = ["Former", "forget_old", "forget_player", "given_up_today", "is_kept", "note", "of_player"]


class Former(NamedTuple):
    """What somebody was called, and until when."""

    at: datetime
    name: str


def _digests(look: str) -> list[str]:
    return keys.digests("players.former-name", look)


def note(player: Player, name: str) -> None:
    """The player is no longer called so. A name of signs alone looks like nothing, and is kept for nobody."""
    look = key_of(name)
    FormerName.objects.create(player=player, name=name, look=_digests(look)[0] if look else "")


def given_up_today(player_id: int) -> int:
    """How many names this player has given up within 24 hours."""
    return FormerName.objects.filter(player_id=player_id, at__gt=Now() - timedelta(days=1)).count()


def is_kept(name: str, player: Player | None) -> bool:
    """Whether the name looks like one that somebody other than `player` gave up within NAME_KEPT_DAYS."""
    looks = [digest for look in lookalikes.keys(name) if look for digest in _digests(look)]
    kept = FormerName.objects.filter(look__in=looks, at__gt=Now() - timedelta(days=settings.NAME_KEPT_DAYS))
    return (kept.exclude(player_id=player.pk) if player is not None else kept).exists()


def of_player(player_id: int, most: int | None = None) -> list[Former]:
    """What this player was called, the latest first; the `most` last, or all."""
    rows = FormerName.objects.filter(player_id=player_id).exclude(name="").order_by("-pk")[:most]
    return [Former(row.at, row.name) for row in rows]


def forget_player(player: Player) -> None:
    """The account ends: what can be read of its names is erased. Digests stay, and keep the names from others."""
    note(player, player.shown_name)
    FormerName.objects.filter(player=player).update(name="")


def forget_old() -> int:
    """Forget names of closed accounts that are kept from nobody any more; how many."""
    over = FormerName.objects.filter(name="", at__lte=Now() - timedelta(days=settings.NAME_KEPT_DAYS))
    return int(over.delete()[0])
