"""How many files of data a person may take away: a statement, one's own data, a search of the ledger."""

from django.conf import settings
from django.utils.translation import gettext as _

from players import pace

__all__ = ["file_allowed", "too_many_files"]


def file_allowed(player_id: int) -> bool:
    """Whether this player may have another file now; this counts it, EXPORTS_AN_HOUR in all.

    Without the cache everybody may: what is read are one's own lines, and staff are recorded."""
    return bool(pace.count(f"files:{player_id}", 3600) <= settings.EXPORTS_AN_HOUR)


def too_many_files() -> str:
    """What whoever may not is told."""
    return _("That were %(count)d files within an hour. Come back later.") % {"count": settings.EXPORTS_AN_HOUR}
