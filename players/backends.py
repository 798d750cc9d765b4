"""Signing in: one look at one account, and one password hashed whatever was found."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.http import HttpRequest

from players.models import Player, normal_address
from players.names import login_name


def account_for(login: str) -> Player | None:
    """The registered player with this address or name; None when there is none. Never a guest."""
    if "@" in login:
        return Player.objects.filter(email=normal_address(login), is_guest=False).exclude(email="").first()
    return Player.objects.filter(username__iexact=login_name(login), is_guest=False).first()


class NameOrAddress(AuthenticationBackend):
    """Signs in by name or address. Wrong passwords and unknown accounts take the same time."""

    def _authenticate(self, _request: HttpRequest | None, **credentials: Any) -> Any:
        login = credentials.get("email") or credentials.get("username") or ""
        return self._check_password(account_for(login), credentials["password"])
