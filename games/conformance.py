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
from games.engine.domino_poker.state import Dealt, RoundScored, State, TrickWon
from games.engine.errors import EngineError
from games.engine.tiles import ALL_TILES, tile

Case = dict[str, Any]


@dataclass
class Report:
    """How a run went; `failures` are texts for people."""

    passed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    def close(self) -> str:
        """The last line: what passed, failed and was skipped."""
        rest = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {len(self.failures)} failed{rest}"


def _request(text: Any) -> Request | None:
    return None if text is None else rules.TRUMP if text == "T" else int(text)


def _offers(prompt: table.Prompt[Any], state: State) -> list[Case]:
    """What the prompt of a play offers, in the words of the vectors."""
    lead = state.request is None
    plays = [move for move in prompt.choices if isinstance(move, Play)]
    return _as_set(
        [{"tile": str(m.tile), "request": rules.request_of(m.tile, m.number) if lead else None} for m in plays]
    )


def _asked(hand: list[str], request: Request | None, trick: list[str]) -> tuple[table.Prompt[Any], State]:
    """The prompt of a seat with this hand when these tiles lie in the trick."""
    seat = len(trick)
    hands = tuple(tuple(map(tile, hand)) if s == seat else () for s in range(4))
    plays = tuple((s, tile(text)) for s, text in enumerate(trick))
    state = State(rounds=1, round=1, phase="playing", hands=hands, bids=(0,) * 4, request=request, plays=plays)
    prompt = DominoPoker(1).prompt(state, seat)
    assert prompt is not None
    return prompt, state


def _legal(case: Case) -> Any:
    prompt, state = _asked(case["hand"], _request(case["requested"]), case["trick"])
    return {"legal": _offers(prompt, state)}


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
    result = scoring.score_round(1, case["dealer"], case["bids"], case["tricks"], (0, 0, 0, 0))
    return {"scores": list(result.scores), "winner": result.winner, "ranking": list(result.order)}


def _match(case: Case) -> Any:
    rounds = case["rounds"]
    game = DominoPoker(len(rounds))
    state = game.open()
    deal = ScriptedDeal([ALL_TILES], case["first_dealer"])
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
    hands = [[tile(text) for text in hand] for hand in case["hands"]]
    game = DominoPoker(1)
    deal = ScriptedDeal([tuple(one for hand in hands for one in hand)], case["dealer"])
    state, _events = table.start(game, deal)
    steps: list[Any] = []
    final: RoundScored | None = None
    for step in case["steps"]:
        (prompt,) = table.waiting(game, state)
        seen: Case = {"seat": prompt.seat, "kind": prompt.kind}
        if prompt.kind == "bid":
            text = f"bid {step['bid']}"
            seen["bid"] = step["bid"]
        else:
            lead = state.request is None
            seen["legal"] = _offers(prompt, state)
            seen["tile"], seen["request"] = step["tile"], step["request"]
            one = tile(step["tile"])
            declared = int(step["request"]) if lead and rules.declarations(one) != (None,) else None
            text = str(Play(one, declared))
            if lead and step["request"] != rules.request_of(one, declared):
                raise EngineError(f"a lead of {one} cannot ask for {step['request']}")
        state, events = table.act(game, state, deal, prompt.seat, prompt.step, text)
        won = next((event for event in events if isinstance(event, TrickWon)), None)
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
OUTPUTS = {
    "dp_legal": ("legal",),
    "dp_trick": ("winner",),
    "dp_score": ("score",),
    "dp_round": ("scores", "winner", "ranking"),
    "dp_match": ("dealers", "totals", "ranking"),
    "dp_replay": ("steps", "tricks", "scores", "round_winner"),
}


class BadFile(Exception):
    """A vector file that cannot be run; the message says why."""


def read(path: Path) -> tuple[str, list[Case]]:
    """The kind and cases of one file. Raises BadFile."""
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: not JSON ({error})") from error
    if not isinstance(content, dict) or content.get("format") != 1:
        raise BadFile(f"{path}: not a vector file of format 1")
    kind, cases = content.get("kind"), content.get("cases")
    if not isinstance(kind, str) or (kind not in RUNNERS and kind not in LATER):
        raise BadFile(f"{path}: unknown kind {kind!r}")
    if not isinstance(cases, list) or not cases:
        raise BadFile(f"{path}: no case in it")
    names = [case.get("id") for case in cases if isinstance(case, dict)]
    if len(names) < len(cases) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadFile(f"{path}: every case must be an object with an id of its own")
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
    for case in cases:
        name = case["id"]
        try:
            expected = _expected(kind, case)
            got = RUNNERS[kind](case)
        except Exception as error:  # noqa: BLE001  a case that breaks the engine is a failed case, not a crash
            asked = {output: case.get(output) for output in OUTPUTS[kind]}
            got = f"{type(error).__name__}: {error}"
            report.failures.append(f"{name}\n  expected {json.dumps(asked)}\n  got      {got}")
            continue
        if got == expected:
            report.passed += 1
        else:
            report.failures.append(f"{name}\n  expected {json.dumps(expected)}\n  got      {json.dumps(got)}")


def _expected(kind: str, case: Case) -> Case:
    """What the case asks for. Raises KeyError for a case that leaves it out."""
    expected = {name: case[name] for name in OUTPUTS[kind]}
    if "legal" in expected:
        expected["legal"] = _as_set(expected["legal"])
    if "steps" in expected:
        expected["steps"] = [
            {**step, "legal": _as_set(step["legal"])} if "legal" in step else step for step in expected["steps"]
        ]
    return expected


def _as_set(legal: list[Case]) -> list[Case]:
    """The same choices in one order; lists called `legal` are sets."""
    return sorted(legal, key=lambda one: str([one["tile"], one["request"]]))
