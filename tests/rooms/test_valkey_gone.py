"""Valkey is away for eight seconds in mid-match: no socket ends, play goes on, others see it soon, codes stay shut."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rooms.test_two_processes import until
from tests.support.robot import Robot, table_of
from tests.support.site import LiveSite
from tests.support.visitor import Visitor

AWAY_SECONDS = 8.0
STALE_AT_MOST_SECONDS = 3.0


@pytest.fixture
def second(lone_site: LiveSite, tmp_path: Path) -> Iterator[LiveSite]:
    """Another web process on the same database and Valkey."""
    site = LiveSite(lone_site.services, lone_site.addresses, tmp_path / "second.log", private=True)
    try:
        site.start()
        yield site
    finally:
        site.stop()


def test_eight_seconds_without_valkey(lone_site: LiveSite, second: LiveSite) -> None:
    urls = [lone_site.url, second.url]
    tables = [table_of(urls, 2 + number, rounds=2, number=number, think_seconds=0.8) for number in range(3)]
    robots = [robot for table in tables for robot in table]
    host = Visitor(lone_site.url)
    code = host.open_room(visibility="private")
    for robot in robots:
        robot.start()
    until(lambda: min(len(robot.acked) for robot in robots) >= 2, robots)

    gone_at = time.monotonic()
    outage = threading.Thread(target=lone_site.restart_valkey, kwargs={"seconds_down": AWAY_SECONDS})
    outage.start()
    until(lambda: not lone_site.services.valkey.running(), robots)
    # Codes can't be tried, not even the right one; a new table can be opened.
    guest = Visitor(second.url)
    for tried in (code, "ZZZZZZZZ"):
        status, page = guest.post("/join/", code=tried)
        assert status == 429 and "/tables/" not in guest.where, page
    assert guest.open_room(visibility="public")
    # Who comes now gets in at once.
    again = Visitor(second.url)
    again.jar = tables[0][0].visitor.jar
    began = time.monotonic()
    socket = again.sit(tables[0][0].code)
    socket.until(lambda frame: frame["t"] == "update")
    entered = time.monotonic() - began
    socket.link.close()
    outage.join()
    back_at = time.monotonic()

    acked_meanwhile = [at for robot in robots for _name, at in robot.acked if gone_at < at < back_at]
    late, early = staleness(lone_site, tables, gone_at, back_at), staleness(lone_site, tables, 0, gone_at)
    for robot in robots:
        robot.join(120)
    assert not [robot.failure for robot in robots if robot.failure]
    assert all(robot.final["room"]["status"] == "finished" for robot in robots)
    assert not [robot for robot in robots if robot.lost], "a socket was lost"
    assert lone_site.sql("SELECT count(*) FROM games_matchevent WHERE by = 'idle'") == [(0,)]
    assert len(acked_meanwhile) >= AWAY_SECONDS
    assert late and max(late) <= STALE_AT_MOST_SECONDS
    friend = Visitor(second.url)
    assert friend.join(code) == code
    log = (lone_site.log_text() + second.log_text()).splitlines()
    assert not [line for line in log if " ERROR " in line and "ERROR channels_redis" not in line]
    print(
        f"\n{len(robots)} people on two processes, Valkey away {back_at - gone_at:.1f} s: {len(acked_meanwhile)} "
        f"actions acknowledged meanwhile; others saw them after {middle(late):.2f} s (median), {max(late):.2f} s at "
        f"most (before: {middle(early):.3f} and {max(early):.2f} s); a new socket was served after {entered:.2f} s; "
        "no socket lost"
    )


def staleness(site: LiveSite, tables: list[list[Robot]], since: float, until: float) -> list[float]:
    """Seconds from the acknowledgement of each action in this time to its event at each other person of the table."""
    rows = site.sql("SELECT action_id, number FROM games_matchevent WHERE action_id IS NOT NULL")
    number_of = {str(name): int(str(number)) for name, number in rows}
    waits = []
    for table in tables:
        for robot in table:
            for name, at in list(robot.acked):
                if since < at < until:
                    seen = [other.first_seen.get(number_of[name]) for other in table if other is not robot]
                    waits += [max(0.0, moment - at) for moment in seen if moment is not None]
    return waits


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
