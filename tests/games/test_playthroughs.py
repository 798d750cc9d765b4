"""The recorded matches are played as they were recorded."""

import pytest

from tests.games.playthroughs import HERE, RECORDED, record


@pytest.mark.parametrize("name", RECORDED)
def test_the_rules_still_play_the_recorded_match(name: str) -> None:
    recorded = (HERE / name).read_text(encoding="ascii")
    assert record(name) == recorded, f"{name}: if the change is meant, run `make playthroughs` and read the difference"


def test_every_recording_is_one_that_is_compared() -> None:
    assert {path.name for path in HERE.glob("*.txt")} == set(RECORDED)
