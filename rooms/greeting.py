"""What is said to somebody who is new, on the page that comes next."""

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from players.selectors import Player
from wallet import selectors as wallet

__all__ = ["greet"]


def greet(request: HttpRequest, player: Player) -> None:
    """Say hello, and what gold there is by now: none before the address is confirmed, and none for a mailbox that has
    had its welcome bonus."""
    name, coins = player.shown_name, wallet.balance(player.pk)
    if coins:
        messages.success(request, _("Welcome, %(name)s. %(coins)d gold are yours.") % {"name": name, "coins": coins})
    else:
        messages.success(request, _("Welcome, %(name)s.") % {"name": name})
