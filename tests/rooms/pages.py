"""Browsers of players, and what their pages say."""

import re
from typing import Any

from django.conf import settings
from django.test import Client

from players.models import Player

CREATE = {"game": "domino_poker", "visibility": "public", "rounds": "1"}


def client_of(player: Player) -> Client:
    """A browser of this player."""
    client = Client()
    client.force_login(player, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client


def text(answer: Any) -> str:
    return str(answer.content.decode())


def words(answer: Any) -> str:
    """What a reader reads: without markup, blanks as one."""
    return " ".join(re.sub(r"<[^>]*>", " ", text(answer)).split())
