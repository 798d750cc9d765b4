"""`manage.py conform` and `bench`: what they say, how they exit, and that a wrong vector or engine is found."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from games import conformance
from games.engine.domino_poker import rules, scoring

VECTORS = Path(__file__).parents[1] / "vectors"
ALL = sorted(VECTORS.glob("*.json"))


def conform(*paths: Path) -> tuple[int, list[str]]:
    """The exit code and the lines."""
    out = io.StringIO()
    try:
        call_command("conform", *map(str, paths), stdout=out)
    except SystemExit as stopped:
        return int(str(stopped.code)), out.getvalue().splitlines()
    return 0, out.getvalue().splitlines()


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_every_vector_holds_and_those_of_qiuqiu_are_named() -> None:
    code, lines = conform(*ALL)
    count = dict.fromkeys(("dp", "qq"), 0)
    for path in ALL:
        count[path.name[:2]] += len(json.loads(path.read_text())["cases"])
    assert code == 0
    assert lines[-1] == f"{count['dp']} passed, 0 failed, {count['qq']} skipped"
    assert "qq" in lines[-2] and "QiuQiu" in lines[-2]


def test_without_qiuqiu_nothing_is_said_of_it() -> None:
    assert conform(VECTORS / "dp_score.json") == (0, ["64 passed, 0 failed"])


# Each kind with a way to make one answer of its first case wrong.
SPOILT: dict[str, Any] = {
    "dp_legal": lambda case: case["legal"].pop(),
    "dp_trick": lambda case: case.update(winner=(case["winner"] + 1) % 4),
    "dp_score": lambda case: case.update(score=case["score"] + 5),
    "dp_round": lambda case: case["ranking"].reverse(),
    "dp_match": lambda case: case["dealers"].append(0),
    "dp_replay": lambda case: case["steps"][-1].update(trick_winner=(case["steps"][-1]["trick_winner"] + 1) % 4),
}


@pytest.mark.parametrize("kind", conformance.RUNNERS)
def test_a_wrong_answer_is_shown_with_what_was_expected_and_got(kind: str, tmp_path: Path) -> None:
    content = json.loads((VECTORS / f"{kind}.json").read_text())
    SPOILT[kind](content["cases"][0])
    code, lines = conform(written(tmp_path / "spoilt.json", content))
    text = "\n".join(lines)
    assert code == 1
    assert content["cases"][0]["id"] in text and "expected" in text and "got" in text
    assert lines[-1] == f"{len(content['cases']) - 1} passed, 1 failed"


@pytest.mark.parametrize("kind", conformance.RUNNERS)
def test_a_case_that_leaves_its_answer_out_fails(kind: str, tmp_path: Path) -> None:
    content = json.loads((VECTORS / f"{kind}.json").read_text())
    del content["cases"][0][conformance.OUTPUTS[kind][-1]]
    code, lines = conform(written(tmp_path / "short.json", content))
    assert (code, lines[-1]) == (1, f"{len(content['cases']) - 1} passed, 1 failed")


@pytest.mark.parametrize("step", [{"bid": 8}, {"tile": "0-0"}, {"seat": 5}, {"legal": []}])
def test_a_replay_that_goes_another_way_fails(step: dict[str, Any], tmp_path: Path) -> None:
    content = json.loads((VECTORS / "dp_replay.json").read_text())
    case = content["cases"][0]
    place = 0 if "bid" in step else 6
    assert any(case["steps"][place].get(name) != value for name, value in step.items())
    case["steps"][place].update(step)
    assert conform(written(tmp_path / "other.json", {**content, "cases": [case]}))[0] == 1


CASE = {"id": "a", "bid": 0, "tricks": 0, "score": 0}


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{", "null", "\xff", "[" * 100_000,
        {"kind": "dp_score", "cases": [CASE]},
        {"format": 2, "kind": "dp_score", "cases": [CASE]},
        {"format": 1, "kind": "dp_other", "cases": [CASE]},
        {"format": 1, "kind": "qq_other", "cases": [CASE]},
        {"format": 1, "kind": ["dp_score"], "cases": [CASE]},
        {"format": 1, "kind": None, "cases": [CASE]},
        {"format": 1, "kind": "dp_score", "cases": []},
        {"format": 1, "kind": "qq_class", "cases": []},
        {"format": 1, "kind": "dp_score"},
        {"format": 1, "kind": "dp_score", "cases": {"a": CASE}},
        {"format": 1, "kind": "dp_score", "cases": [7]},
        {"format": 1, "kind": "dp_score", "cases": [{"bid": 0, "tricks": 0, "score": 0}]},
        {"format": 1, "kind": "dp_score", "cases": [CASE, CASE]},
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_run_is_a_failure_with_its_name(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    if content == "\xff":
        path.write_bytes(b"\xff\xfe\x00")
    else:
        written(path, content)
    code, lines = conform(VECTORS / "dp_score.json", path)
    assert code == 1
    assert any("broken.json" in line for line in lines)
    assert lines[-1] == "64 passed, 1 failed"


def test_a_missing_file_and_a_folder_are_failures(tmp_path: Path) -> None:
    code, lines = conform(tmp_path / "none.json", tmp_path)
    assert (code, lines[-1]) == (1, "0 passed, 2 failed")


def test_an_engine_that_scores_or_orders_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "OVER", 4)
    for kind in ("dp_score", "dp_round", "dp_match", "dp_replay"):
        assert conform(VECTORS / f"{kind}.json")[0] == 1, kind
    monkeypatch.undo()
    monkeypatch.setattr(rules, "is_trump", lambda one: one.text != "0-0" and rules.trump_strength(one) > 0)
    for kind in ("dp_legal", "dp_replay"):
        assert conform(VECTORS / f"{kind}.json")[0] == 1, kind


def test_bench_says_its_figures_as_a_table_and_as_json(tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("bench", "--matches", "2", "--json", str(tmp_path / "figures.json"), stdout=out)
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [one["key"] for one in figures] == ["matches_per_second", "match_ms", "fold_ms", "look_us"]
    assert all(one["value"] > 0 and one["what"] in out.getvalue() for one in figures)


def test_the_engine_is_as_quick_as_promised() -> None:
    """A random match of seven rounds in 25 ms, folding its log in 8 ms, of CPU; measured about a fifth of it."""
    from games import benchmark

    figures = {one.key: one.value for one in benchmark.measure(15)}
    assert figures["match_ms"] <= 25
    assert figures["fold_ms"] <= 8
