"""Which pages a signed-in visitor may reach: guests have no account pages, staff have nothing without a second step."""

import logging
from collections.abc import Callable
from typing import Any

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from players.models import Player
from players.selectors import confirmed
from players.unavailable import try_again

log = logging.getLogger(__name__)

# All that a guest needs of the account pages: the ways in.
FOR_GUESTS = {
    "account_login", "account_signup", "account_logout", "account_inactive", "account_email_verification_sent",
    "account_confirm_email", "account_reset_password", "account_reset_password_done",
    "account_reset_password_from_key", "account_reset_password_from_key_done", "mfa_authenticate",
}  # fmt: skip
# All that staff reach before they have a second step.
BEFORE_SECOND_STEP = {
    "mfa_activate_totp", "account_reauthenticate", "account_logout", "account_email", "account_confirm_email",
    "account_email_verification_sent",
}  # fmt: skip
FOR_EVERYBODY = {"healthz", "jsi18n", "favicon"}
NOTED_EVERY_SECONDS = 60
_SEEN = "staff_seen_at"


class Doors:
    """Sends those on who may not enter, before the view runs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        match = request.resolver_match
        name = (match.url_name or "") if match is not None else ""
        # Whoever has no session is nobody: no page asks the database for that.
        if name in FOR_EVERYBODY or settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None
        try:
            return self._look(request, name)
        except (OperationalError, InterfaceError):
            log.warning("503 at a door: the database does not answer")
            return try_again()  # a door that cannot look lets nobody pass

    def _look(self, request: HttpRequest, name: str) -> HttpResponse | None:
        if not isinstance(request.user, Player):
            return None
        of_accounts = name == "account" or name.startswith(("account_", "mfa_", "usersessions_"))
        player = request.user
        if player.is_guest:
            return redirect("account_signup") if of_accounts and name not in FOR_GUESTS else None
        if player.is_staff:
            return self._staff(request, player, name)
        if name == "mfa_activate_totp":
            return _address_first(request, player)
        return None

    def _staff(self, request: HttpRequest, player: Player, name: str) -> HttpResponse | None:
        now = int(timezone.now().timestamp())
        seen = request.session.get(_SEEN, now)
        if now - seen > settings.STAFF_IDLE_SECONDS:
            logout(request)
            messages.info(request, _("You were signed out after a while without a sign of you."))
            return redirect("account_login")
        if _SEEN not in request.session or now - seen >= min(NOTED_EVERY_SECONDS, settings.STAFF_IDLE_SECONDS / 2):
            request.session[_SEEN] = now
        if name not in BEFORE_SECOND_STEP and not is_mfa_enabled(player):
            messages.info(request, _("Staff sign in with a second step. Set it up to go on."))
            return redirect("mfa_activate_totp")
        return _address_first(request, player) if name == "mfa_activate_totp" else None


def _address_first(request: HttpRequest, player: Player) -> HttpResponse | None:
    """A second step on an address that was never confirmed would lock out the one whose address it is."""
    if confirmed(player.pk):
        return None
    messages.info(request, _("Confirm your e-mail address first; then add a second step."))
    return redirect("account_email")
