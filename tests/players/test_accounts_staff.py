"""Staff: nothing without a second step, signed out when idle; and the second step for everybody."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    SECRET_SESSION_KEY,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from cryptography.fernet import InvalidToken
from django.db import OperationalError
from django.test import Client

from players import doors, keys, services
from players.models import Player
from tests.players.accounts import PASSWORD, account, browser, second_step, sign_in, signed_in, text, whose

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


def boss() -> Player:
    return account("Boss", is_staff=True, is_superuser=True)


def code(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time())))))


def set_up(client: Client) -> str:
    """Walk through the set-up page; the secret of the app."""
    page = client.get("/accounts/2fa/totp/activate/")
    if page.status_code == 302:
        assert page.headers["Location"].startswith("/accounts/reauthenticate/")
        client.post(page.headers["Location"], {"password": PASSWORD})
        page = client.get("/accounts/2fa/totp/activate/")
    assert page.status_code == 200
    secret = str(client.session[SECRET_SESSION_KEY])
    assert client.post("/accounts/2fa/totp/activate/", {"code": code(secret)}).status_code == 302
    return secret


PAGES = ["/", "/lobby/", "/admin/", "/admin/players/", "/accounts/", "/accounts/2fa/", "/rules/", "/accounts/export/"]


@pytest.mark.parametrize("page", PAGES)
def test_staff_without_a_second_step_reach_the_set_up_alone(page: str) -> None:
    client = signed_in(boss())
    answers = client.get(page), client.post(page)
    assert {answer.headers.get("Location") for answer in answers} == {"/accounts/2fa/totp/activate/"}


@pytest.mark.parametrize("page", PAGES)
def test_a_door_that_cannot_look_lets_nobody_pass(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_player: Player) -> bool:
        raise OperationalError("the pool has no connection")

    client = signed_in(boss())
    monkeypatch.setattr(doors, "is_mfa_enabled", away)
    answer = client.get(page)
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "2"


def test_staff_set_up_the_second_step_and_get_in() -> None:
    client = signed_in(boss())
    set_up(client)
    assert client.get("/admin/").status_code == 200 and client.get("/").status_code == 200
    assert Authenticator.objects.filter(type="recovery_codes").exists()
    deactivate = client.post("/accounts/2fa/totp/deactivate/")
    assert Authenticator.objects.filter(type="totp").exists(), deactivate.content


def test_signing_in_asks_staff_for_the_second_step() -> None:
    second_step(boss())
    client = browser()
    assert sign_in(client, "boss").headers["Location"] == "/accounts/2fa/authenticate/"
    assert whose(client) is None and client.get("/admin/").status_code == 302
    for _i in range(3):
        assert client.post("/accounts/2fa/authenticate/", {"code": "000000"}).status_code == 200
    codes = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()
    client.post("/accounts/2fa/authenticate/", {"code": codes[0]})
    assert client.get("/admin/").status_code == 200


def test_guessed_codes_are_limited() -> None:
    second_step(boss())
    client = browser()
    sign_in(client, "boss")
    said = [text(client.post("/accounts/2fa/authenticate/", {"code": "000000"})) for _i in range(7)]
    assert "Too many tries" in said[-1] and "Too many tries" not in said[0]


def test_the_admin_has_no_form_of_its_own() -> None:
    second_step(boss())
    client = browser()
    to = client.get("/admin/").headers["Location"]
    assert client.get(to).headers["Location"].startswith("/accounts/login/")
    answer = client.post("/admin/login/", {"username": "boss", "password": PASSWORD})
    assert answer.headers["Location"].startswith("/accounts/login/") and whose(client) is None


def test_others_see_no_admin() -> None:
    assert browser().get("/admin/players/").status_code == 302
    client = signed_in(account())
    assert client.get("/admin/", follow=True).status_code == 403


def test_idle_staff_are_signed_out(settings: Any) -> None:
    client = signed_in(boss())
    set_up(client)
    session = client.session
    session["staff_seen_at"] -= settings.STAFF_IDLE_SECONDS + 60
    session.save()
    assert client.get("/admin/").headers["Location"] == "/accounts/login/"
    assert whose(client) is None
    # A sign of life within the time keeps one in.
    ana = signed_in(account())
    assert "staff_seen_at" not in ana.session


def test_a_second_step_is_for_everybody_and_ends_other_sessions() -> None:
    ana = account()
    here, there = signed_in(ana), signed_in(ana)
    secret = set_up(here)
    assert whose(here) == ana and whose(there) is None
    assert sign_in(there, "ana").headers["Location"] == "/accounts/2fa/authenticate/"
    assert secret and here.get("/accounts/2fa/recovery-codes/").status_code == 200
    assert here.post("/accounts/2fa/totp/deactivate/").status_code == 302
    assert not Authenticator.objects.filter(type="totp").exists()


def test_an_unconfirmed_address_takes_no_second_step(settings: Any) -> None:
    client = signed_in(account(confirmed=False))
    settings.EMAIL_VERIFICATION = "mandatory"
    assert client.get("/accounts/2fa/totp/activate/").headers["Location"] == "/accounts/email/"
    assert client.get("/accounts/email/").status_code == 200


def test_secrets_of_the_second_step_are_not_stored_in_the_clear_and_outlive_a_new_key(settings: Any) -> None:
    ana = account("Ana")
    secret = set_up(signed_in(ana))
    stored = " ".join(str(data) for data in Authenticator.objects.values_list("data", flat=True))
    assert secret not in stored and "fernet:" in stored
    assert keys.decrypt("stored before") == "stored before"
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new key " * 6, [settings.SECRET_KEY]
    assert keys.decrypt(Authenticator.objects.get(type="totp").data["secret"]) == secret
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(InvalidToken):
        keys.decrypt(Authenticator.objects.get(type="totp").data["secret"])


def test_an_address_that_had_its_bonus_is_known_under_a_new_key(settings: Any) -> None:
    assert services.first_use_of("Ana@play.example") and not services.first_use_of("ana@play.example ")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new key " * 6, [settings.SECRET_KEY]
    assert not services.first_use_of("ana@play.example")
    assert services.first_use_of("ben@play.example") and not services.first_use_of("ben@play.example")


def test_the_admin_has_no_form_of_its_own_for_a_new_password() -> None:
    """Ours counts wrong passwords, and the owner gets a mail."""
    ana = boss()
    client = signed_in(ana)
    set_up(client)
    ours = "/accounts/password/change/"
    new = {"old_password": PASSWORD, "new_password1": "zz top 991 aa", "new_password2": "zz top 991 aa"}
    for answer in (client.get("/admin/password_change/"), client.post("/admin/password_change/", new)):
        assert answer.status_code == 302 and answer.headers["Location"] == ours
    assert client.get("/admin/password_change/done/").headers["Location"] == ours
    wrong = {"oldpassword": "wrong", "password1": "zz top 991 aa", "password2": "zz top 991 aa"}
    statuses = [client.post(ours, wrong).status_code for _i in range(7)]
    assert statuses[0] == 200 and statuses[-1] == 429
    assert Player.objects.get(pk=ana.pk).check_password(PASSWORD)
