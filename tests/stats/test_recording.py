"""Which matches are written down, and what of them."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.transaction import TransactionManagementError

from games import services
from games.models import Match, MatchSeat
from players.models import Player
from stats import services as stats
from stats.models import MatchFact, PlayerFact, RoundFact
from tests.stats import people
from tests.stats.people import NOON

pytestmark = pytest.mark.django_db(transaction=True)

EVEN = ((2, 2, 2, 1), (2, 2, 2, 1))


@pytest.fixture
def four() -> list[Player]:
    return people.four()


def places_of(match_id: int) -> list[int]:
    return list(PlayerFact.objects.filter(fact__match_id=match_id).order_by("seat").values_list("place", flat=True))


def test_a_match_of_four_registered_people_counts(four: list[Player]) -> None:
    match_id = people.played(four)
    match, fact = Match.objects.get(pk=match_id), MatchFact.objects.get()
    assert (fact.match_id, fact.game, fact.finished_at, fact.rounds) == (
        match_id, "domino_poker", match.finished_at, 1,
    )  # fmt: skip
    facts = PlayerFact.objects.order_by("seat")
    assert [one.player_id for one in facts] == [one.pk for one in four]
    assert match.outcome is not None and places_of(match_id) == match.outcome["places"]
    assert RoundFact.objects.count() == 4
    assert sum(RoundFact.objects.values_list("tricks", flat=True)) == 7
    assert all(one.points == one.score for one in facts)


@pytest.mark.parametrize("other", ["bot", "guest"])
def test_a_bot_or_a_guest_among_them_makes_it_not_count(four: list[Player], other: str) -> None:
    people.written([*four[:3], None if other == "bot" else people.person("Gus", guest=True)], [EVEN])
    assert not MatchFact.objects.exists()


def test_a_guest_who_registered_meanwhile_was_none_at_the_start(four: list[Player]) -> None:
    gus = people.person("Gus", guest=True)
    match_id = people.written([*four[:3], gus], [EVEN], record=False)
    gus.is_guest = False
    gus.save(update_fields=["is_guest"])
    with transaction.atomic():
        assert not stats.record_match(match_id)
    stats.rebuild()
    assert not MatchFact.objects.exists()
    people.written([*four[:3], gus], [EVEN])
    assert MatchFact.objects.count() == 1


def test_the_same_person_twice_is_not_four(four: list[Player]) -> None:
    match_id = people.written(four, [EVEN], record=False)
    MatchSeat.objects.filter(match_id=match_id, number=3).update(player=four[0])
    with transaction.atomic():
        assert not stats.record_match(match_id)


def test_an_abandoned_or_running_match_does_not_count(four: list[Player]) -> None:
    match_id = people.opened(four, 1)
    with transaction.atomic():
        services.begin(match_id)
        assert not stats.record_match(match_id)
        services.abandon(match_id)
        assert not stats.record_match(match_id)
    stats.rebuild()
    assert not MatchFact.objects.exists()


def test_a_second_time_changes_nothing(four: list[Player]) -> None:
    match_id = people.written(four, [EVEN])
    stats.rate_new()
    before = list(PlayerFact.objects.values()), list(RoundFact.objects.values()), list(MatchFact.objects.values())
    with transaction.atomic():
        assert stats.record_match(match_id)
    assert before == (
        list(PlayerFact.objects.values()), list(RoundFact.objects.values()), list(MatchFact.objects.values()),
    )  # fmt: skip


def test_it_belongs_to_the_transaction_that_ends_the_match(four: list[Player]) -> None:
    match_id = people.written(four, [EVEN], record=False)
    with pytest.raises(TransactionManagementError):
        stats.record_match(match_id)
    with transaction.atomic():
        stats.record_match(match_id)
        transaction.set_rollback(True)
    assert not MatchFact.objects.exists()


def test_a_forfeiter_answers_for_the_rounds_before_leaving(four: list[Player]) -> None:
    rounds = [((1, 2, 2, 2), (1, 2, 2, 2)), ((3, 2, 1, 1), (3, 2, 1, 1)), ((7, 0, 0, 0), (7, 0, 0, 0))]
    match_id = people.written(four, rounds, leaves={0: 2})
    left = PlayerFact.objects.get(player=four[0])
    assert left.forfeited and (left.rounds, left.points, left.exact) == (1, 15, 1)
    # The seat's own result is the screen's: the bot that went on made 155 more.
    assert (left.place, left.score) == (1, 15 + 45 + 155)
    assert [one.round for one in left.round_facts.all()] == [1]
    stayed = PlayerFact.objects.get(player=four[1])
    assert (stayed.forfeited, stayed.rounds, stayed.points) == (False, 3, 60)
    assert places_of(match_id)[0] == 1


def test_who_leaves_in_mid_round_has_no_part_in_that_round(four: list[Player]) -> None:
    match_id = people.played(four, 2, leaves=four[2])
    facts = {one.seat: one for one in PlayerFact.objects.filter(fact__match_id=match_id)}
    assert facts[2].forfeited and facts[2].rounds == 0 and facts[2].points == 0
    assert [facts[seat].rounds for seat in (0, 1, 3)] == [2, 2, 2]


@pytest.mark.parametrize(
    ("bids", "tricks", "decided"),
    [
        ((3, 1, 1, 1), (3, 1, 2, 1), "seat"),  # two with all equal
        ((0, 3, 5, 5), (1, 3, 2, 1), "score"),
        ((0, 2, 2, 2), (1, 2, 2, 2), "seat"),  # three with all equal
        ((0, 0, 0, 0), (0, 0, 0, 0), "seat"),  # four
        ((1, 0, 3, 3), (1, 3, 2, 1), "bid"),  # 15 and 15: by the bid
    ],
)
def test_ties_stand_as_on_the_result_page(
    four: list[Player], bids: tuple[int, ...], tricks: tuple[int, ...], decided: str
) -> None:
    match_id = people.written(four, [(bids, tricks)])
    context = people.visit(four[0]).get(f"/matches/{match_id}/").context
    assert decided in context["decided"]
    shown = {player["seat"]: (player["place"], player["total"]) for player in context["players"]}
    facts = PlayerFact.objects.filter(fact__match_id=match_id)
    assert {one.seat: (one.place, one.score) for one in facts} == shown
    assert sorted(places_of(match_id)) == [1, 2, 3, 4]


def test_the_database_refuses_facts_that_do_not_add_up(four: list[Player]) -> None:
    people.written(four, [EVEN])
    for change in ({"exact": 5}, {"place": 5}, {"mu": 25.0}):
        with pytest.raises(IntegrityError), transaction.atomic():
            PlayerFact.objects.filter(seat=0).update(**change)


def test_a_registered_player_with_facts_is_not_deleted(four: list[Player]) -> None:
    people.written(four, [EVEN], at=NOON - timedelta(days=1))
    with pytest.raises(Exception, match="protected"):
        four[0].delete()
