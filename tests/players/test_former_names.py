"""Names that were given up: nobody else's for a while, and a few a day."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db.models import F

from players import former_names, services
from players.errors import NameRefused, TooManyNames
from players.models import FormerName, Player
from players.names import checked
from rooms import accounts, export, tasks
from tests.players.accounts import account, browser, sign_up, signed_in, text
from tests.rooms.house import staff
from tests.rooms.stage import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


def older(days: float) -> None:
    FormerName.objects.update(at=F("at") - timedelta(days=days))


def test_a_name_that_was_given_up_is_nobody_elses_for_a_while() -> None:
    ana, ben = account("Ana"), account("Ben")
    services.rename(ana, "Anouk")
    for name in ("Ana", "ANA", "A.n.a"):
        with pytest.raises(NameRefused):
            services.rename(ben, name)
    with pytest.raises(NameRefused, match="taken"):
        checked("Ana")
    assert "taken" in text(sign_up(browser(), "Ana", "new@play.example"))
    older(29.9)
    with pytest.raises(NameRefused, match="taken"):
        checked("Ana", player=ben)
    services.rename(ana, "Ana")
    with pytest.raises(NameRefused, match="taken"):
        checked("Anouk", player=ben)
    services.rename(ana, "Anja")
    older(30.1)
    services.rename(ben, "Ana")
    assert Player.objects.get(username="ana") == ben


def test_of_a_closed_account_no_name_is_left_and_nobody_takes_it() -> None:
    ana = account("Ana")
    services.rename(ana, "Anouk")
    accounts.close(ana.pk)
    for name in ("Ana", "Anouk", "anOuk"):
        with pytest.raises(NameRefused, match="taken"):
            checked(name)
    rows = list(FormerName.objects.values("name", "look"))
    assert [row["name"] for row in rows] == ["", ""] and not any("an" in row["look"] for row in rows)
    assert former_names.of_player(ana.pk) == []
    older(29.9)
    assert tasks.forget_old_visits() == 0
    older(0.2)
    assert checked("Ana") == "Ana"
    assert tasks.forget_old_visits() == 2 and not FormerName.objects.exists()


def test_they_hold_under_a_new_secret_key(settings: Any) -> None:
    ana = account("Ana")
    services.rename(ana, "Anouk")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 10
    with pytest.raises(NameRefused, match="taken"):
        checked("Ana")


def test_five_names_a_day(settings: Any) -> None:
    settings.NAMES_A_DAY = 2
    client = signed_in(account("Ana"))
    statuses = [
        client.post("/accounts/name/", {"name": name}).status_code for name in ("Anja", "Admin", "Anja", "Anouk")
    ]
    assert statuses == [302, 400, 302, 302], "what changes nothing does not count"
    answer = client.post("/accounts/name/", {"name": "Anke"})
    assert answer.status_code == 429 and "tomorrow" in text(answer)
    assert Player.objects.get().shown_name == "Anouk"
    older(1)
    assert client.post("/accounts/name/", {"name": "Anke"}).status_code == 302


def test_parallel_changes_are_no_way_around(settings: Any) -> None:
    settings.NAMES_A_DAY = 3
    ana = account("Ana")
    names = [f"Ana {letter}" for letter in "bcdefghi"]
    done = at_once([partial(services.rename, Player.objects.get(pk=ana.pk), name) for name in names])
    assert sum(isinstance(one, TooManyNames) for one in done) == 5 and FormerName.objects.count() == 3


def test_the_owner_and_staff_see_them() -> None:
    ana = account("Ana")
    services.rename(ana, "Anouk")
    services.rename(ana, "Anja")
    assert [row[1] for row in export.names(ana).rows] == ["Anouk", "Ana"]
    page = text(staff("support").get(f"/admin/house/players/{ana.pk}/"))
    assert "Names of before" in page and page.index("Anouk, until") < page.index("Ana, until")
    accounts.close(ana.pk)
    assert "Names of before" not in text(staff("moderator").get(f"/admin/house/players/{ana.pk}/"))


def test_names_of_signs_alone_are_kept_for_nobody() -> None:
    ana = account("Ana")
    Player.objects.filter(pk=ana.pk).update(shown_name="---")
    services.rename(ana, "Anouk")
    assert FormerName.objects.get().look == ""
    assert not former_names.is_kept("---", None)


def test_a_second_click_does_not_bring_the_old_name_back() -> None:
    ana = account("Ana")
    first, second = Player.objects.get(pk=ana.pk), Player.objects.get(pk=ana.pk)
    for click in (first, second):
        services.rename(click, "Anouk")
        assert (click.shown_name, click.username) == ("Anouk", "anouk")
