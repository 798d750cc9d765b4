"""What accounts are here: whose name may be taken, how an address is written, where a visitor comes from."""

import logging
from functools import partial
from smtplib import SMTPException
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from players import keys, services, visits
from players.address import client_address
from players.backends import account_for
from players.errors import AlreadyRegistered, NameRefused
from players.models import Player, normal_address
from players.names import checked, login_name

log = logging.getLogger(__name__)
SIGNED_UP = ["shown_name", "username", "email", "is_guest", "last_seen_at", "password"]
NOWHERE = "0.0.0.0"  # noqa: S104  nobody listens here: what limits count by when the peer has no address


def guest_in(request: HttpRequest) -> Player | None:
    """The guest who asks; None for visitors and for registered players."""
    user = getattr(request, "user", None)
    return user if isinstance(user, Player) and user.is_guest and user.is_active else None


def _at_home(link: str) -> str:
    """The same page at SITE_URL."""
    return settings.SITE_URL + urlunsplit(("", "", *urlsplit(link)[2:]))


class AccountAdapter(DefaultAccountAdapter):
    """A guest who registers keeps the row; what is said of an account never tells whether it exists."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": _("That name or address and that password do not belong together."),
        "username_password_mismatch": _("That name or address and that password do not belong together."),
        "too_many_login_attempts": _("Too many tries. Wait five minutes, or set a new password."),
        "email_taken": _("There is an account with this address. Sign in, or set a new password."),
        "incorrect_password": _("That is not your password."),
        "enter_current_password": _("That is not your password."),
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request) or NOWHERE

    def clean_username(self, username: str, shallow: bool = False) -> str:  # noqa: ARG002
        try:
            return checked(username, player=guest_in(self.request))
        except NameRefused as refused:
            raise ValidationError(str(refused.text), code=refused.code) from None

    def clean_email(self, email: str) -> str:
        return normal_address(email)

    def new_user(self, request: HttpRequest) -> Player:
        """The guest's own row, locked until the sign-up is stored; a new one for other visitors."""
        guest = guest_in(request)
        if guest is None:
            return Player()
        row = Player.objects.select_for_update().filter(pk=guest.pk, is_guest=True, is_active=True).first()
        if row is None:
            raise AlreadyRegistered
        return row

    def save_user(self, _request: HttpRequest, user: Player, form: Any, commit: bool = True) -> Player:
        data = form.cleaned_data
        user.shown_name = data["username"]
        user.username = login_name(user.shown_name)
        user.email = "" if getattr(form, "address_is_elsewhere", False) else data["email"]
        user.is_guest, user.last_seen_at = False, timezone.now()
        user.set_password(data["password1"])
        if commit:
            user.save(update_fields=None if user._state.adding else SIGNED_UP)
        return user

    def set_password(self, user: Player, password: str) -> None:
        """Another password, of an account that still is one: a ban or the end of the account may have come since the
        row was read, and stays."""
        user.set_password(password)
        with transaction.atomic():
            if not Player.objects.select_for_update().filter(pk=user.pk, is_active=True).exists():
                raise ImmediateHttpResponse(self.respond_user_inactive(self.request, user))
            user.save(update_fields=["password"])

    def confirm_email(self, request: HttpRequest, email_address: Any) -> bool:
        """An address that became somebody else's meanwhile is not confirmed."""
        try:
            with transaction.atomic():
                return bool(super().confirm_email(request, email_address))
        except IntegrityError:
            self.add_message(
                request, 40, "account/messages/email_confirmation_failed.txt", {"email": email_address.email}
            )
            return False

    def login(self, request: HttpRequest, user: Player) -> None:
        """Sign in, and remember from where: a guest's browser goes on as this account."""
        guest = guest_in(request)
        super().login(request, user)
        visits.note(request, user)
        if guest is not None and guest.pk != user.pk:
            visits.signed_in_as(guest.pk, user.pk)

    def pre_login(self, request: HttpRequest, user: Player, **more: Any) -> HttpResponse | None:
        if not user.is_active and services.lift_ban_that_is_over(user.pk):
            user.is_active = True
        response: HttpResponse | None = super().pre_login(request, user, **more)
        return response

    def respond_user_inactive(self, request: HttpRequest, user: Player) -> HttpResponse:
        return render(request, "account/account_inactive.html", {"ban": services.open_ban(user.pk)}, status=403)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """A mail that the mail server does not take is a line in the log: it can be asked for again. In a transaction
        it waits for the commit: a slow mail server must hold no lock, and what is undone sends nothing."""
        if connection.in_atomic_block:
            transaction.on_commit(partial(self._send_mail, template_prefix, email, context), robust=True)
        else:
            self._send_mail(template_prefix, email, context)

    def _send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Links lead to the site's own address, whatever host the request named."""
        links = {name: _at_home(value) for name, value in context.items() if name.endswith("_url")}
        try:
            super().send_mail(template_prefix, email, {**context, **links})
        except (SMTPException, OSError) as error:
            log.error("mail not sent (%s): %s", template_prefix, type(error).__name__)

    def _get_login_attempts_cache_key(self, _request: HttpRequest, **credentials: Any) -> str:
        """Failures count for the account, by whichever of its names it was tried."""
        login = credentials.get("email") or credentials.get("username") or ""
        account = account_for(login)
        return f"player:{account.pk}" if account is not None else f"nobody:{login_name(login)}"


class SecondStepAdapter(DefaultMFAAdapter):
    """The second step of signing in; staff cannot go without. Its secrets are never stored in the clear."""

    def encrypt(self, text: str) -> str:
        return keys.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return keys.decrypt(encrypted_text)

    def can_delete_authenticator(self, authenticator: Any) -> bool:
        return not authenticator.user.is_staff
