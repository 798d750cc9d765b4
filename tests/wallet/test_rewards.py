"""Rewards keep to the day's limit, whoever finishes when, and the last one pays what is left."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import connection

from tests.wallet.purses import balance, in_atomic, purse, total
from wallet import errors, selectors, services

pytestmark = pytest.mark.django_db(transaction=True)

EDGE = datetime(2026, 2, 1, tzinfo=UTC)
DAY, NEXT = (EDGE - timedelta(days=1)).date(), EDGE.date()


def test_the_last_reward_of_a_day_pays_what_is_left() -> None:
    ana = purse("Ana")
    for match in range(1, 10):
        in_atomic(services.reward, match, ana, 300, EDGE)
    in_atomic(services.reward, 10, ana, 200, EDGE)
    assert selectors.reward_left(ana, NEXT) == 100
    last = in_atomic(services.reward, 11, ana, 300, EDGE)
    assert last is not None and selectors.reward_left(ana, NEXT) == 0
    assert in_atomic(services.reward, 12, ana, 50, EDGE) is None
    assert (balance(ana), total()) == (3000, 0)


def test_a_match_pays_once_and_one_player() -> None:
    ana, ben = purse("Ana"), purse("Ben")
    first = in_atomic(services.reward, 7, ana, 300, EDGE, 100)
    assert in_atomic(services.reward, 7, ana, 300, EDGE + timedelta(days=1)) == first
    for player, amount in ((ana, 100), (ben, 300)):
        with pytest.raises(errors.ReferenceReused):
            in_atomic(services.reward, 7, player, amount, EDGE)
    assert (balance(ana), balance(ben)) == (100, 0)


def test_a_place_worth_nothing_pays_nothing() -> None:
    assert in_atomic(services.reward, 7, purse("Ana"), 0, EDGE) is None


def test_a_time_without_a_zone_is_on_no_day() -> None:
    with pytest.raises(ValueError, match="on no day"):
        in_atomic(services.reward, 7, purse("Ana"), 50, datetime(2026, 2, 1))  # noqa: DTZ001


@pytest.mark.parametrize("hours", [0, 9, -11])
def test_fifty_finishes_at_the_edge_of_a_day_keep_both_days_limits(hours: int) -> None:
    """Half of them a tenth of a second before midnight in UTC, half at it, told in the time of any zone."""
    ana = purse("Ana")
    zone = timezone(timedelta(hours=hours))

    def finish(match: int) -> None:
        at = EDGE - timedelta(seconds=0.1) if match % 2 else EDGE
        try:
            in_atomic(services.reward, match, ana, 300, at.astimezone(zone))
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(finish, range(1, 51)))
    assert [selectors.reward_left(ana, day) for day in (DAY, NEXT)] == [0, 0]
    assert (balance(ana), total()) == (6000, 0)
