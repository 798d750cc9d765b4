"""What changes players: guests come and go here, and being seen."""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.contrib.auth import login
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.translation import gettext as _

from players.models import Player
from players.names import checked

__all__ = ["Player", "forget_idle_guests", "rename_guest", "sign_in_guest", "touch"]

BACKEND = "django.contrib.auth.backends.ModelBackend"
# Being seen is noted this seldom, so that a busy player does not write a row a move.
SEEN_ANEW_AFTER = timedelta(minutes=5)
# More are left to the next run, so that one task stays short.
FORGOTTEN_AT_ONCE = 500


def sign_in_guest(request: HttpRequest, name: str = "") -> Player:
    """Make a guest of this visitor and sign the guest in, under a new session key; shown by `name`, or as Guest 1234.

    Raises ValueError unless the request is a POST (looking at a page makes nobody a player), and NameRefused."""
    if request.method != "POST":
        raise ValueError(f"a guest is made by a POST only, not by {request.method}")
    shown_name = checked(name) if name.strip() else _("Guest %(number)s") % {"number": 1000 + secrets.randbelow(9000)}
    with transaction.atomic():
        guest = Player(
            username=f"guest-{secrets.token_hex(12)}",
            shown_name=shown_name,
            is_guest=True,
        )
        guest.set_unusable_password()
        guest.save()
        login(request, guest, backend=BACKEND)
    return guest


def rename_guest(player: Player, name: str) -> None:
    """Show this guest by another name. The caller sees to it that the guest sits nowhere: seats keep their names.

    Raises NameRefused, and ValueError for a registered player."""
    name = checked(name, player=player)
    if not Player.objects.filter(pk=player.pk, is_guest=True).exists():
        raise ValueError("only a guest is renamed so")
    player.shown_name = name
    player.save(update_fields=["shown_name"])


def touch(player_id: int) -> None:
    """The player was here just now (noted at most every five minutes)."""
    Player.objects.filter(pk=player_id, last_seen_at__lt=Now() - SEEN_ANEW_AFTER).update(last_seen_at=Now())


def forget_idle_guests(before: datetime, excluding: Collection[int] = ()) -> int:
    """Delete guests not seen since `before`, but for the numbers in `excluding`; how many were deleted.

    A guest to whom something still belongs stays. Results keep the name that the guest played under."""
    idle = Player.objects.filter(is_guest=True, last_seen_at__lt=before).exclude(pk__in=excluding)
    forgotten = 0
    for player_id in list(idle.order_by("last_seen_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE]):
        try:
            with transaction.atomic():
                guest = idle.select_for_update().filter(pk=player_id).first()
                if guest is None:
                    continue  # seen again, registered, or forgotten by a second run
                guest.delete()
        except (ProtectedError, IntegrityError):
            continue  # took a seat meanwhile
        forgotten += 1
    return forgotten
