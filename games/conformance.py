"""Runs test vectors (tests/vectors/FORMAT.md) through the real engine; needs no database."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from games.engine import table
from games.engine.deals import ScriptedDeal
from games.engine.domino_poker import rules, scoring
from games.engine.domino_poker.game import DominoPoker
from games.engine.domino_poker.moves import Play
from games.engine.domino_poker.rules import Request
from games.engine.domino_poker.state import Dealt, RoundScored, State
from games.engine.errors import EngineError
from games.engine.tiles import tile

Case = dict[str, Any]


@dataclass
class Report:
    """How a run went; `failures` are lines for people."""

    passed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    def close(self) -> str:
        rest = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {len(self.failures)} failed{rest}"


def _request(text: Any) -> Request | None:
    return None if text is None else rules.TRUMP if text == "T" else int(text)


def _request_out(request: Request | None) -> Any:
    return request


def _offers(prompt: table.Prompt[Any] | None, state: State) -> list[list[Any]]:
    assert prompt is not None
    lead = state.request is None
    return sorted(
        ([move.tile.text, rules.request_of(move.tile, move.number) if lead else None] for move in prompt.choices),
        key=str,
    )


def _asked(hand: list[str], request: Request | None, trick: list[str]) -> tuple[table.Prompt[Any] | None, State]:
    """The prompt of a seat with this hand when these tiles lie in the trick."""
    seat = len(trick)
    hands = tuple(tuple(map(tile, hand)) if s == seat else () for s in range(4))
    plays = tuple((s, tile(text)) for s, text in enumerate(trick))
    state = State(rounds=1, round=1, phase="playing", hands=hands, bids=(0,) * 4, request=request, plays=plays)
    return DominoPoker(1).prompt(state, seat), state


def _legal(case: Case) -> Any:
    prompt, state = _asked(case["hand"], _request(case["requested"]), case["trick"])
    return {"legal": [{"tile": one, "request": request} for one, request in _offers(prompt, state)]}


def _trick(case: Case) -> Any:
    request = _request(case["requested"])
    assert request is not None
    plays = case["plays"]
    state = State(
        rounds=1, round=1, phase="playing", request=request, plays=tuple((p["seat"], tile(p["tile"])) for p in plays)
    )
    if len(plays) == 4:
        event: Any = DominoPoker(1).forced(state, ScriptedDeal([]))
        return {"winner": event.seat}
    return {"winner": plays[rules.best_play([tile(p["tile"]) for p in plays], request)]["seat"]}


def _score(case: Case) -> Any:
    return {"score": scoring.score(case["bid"], case["tricks"])}


def _round(case: Case) -> Any:
    asked = case
    result = scoring.score_round(1, asked["dealer"], asked["bids"], asked["tricks"], (0, 0, 0, 0))
    return {"scores": list(result.scores), "winner": result.winner, "ranking": list(result.order)}


def _match(case: Case) -> Any:
    rounds = case["rounds"]
    game = DominoPoker(len(rounds))
    state = game.open()
    deal = ScriptedDeal([tuple(rules.ALL_TILES)], case["first_dealer"])
    dealers = []
    for played in rounds:
        dealt = game.forced(state, deal)
        assert isinstance(dealt, Dealt)
        dealers.append(dealt.dealer)
        state = game.apply(state, dealt)
        result = scoring.score_round(state.round, state.dealer, played["bids"], played["tricks"], state.totals)
        state = game.apply(state, RoundScored(result))
    ended: Any = game.forced(state, deal)
    return {"dealers": dealers, "totals": list(state.totals), "ranking": list(ended.order)}


def _replay(case: Case) -> Any:
    """Plays the case through the table's own door; what is asked and what follows must be what it says."""
    asked = case
    hands = [[tile(text) for text in hand] for hand in asked["hands"]]
    game = DominoPoker(1)
    deal = ScriptedDeal([tuple(one for hand in hands for one in hand)], asked["dealer"])
    state, _events = table.start(game, deal)
    steps: list[Any] = []
    final: RoundScored | None = None
    for step in asked["steps"]:
        (prompt,) = table.waiting(game, state)
        seen: Case = {"seat": prompt.seat, "kind": prompt.kind}
        if prompt.kind == "bid":
            text = f"bid {step['bid']}"
            seen["bid"] = step["bid"]
        else:
            lead = state.request is None
            seen["legal"] = [{"tile": t, "request": r} for t, r in _offers(prompt, state)]
            seen["tile"], seen["request"] = step["tile"], step["request"]
            one = tile(step["tile"])
            declared = int(step["request"]) if lead and rules.declarations(one) != (None,) else None
            text = str(Play(one, declared))
            if lead and step["request"] != rules.request_of(one, declared):
                raise EngineError(f"a lead of {one} cannot ask for {step['request']}")
        state, events = table.act(game, state, deal, prompt.seat, prompt.step, text)
        won = next((event for event in events if type(event).__name__ == "TrickWon"), None)
        if won is not None:
            seen["trick_winner"] = won.seat
        final = next((event for event in events if isinstance(event, RoundScored)), final)
        steps.append(seen)
    if final is None:
        return {"steps": steps}
    score = final.score
    return {
        "steps": steps,
        "tricks": list(score.tricks),
        "scores": list(score.scores),
        "round_winner": score.winner,
    }


