"""Signing in where it touches a table: a guest who becomes somebody else leaves the guest's seat properly."""

import contextlib
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from players.adapter import AccountAdapter, guest_in
from players.selectors import Player
from rooms import accounts, closing, selectors
from rooms.errors import NotAgreed
from rooms.greeting import greet
from wallet import selectors as wallet

GIVES_UP = "gives_up_table"


def running_match(player: Player | None) -> str | None:
    """The code of the table where this player sits in a match that has started."""
    table = selectors.running_table(player.pk if player is not None else None)
    return str(table["code"]) if table is not None and table["status"] != "waiting" else None


class SiteAdapter(AccountAdapter):
    """Accounts of people who may sit somewhere, and have coins."""

    def save_user(self, request: HttpRequest, user: Player, form: Any, commit: bool = True) -> Player:
        with transaction.atomic():
            saved = super().save_user(request, user, form, commit)
            if commit and settings.EMAIL_VERIFICATION != "mandatory":
                accounts.welcome(saved, form.cleaned_data["email"])
        return saved

    def confirm_email(self, request: HttpRequest, email_address: Any) -> bool:
        """A confirmed address and its bonus come together, or the link can be followed once more."""
        player, before = email_address.user, wallet.balance(email_address.user.pk)
        with transaction.atomic():
            confirmed = super().confirm_email(request, email_address)
            if confirmed and settings.EMAIL_VERIFICATION == "mandatory":
                accounts.welcome(player, email_address.email)
        if confirmed and wallet.balance(player.pk) > before:
            greet(request, player)
        return confirmed

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:  # noqa: ARG002
        return reverse("account")

    def login(self, request: HttpRequest, user: Player) -> None:
        """Sign in. The guest of before leaves its table; one in a running match must have agreed to that."""
        guest = guest_in(request)
        if guest is None or guest.pk == user.pk:
            super().login(request, user)
            return
        table = selectors.running_table(guest.pk)
        running = running_match(guest)
        if running is not None and request.session.get(GIVES_UP) != running:
            messages.info(request, _("Your match has begun. Say whether you give it up, then sign in."))
            raise ImmediateHttpResponse(redirect("account_login"))
        agreed = closing.stake(str(table["code"]), str(table["status"])) if table is not None else ""
        super().login(request, user)
        # A match that began since is not forfeited in the guest's name: the seat stays, and is away.
        with contextlib.suppress(NotAgreed):
            closing.give_up_running(guest.pk, agreed)
