"""What pages say of coins: a price before it is paid, and every coin of a match that was played for some."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import TypedDict

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from games import selectors as game_selectors
from players.selectors import Player, may_own_gold
from rooms import clock
from rooms.errors import NoSuchRoom
from rooms.models import SEATS, Room, Seat
from wallet import chart, split
from wallet import selectors as wallet

__all__ = [
    "MAX_FEE",
    "MatchMoney",
    "Quote",
    "amount",
    "of_match",
    "of_solo",
    "quote",
    "rewards",
    "signup_url",
    "standing",
]

MAX_FEE = wallet.MAX_COINS // SEATS  # one posting pays the whole pot
REWARDED_PLACES = 2  # rules: placed 1st or 2nd
_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,12})\Z")


def amount(text: str) -> int | None:
    """A whole number of coins as somebody typed it, in plain digits; None for everything else."""
    if not _AMOUNT.match(text):
        return None
    number = int(text)
    return number if number <= MAX_FEE else None


def signup_url() -> str:
    """Where a guest becomes a registered player."""
    return reverse("account_signup")


# -- before sitting ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stake:
    """With so many who pay: the pot, and what the first and the second would win of it."""

    payers: int
    pot: int
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Quote:
    """The price of a seat, the pot so far, and the pots that there may be: with one more who pays, up to as many as
    there are seats for people."""

    fee: int
    pot: int
    stakes: tuple[Stake, ...]

    @property
    def with_you(self) -> Stake | None:
        return self.stakes[0] if self.stakes else None


def stakes(fee: int, people: int, bots: int) -> tuple[Stake, ...]:
    """The pots of a waiting room from one person more than now on."""
    return tuple(_stake(fee, count) for count in range(people + 1, SEATS - bots + 1))


def _stake(fee: int, count: int) -> Stake:
    first, *rest = split.shares(fee * count, count)
    return Stake(count, fee * count, first, rest[0] if rest else 0)


def quote(room_id: int) -> Quote | None:
    """What a seat at this room costs; None for a free one. Raises NoSuchRoom."""
    fee = Room.objects.filter(pk=room_id).values_list("fee", flat=True).first()
    if fee is None:
        raise NoSuchRoom
    if fee == 0:
        return None
    seats = list(Seat.objects.filter(room_id=room_id).values_list("player_id", "paid"))
    people = sum(player_id is not None for player_id, _paid in seats)
    return Quote(fee, sum(paid for _player, paid in seats), stakes(fee, people, len(seats) - people))


def rewards(player: Player | None) -> dict[str, object] | None:
    """For a registered player: what the levels pay at a solo table, how much may still be won today, and whether the
    address must be confirmed first."""
    if player is None or player.is_guest:
        return None
    left = wallet.reward_left(player.pk, clock.now().astimezone(UTC).date())
    return {
        "levels": settings.REWARDS,
        "left": left,
        "limit": settings.REWARD_COINS_A_DAY,
        "confirm": not may_own_gold(player.pk),
    }


# -- after the end -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """What somebody won of a pot, and how that came about."""

    name: str
    coins: int
    how: str


@dataclass(frozen=True, slots=True)
class MatchMoney:
    """Every coin of a match: either a pot or a solo reward, in sentences and sums."""

    pot: int
    how: str
    shares: tuple[Share, ...]
    left_out: tuple[str, ...]


def standing(room: Room, places: Mapping[int, int]) -> dict[str, object]:
    """A paid room after its end, as the table's frame says it: the ledger's own word. `places` are the seats of those
    who played."""
    paid = wallet.pot_paid(room.match_id) if room.match_id is not None else []
    won = [{"seat": places.get(player_id), "coins": coins} for player_id, coins in paid if player_id is not None]
    return {
        "fee": room.fee,
        "pot": sum(coins for _player, coins in paid),
        "prizes": tuple(line["coins"] for line in won),
        "payout": won,
    }


def _paid_out(sheet: wallet.Sheet) -> list[tuple[int, int]]:
    """Who won how many coins of a pot, the first first."""
    lines = [line for line in sheet.lines if line.kind == wallet.Kind.PAYOUT]
    return [(chart.number_of(line.destination), line.amount) for line in lines]


class SoloMoney(TypedDict):
    """What the end of a solo match paid (0 for a place that wins nothing), what its place was worth, what a rewarded
    place at this level is worth, what was left to win that day, at this moment, and why a place that is rewarded else
    won nothing ("" when that is not so)."""

    reward: int
    offered: int
    worth: int
    left: int
    why: str


def of_solo(match_id: int) -> SoloMoney | None:
    """The coins of a solo match; None where a guest played (also one who has registered since), or without a
    result."""
    sat = game_selectors.seats_in(match_id)
    human = next((seat for seat in sat if seat.player_id is not None), None)
    if human is None or human.player is None or human.player.is_guest or not game_selectors.is_finished(match_id):
        return None
    paid = wallet.reward_of(match_id)
    if paid is None and not human.registered:
        return None
    unrewarded = Room.objects.filter(match_id=match_id).values_list("unrewarded", flat=True).first()
    why, worth = _why(unrewarded), reward_for(seat.bot_level for seat in sat)
    placed = game_selectors.places(match_id)[human.number] <= REWARDED_PLACES and not human.forfeited
    reward, offered = paid or (0, worth if placed and not why else 0)
    left = wallet.reward_left(human.player.pk, game_selectors.ended_at(match_id).astimezone(UTC).date())
    return {"reward": reward, "offered": offered, "worth": worth, "left": left, "why": why}


def _why(unrewarded: str | None) -> str:
    """The sentence for a place that is rewarded else and won nothing; "" without such a reason."""
    if unrewarded == Room.Unrewarded.AUTO_PLAY:
        return _("No reward: the table played most of your turns.")
    if unrewarded == Room.Unrewarded.UNCONFIRMED:
        return _("No reward: confirm your e-mail address to win gold.")
    return ""


def reward_for(levels: Iterable[str]) -> int:
    """What a rewarded place at seats of these levels ("" for a person) is worth; the level of a solo table was fixed
    at its start (rules)."""
    return int(settings.REWARDS[next(filter(None, levels))])


def of_match(match_id: int) -> MatchMoney | None:
    """The coins of a finished match, explained; None when it was played for none."""
    room = Room.objects.filter(match_id=match_id).first()
    if room is None:
        return None
    if room.visibility == Room.Visibility.SOLO:
        return _solo_money(match_id)
    return _pot_money(room, match_id) if room.fee else None


def _solo_money(match_id: int) -> MatchMoney | None:
    solo = of_solo(match_id)
    if solo is not None and solo["why"]:
        return MatchMoney(0, solo["why"], (), ())
    if solo is None:
        return None
    if not solo["offered"]:
        how = _("First or second place against bots of this level wins %(worth)d gold.") % {"worth": solo["worth"]}
        return MatchMoney(0, how, (), ())
    reward, offered = solo["reward"], solo["offered"]
    human = next(seat for seat in game_selectors.seats_in(match_id) if seat.player_id is not None)
    how = _("Reward for this place at this level: %(offered)d gold.") % {"offered": offered}
    if reward < offered:
        limit = settings.REWARD_COINS_A_DAY
        paid = _("Paid: %(reward)d, because a day’s rewards are %(limit)d gold at most.")
        how = f"{how} {paid % {'reward': reward, 'limit': limit}}"
    return MatchMoney(reward, how, (Share(human.name, reward, ""),), ())


def _pot_money(room: Room, match_id: int) -> MatchMoney:
    sheet = wallet.room_sheet(room.pk)
    pot = sheet.paid - sheet.refunded
    seats = game_selectors.seats_in(match_id)
    names = {seat.player_id: seat.name for seat in seats if seat.player_id is not None}
    won = _paid_out(sheet)
    count = pot // room.fee
    how = _("%(count)d players paid %(fee)d each: %(count)d × %(fee)d = %(pot)d gold.") % {
        "count": count,
        "fee": room.fee,
        "pot": pot,
    }
    if count == 1:
        how = _("One player paid %(fee)d gold.") % {"fee": room.fee}
    shares = tuple(
        Share(names.get(player_id, _("a former player")), coins, text)
        for (player_id, coins), text in zip(won, _placed(hows(pot, [coins for _player, coins in won])), strict=True)
    )
    gone = [seat.name for seat in seats if seat.forfeited]
    bots = [seat.name for seat in seats if seat.bot_level and not seat.forfeited]
    left_out = []
    if gone:
        left_out.append(_("Who gives a match up wins nothing of the pot: %(names)s.") % {"names": ", ".join(gone)})
    if bots:
        left_out.append(_("Bots win no gold, whatever their place: %(names)s.") % {"names": ", ".join(bots)})
    if not won:
        left_out.append(_("Nobody was left who could win the pot: it goes to the house."))
    return MatchMoney(pot, how, shares, tuple(left_out))


def _placed(texts: list[str]) -> list[str]:
    """The same of two shares, with the order in which they were won: not the places, which bots take too."""
    if len(texts) != 2:
        return texts
    first, second = texts
    return [_("First of the players, %(how)s") % {"how": first}, _("Second of the players, %(how)s") % {"how": second}]


def hows(pot: int, won: list[int]) -> list[str]:
    """How each share of a pot came about, the first's first."""
    if len(won) == 2:
        second = (
            _("three tenths: %(pot)d × 3 / 10 = %(coins)d")
            if pot * 3 % 10 == 0
            else _("three tenths: %(pot)d × 3 / 10 = %(coins)d, rounded down")
        )
        first = _("the rest: %(pot)d − %(second)d = %(coins)d") % {"pot": pot, "second": won[1], "coins": won[0]}
        return [first, second % {"pot": pot, "coins": won[1]}]
    return [_("the whole pot")] * len(won)
