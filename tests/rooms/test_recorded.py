"""Rooms record their matches for statistics as they end: those of four registered people, and no others."""

import pytest

from players.models import Player
from rooms import closing
from stats.models import MatchFact, PlayerFact
from tests.rooms import stage
from tests.rooms.gold import outcome, rich

pytestmark = pytest.mark.django_db(transaction=True)


def four() -> list[Player]:
    return [rich(name) for name in ("Ana", "Ben", "Cleo", "Dan")]


def test_four_registered_people_are_recorded_as_the_result_says() -> None:
    people = four()
    room = stage.running(*people)
    stage.play_to_the_end(room)
    assert MatchFact.objects.count() == 1
    places = dict(PlayerFact.objects.values_list("player", "place"))
    assert [places[one.pk] for one in people] == outcome(room)["places"]


def test_a_bot_a_guest_or_a_match_without_end_is_not_recorded() -> None:
    people = four()
    room = stage.running(*people[:3])
    stage.play_to_the_end(room)
    room = stage.running(*people[:3], stage.person("Guest"))
    stage.play_to_the_end(room)
    room = stage.running(*people)
    for one in people:
        closing.leave(room.pk, one.pk)
    assert stage.refreshed(room).status == "destroyed"
    assert not MatchFact.objects.exists()


def test_who_forfeits_is_recorded_as_gone() -> None:
    people = four()
    room = stage.running(*people)
    closing.leave(room.pk, people[1].pk)
    stage.play_to_the_end(room)
    assert PlayerFact.objects.get(player=people[1]).forfeited
    assert PlayerFact.objects.filter(forfeited=False).count() == 3
