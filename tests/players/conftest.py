"""What tests of accounts are given."""

from typing import Any

import pytest


@pytest.fixture
def must_confirm(settings: Any) -> None:
    """Addresses must be confirmed before anybody is signed in."""
    settings.EMAIL_VERIFICATION = settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
