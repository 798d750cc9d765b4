"""Where players came from: kept for a while, for those who look after the place and for the players themselves."""

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.db.models import F
from django.test import RequestFactory

from players import services, visits
from players.models import Player, Visit
from rooms import export
from tests.players.accounts import account

pytestmark = pytest.mark.django_db


def came(player: Player, address: str, agent: str = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0") -> None:
    visits.note(RequestFactory().get("/", REMOTE_ADDR=address, headers={"User-Agent": agent}), player)


def neighbours(player: Player) -> list[str]:
    return [str(one.player) for one in visits.neighbours(player.pk, guests=False)]


def test_coming_again_from_the_same_place_is_one_row_with_the_last_time() -> None:
    ana = account("Ana")
    came(ana, "192.0.2.7")
    Visit.objects.update(at=F("at") - timedelta(days=3))
    first = Visit.objects.get().at
    came(ana, "192.0.2.7")
    assert Visit.objects.get().at > first
    came(ana, "192.0.2.7", "Other/1.0")
    assert [one.browser for one in visits.of_player(ana.pk)] == ["Another browser", "Firefox on Linux"]


def test_a_kind_of_browser_is_one_row_whatever_it_says_of_itself() -> None:
    ana = account("Ana")
    for number in range(5):
        came(ana, "192.0.2.7", f"Mozilla/5.0 (X11; Linux x86_64) Firefox/14{number}.0")
        came(ana, "192.0.2.7", f"Other/{number}")
    assert [one.browser for one in visits.of_player(ana.pk)] == ["Another browser", "Firefox on Linux"]
    for number in range(5):
        came(ana, f"192.0.2.{number + 10}")
    assert len(visits.of_player(ana.pk)) == 7
    assert [one.network for one in visits.of_player(ana.pk, 2)] == ["192.0.2.14", "192.0.2.13"]


def test_visits_of_before_are_joined_by_the_kind_of_browser() -> None:
    """The migration's step."""
    joined: Any = import_module("players.migrations.0008_visits_by_kind").joined
    fox = "Mozilla/5.0 (X11; Linux x86_64) Firefox/"
    rows = [
        (5, 7, "a", f"{fox}140"),
        (4, 7, "a", f"{fox}139"),
        (3, 7, "b", f"{fox}1"),
        (2, 8, "a", "x"),
        (1, 8, "a", "y"),
    ]
    assert joined(rows) == ({5: "Firefox/Linux", 3: "Firefox/Linux", 2: ""}, [4, 1])


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
        ("2001:db8:1:2::5", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::5", "2001:db8:1:3::5", False),
    ],
)
def test_a_household_is_one_network(one: str, other: str, together: bool) -> None:
    ana, ben = account("Ana"), account("Ben")
    came(ana, one)
    came(ben, other)
    assert neighbours(ana) == (["Ben"] if together else [])
    assert neighbours(ben) == (["Ana"] if together else [])


def test_visits_are_forgotten_in_time() -> None:
    ana, ben = account("Ana"), account("Ben")
    came(ana, "192.0.2.7")
    came(ben, "192.0.2.7")
    Visit.objects.filter(player=ben).update(at=F("at") - timedelta(days=89))
    assert visits.forget_old() == 0 and neighbours(ana) == ["Ben"]
    Visit.objects.filter(player=ben).update(at=F("at") - timedelta(days=2))
    assert visits.forget_old() == 1 and neighbours(ana) == []


def test_they_go_with_the_account_and_with_the_guest() -> None:
    ana, guest = account("Ana"), Player.objects.create(username="guest-1", is_guest=True)
    came(ana, "192.0.2.7")
    came(guest, "192.0.2.7")
    visits.signed_in_as(guest.pk, ana.pk)
    assert [one.same_browser for one in visits.neighbours(ana.pk, guests=True)] == [True]
    services.close_account(ana.pk)
    assert Visit.objects.get().account is None
    guest.delete()
    assert not Visit.objects.exists()


def test_ones_own_data_names_them() -> None:
    ana = account("Ana")
    came(ana, "192.0.2.7")
    sheet = export.visited(ana)
    assert [row[1:] for row in map(list, sheet.rows)] == [["192.0.2.7", "Firefox on Linux"]]
