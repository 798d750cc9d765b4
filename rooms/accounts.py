"""What is done to an account and reaches its table in the same breath: another name, a ban, the end."""

from datetime import datetime

from django.db import transaction

from games import services as games
from players import services as players
from players.selectors import Player
from rooms import closing, seating


def rename(player: Player, name: str) -> None:
    """Show this player by another name, at the open table too. Raises NameRefused."""
    players.rename(player, name)
    seating.rename(player)


def ban(player: Player, by: Player | None, reason: str, until: datetime | None = None) -> players.Ban:
    """Keep this player out; the match that runs is forfeited at once. Raises ValueError as `players.services.ban`."""
    made = players.ban(player, by, reason, until)
    closing.shut_out(player.pk)
    return made


def close(player_id: int) -> None:
    """The end of an account: leave the table, sign out everywhere, erase what is personal, also from the matches of
    others. Safe to repeat."""
    closing.shut_out(player_id)
    with transaction.atomic(durable=True):
        players.close_account(player_id)
        games.forget_name(player_id, players.former_name(player_id))
    closing.shut_out(player_id)  # a seat that was taken in between
