"""Where a room's seats and a match's places become coins: fees, refunds, the pot, rewards. Under the room's lock."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from games import selectors as game_selectors
from games.engine.table import Outcome
from players.selectors import Player, may_own_gold
from rooms import money as money_words
from rooms.errors import GuestsCannotPay, NotEnough
from rooms.models import Room, Seat
from wallet import services as wallet
from wallet import split
from wallet.errors import AccountClosed, InsufficientFunds, NoAccount

if TYPE_CHECKING:
    from rooms.table import Table


def charge(room: Room, seat: Seat, player: Player) -> None:
    """The fee of a sitting that was just written, with the fee as paid, in the same transaction. Raises GuestsCannotPay
    and NotEnough (with what would be there, when another seat is left for this one)."""
    if room.fee == 0:
        return
    if player.is_guest:
        raise GuestsCannotPay
    try:
        wallet.charge_fee(seat.pk, room.pk, player.pk, room.fee)
    except InsufficientFunds as error:
        raise NotEnough(room.fee, room.fee - error.missing) from error
    except (NoAccount, AccountClosed) as error:
        raise NotEnough(room.fee, 0) from error


def refund(room: Room, seats: list[Seat]) -> None:
    """Their whole fees back to those who leave, or whose room closes, before the start."""
    payers = [seat for seat in seats if seat.paid and seat.player_id is not None]
    if not payers:
        return
    if len(payers) > 1:  # all accounts at once, so that they are locked in the one order
        wallet.lock([seat.player_id for seat in payers if seat.player_id is not None], [room.pk])
    for seat in payers:
        assert seat.player_id is not None
        wallet.refund_fee(seat.pk, room.pk, seat.player_id, seat.paid)
        seat.paid = 0


def settle(table: "Table", outcome: Outcome) -> None:
    """The match has its result: the pot to the first two who may win it, or the reward of a solo place."""
    room = table.room
    assert room.match_id is not None
    fees = _fees(table)
    if fees:
        wallet.pay_out(room.match_id, room.pk, fees, winners(table.seats, outcome.order))
    if room.visibility == Room.Visibility.SOLO:
        _reward(table, outcome)


def abandon(table: "Table") -> None:
    """Nobody is left to win the pot: it goes to the house."""
    fees = _fees(table)
    if fees:
        assert table.room.match_id is not None
        wallet.abandon_pot(table.room.match_id, table.room.pk, fees)


def winners(seats: list[Seat], order: tuple[int, ...]) -> list[int]:
    """The players who may win the pot, best first: those who paid and did not forfeit, in the order of the match."""
    by_number = {seat.number: seat for seat in seats}
    eligible = [by_number[number] for number in order if number in by_number]
    return [seat.player_id for seat in eligible if seat.player_id is not None and seat.paid and not seat.forfeited]


def pot(seats: list[Seat]) -> int:
    """What all sittings at this table have paid in."""
    return sum(seat.paid for seat in seats)


def prizes(coins: int, eligible: int) -> tuple[int, ...]:
    """What the first and the second would win of this pot."""
    return split.shares(coins, eligible) if coins else ()


def money(room: Room, seats: list[Seat], places: Mapping[int, int]) -> dict[str, Any] | None:
    """What everybody at the table is shown of its coins; None where none are at stake. `places` are the seats of the
    players, also when the match is over.

    `fee` of a seat, `pot` so far, `prizes` of the first and second if those who have paid now play; after the match
    `payout`, who got how many coins. Of a solo table of a registered player `reward`, `offered`, `left` and `why`:
    what its end has paid, would have paid without the day's limit, what may still be won that day, and why it paid
    nothing although the place is rewarded else."""
    over = room.status in {Room.Status.FINISHED, Room.Status.DESTROYED}
    if room.visibility == Room.Visibility.SOLO:
        solo = money_words.of_solo(room.match_id) if over and room.match_id is not None else None
        return {**solo} if solo is not None else None
    if room.fee == 0:
        return None
    if over:
        return money_words.standing(room, places)
    eligible = sum(1 for seat in seats if seat.paid and seat.player_id is not None)
    coins = pot(seats)
    return {"fee": room.fee, "pot": coins, "prizes": prizes(coins, eligible), "payout": None}


def _fees(table: "Table") -> dict[int, int]:
    return {seat.pk: seat.paid for seat in table.seats if seat.paid}


def _reward(table: "Table", outcome: Outcome) -> None:
    """50, 100 or 300 by the level that was fixed at the start (rules); guests have no account and get none. Nothing is
    paid where the table gave most answers for an absent player, or where the address should be confirmed and is not."""
    match_id = table.room.match_id
    assert match_id is not None
    for seat in table.humans():
        place = outcome.places[seat.number]
        player = seat.player
        assert player is not None
        if place > money_words.REWARDED_PLACES or player.is_guest or seat.forfeited:
            continue
        if not game_selectors.answered_itself(match_id, seat.number):
            table.room.unrewarded = Room.Unrewarded.AUTO_PLAY
            continue
        if not may_own_gold(player.pk):
            table.room.unrewarded = Room.Unrewarded.UNCONFIRMED
            continue
        worth = money_words.reward_for(sat.bot_level for sat in game_selectors.seats_in(match_id))
        wallet.open_account(player.pk)
        wallet.reward(match_id, player.pk, worth, game_selectors.ended_at(match_id))
