"""The check of a match: it passes what was played, and finds whatever was changed afterwards."""

import contextlib
import copy
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from games import record, selectors, services, verify
from tests.conftest import run
from tests.games import matches

pytestmark = pytest.mark.django_db(transaction=True)
CHECKOUT = Path(__file__).resolve().parents[2]


def exported(match_id: int) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(record.write(selectors.record_of(match_id)))
    return body


def wrong(body: dict[str, Any]) -> list[str]:
    """The differences; that what was not changed has none is the first test below."""
    return list(verify.differences(record.read(json.dumps(body).encode())))


def finished(rounds: int = 2) -> int:
    match_id = matches.begun(rounds=rounds).match_id
    matches.played_out(match_id)
    return match_id


def test_a_finished_match_passes() -> None:
    assert wrong(exported(finished())) == []


def test_a_match_passes_at_every_moment_of_it() -> None:
    match_id = matches.opened().match_id
    assert wrong(exported(match_id)) == []
    with transaction.atomic():
        services.begin(match_id)
    assert wrong(exported(match_id)) == []
    for _i in range(12):
        matches.answer(match_id)
        assert wrong(exported(match_id)) == []
    with transaction.atomic():
        services.abandon(match_id)
    assert wrong(exported(match_id)) == []


def test_a_match_with_a_withdrawal_passes() -> None:
    match_id = matches.begun().match_id
    matches.answers(match_id, 3)
    with transaction.atomic():
        services.withdraw(match_id, 0, "seat")
    matches.played_out(match_id)
    assert wrong(exported(match_id)) == []
    changed = exported(match_id)
    changed["seats"][0]["forfeited"] = False
    assert wrong(changed)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def other(value: Any) -> Any:
    """Something of the same type that is not the same."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if value is None:
        return None
    last = value[-1:] or "x"
    return value[:-1] + ("0" if last != "0" else "1")


# What nothing determines (docs/fairness.md): times, names, the strength of a bot.
FREE = {"at", "created_at", "finished_at", "name", "bot_level"}


def test_every_changed_value_is_found() -> None:
    good = exported(finished(rounds=1))
    tried = 0
    for path, value in leaves(good):
        if path[-1] in FREE or (path[-1] == "by" and value != "table") or value is None:
            continue
        bad = copy.deepcopy(good)
        inner: Any = bad
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = other(value)
        try:
            found = wrong(bad)
        except record.BadRecord:
            found = ["refused"]
        assert found, path
        tried += 1
    assert tried > 300


def test_every_changed_digit_of_secret_and_seals_is_found() -> None:
    good = exported(finished(rounds=1))
    for place in range(64):
        for name, inside in (("secret", good), (0, good["commitments"])):
            bad = copy.deepcopy(good)
            holder: Any = bad if inside is good else bad["commitments"]
            text = holder[name]
            holder[name] = text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :]
            assert wrong(bad), (name, place)


def test_every_missing_doubled_or_swapped_line_is_found() -> None:
    good = exported(finished(rounds=1))
    count = len(good["events"])
    for place in range(count):
        for events in (
            good["events"][:place] + good["events"][place + 1 :],
            good["events"][: place + 1] + good["events"][place:],
            [*good["events"][:place], *reversed(good["events"][place : place + 2]), *good["events"][place + 2 :]],
            good["events"][:place],
        ):
            if events == good["events"]:
                continue
            numbered = [{**event, "n": number} for number, event in enumerate(events, 1)]
            assert wrong({**good, "events": numbered, "version": len(numbered)}), place


def test_a_bots_answer_is_not_a_persons() -> None:
    good = exported(finished(rounds=1))
    event = next(e for e in good["events"] if e["by"] == "bot")
    event["by"] = "seat"
    assert len(wrong(good)) == 1


def command(what: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("verify_match", what, stdout=out)
    except CommandError as error:
        return error.returncode, str(error)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_the_command_says_ok_for_a_match_and_for_its_file(tmp_path: Path) -> None:
    match_id = finished()
    code, text = command(str(match_id))
    assert (code, text.count("\n")) == (0, 1) and text.startswith(f"match {match_id}: OK (finished, ")
    file = tmp_path / "match.json"
    file.write_bytes(record.write(selectors.record_of(match_id)))
    assert command(str(file)) == (0, text)
    secret = exported(match_id)["secret"]
    assert secret not in text


def test_the_command_names_every_difference(tmp_path: Path) -> None:
    body = exported(finished())
    body["commitments"][1] = "0" * 64
    body["events"][0]["body"]["hands"][0].reverse()
    file = tmp_path / "match.json"
    file.write_text(json.dumps(body))
    code, text = command(str(file))
    assert code == 1
    assert "round 2: the seal is not that of the secret" in text and "event 1: Dealt differs in hands" in text


def test_the_command_finds_what_was_changed_behind_the_guards() -> None:
    match_id = finished()
    # Only the superuser of the test server can set the triggers aside.
    with psycopg.connect(run.services.postgres.url("postgres", run.database)) as superuser:
        superuser.execute("SET session_replication_role = replica")
        changed = superuser.execute(
            "UPDATE games_matchevent SET body = replace(body, ':', ': ') WHERE match_id = %s AND number = 2",
            [match_id],
        )
        assert changed.rowcount == 1
    code, text = command(str(match_id))
    assert code == 1 and "event 2 is not written as the log writes" in text


def test_a_match_that_is_not_there() -> None:
    assert command("987654321") == (1, "there is no match 987654321")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"format": 1}',
        b"[" * 100_000,
        b"match 17",
    ],
)
def test_a_malformed_file_gets_one_clear_sentence(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "match.json"
    file.write_bytes(text)
    code, said = command(str(file))
    assert code == 1 and said.startswith(f"{file}: not the record of a match: ") and "\n" not in said


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 2),
        ("format", True),
        ("secret", "00"),
        ("secret", "G" * 64),
        ("events", None),
        ("events", [{}]),
        ("match", 1.5),
        ("match", "1"),
        ("seats", {}),
        ("more", 1),
        ("game", "chess"),
        ("rules_version", 99),
        ("options", {"rounds": 1e9}),
        ("options", {"rounds": "2"}),
        ("seats", []),
    ],
)
def test_a_file_of_another_shape_does_not_pass(tmp_path: Path, field: str, value: object) -> None:
    file = tmp_path / "match.json"
    file.write_text(json.dumps({**exported(finished(rounds=1)), field: value}))
    code, said = command(str(file))
    assert code == 1 and said and "Traceback" not in said


def test_strange_values_inside_are_differences_not_crashes() -> None:
    good = exported(finished(rounds=1))
    values: list[Any] = [{}, [], "x", -1, 10**30, None, {"a": [1.5]}]
    for value in values:
        for place in (0, 1, 5, len(good["events"]) - 1):
            for field in ("body", "seat", "answer", "step", "tag", "by"):
                bad = copy.deepcopy(good)
                if bad["events"][place][field] == value:
                    continue
                bad["events"][place][field] = value
                with contextlib.suppress(record.BadRecord):
                    assert wrong(bad), (place, field, value)


def test_a_missing_file_is_named() -> None:
    code, said = command("nowhere.json")
    assert code == 1 and said == "nowhere.json: No such file or directory"


def test_a_file_is_checked_without_any_database(tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    file.write_bytes(record.write(selectors.record_of(finished(rounds=1))))
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "manage.py"), "verify_match", str(file)],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and ": OK (finished" in done.stdout


def examples(language: str) -> list[str]:
    text = (CHECKOUT / "docs" / "fairness.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_python_example_of_the_docs_checks_a_match(tmp_path: Path) -> None:
    (program,) = examples("python")
    (tmp_path / "check.py").write_text(program)
    body = exported(finished(rounds=3))

    def check(body: dict[str, Any]) -> tuple[int, str]:
        (tmp_path / "match.json").write_text(json.dumps(body))
        done = subprocess.run(
            [sys.executable, "-I", "check.py", "match.json"],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout

    assert check(body) == (0, "round 1: fits\nround 2: fits\nround 3: fits\n")
    body["commitments"][1] = "0" * 64
    assert check(body) == (1, "round 1: fits\nround 2: DOES NOT FIT\nround 3: fits\n")


# The example is for people who have openssl at hand; where there is none, there is nothing to try it with.
if shutil.which("openssl") is not None:

    def test_the_shell_examples_of_the_docs_deal_a_round() -> None:
        match_id = finished(rounds=1)
        check = selectors.revealed_round(match_id, 1)
        assert check is not None

        def sh(program: str) -> str:
            done = subprocess.run(
                ["/bin/sh", "-c", program],
                env={"PATH": "/usr/bin:/bin", "KEY": check["key"], "SALT": check["salt"]},
                capture_output=True, text=True, check=True, timeout=60,
            )  # fmt: skip
            return done.stdout

        seal, deck = examples("sh")
        assert sh(seal).split()[0] == check["commitment"]
        assert sh(deck).split() == [tile for hand in check["hands"] for tile in hand]
