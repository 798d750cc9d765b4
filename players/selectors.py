"""Questions about players that change nothing."""

import hashlib
from collections.abc import Collection
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from players.models import Player

__all__ = [
    "Player",
    "active",
    "confirmed",
    "found",
    "is_active",
    "is_staff",
    "joined",
    "may_own_gold",
    "names",
    "own_address",
    "player_of",
    "public",
    "public_name",
    "registered",
    "shown_name",
    "stamp_of",
    "stamps",
    "unconfirmed",
    "with_address",
]


def player_of(user: Any) -> Player | None:
    """The player behind a request's or a session's user; None for anonymous visitors and for those who are banned."""
    return user if isinstance(user, Player) and user.is_active else None


def is_active(player_id: int) -> bool:
    """Whether this player exists and may act."""
    return Player.objects.filter(pk=player_id, is_active=True).exists()


def active(player_ids: Collection[int]) -> set[int]:
    """Those of these players who may act."""
    return set(Player.objects.filter(pk__in=player_ids, is_active=True).values_list("pk", flat=True))


def is_staff(player_id: int | None) -> bool:
    """Whether this player is staff."""
    return player_id is not None and Player.objects.filter(pk=player_id, is_staff=True).exists()


def found(text: str) -> Player | None:
    """The player of this number, or the registered one of this name, in any case; None when there is none."""
    text = text.strip()
    if text.isascii() and text.isdigit() and len(text) < 19:
        return Player.objects.filter(pk=int(text)).first()
    return Player.objects.filter(shown_name__iexact=text, is_guest=False).first() if text else None


def names(player_ids: Collection[int]) -> dict[int, str]:
    """What others see of each of these players; those who are gone are left out."""
    return dict(Player.objects.filter(pk__in=player_ids).values_list("pk", "shown_name"))


def joined(player_ids: Collection[int]) -> dict[int, datetime]:
    """Since when each of these players is known here."""
    return dict(Player.objects.filter(pk__in=player_ids).values_list("pk", "date_joined"))


def shown_name(player: Player) -> str:
    """What others see."""
    return player.shown_name


def stamp_of(player: Player) -> str:
    """Changes with the password, and when all sessions end: what was let in with another stamp has to show who it is
    anew."""
    return hashlib.sha256(f"{player.session_salt}{player.password}".encode()).hexdigest()[:16]


def stamps(player_ids: Collection[int]) -> dict[int, str]:
    """The stamps of those of these players who may act."""
    return {player.pk: stamp_of(player) for player in Player.objects.filter(pk__in=player_ids, is_active=True)}


def registered(player_ids: Collection[int]) -> set[int]:
    """Those of these players who are registered now."""
    return set(Player.objects.filter(pk__in=player_ids, is_guest=False).values_list("pk", flat=True))


def public(player_ids: Collection[int]) -> set[int]:
    """Those of these players whom others may look up."""
    return set(Player.objects.filter(pk__in=player_ids, is_guest=False, is_active=True).values_list("pk", flat=True))


def confirmed(player_id: int) -> bool:
    """Whether this account has a confirmed address, or needs none here; without it nobody is signed in."""
    if settings.EMAIL_VERIFICATION != "mandatory":
        return True
    return bool(EmailAddress.objects.filter(user_id=player_id, verified=True).exists())


def may_own_gold(player_id: int) -> bool:
    """Whether this registered player may win gold: where addresses must be confirmed, only with a confirmed one, since
    each account costs one then."""
    return confirmed(player_id)


def with_address() -> QuerySet[Player]:
    """Registered players, without staff, with an address that counts: a confirmed one where that is asked for."""
    found = Player.objects.filter(is_guest=False, is_active=True, is_staff=False).exclude(email="").order_by("pk")
    if settings.EMAIL_VERIFICATION != "mandatory":
        return found
    return found.filter(Exists(EmailAddress.objects.filter(user=OuterRef("pk"), verified=True)))


def unconfirmed(before: datetime) -> QuerySet[Player]:
    """Accounts, without staff, that have no confirmed address and were not seen since `before`."""
    verified = EmailAddress.objects.filter(user=OuterRef("pk"), verified=True)
    quiet = Player.objects.filter(is_guest=False, is_active=True, is_staff=False, last_seen_at__lt=before)
    return quiet.filter(~Exists(verified))


def own_address(player: Player) -> str:
    """The address that counts for this player (`with_address`)."""
    verified = EmailAddress.objects.filter(user_id=player.pk, verified=True).order_by("-primary", "pk")
    return verified.values_list("email", flat=True).first() or player.email


def public_name(player_id: int) -> str | None:
    """The name of a registered player whom others may look up; None for guests, and for those banned or gone."""
    found = Player.objects.filter(pk=player_id, is_guest=False, is_active=True)
    return found.values_list("shown_name", flat=True).first()
