"""Medium: sound play by rules of thumb. Counts sure and likely tricks to bid, then takes or ducks as the bid needs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from games.engine.domino_poker import rules
from games.engine.domino_poker.moves import Bid, Move, Play
from games.engine.domino_poker.rules import Request
from games.engine.domino_poker.view import View
from games.engine.table import Prompt
from games.engine.tiles import Tile, tile

if TYPE_CHECKING:
    from games.bots import Draw

# What a trump is likely to bring, strongest first: the 0-0 always wins, small trumps take what a suit leaves over.
TRUMP_WORTH = (1.0, 0.92, 0.8, 0.68, 0.55, 0.45, 0.36, 0.3)
ACE_WORTH, SECOND_WORTH = 0.72, 0.3


def answer(view: View, prompt: Prompt[Move], draw: "Draw") -> Move:
    """The bid or tile of a Medium bot."""
    hand = [tile(text) for text in view.hand or ()]
    if prompt.kind == "bid":
        return _bid(view, hand, draw)
    plays = [choice for choice in prompt.choices if isinstance(choice, Play)]
    assert view.seat is not None
    me = view.seats[view.seat]
    wanted = (me.bid or 0) - me.tricks
    left = len(hand)
    seen = _seen(view, hand)
    # Over its bid every further trick pays again; a failed seven pays nothing more.
    wants = wanted != 0 and (me.bid != 7 or me.tricks == 7 - left)
    if view.trick.request is None:
        return _lead(plays, seen, wants=wants, urgent=wanted >= left)
    return _follow(view, plays, seen, wants=wants)


def _bid(view: View, hand: list[Tile], draw: "Draw") -> Bid:
    trumps = [one for one in rules.TRUMPS if one in hand]
    # With every stronger one in the same hand a trump is as sure as the 0-0.
    worth = sum(
        1.0 if one is strongest else _trump_worth(one) for one, strongest in zip(trumps, rules.TRUMPS, strict=False)
    )
    worth += max(0, len(trumps) - 3) * 0.25  # length: the last trumps run through
    for number in rules.SUITS:
        suit = rules.SUIT[number]
        held = [one for one in hand if rules.suit_strength(one, number)]
        if suit[0] in held:
            worth += ACE_WORTH + (0.1 if len(held) <= 2 else -0.15)
        elif suit[1] in held and len(held) >= 2:
            worth += SECOND_WORTH / 2
    if view.dealer == view.seat:
        worth += 0.2  # the dealer leads the first trick
    # What others have claimed is partly ours no more.
    claimed = sum(seat.bid or 0 for seat in view.seats)
    if claimed + worth > 7:
        worth -= min(1.0, (claimed + worth - 7) * 0.25)
    return Bid(max(0, min(7, int(worth - 0.25 + draw.below(11) / 100))))


def _trump_worth(one: Tile) -> float:
    return TRUMP_WORTH[8 - rules.trump_strength(one)]


def _seen(view: View, hand: Iterable[Tile]) -> set[Tile]:
    """Tiles that nobody else can still play."""
    played = {tile(play.tile) for trick in (*view.tricks, view.trick) for play in trick.plays}
    return played | set(hand)


def _stronger_out(one: Tile, request: Request, seen: set[Tile]) -> int:
    """How many unseen tiles would beat this one if it were led for `request`."""
    mine = rules.strength(one, request)
    if request == rules.TRUMP:
        return sum(rules.strength(other, request) > mine for other in rules.TRUMPS if other not in seen)
    return sum(rules.strength(other, request) > mine for other in rules.SUIT[request] if other not in seen)


def _lead(plays: list[Play], seen: set[Tile], *, wants: bool, urgent: bool) -> Play:
    def risk(play: Play) -> tuple[int, int]:
        request = rules.request_of(play.tile, play.number)
        trumps_out = sum(one not in seen for one in rules.TRUMPS)
        suit_out = 0
        if request != rules.TRUMP:
            # The fewer of a suit are out, the sooner somebody trumps it.
            suit_out = 6 - sum(one not in seen for one in rules.SUIT[request]) if trumps_out else 0
        return _stronger_out(play.tile, request, seen), suit_out

    def cost(play: Play) -> int:
        request = rules.request_of(play.tile, play.number)
        return rules.strength(play.tile, request)

    if wants:
        # The surest winner; among equals a trump only when every trick left is needed.
        return min(plays, key=lambda play: (*risk(play), rules.is_trump(play.tile) and not urgent, -cost(play)))
    return max(plays, key=lambda play: (risk(play)[0], not rules.is_trump(play.tile), -cost(play)))


def _follow(view: View, plays: list[Play], seen: set[Tile], *, wants: bool) -> Play:
    request: Request = rules.TRUMP if view.trick.request == rules.TRUMP else int(view.trick.request or 0)
    best = max(rules.strength(tile(play.tile), request) for play in view.trick.plays)
    last = len(view.trick.plays) == 3
    winning = [play for play in plays if rules.strength(play.tile, request) > best]
    losing = [play for play in plays if rules.strength(play.tile, request) <= best]

    def strength(play: Play) -> int:
        return rules.strength(play.tile, request)

    if wants and winning:
        if last:
            return min(winning, key=strength)  # as cheap as it gets
        sure = [play for play in winning if not _stronger_out(play.tile, request, seen)]
        return min(sure, key=strength) if sure else max(winning, key=strength)
    if wants:
        return min(losing, key=_value)
    if losing:
        # Ducking: get rid of what would win later.
        return max(losing, key=lambda play: (strength(play), _value(play)))
    return max(winning, key=strength) if last else min(winning, key=strength)


def _value(play: Play) -> int:
    """How much this tile could still win: trumps most, then aces and high ends."""
    one = play.tile
    if rules.is_trump(one):
        return 100 + rules.trump_strength(one)
    return max(rules.suit_strength(one, number) for number in (one.low, one.high) if number in rules.SUITS)
