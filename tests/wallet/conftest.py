"""The wallet alone: nobody here has rooms, so what rooms add to the ledger's checks is left out."""

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def no_rooms(settings: Any) -> None:
    settings.LEDGER_CHECKS = []
