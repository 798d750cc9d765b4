"""The games that can be played, by key. A third game is one line here."""

from collections.abc import Callable, Mapping
from typing import Any

from games.engine.domino_poker.game import DominoPoker
from games.engine.errors import BadOptions, shown
from games.engine.table import Game

_GAMES: dict[str, Callable[[Mapping[str, Any]], Game[Any, Any, Any]]] = {DominoPoker.key: DominoPoker.from_options}

KEYS = tuple(_GAMES)
RULES_VERSION = {DominoPoker.key: 1}
TITLES = {DominoPoker.key: "Domino Poker"}


def build(key: str, options: Mapping[str, Any]) -> Game[Any, Any, Any]:
    """The game with these options. Raises BadOptions."""
    if key not in _GAMES:
        raise BadOptions(f"there is no game {shown(key)}")
    return _GAMES[key](options)


def title(key: str) -> str:
    """The game's name for people."""
    return TITLES[key]
