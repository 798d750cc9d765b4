"""Forms of accounts that know of tables."""

from typing import Any

from allauth.account.adapter import get_adapter
from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from players import forms as players
from players.adapter import guest_in
from rooms.adapter import GIVES_UP, running_match


class LoginForm(players.LoginForm):
    """Sign in; a guest in a running match is asked first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.running = running_match(guest_in(self.request)) if self.request is not None else None
        if self.running is not None:
            self.fields["give_up"] = forms.BooleanField(
                label=_("Give up the match that I play as a guest"),
                error_messages={"required": _("Tick this to sign in now, or finish the match first.")},
            )

    def login(self, request: HttpRequest, redirect_url: str | None = None) -> Any:
        if self.running is not None:
            request.session[GIVES_UP] = self.running
        return super().login(request, redirect_url)


class NameForm(forms.Form):
    """Another name."""

    name = forms.CharField(
        label=_("Name"),
        max_length=60,
        widget=forms.TextInput(attrs={"autocomplete": "nickname", "spellcheck": "false"}),
    )


class DeleteForm(forms.Form):
    """The end of an account, with the password once more."""

    password = forms.CharField(
        label=_("Your password"),
        max_length=256,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, user: Any, running: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if running:
            self.fields["give_up"] = forms.BooleanField(
                label=_("Give up the match that is running"),
                error_messages={"required": _("Tick this, or finish the match first.")},
            )

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        adapter = get_adapter()
        if not adapter.reauthenticate(self.user, password):
            raise adapter.validation_error("incorrect_password")
        return password
