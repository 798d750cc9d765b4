"""What is done to an account and reaches its table in the same breath: another name, a ban, the end."""

from datetime import datetime

from django.db import transaction

from games import services as games
from players import services as players
from players.selectors import Player
from rooms import closing, seating, selectors
from rooms.errors import AlreadySeated
from wallet import services as wallet


def rename(player: Player, name: str) -> None:
    """Show this player by another name, at the open table too. Raises NameRefused."""
    players.rename(player, name)
    seating.rename(player)


def ban(player: Player, by: Player | None, reason: str, until: datetime | None = None) -> players.Ban:
    """Keep this player out; the match that runs is forfeited at once. Raises ValueError as `players.services.ban`."""
    made = players.ban(player, by, reason, until)
    closing.shut_out(player.pk)
    return made


def welcome(player: Player, address: str) -> None:
    """The account's coins: the welcome bonus, once an account and once an address; else an empty account."""
    with transaction.atomic():
        if players.first_use_of(address):
            wallet.welcome(player.pk)
        else:
            wallet.open_account(player.pk)


def close(player_id: int) -> None:
    """The end of an account: leave the table, coins to the house, sign out everywhere, erase what is personal, also
    from the matches of others. Safe to repeat. Raises AlreadySeated when the player sits down again and again."""
    for _try in range(5):
        closing.shut_out(player_id)
        with transaction.atomic(durable=True):
            # Whoever sits down with a fee waits for this lock, and finds the account closed; whoever was quicker is
            # seen here, and must leave first, since nothing can be paid back to a closed account.
            wallet.lock_if_open(player_id)
            if selectors.running_table(player_id) is not None:
                continue
            wallet.close_account(player_id)
            players.close_account(player_id)
            games.forget_name(player_id, players.former_name(player_id))
        closing.shut_out(player_id)  # a free seat that was taken in between
        return
    raise AlreadySeated("")
