"""Domino Poker as a game of the table: what comes by itself, what is asked, what follows from an answer."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from games.engine.deals import Deal
from games.engine.domino_poker import moves, rules
from games.engine.domino_poker import view as views
from games.engine.domino_poker.moves import Bid, Move, Play
from games.engine.domino_poker.scoring import RoundScore, ranking, score_round
from games.engine.domino_poker.state import (
    SEATS,
    TRICKS,
    BidMade,
    Dealt,
    Event,
    MatchEnded,
    RoundScored,
    SeatWithdrawn,
    State,
    TilePlayed,
    Trick,
    TrickWon,
)
from games.engine.errors import BadOptions, Illegal, Malformed, shown
from games.engine.table import Outcome, Prompt
from games.engine.tiles import tile

DEFAULT_ROUNDS, MOST_ROUNDS = 7, 50
_BIDS = tuple(map(Bid, range(TRICKS + 1)))


def put(values: tuple[Any, ...], seat: int, value: Any) -> tuple[Any, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


@dataclass(frozen=True, slots=True)
class DominoPoker:
    """A match of 1 to 50 rounds."""

    rounds: int = DEFAULT_ROUNDS
    key: ClassVar[str] = "domino_poker"

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "DominoPoker":
        """Raises BadOptions for anything but {"rounds": 1..50} or {}."""
        unknown = set(options) - {"rounds"}
        if unknown:
            raise BadOptions(f"unknown option {shown(unknown.pop())}")
        rounds = options.get("rounds", DEFAULT_ROUNDS)
        if type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS:
            raise BadOptions(f"rounds must be a whole number from 1 to {MOST_ROUNDS}, not {shown(rounds)}")
        return cls(rounds)

    def seats(self) -> int:
        return SEATS

    def open(self) -> State:
        return State(rounds=self.rounds)

    def forced(self, state: State, deal: Deal) -> Event | None:
        if state.phase == "dealing":
            if state.round == self.rounds:
                last = state.scored[-1]
                order, decided = ranking(state.totals, last.bids, last.tricks, last.dealer)
                return MatchEnded(order, state.totals, decided)
            number = state.round + 1
            deck = deal.deck(number)
            dealer = state.scored[-1].winner if state.scored else deal.draw("first dealer", SEATS)
            return Dealt(number, dealer, tuple(tuple(deck[TRICKS * s : TRICKS * (s + 1)]) for s in range(SEATS)))
        if state.phase == "playing":
            if len(state.plays) == SEATS:
                assert state.request is not None
                seat, winner = state.plays[rules.best_play([one for _s, one in state.plays], state.request)]
                return TrickWon(state.round, len(state.tricks) + 1, seat, rules.why_won(winner, state.request))
            if len(state.tricks) == TRICKS:
                bids = tuple(bid for bid in state.bids if bid is not None)
                return RoundScored(score_round(state.round, state.dealer, bids, state.taken, state.totals))
        return None

    def prompt(self, state: State, seat: int) -> Prompt[Move] | None:
        if seat != state.turn:
            return None
        if state.phase == "bidding":
            return Prompt(f"r{state.round}.b.s{seat}", "bid", seat, _BIDS, {"code": "bid"})
        choices: tuple[Move, ...]
        rule: dict[str, Any]
        hand = sorted(state.hands[seat], key=rules.HAND_ORDER.__getitem__)
        if state.request is None:
            choices = tuple(Play(one, number) for one in hand for number in rules.declarations(one))
            rule = {"code": "lead", "number": None}
        else:
            tiles, code = rules.followers(hand, state.request, [one for _s, one in state.plays])
            choices = tuple(Play(one) for one in tiles)
            rule = {"code": code, "number": None if state.request == rules.TRUMP else str(state.request)}
        return Prompt(f"r{state.round}.t{len(state.tricks) + 1}.s{seat}", "play", seat, choices, rule)

    def decide(self, state: State, seat: int, action: Move) -> Event:
        if isinstance(action, Bid):
            return BidMade(seat, action.tricks)
        request = rules.request_of(action.tile, action.number) if state.request is None else None
        return TilePlayed(seat, action.tile, request)

    def withdraw(self, state: State, seat: int) -> Event:
        """Raises Illegal for a seat that has left already."""
        if state.withdrawn[seat]:
            raise Illegal(f"seat {seat} has left already")
        return SeatWithdrawn(seat)

    def apply(self, state: State, event: Event) -> State:
        match event:
            case Dealt():
                return replace(
                    state,
                    round=event.round,
                    phase="bidding",
                    dealer=event.dealer,
                    leader=event.dealer,
                    hands=event.hands,
                    bids=(None,) * SEATS,
                    taken=(0,) * SEATS,
                    request=None,
                    plays=(),
                    tricks=(),
                )
            case BidMade():
                bids = put(state.bids, event.seat, event.bid)
                return replace(state, bids=bids, phase="bidding" if None in bids else "playing")
            case TilePlayed():
                hand = tuple(one for one in state.hands[event.seat] if one is not event.tile)
                return replace(
                    state,
                    hands=put(state.hands, event.seat, hand),
                    plays=(*state.plays, (event.seat, event.tile)),
                    request=event.request if state.request is None else state.request,
                )
            case TrickWon():
                assert state.request is not None
                trick = Trick(event.number, state.leader, state.request, state.plays, event.seat, event.why)
                return replace(
                    state,
                    tricks=(*state.tricks, trick),
                    taken=put(state.taken, event.seat, state.taken[event.seat] + 1),
                    leader=event.seat,
                    plays=(),
                    request=None,
                )
            case RoundScored():
                return replace(state, phase="dealing", scored=(*state.scored, event.score), totals=event.score.totals)
            case SeatWithdrawn():
                return replace(state, withdrawn=put(state.withdrawn, event.seat, True))
            case MatchEnded():
                return replace(state, phase="over", result=event)

    def view(self, state: State, seat: int | None) -> views.View:
        return views.view(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        if state.result is None:
            return None
        order = state.result.order
        return Outcome("finished", views.places(order), None, order)

    # -- texts ---------------------------------------------------------------------------------------------------

    def parse(self, text: str) -> Move:
        return moves.parse(text)

    def witness(self, event: Event, seat: int | None) -> dict[str, Any]:
        """What `seat` may see of an event: of a deal its own tiles alone."""
        match event:
            case Dealt():
                hand = None
                if seat is not None:
                    hand = [one.text for one in sorted(event.hands[seat], key=rules.HAND_ORDER.__getitem__)]
                return {"type": "Dealt", "round": event.round, "dealer": event.dealer, "hand": hand}
            case TilePlayed():
                asked = None if event.request is None else str(event.request)
                return {"type": "TilePlayed", "seat": event.seat, "tile": event.tile.text, "as": asked}
            case RoundScored():
                return {"type": "RoundScored", **asdict(event.score)}
            case MatchEnded():
                return {"type": "MatchEnded", **asdict(event), "places": views.places(event.order)}
            case _:
                return {"type": type(event).__name__, **asdict(event)}

    def event_body(self, event: Event) -> dict[str, Any]:
        """The event as the log keeps it."""
        match event:
            case Dealt():
                hands = [[one.text for one in hand] for hand in event.hands]
                return {"round": event.round, "dealer": event.dealer, "hands": hands}
            case TilePlayed():
                return {"seat": event.seat, "tile": event.tile.text, "request": event.request}
            case RoundScored():
                return asdict(event.score)
            case _:
                return asdict(event)

    def event_from(self, tag: str, body: Mapping[str, Any]) -> Event:
        """The event of a log line. Raises Malformed."""
        try:
            match tag:
                case "Dealt":
                    hands = tuple(tuple(tile(text) for text in hand) for hand in body["hands"])
                    return Dealt(body["round"], body["dealer"], hands)
                case "TilePlayed":
                    return TilePlayed(body["seat"], tile(body["tile"]), body["request"])
                case "RoundScored":
                    fields: dict[str, Any] = {
                        name: tuple(value) if isinstance(value, list) else value for name, value in body.items()
                    }
                    return RoundScored(RoundScore(**fields))
                case "MatchEnded":
                    return MatchEnded(tuple(body["order"]), tuple(body["totals"]), tuple(body["decided"]))
                case "BidMade":
                    return BidMade(**body)
                case "TrickWon":
                    return TrickWon(**body)
                case "SeatWithdrawn":
                    return SeatWithdrawn(**body)
        except (KeyError, TypeError, AttributeError) as error:
            raise Malformed(f"this body is none of an event {shown(tag)}") from error  # unquoted: it may hold hands
        raise Malformed(f"there is no event {shown(tag)}")
