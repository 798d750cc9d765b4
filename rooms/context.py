"""What every page knows of the visitor's coins."""

from dataclasses import dataclass

from django.http import HttpRequest

from players.selectors import player_of
from rooms import money
from wallet import selectors as wallet


@dataclass(frozen=True, slots=True)
class Purse:
    """The coins of a registered player, as the top bar shows them."""

    balance: int


def purse(request: HttpRequest) -> dict[str, object]:
    """`purse` of a registered player, None for everybody else; `signup_url`, where one becomes such a player."""
    player = player_of(getattr(request, "user", None))
    held = Purse(wallet.balance(player.pk)) if player is not None and not player.is_guest else None
    return {"purse": held, "signup_url": money.signup_url()}
