"""Room codes: eight symbols that can be read aloud."""

import secrets

from django.urls.converters import StringConverter

# Crockford's base32: no I, L, O, U, so that a code can be read aloud.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 8


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _i in range(LENGTH))


class CodeConverter(StringConverter):
    """A code in an address; anything else is an address that does not exist."""

    regex = f"[{ALPHABET}]{{{LENGTH}}}"
