"""Signing in where it touches a table: a guest who becomes somebody else leaves the guest's seat properly."""

from allauth.core.exceptions import ImmediateHttpResponse
from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from players.adapter import AccountAdapter, guest_in
from players.selectors import Player
from rooms import closing, selectors

GIVES_UP = "gives_up_table"


def running_match(player: Player | None) -> str | None:
    """The code of the table where this player sits in a match that has started."""
    table = selectors.running_table(player.pk if player is not None else None)
    return str(table["code"]) if table is not None and table["status"] != "waiting" else None


class SiteAdapter(AccountAdapter):
    """Accounts of people who may sit somewhere."""

    def login(self, request: HttpRequest, user: Player) -> None:
        """Sign in. The guest of before leaves its table; one in a running match must have agreed to that."""
        guest = guest_in(request)
        if guest is None or guest.pk == user.pk:
            super().login(request, user)
            return
        running = running_match(guest)
        if running is not None and request.session.get(GIVES_UP) != running:
            messages.info(request, _("Your match has begun. Say whether you give it up, then sign in."))
            raise ImmediateHttpResponse(redirect("account_login"))
        super().login(request, user)
        closing.give_up_running(guest.pk)
