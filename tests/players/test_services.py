"""Guests choose a name: checked like every other, kept as it will be shown."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from players import services
from players.errors import AlreadyRegistered, NameRefused
from players.lookalikes import keys
from players.models import Player
from tests.players.test_guests import request

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_guest_is_shown_by_the_name_that_was_typed() -> None:
    guest = services.sign_in_guest(request(), name="  Ana  Maria ")
    guest.refresh_from_db()
    assert guest.shown_name == "Ana Maria" and guest.is_guest and guest.name_key == keys("anamaria")[0]


@pytest.mark.parametrize("name", ["", "  ", "\u00a0"])
def test_without_a_name_it_is_the_default(name: str) -> None:
    assert services.sign_in_guest(request(), name=name).shown_name.startswith("Guest ")


@pytest.mark.parametrize("name", ["Admin", "\u200b", "<b>x</b>", "Guest 1234", "x"])
def test_a_name_that_is_refused_makes_nobody(name: str) -> None:
    made = request()
    with pytest.raises(NameRefused):
        services.sign_in_guest(made, name=name)
    assert not Player.objects.exists() and not made.session.keys()


def test_a_guest_takes_another_name() -> None:
    guest = services.sign_in_guest(request(), name="Ana")
    services.rename_guest(guest, " Berta ")
    guest.refresh_from_db()
    assert guest.shown_name == "Berta" and guest.name_key == keys("Berta")[0]
    for name in ("Admin", "a", "Bеrta"):
        with pytest.raises(NameRefused):
            services.rename_guest(guest, name)
    guest.refresh_from_db()
    assert guest.shown_name == "Berta"


def test_registered_players_are_not_renamed_so() -> None:
    dora = Player.objects.create(username="dora")
    with pytest.raises(AlreadyRegistered):
        services.rename_guest(dora, "Berta")
    assert Player.objects.get(pk=dora.pk).shown_name == "dora"


def test_names_from_before_get_their_keys() -> None:
    """The migration's step: the first of two look-alikes keeps the name, the other gets its number behind it."""
    fill_in: Any = import_module("players.migrations.0002_names_that_look_alike").fill_in
    first = Player.objects.create(username="one", shown_name="Marta")
    second = Player.objects.create(username="two", shown_name="Berta")
    signs = Player.objects.create(username="three", shown_name="---")
    guest = Player.objects.create(username="guest-1", shown_name="Marta", is_guest=True)
    Player.objects.update(name_key="", username_key="")
    Player.objects.filter(pk=second.pk).update(shown_name="MARTA")
    fill_in(apps, connection.schema_editor(atomic=False))
    shown = dict(Player.objects.values_list("pk", "shown_name"))
    assert shown == {first.pk: "Marta", second.pk: f"MARTA {second.pk}", signs.pk: "---", guest.pk: "Marta"}
    for player in Player.objects.all():
        assert (player.name_key, player.username_key) == (keys(player.shown_name)[0], keys(player.username)[0])
    assert Player.objects.get(pk=signs.pk).name_key == ""
