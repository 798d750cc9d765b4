"""What the next page says of what was done: a match given up, a fee that came back, an account that is new."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client, override_settings

from players.models import Player
from rooms import accounts
from rooms.models import Room
from tests.players.accounts import PASSWORD, account, browser
from tests.rooms import stage
from tests.rooms.gold import begun, paid, rich

pytestmark = pytest.mark.django_db(transaction=True)
FORM = {"username": "Ana", "email": "ana@play.example", "password1": "seven dry dominoes"}
OPEN = {"EMAIL_VERIFICATION": "none", "ACCOUNT_EMAIL_VERIFICATION": "none"}
CONFIRMED = {"EMAIL_VERIFICATION": "mandatory", "ACCOUNT_EMAIL_VERIFICATION": "mandatory"}


def client_of(player: Player) -> Client:
    client = Client()
    client.force_login(player, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client


def told(answer: Any) -> list[str]:
    """The messages of the page where this answer ends."""
    return [str(message) for message in answer.context["messages"]]


def leave(room: Room, player: Player, what: str = "match") -> list[str]:
    return told(client_of(player).post(f"/tables/{room.code}/leave/", {"gives_up": what}, follow=True))


# -- leaving -------------------------------------------------------------------------------------------------------


def test_who_gives_up_a_match_among_people_is_told_so() -> None:
    ana, ben = stage.people("Ana", "Ben")
    assert leave(stage.running(ana, ben), ben) == ["You gave the match up: a bot plays your seat to the end."]


def test_the_fee_of_who_gives_up_is_told_to_stay_in_the_pot() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    [line] = leave(begun(paid(300, ana, ben)), ben)
    assert line.endswith("a bot plays your seat to the end. Your fee of 300 gold stays in the pot.")


def test_the_last_one_to_give_up_ends_the_match() -> None:
    ana = rich("Ana")
    [line] = leave(begun(paid(300, ana)), ana)
    assert "Nobody was left to play it" in line and line.endswith("Your fee of 300 gold is not given back.")


def test_a_solo_match_that_is_given_up_ends_without_a_result() -> None:
    ana = stage.person("Ana")
    assert leave(stage.begun(ana), ana) == ["You gave the match up: it ends without a result."]


@pytest.mark.parametrize(("fee", "lines"), [(0, []), (300, ["Your fee of 300 gold came back to you."])])
def test_leaving_a_waiting_room_gives_nothing_up(fee: int, lines: list[str]) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(fee, ana, ben) if fee else stage.waiting(ana, ben)
    assert leave(room, ben, "seat") == lines


def test_giving_a_match_up_for_another_room_is_told_at_the_new_table() -> None:
    ana, ben, cara = stage.people("Ana", "Ben", "Cara")
    room, other = stage.running(ana, ben), stage.waiting(cara)
    fields = {"code": other.code, "give_up": f"{room.code}-match"}
    answer = client_of(ben).post("/join/", fields, follow=True)
    assert answer.redirect_chain[-1][0] == f"/tables/{other.code}/"
    assert 'class="landed" id="landed" role="status"' in answer.content.decode()
    assert told(answer) == ["You gave the match up: a bot plays your seat to the end."]


def test_who_gives_nothing_up_is_told_nothing() -> None:
    ben, cara = stage.people("Ben", "Cara")
    answer = client_of(ben).post("/join/", {"code": stage.waiting(cara).code}, follow=True)
    assert told(answer) == [] and 'id="landed"' not in answer.content.decode()


# -- a new account -------------------------------------------------------------------------------------------------


@override_settings(**OPEN)
def test_a_new_account_is_welcomed_with_its_gold() -> None:
    answer = browser().post("/accounts/signup/", FORM, follow=True)
    assert told(answer) == ["Welcome, Ana. 5000 gold are yours."]


@override_settings(**OPEN)
def test_a_mailbox_that_has_had_its_gold_is_welcomed_without() -> None:
    browser().post("/accounts/signup/", FORM)
    accounts.close(Player.objects.get(username="ana").pk)
    answer = browser().post("/accounts/signup/", {**FORM, "username": "Anabel"}, follow=True)
    assert told(answer) == ["Welcome, Anabel."]


@override_settings(**CONFIRMED)
def test_an_address_that_must_be_confirmed_brings_the_gold_with_it_and_says_so_then() -> None:
    visitor = browser()
    answer = visitor.post("/accounts/signup/", FORM, follow=True)
    owner = account("Bo").email
    known = browser().post("/accounts/signup/", {**FORM, "username": "Else", "email": owner}, follow=True)
    # Nobody learns here who has an account.
    assert [line.replace(FORM["email"], owner) for line in told(answer)] == told(known)
    assert not any("Welcome" in line for line in told(answer))
    key = EmailConfirmationHMAC(EmailAddress.objects.get(user__username="ana")).key
    confirmed = visitor.post(f"/accounts/confirm-email/{key}/", follow=True)
    assert "Welcome, Ana. 5000 gold are yours." in told(confirmed)


@override_settings(**CONFIRMED)
def test_a_guest_who_must_confirm_is_welcomed_without_a_sum() -> None:
    client = client_of(stage.person("Gus"))
    answer = client.post("/accounts/signup/", {**FORM, "username": "Gus"}, follow=True)
    assert [line for line in told(answer) if "Welcome" in line] == ["Welcome, Gus."]


# -- small things --------------------------------------------------------------------------------------------------


def test_a_changed_password_leads_to_the_account_and_says_so() -> None:
    client, new = client_of(account("Ana")), "another nine dominoes"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    answer = client.post("/accounts/password/change/", form, follow=True)
    assert answer.redirect_chain[-1][0] == "/accounts/"
    assert told(answer) == ["Your password is changed. Other devices have to sign in anew."]


def test_the_icon_is_found_where_browsers_look_for_it(client: Client) -> None:
    answer = client.get("/favicon.ico")
    assert answer.status_code == 302 and answer["Location"].endswith("img/favicon.svg")
    assert "max-age" in answer["Cache-Control"] and finders.find("img/favicon.svg")
