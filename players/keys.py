"""What the site's secret key is used for beside sessions: secrets at rest, and digests that tell nobody of what."""

import base64

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac

__all__ = ["decrypt", "digests", "encrypt"]

SEALED = "fernet:"


def _keys() -> list[str]:
    """The secret key, then those of before that are still honoured."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _box() -> MultiFernet:
    salt = "players.second-step"
    raw = [salted_hmac(salt, "", secret=key, algorithm="sha256").digest() for key in _keys()]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(one)) for one in raw])


def encrypt(text: str) -> str:
    """The text, readable with the site's secret key alone."""
    return SEALED + _box().encrypt(text.encode()).decode()


def decrypt(text: str) -> str:
    """What was encrypted with this key or one of SECRET_KEY_FALLBACKS; what was stored before anything was encrypted,
    as it is. Raises cryptography's InvalidToken."""
    if not text.startswith(SEALED):
        return text
    return _box().decrypt(text.removeprefix(SEALED)).decode()


def digests(salt: str, text: str) -> list[str]:
    """Keyed digests of a text: by today's key first, then by those of before."""
    return [salted_hmac(salt, text, secret=key, algorithm="sha256").hexdigest() for key in _keys()]
