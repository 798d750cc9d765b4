"""Guests: made by a POST alone, known by their session, forgotten when they stay away."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.conf import settings
from django.contrib.auth import get_user
from django.db import IntegrityError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.utils import timezone

from games.models import MatchSeat
from players import services
from players.models import Player
from tests.games import matches

pytestmark = pytest.mark.django_db(transaction=True)


def request(method: str = "POST") -> HttpRequest:
    made = RequestFactory().generic(method, "/play/")
    made.session = import_module(settings.SESSION_ENGINE).SessionStore()
    return made


def idle(name: str, days: float) -> Player:
    player = matches.person(name)
    Player.objects.filter(pk=player.pk).update(last_seen_at=timezone.now() - timedelta(days=days))
    return player


def forget(excluding: tuple[int, ...] = ()) -> int:
    return services.forget_idle_guests(timezone.now() - timedelta(days=30), excluding=excluding)


def test_a_post_makes_a_guest_who_is_signed_in() -> None:
    made = request()
    guest = services.sign_in_guest(made)
    assert guest.is_guest and not guest.has_usable_password() and guest.email == ""
    assert guest.shown_name.startswith("Guest ") and guest.shown_name[6:].isdigit() and len(guest.shown_name) == 10
    assert get_user(made) == guest


def test_the_session_key_is_a_new_one() -> None:
    made = request()
    made.session["seen"] = "before"
    made.session.save()
    before = made.session.session_key
    services.sign_in_guest(made)
    assert made.session.session_key != before


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_looking_makes_nobody(method: str) -> None:
    with pytest.raises(ValueError, match=method):
        services.sign_in_guest(request(method))
    assert not Player.objects.exists()


@pytest.mark.parametrize("path", ["/", "/rules/", "/play/", "/matches/1/", "/tables/K7Q2M9XA/", "/healthz"])
def test_no_page_makes_a_guest(path: str) -> None:
    client = Client()
    client.get(path)
    assert not Player.objects.exists() and settings.SESSION_COOKIE_NAME not in client.cookies


def test_many_guests_never_collide() -> None:
    guests = [services.sign_in_guest(request()) for _i in range(60)]
    assert len({guest.pk for guest in guests}) == 60


def test_a_user_name_is_taken_in_any_case() -> None:
    Player.objects.create(username="Ana")
    with pytest.raises(IntegrityError):
        Player.objects.create(username="aNA")


def test_a_player_is_shown_by_the_user_name_unless_told_otherwise() -> None:
    assert Player.objects.create(username="dora").shown_name == "dora"
    assert str(Player.objects.create(username="ed", shown_name="Ed")) == "Ed"


def test_idle_guests_are_forgotten_and_others_are_not() -> None:
    old, new = idle("Old", 31), idle("New", 29)
    registered = idle("Registered", 400)
    Player.objects.filter(pk=registered.pk).update(is_guest=False)
    assert forget() == 1
    assert set(Player.objects.values_list("pk", flat=True)) == {new.pk, registered.pk}
    assert not Player.objects.filter(pk=old.pk).exists() and forget() == 0


def test_those_who_sit_somewhere_stay() -> None:
    old = idle("Old", 31)
    assert forget(excluding=(old.pk,)) == 0
    assert Player.objects.filter(pk=old.pk).exists()


def test_results_keep_the_name_of_a_forgotten_guest() -> None:
    old = matches.person("Old")
    match_id = matches.begun(old).match_id
    matches.played_out(match_id)
    Player.objects.filter(pk=old.pk).update(last_seen_at=timezone.now() - timedelta(days=31))
    assert forget() == 1
    seat = MatchSeat.objects.get(match_id=match_id, number=0)
    assert (seat.player_id, seat.name) == (None, "Old")


def test_playing_is_being_seen() -> None:
    old = idle("Old", 31)
    matches.opened(old)
    assert forget() == 0


def test_being_seen_is_noted_every_five_minutes_at_most() -> None:
    ana = matches.person("Ana")
    first = Player.objects.get(pk=ana.pk).last_seen_at
    services.touch(ana.pk)
    assert Player.objects.get(pk=ana.pk).last_seen_at == first
    Player.objects.filter(pk=ana.pk).update(last_seen_at=first - timedelta(minutes=6))
    services.touch(ana.pk)
    assert Player.objects.get(pk=ana.pk).last_seen_at >= first
