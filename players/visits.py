"""Where players came from lately: what tells moderators that a guest and an account may be one person."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.http import HttpRequest

from players.address import client_address, limit_key
from players.devices import kind, words
from players.models import Player, Visit

__all__ = ["Neighbour", "forget_old", "forget_player", "neighbours", "note", "of_player", "signed_in_as"]

NEIGHBOURS = 50  # more are no sign of anything: a school, a company, a mobile network


class Neighbour(NamedTuple):
    """Somebody who came from where a player came from. `same_browser`: a guest who signed in as that player there."""

    player: Player
    same_browser: bool


def note(request: HttpRequest, player: Player) -> None:
    """The player came in with this request: a guest at the first visit, an account at each sign-in."""
    Visit.objects.update_or_create(
        player=player,
        network=limit_key(client_address(request)),
        browser=kind(request.headers.get("User-Agent", "")),
        defaults={"at": Now()},
    )


def signed_in_as(guest_id: int, player_id: int) -> None:
    """The guest's browser goes on as this player."""
    Visit.objects.filter(player_id=guest_id).update(account_id=player_id)


class Seen(NamedTuple):
    """A network from which a player came, the kind of browser, and when last."""

    at: datetime
    network: str
    browser: str


def of_player(player_id: int, most: int | None = None) -> list[Seen]:
    """From which networks and browsers this player came, the latest first; the `most` last, or all."""
    rows = Visit.objects.filter(player_id=player_id).order_by("-at", "-pk")[:most]
    return [Seen(row.at, row.network, words(row.browser)) for row in rows]


def neighbours(player_id: int, *, guests: bool) -> list[Neighbour]:
    """The guests, or else the accounts, that came from a network from which this player came, within VISIT_DAYS; those
    who went on as this player first."""
    networks = Visit.objects.filter(player_id=player_id).values("network")
    near = Visit.objects.filter(Q(network__in=networks) | Q(account_id=player_id)).values("player_id")
    went_on = Visit.objects.filter(player=OuterRef("pk"), account_id=player_id)
    found = (
        Player.objects.filter(pk__in=near, is_guest=guests, closed_at__isnull=True)
        .exclude(pk=player_id)
        .annotate(same_browser=Exists(went_on))
        .order_by("-same_browser", "-pk")
    )
    return [Neighbour(player, player.same_browser) for player in found[:NEIGHBOURS]]


def forget_player(player_id: int) -> None:
    """Forget all visits of this player, whose account ends."""
    Visit.objects.filter(player_id=player_id).delete()
    Visit.objects.filter(account_id=player_id).update(account=None)


def forget_old() -> int:
    """Forget visits of more than VISIT_DAYS ago; how many."""
    return int(Visit.objects.filter(at__lt=Now() - timedelta(days=settings.VISIT_DAYS)).delete()[0])
