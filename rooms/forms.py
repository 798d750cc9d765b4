"""What pages with markup of their own take in: each wrong field has one sentence, and the first of them is shown."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from games.bots import levels as bot_levels
from games.engine import registry
from rooms import money
from rooms.models import SEATS
from rooms.seating import GAME

MOST_ROUNDS = 50  # the rules'


def always(text: Any) -> dict[str, Any]:
    """The messages of a field that says this whatever is wrong."""
    return dict.fromkeys(("required", "invalid", "invalid_choice", "null_characters_not_allowed"), text)


class RoundsField(forms.RegexField):
    """How many rounds, in plain digits."""

    default_error_messages = always(_("Rounds must be a whole number from 1 to 50."))

    def __init__(self) -> None:
        super().__init__(r"^[0-9]{1,2}\Z", strip=False)

    def clean(self, value: Any) -> int:
        rounds = int(super().clean(value))
        if not 1 <= rounds <= MOST_ROUNDS:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return rounds


class GoldField(forms.CharField):
    """A whole number of gold in plain digits; nothing is 0."""

    def __init__(self, text: Any) -> None:
        super().__init__(strip=False, required=False, error_messages=always(text))

    def clean(self, value: Any) -> int:
        gold = money.amount(super().clean(value) or "0")
        if gold is None:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return gold


class PageForm(forms.Form):
    """A form whose page shows one error at a time, of the first field that is wrong."""

    def one_error(self) -> str:
        return str(next(iter(self.errors.values()))[0])


class PlayForm(PageForm):
    """A solo match: how many rounds, how strong the bots, with or without the turn clock."""

    rounds = RoundsField()
    level = forms.ChoiceField(
        choices=lambda: [(key, key) for key, ready in bot_levels(GAME).items() if ready],
        error_messages=always(_("Choose a level that is offered.")),
    )
    clock = forms.BooleanField(required=False)


_GAME_OR_VISIBILITY = always(_("Choose a game, and public or private."))


class CreateForm(PageForm):
    """A room to open: how many rounds, what a seat costs, which game, who may find it."""

    rounds = RoundsField()
    fee = GoldField(_("A fee is a whole number of gold, from 0 to what you have."))
    game = forms.ChoiceField(choices=[(key, key) for key in registry.KEYS], error_messages=_GAME_OR_VISIBILITY)
    visibility = forms.ChoiceField(
        choices=[("public", "public"), ("private", "private")], error_messages=_GAME_OR_VISIBILITY
    )


class SitForm(PageForm):
    """A seat by its number (without one, the first that is free), at the price that was shown."""

    agreed_fee = GoldField(_("This is not an amount of gold."))
    seat = forms.RegexField(
        rf"^[0-{SEATS - 1}]\Z",
        strip=False,
        required=False,
        error_messages=always(_("There is no such seat in this room.")),
    )
