"""What is done to an account with all that hangs on it: another name, a ban, its coins, the end."""

from datetime import datetime

from django.db import transaction

from games import services as games
from players import services as players
from players import staff
from players.selectors import Player
from rooms import closing, seating, selectors
from rooms.errors import AlreadySeated
from rooms.retries import retried
from wallet import corrections
from wallet import services as wallet


def rename(player: Player, name: str) -> None:
    """Show this player by another name, at the open table too. Raises NameRefused, TooManyNames and AccountGone."""
    retried(players.rename)(player, name)
    seating.rename(player)


def ban(player: Player, by: Player | None, reason: str, until: datetime | None = None) -> players.Ban:
    """Keep this player out; the match that runs is forfeited at once. Raises ValueError as `players.services.ban`."""
    made = retried(players.ban)(player, by, reason, until)
    closing.shut_out(player.pk)
    return made


@retried
def welcome(player: Player, address: str) -> None:
    """The account's coins: the welcome bonus, once an account and once an address; else an empty account.
    Inside a transaction (signing up without a confirmed address) it is part of that."""
    with transaction.atomic():
        if players.first_use_of(address):
            wallet.welcome(player.pk)
        else:
            wallet.open_account(player.pk)


@retried
def ask_correction(
    by: Player, player_id: int, amount: int, reason: str, corrects: str | None
) -> corrections.Correction:
    """A request for a correction, with its line in the record of what staff do. Raises WalletError as
    `wallet.corrections.request`."""
    with transaction.atomic(durable=True):
        made = corrections.request(player_id, amount, reason, by.pk, corrects)
        staff.record(by, staff.Act.ASK, player=player_id, subject=f"correction:{made.pk}", reason=reason)
    return made


@retried
def decide_correction(by: Player, number: int, *, approve: bool, owner: int | None, reason: str) -> None:
    """The second person's yes or no, with its line in the record of what staff do. Raises WalletError as
    `wallet.corrections.approve` and `decline`."""
    with transaction.atomic(durable=True):
        if approve:
            corrections.approve(number, by.pk)
        else:
            corrections.decline(number, by.pk)
        act = staff.Act.APPROVE if approve else staff.Act.DECLINE
        staff.record(by, act, player=owner, subject=f"correction:{number}", reason=reason)


def close(player_id: int, agreed: str | None = None) -> None:
    """The end of an account: leave the table, coins to the house, sign out everywhere, erase what is personal, also
    from the matches of others. `agreed` is the seat that the player was asked about (`closing.stake`; "" for none),
    None where nobody asks. Safe to repeat. Raises NotAgreed, and AlreadySeated when the player sits down again and
    again; then the account goes on."""
    for _try in range(5):
        closing.give_up_running(player_id, agreed)
        if _close_unless_seated(player_id):
            closing.shut_out(player_id)  # also what was forgotten in between
            return
    raise AlreadySeated("")


@retried
def _close_unless_seated(player_id: int) -> bool:
    with transaction.atomic(durable=True):
        # Whoever sits down waits for this lock, and finds the account closed; whoever was quicker is seen here, and
        # must leave first: nothing can be paid back to a closed account. The player first, then the coins, as all do.
        Player.objects.select_for_update().get(pk=player_id)
        if selectors.running_table(player_id) is not None:
            return False
        wallet.close_account(player_id)
        players.close_account(player_id)
        games.forget_name(player_id, players.former_name(player_id))
    return True
