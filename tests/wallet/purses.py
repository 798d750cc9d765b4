"""What the wallet's tests stand on: people with coins, a call in a transaction of its own, and all that is written."""

from collections.abc import Callable
from typing import Any

from django.db import connection, transaction

from players.models import Player
from wallet import selectors, services


def guest(name: str) -> int:
    return Player.objects.create(username=name.lower(), shown_name=name, is_guest=True).pk


def person(name: str) -> int:
    """A registered player without an account."""
    return Player.objects.create(username=name.lower(), shown_name=name).pk


def purse(name: str, coins: int = 0) -> int:
    """A registered player with an account: empty, or welcomed with 5000 coins."""
    player_id = person(name)
    with transaction.atomic():
        services.open_account(player_id)
        if coins:
            assert coins == 5000, "the welcome bonus is the only gift"
            services.welcome(player_id)
    return player_id


def in_atomic(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    with transaction.atomic():
        return call(*arguments, **named)


def balance(whose: int | str) -> int:
    """Of a player, or of an account's code."""
    return selectors.balance(whose) if isinstance(whose, int) else selectors.held(whose)


def total() -> int:
    """Coins of all accounts, which the house's debt balances: 0."""
    return sum(selectors.totals().values())


def balances_and_rows() -> list[Any]:
    """Everything that the ledger's tables hold."""
    held: list[Any] = []
    with connection.cursor() as cursor:
        for name in ("account", "transaction", "posting", "resolution", "reward", "correction", "seal"):
            cursor.execute(f"SELECT * FROM wallet_{name} ORDER BY 1")
            held.append(cursor.fetchall())
    return held
