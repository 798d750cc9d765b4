"""What a seat is told event by event adds up to what its view says; the adding up here knows no rule."""

import json
from typing import Any

import pytest

from games.engine import table, wire
from games.engine.table import WITHDRAW
from tests.games.played import Played, play, seen

VIEWERS = (0, 1, 2, 3, None)


class Witness:
    """The public facts as told, and the viewer's own tiles."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {
            "round": 0, "dealer": None, "leader": None, "phase": "bidding", "hand": None, "bids": [None] * 4,
            "won": [0] * 4, "tiles": [0] * 4, "totals": [0] * 4, "withdrawn": [False] * 4, "request": None, "plays": [],
            "tricks": [], "scored": [], "result": None,
        }  # fmt: skip

    def hear(self, seat: int | None, told: dict[str, Any]) -> None:
        facts = self.facts
        event = dict(told)
        match event.pop("type"):
            case "Dealt":
                facts |= {"round": event["round"], "dealer": event["dealer"], "leader": event["dealer"]}
                facts |= {"hand": event["hand"], "bids": [None] * 4, "won": [0] * 4, "tiles": [7] * 4, "tricks": []}
                facts["phase"] = "bidding"
            case "BidMade":
                facts["bids"][event["seat"]] = event["bid"]
                if None not in facts["bids"]:
                    facts["phase"] = "playing"
            case "TilePlayed":
                if not facts["plays"]:
                    assert event["as"] is not None
                    facts["request"] = event["as"]
                facts["plays"].append({"seat": event["seat"], "tile": event["tile"], "as": event["as"]})
                facts["tiles"][event["seat"]] -= 1
                if event["seat"] == seat:
                    facts["hand"].remove(event["tile"])
            case "TrickWon":
                facts["tricks"].append(
                    {
                        "number": event["number"],
                        "leader": facts["leader"],
                        "request": facts["request"],
                        "plays": facts["plays"],
                        "winner": event["seat"],
                        "why": event["why"],
                    }
                )
                facts["won"][event["seat"]] += 1
                facts |= {"leader": event["seat"], "plays": [], "request": None}
            case "RoundScored":
                facts["scored"].append(event)
                facts["totals"] = event["totals"]
            case "SeatWithdrawn":
                facts["withdrawn"][event["seat"]] = True
            case "MatchEnded":
                facts |= {"result": event, "phase": "over", "leader": None}
            case other:
                raise AssertionError(f"told of {other!r}")


def facts_of(view: dict[str, Any]) -> dict[str, Any]:
    """The same facts out of a view."""
    seats = view["seats"]
    return {
        **{name: view[name] for name in ("round", "dealer", "leader", "phase", "hand", "tricks", "scored", "result")},
        "bids": [seat["bid"] for seat in seats],
        "won": [seat["tricks"] for seat in seats],
        "tiles": [seat["tiles"] for seat in seats],
        "totals": [seat["total"] for seat in seats],
        "withdrawn": [seat["withdrawn"] for seat in seats],
        "request": view["trick"]["request"],
        "plays": view["trick"]["plays"],
    }


def told(match: Played, place: int, viewer: int | None) -> dict[str, Any]:
    """One event as this viewer gets it over the wire."""
    heard: dict[str, Any] = json.loads(wire.encode(match.game.witness(match.events[place], viewer)))
    return heard


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("seed", range(15))
def test_the_events_told_add_up_to_the_view_at_every_question(seed: int, viewer: int | None) -> None:
    match = play("domino_poker:1", seed)
    witness, heard = Witness(), 0
    for stop in match.stops:
        for place in range(heard, stop.events):
            witness.hear(viewer, told(match, place, viewer))
        heard = stop.events
        view = json.loads(seen(match.game, stop.state, viewer))[0]
        assert witness.facts == facts_of(view)
        assert view["turn"] == table.waiting(match.game, stop.state)[0].seat
    for place in range(heard, len(match.events)):
        witness.hear(viewer, told(match, place, viewer))
    assert witness.facts == facts_of(json.loads(seen(match.game, match.state, viewer))[0])


def test_these_matches_hold_withdrawals_too() -> None:
    assert any(text == WITHDRAW for seed in range(15) for _seat, text in play("domino_poker:1", seed).answers)


def test_only_the_own_hand_is_told_of_a_deal() -> None:
    match = play("domino_poker:0", 0)
    hands = match.events[0].hands
    for viewer in VIEWERS:
        heard = told(match, 0, viewer)["hand"]
        assert (heard is None) if viewer is None else (sorted(heard) == sorted(map(str, hands[viewer])))
        for other in range(4):
            if other != viewer:
                assert not set(map(str, hands[other])) & set(heard or ())
