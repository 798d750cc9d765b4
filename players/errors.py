"""What players may be refused: a code for programs, a sentence for people."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

__all__ = ["AccountGone", "AlreadyRegistered", "NameRefused", "TooManyGuests", "TooManyNames"]


class NameRefused(Exception):
    """This name cannot be taken; nothing was changed. `code` says which rule, `text` says it to the person."""

    TEXTS: dict[str, str | Promise] = {
        "too_short": _("A name has two characters or more."),
        "too_long": _("That name is too long: at most 20 characters."),
        "start": _("A name begins with a letter or a digit."),
        "marks": _("That name has too many accents on one letter."),
        "invisible": _("That name has an invisible character. Type it anew instead of pasting it."),
        "mixed": _("That name mixes alphabets, or digits of two kinds. Please use one."),
        "reserved": _("That name is reserved. Please choose another."),
        "taken": _("That name is taken, or looks like one that is. Please choose another."),
    }

    def __init__(self, code: str, text: str | Promise | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.text = self.TEXTS[code] if text is None else text


class TooManyNames(Exception):
    """This player has had as many names today as anybody may; nothing was changed."""

    text: str | Promise = _("You have changed your name often enough for a day. Come back tomorrow.")


class TooManyGuests(Exception):
    """This address has had its share of new guests; nobody was made."""

    text: str | Promise = _("Too many new guests from your network. Wait a few minutes, or sign in.")


class AccountGone(ValueError):
    """This account was closed or banned meanwhile, or is none; nothing was changed."""

    text: str | Promise = _("This account is closed.")


class AlreadyRegistered(Exception):
    """This guest has an account by now (a second click, another tab); nothing was changed."""
