"""One of two web processes is killed under running matches: nothing is lost, doubled or timed out, all come back."""

import time
from collections import Counter
from typing import Any

import pytest

from games.models import Match, MatchEvent
from tests.support.robot import Robot, table_of

BACK_WITHIN_SECONDS = 5.0


def test_three_matches_outlive_a_killed_process(other_site: Any) -> None:
    kill_one_of_two(other_site, matches=3, rounds=1)


@pytest.mark.soak
@pytest.mark.parametrize("run", range(3))
def test_ten_matches_outlive_a_killed_process(other_site: Any, run: int) -> None:
    kill_one_of_two(other_site, matches=10, rounds=2)


def kill_one_of_two(other_site: Any, *, matches: int, rounds: int) -> None:
    one, two = other_site(), other_site(worker=True)
    urls = [one.url, two.url]
    tables = [table_of(urls, 2 + number % 3, rounds=rounds, number=number) for number in range(matches)]
    robots = [robot for table in tables for robot in table]
    for robot in robots:
        robot.start()
    until(lambda: min(len(robot.acked) for robot in robots) >= 2, robots)

    elsewhere = [robot for robot in robots if robot.visitor.url == two.url]
    moved = [robot for robot in robots if robot.visitor.url == one.url]
    # Frames pile up unread, then some are being worked at: the kill meets actions at every stage.
    one.pause()
    time.sleep(0.4)
    one.resume()
    time.sleep(0.015)
    killed_at = time.monotonic()
    one.kill()
    for robot in robots:
        robot.join(120)

    assert not [robot.failure for robot in robots if robot.failure]
    assert all(robot.final["room"]["status"] == "finished" for robot in robots)
    assert Match.objects.filter(status="finished").count() == matches
    # Back in time, and only those who were there had to come back.
    assert all(not robot.lost for robot in elsewhere) and all(len(robot.back) == 1 for robot in moved)
    gone = [robot.back[0] - killed_at for robot in moved]
    own_wait = [sum(robot.waited) for robot in moved]
    assert max(gone) <= BACK_WITHIN_SECONDS
    # Each acknowledged action is in the log exactly once, and nothing else is.
    logged = Counter(MatchEvent.objects.filter(action_id__isnull=False).values_list("action_id", flat=True))
    acked = Counter(name for robot in robots for name, _at in robot.acked)
    assert logged == acked and set(logged.values()) == {1}
    assert len(acked) == len(robots) * rounds * 8
    # No time-out was forced.
    assert not MatchEvent.objects.filter(by="idle").exists()
    assert max(robot.missed for robot in robots) == 0
    assert "Traceback" not in two.log_text()
    print(
        f"\n{matches} matches, {len(robots)} people, {len(moved)} on the killed process: back after "
        f"{min(gone):.2f} to {max(gone):.2f} s, of which {min(own_wait):.2f} to {max(own_wait):.2f} s was the page's "
        f"own wait and at most {max(g - w for g, w in zip(gone, own_wait, strict=True)):.2f} s was ours; "
        f"{len(acked)} actions, {sum(robot.resent for robot in robots)} sent again, none lost or doubled"
    )


def until(right: Any, robots: list[Robot], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not right():
        assert time.monotonic() < ends, "it never came to that"
        assert not [robot.failure for robot in robots if robot.failure]
        time.sleep(0.02)
