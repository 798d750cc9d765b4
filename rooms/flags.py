"""Signs that gold is moved on purpose: flags for people to look at, computed anew each time; nothing follows."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from games import selectors as games
from players import selectors as players
from wallet import chart
from wallet import selectors as wallet
from wallet.selectors import Flow

__all__ = ["Flag", "flags"]


@dataclass(frozen=True, slots=True)
class Flag:
    """One thing to look at: which sign, whose accounts, the facts in words, and the match, where it is about one."""

    sign: str
    title: str
    people: list[tuple[int, str]]
    facts: str
    match_id: int | None = None


def flags(since: datetime, until: datetime, most: int) -> tuple[list[Flag], int]:
    """The first flags of a period, at most so many of each sign, and how many there are besides."""
    flows = wallet.flows(since, until)
    pots = wallet.pots(since, until, settings.FLAG_POT_COINS)
    signs = [list(found) for found in (_one_way(flows), _fed(flows), _forfeits(pots), _pairs(flows, since, until))]
    shown = [flag for found in signs for flag in found[:most]]
    names = players.names({number for flag in shown for number, _name in flag.people})
    named = [replace(flag, people=[(one, names.get(one, str(one))) for one, _name in flag.people]) for flag in shown]
    return named, sum(map(len, signs)) - len(shown)


def _numbers(*player_ids: int) -> list[tuple[int, str]]:
    """Players whose names are asked for once, for all flags."""
    return [(one, "") for one in player_ids]


def _one_way(flows: list[Flow]) -> Iterator[Flag]:
    """Most of what an account lost went to one other."""
    lost: dict[int, int] = defaultdict(int)
    for flow in flows:
        lost[flow.loser_id] += flow.coins
    for flow in flows:
        total = lost[flow.loser_id]
        if flow.coins >= settings.FLAG_COINS and flow.coins * 100 >= total * settings.FLAG_SHARE_PERCENT:
            facts = _("%(coins)s of %(total)s lost in pots went to one other, in %(matches)s matches") % {
                "coins": flow.coins, "total": total, "matches": flow.matches,
            }  # fmt: skip
            yield Flag("one_way", _("Most losses go to one other"), _numbers(flow.loser_id, flow.winner_id), facts)


def _fed(flows: list[Flow]) -> Iterator[Flag]:
    """Most of what an account won came from accounts that were young then."""
    joined = players.joined({flow.loser_id for flow in flows})
    young_for = timedelta(days=settings.FLAG_YOUNG_DAYS)
    won: dict[int, int] = defaultdict(int)
    of_young: dict[int, list[Flow]] = defaultdict(list)
    for flow in flows:
        won[flow.winner_id] += flow.coins
        if flow.loser_id in joined and flow.first_at - joined[flow.loser_id] < young_for:
            of_young[flow.winner_id].append(flow)
    for winner, found in of_young.items():
        coins = sum(flow.coins for flow in found)
        many = len(found) >= settings.FLAG_YOUNG_ACCOUNTS and coins >= settings.FLAG_COINS
        if many and coins * 100 >= won[winner] * settings.FLAG_SHARE_PERCENT:
            facts = _("%(coins)s of %(total)s won in pots came from %(count)s accounts younger than %(days)s days") % {
                "coins": coins, "total": won[winner], "count": len(found), "days": settings.FLAG_YOUNG_DAYS,
            }  # fmt: skip
            people = _numbers(winner, *sorted(flow.loser_id for flow in found)[:20])
            yield Flag("fed", _("Fed by young accounts"), people, facts)


def _forfeits(pots: list[wallet.Pot]) -> Iterator[Flag]:
    """A large pot was left early by somebody."""
    coins = {chart.fact(pot.reference).number: pot.coins for pot in pots}
    for left in games.withdrawals(list(coins)):
        if left.seconds <= settings.FLAG_FORFEIT_SECONDS:
            facts = _("forfeited %(seconds)s s after the opening of a match with a pot of %(coins)s") % {
                "seconds": left.seconds, "coins": coins[left.match_id],
            }  # fmt: skip
            yield Flag("forfeit", _("A quick forfeit of a large pot"), _numbers(left.player_id), facts, left.match_id)


def _pairs(flows: list[Flow], since: datetime, until: datetime) -> Iterator[Flag]:
    """The same two sit together again and again."""
    moved = {(flow.loser_id, flow.winner_id): flow.coins for flow in flows}
    for one, other, count in games.pairs(since, until, settings.FLAG_PAIR_MATCHES):
        facts = _("%(count)s matches together; %(to)s went one way, %(back)s the other") % {
            "count": count, "to": moved.get((one, other), 0), "back": moved.get((other, one), 0),
        }  # fmt: skip
        yield Flag("pair", _("The same pair, often"), _numbers(one, other), facts)
