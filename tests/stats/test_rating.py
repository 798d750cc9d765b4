"""Ratings follow from the matches in the order in which they ended, and from nothing else."""

import threading
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction

from players.models import Player
from stats import services as stats
from stats import skill
from stats.models import MatchFact, PlayerFact
from stats.skill import Skill
from stats.tasks import rate_matches
from tests.rooms.stage import at_once
from tests.stats import people
from tests.stats.people import NOON

pytestmark = pytest.mark.django_db(transaction=True)

FIRST_WINS = ((3, 2, 1, 0), (3, 2, 1, 1))
LAST_WINS = ((0, 1, 2, 3), (1, 1, 2, 3))


@pytest.fixture
def four() -> list[Player]:
    return people.four()


def ratings() -> list[tuple[int, int, float | None, float | None, float | None, float | None, int | None]]:
    names = ("fact__match_id", "seat", "mu_before", "sigma_before", "mu", "sigma", "rating")
    return list(PlayerFact.objects.order_by("fact__match_id", "seat").values_list(*names))


def test_the_better_place_gains_more_and_all_grow_surer() -> None:
    after = skill.rate([skill.newcomer()] * 4, [1, 2, 3, 4])
    assert [one.mu for one in after] == sorted((one.mu for one in after), reverse=True)
    assert all(one.sigma < skill.newcomer().sigma for one in after)
    assert skill.shown(skill.newcomer()) == 1000


def test_the_order_of_seats_makes_no_difference() -> None:
    before = [Skill(20 + seat, 5 + seat) for seat in range(4)]
    there = skill.rate(before, [2, 1, 4, 3])
    back = skill.rate(before[::-1], [3, 4, 1, 2])[::-1]
    for one, other in zip(there, back, strict=True):
        assert (one.mu, one.sigma) == pytest.approx((other.mu, other.sigma))


def test_each_match_goes_on_from_the_one_before(four: list[Player]) -> None:
    for number in range(3):
        people.written(four, [FIRST_WINS], at=NOON + timedelta(minutes=number))
    assert stats.rate_new() == 3 and stats.rate_new() == 0
    mine = list(PlayerFact.objects.filter(player=four[0]).order_by("fact__finished_at"))
    assert (mine[0].mu_before, mine[0].sigma_before) == (skill.newcomer().mu, skill.newcomer().sigma)
    for one, following in pairwise(mine):
        assert (one.mu, one.sigma) == (following.mu_before, following.sigma_before)
    assert mine[2].rating is not None and mine[0].rating is not None and mine[2].rating > mine[0].rating


def test_a_forfeiter_ranks_last_whatever_the_bot_did(four: list[Player]) -> None:
    people.written(four, [FIRST_WINS, FIRST_WINS], leaves={0: 2})
    stats.rate_new()
    by_seat = {one.seat: one.mu or 0 for one in PlayerFact.objects.all()}
    assert PlayerFact.objects.get(seat=0).place == 1
    assert by_seat[0] < min(by_seat[seat] for seat in (1, 2, 3))


def test_a_match_recorded_late_has_later_ones_rated_again(four: list[Player]) -> None:
    """The transaction of the first match took longer than the second match's; the task ran in between."""
    late = people.written(four, [FIRST_WINS], at=NOON, record=False)
    people.written(four, [LAST_WINS], at=NOON + timedelta(seconds=1))
    assert stats.rate_new() == 1
    with transaction.atomic():
        stats.record_match(late)
    assert stats.rate_new() == 2
    found = ratings()
    stats.rebuild()
    assert ratings() == found


@pytest.mark.parametrize("together", [True, False])
def test_matches_of_one_moment_go_by_their_numbers(four: list[Player], together: bool) -> None:
    first = people.written(four, [FIRST_WINS])
    if not together:
        assert stats.rate_new() == 1
    second = people.written(four, [LAST_WINS])
    assert stats.rate_new() == (2 if together else 1)
    mine = PlayerFact.objects.filter(player=four[0])
    assert mine.get(fact__match_id=second).mu_before == mine.get(fact__match_id=first).mu
    assert all(mu == skill.newcomer().mu for match_id, _s, mu, *_rest in ratings() if match_id == first)
    found = ratings()
    stats.rebuild()
    assert ratings() == found


def test_many_batches_rate_as_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = people.four("Ana", "Bo", "Cem", "Dara", "Eli", "Fay")
    people.season(crowd, 12, rounds=2)
    assert stats.rate_new() == 12
    found = ratings()
    monkeypatch.setattr(stats, "AT_ONCE", 5)
    stats.rebuild()
    assert ratings() == found


def test_only_one_process_rates_at_a_time(four: list[Player], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has come to rating stays there until the others have given up, or one of them rates as well."""
    for number in range(8):
        people.written(four, [FIRST_WINS], at=NOON + timedelta(minutes=number))
    rate, news = stats._rate, threading.Condition()
    rating, back = [0], [0]

    def came(count: list[int]) -> None:
        with news:
            count[0] += 1
            news.notify_all()

    def rate_slowly(facts: Sequence[MatchFact]) -> None:
        came(rating)
        rate(facts)
        with news:
            assert news.wait_for(lambda: rating[0] > 1 or back[0] == 3, 15)

    def rate_new() -> int:
        try:
            return stats.rate_new()
        finally:
            came(back)

    with monkeypatch.context() as patch:
        patch.setattr(stats, "_rate", rate_slowly)
        done = at_once([rate_new] * 4)
    assert rating == [1] and sorted(map(str, done)) == ["0", "0", "0", "8"]
    assert MatchFact.objects.filter(rated=True).count() == 8
    found = ratings()
    stats.rebuild()
    assert ratings() == found


def test_nothing_is_rated_while_another_holds_the_lock(four: list[Player]) -> None:
    people.written(four, [FIRST_WINS])

    def held() -> int:
        return stats.rate_new()

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [stats._RATING_LOCK])
        try:
            assert at_once([held]) == [0]
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [stats._RATING_LOCK])
    assert at_once([held]) == [1]


def test_the_task_rates_and_the_schedule_knows_it(four: list[Player]) -> None:
    people.written(four, [FIRST_WINS])
    assert settings.CELERY_BEAT_SCHEDULE["rate_matches"]["task"] == rate_matches.name
    assert at_once([rate_matches]) == [1]


def test_rebuilding_mends_what_was_changed_by_hand(four: list[Player], capsys: pytest.CaptureFixture[str]) -> None:
    people.written(four, [FIRST_WINS])
    stats.rate_new()
    found = ratings()
    PlayerFact.objects.filter(seat=0).update(place=4, score=-999, mu=99.0)
    MatchFact.objects.update(rounds=49)
    missing = people.written(four, [LAST_WINS], at=NOON - timedelta(days=1), record=False)
    call_command("rebuild_stats")
    assert "2 finished matches, 2 of them" in capsys.readouterr().out
    MatchFact.objects.filter(match_id=missing).delete()
    MatchFact.objects.update(rated=False)
    stats.rate_new()
    assert ratings() == found
    assert MatchFact.objects.get().rounds == 1 and PlayerFact.objects.get(seat=0).place == 1
