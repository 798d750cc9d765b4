"""The bots, by game and level: each answers a prompt from its seat's view alone, with a seeded source of chance."""

import hashlib
import hmac
from collections.abc import Callable
from typing import Any

from games.bots.domino_poker import medium
from games.engine.table import Prompt


class Draw:
    """A repeatable source of chance: the same seed and label give the same numbers."""

    def __init__(self, seed: bytes, label: str) -> None:
        self._key = hmac.digest(seed, label.encode(), hashlib.sha256)
        self._turn = 0

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1."""
        self._turn += 1
        block = hmac.digest(self._key, str(self._turn).encode(), hashlib.sha256)
        return int.from_bytes(block, "big") % limit  # 256 bits over a small limit: the bias is below 2**-240


Bot = Callable[[Any, Prompt[Any], Draw], Any]

_BOTS: dict[str, dict[str, Bot | None]] = {
    "domino_poker": {"medium": medium.answer, "hard": None, "epic": None},
}


def levels(game_key: str) -> dict[str, bool]:
    """Every level of a game, weakest first, and whether it can be played already."""
    return {level: bot is not None for level, bot in _BOTS[game_key].items()}


def answer(game_key: str, level: str, view: Any, prompt: Prompt[Any], draw: Draw) -> str:
    """What this bot answers, as an action's text."""
    bot = _BOTS[game_key][level]
    if bot is None:
        raise ValueError(f"{level} bots of {game_key} cannot play yet")
    return str(bot(view, prompt, draw))