RUNNERS: dict[str, Callable[[Case], Any]] = {
    "dp_legal": _legal,
    "dp_trick": _trick,
    "dp_score": _score,
    "dp_round": _round,
    "dp_match": _match,
    "dp_replay": _replay,
}
LATER = ("qq_class", "qq_counts", "qq_compare", "qq_pots", "qq_betting")
INPUT_NAMES = {"id", "hand", "hands", "requested", "trick", "plays", "dealer", "first_dealer", "rounds", "bid", "bids"}


class BadFile(Exception):
    """A vector file that cannot be run; the message says why."""


def read(path: Path) -> tuple[str, list[Case]]:
    """The kind and cases of one file. Raises BadFile."""
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadFile(f"{path}: not JSON ({error})") from error
    if not isinstance(content, dict) or content.get("format") != 1:
        raise BadFile(f"{path}: not a vector file of format 1")
    kind, cases = content.get("kind"), content.get("cases")
    if kind not in RUNNERS and kind not in LATER:
        raise BadFile(f"{path}: unknown kind {kind!r}")
    if not isinstance(cases, list) or not cases:
        raise BadFile(f"{path}: no case in it")
    return kind, cases


def run(path: Path, report: Report) -> None:
    """Run one file's cases into the report; a file that cannot be run is one failure."""
    try:
        kind, cases = read(path)
    except BadFile as error:
        report.failures.append(str(error))
        return
    if kind in LATER:
        report.skipped += len(cases)
        return
    for number, case in enumerate(cases):
        name = case.get("id", f"{kind} case {number}") if isinstance(case, dict) else f"{kind} case {number}"
        try:
            got = RUNNERS[kind](case)
            expected = _expected(kind, case, got)
        except Exception as error:  # noqa: BLE001  a case that breaks the engine is a failed case, not a crash
            report.failures.append(f"{name}\n  expected an answer\n  got      {type(error).__name__}: {error}")
            continue
        if got == expected:
            report.passed += 1
        else:
            report.failures.append(f"{name}\n  expected {json.dumps(expected)}\n  got      {json.dumps(got)}")


def _expected(kind: str, case: Case, got: Case) -> Case:
    expected = {name: case[name] for name in got if name in case}
    outputs = {
        name for name in case if name not in INPUT_NAMES and not (kind in ONLY_INPUT and name in ONLY_INPUT[kind])
    }
    for name in outputs - set(got):
        expected[name] = case[name]  # asked for, and not answered
    if "legal" in expected:
        expected["legal"] = _as_set(expected["legal"])
    if kind == "dp_replay":
        expected["steps"] = [
            {**step, "legal": _as_set(step["legal"])} if "legal" in step else step for step in expected["steps"]
        ]
    return expected


ONLY_INPUT = {"dp_round": {"tricks"}, "dp_score": {"tricks"}}


def _as_set(legal: list[Any]) -> list[Any]:
    return sorted(legal, key=lambda one: str([one["tile"], one["request"]]))
