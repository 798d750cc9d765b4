"""What the next page says of what was done."""

from typing import Any

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from players.models import Player
from tests.players.accounts import PASSWORD, account

pytestmark = pytest.mark.django_db(transaction=True)


def client_of(player: Player) -> Client:
    client = Client()
    client.force_login(player, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client


def told(answer: Any) -> list[str]:
    """The messages of the page where this answer ends."""
    return [str(message) for message in answer.context["messages"]]


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
