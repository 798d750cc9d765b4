"""Room codes: eight symbols that can be read aloud."""

import re
import secrets

from django.urls.converters import IntConverter, StringConverter

# Crockford's base32: no I, L, O, U, so that a code can be read aloud.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 8


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _i in range(LENGTH))


def new_watch_key() -> str:
    """The 22 symbols (128 bits) of a private room's watchers."""
    return secrets.token_urlsafe(16)


# What people type for what they read: Crockford's own rule, and every dash and space that a message may contain.
_READ_AS = str.maketrans({"O": "0", "I": "1", "L": "1"})
_BETWEEN = re.compile(r"[\s\-\u2010-\u2015_.]+")


def normalise(text: str) -> str | None:
    """The code that was meant, typed in any case, with spaces or dashes; None when it can be none."""
    code = _BETWEEN.sub("", text[:64]).upper().translate(_READ_AS)
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


class CodeConverter(StringConverter):
    """A code in an address; anything else is an address that does not exist."""

    regex = f"[{ALPHABET}]{{{LENGTH}}}"


class RoomIdConverter(IntConverter):
    """The number of a room in an address, no longer than the database can hold."""

    regex = "[1-9][0-9]{0,15}"


class WatchKeyConverter(StringConverter):
    """The watchers' key of a private room in an address."""

    regex = "[A-Za-z0-9_-]{22}"
