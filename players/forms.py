"""The forms of accounts, where ours differ from allauth's."""

import time
from typing import Any

from allauth.account import forms as account
from allauth.account.adapter import get_adapter
from allauth.account.internal import flows
from allauth.account.models import EmailAddress
from allauth.mfa.base import forms as mfa
from allauth.mfa.totp import forms as totp
from django import forms
from django.contrib.auth.hashers import make_password
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from players.adapter import guest_in
from players.backends import account_for
from players.errors import NameRefused
from players.models import Player, normal_address
from players.names import checked, login_name

# Asking for a new password takes at least this long, so that the time tells nothing of the address.
RESET_SECONDS = 0.2
LONGEST_PASSWORD = 256  # hashing longer ones would be work for strangers to give us
LONGEST_TEXT = 254  # names, addresses, codes


def _worded(form: forms.Form, **labels: Any) -> None:
    """Our words for these fields, and no second copy of them inside the fields."""
    for name, field in form.fields.items():
        field.label = labels.get(name, field.label)
        field.widget.attrs.pop("placeholder", None)


def bound_length(field: Any, longest: int) -> None:
    """Let this field refuse longer texts, before anything is done with them. `max_length` alone says so to browsers
    only, once a field is made."""
    field.max_length = longest
    others = [one for one in field.validators if not isinstance(one, MaxLengthValidator)]
    field.validators = [*others, MaxLengthValidator(longest)]
    field.widget.attrs["maxlength"] = str(longest)


class Bounded:
    """A form of allauth's where every text has an end."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():  # type: ignore[attr-defined]
            if isinstance(field, forms.CharField):
                hidden = isinstance(field.widget, forms.PasswordInput)
                bound_length(field, LONGEST_PASSWORD if hidden else LONGEST_TEXT)


class SignupForm(Bounded, account.SignupForm):
    """Name, address, password. A guest keeps the row and, where it may be kept, the name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name, address, password = self.fields["username"], self.fields["email"], self.fields["password1"]
        name.label, address.label, password.label = _("Name"), _("E-mail address"), _("Password")
        name.help_text = _("What others see: letters and digits of one alphabet, 2 to 20.")
        address.help_text = _("For you alone: to sign in, and to set a new password.")
        password.help_text = _("At least 8 characters, not only digits, and not a common one.")
        # Long names are refused by `checked`, in our words.
        name.validators = [one for one in name.validators if not isinstance(one, MaxLengthValidator)]
        name.max_length = None
        name.widget.attrs |= {"maxlength": "60", "spellcheck": "false", "autocomplete": "username"}
        for field in (name, address, password):
            field.widget.attrs.pop("placeholder", None)
        # The owner of the address is somebody else: this account begins without it, and nobody is told.
        self.address_is_elsewhere = False
        self.player: Player | None = None

    @staticmethod
    def initial_name(request: HttpRequest) -> str:
        """The guest's name where a registered player may have it."""
        guest = guest_in(request)
        if guest is None:
            return ""
        try:
            return checked(guest.shown_name, player=guest)
        except NameRefused:
            return ""

    def try_save(self, request: HttpRequest) -> Any:
        """The player, or the answer for an address that has an account. Both cost the same time and look alike.

        A guest gets the account in any case, since the page goes on showing who somebody is; with an address of
        somebody else it begins without that address (`address_is_elsewhere`), which `tell_owner` lets hear of it."""
        if self.account_already_exists and guest_in(request) is None:
            make_password(self.cleaned_data["password1"])
            return None, self.tell_owner(request)
        self.address_is_elsewhere = self.account_already_exists
        return self.save(request), None

    def tell_owner(self, request: HttpRequest) -> Any:
        """The answer that a new address gets as well; the owner of this one reads that there is an account."""
        return flows.signup.prevent_enumeration(request, email=self.cleaned_data["email"])

    def save(self, request: HttpRequest) -> Player:
        adapter = get_adapter()
        player: Player = adapter.save_user(request, adapter.new_user(request), self)
        EmailAddress.objects.create(user=player, email=self.cleaned_data["email"], primary=True)
        self.player = player
        return player


class LoginForm(Bounded, account.LoginForm):
    """Sign in by name or by address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        login, password = self.fields["login"], self.fields["password"]
        login.label, password.label = _("Name or e-mail address"), _("Password")
        login.widget.attrs |= {"autocomplete": "username", "spellcheck": "false"}
        password.help_text = ""
        for field in (login, password):
            field.widget.attrs.pop("placeholder", None)

    def clean_login(self) -> str:
        login = self.cleaned_data["login"]
        return normal_address(login) if "@" in login else login_name(login)

    def user_credentials(self) -> dict[str, str]:
        login = self.cleaned_data["login"]
        kind = "email" if "@" in login else "username"
        return {kind: login, "password": self.cleaned_data["password"]}


class ResetPasswordForm(Bounded, account.ResetPasswordForm):
    """A new password, by a mail to the address of the account. The answer is the same for every address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _worded(self, email=_("E-mail address"))

    def clean_email(self) -> str:
        address = normal_address(self.cleaned_data["email"])
        account = account_for(address)
        self.users = [account] if account is not None and account.is_active else []
        return address

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        began = time.monotonic()
        address: str = super().save(request, **kwargs)
        time.sleep(max(0.0, RESET_SECONDS - (time.monotonic() - began)))
        return address


class ResetPasswordKeyForm(Bounded, account.ResetPasswordKeyForm):
    """The new password, by whoever has the link of the mail."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _new_password(self)


class SetPasswordForm(Bounded, account.SetPasswordForm):
    """The first password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _new_password(self)


class ChangePasswordForm(Bounded, account.ChangePasswordForm):
    """The new password, by whoever knows the old one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _new_password(self)


def _new_password(form: forms.Form) -> None:
    _worded(
        form,
        oldpassword=_("Current password"),
        password1=_("New password"),
        password2=_("New password, once more"),
    )
    form.fields["password1"].help_text = _("At least 8 characters, not only digits, and not a common one.")


class AddEmailForm(Bounded, account.AddEmailForm):
    """Another address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _worded(self, email=_("New e-mail address"))


class ReauthenticateForm(Bounded, account.ReauthenticateForm):
    """The password once more, before something that matters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _worded(self, password=_("Password"))


class _Code(Bounded):
    """A one-time code or a recovery code, as it was given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assert isinstance(self, forms.Form)
        _worded(self, code=_("Code"))
        self.fields["code"].widget.attrs |= {"spellcheck": "false", "autocapitalize": "none"}


class AuthenticateForm(_Code, mfa.AuthenticateForm):
    """The second step of signing in."""


class SecondStepForm(_Code, mfa.ReauthenticateForm):
    """The second step, before something that matters."""


class ActivateTOTPForm(_Code, totp.ActivateTOTPForm):
    """The first code of an app, which shows that it has the secret."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = _("Code that the app shows")
