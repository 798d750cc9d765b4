"""Accounts: signing up and in, and the addresses that belong to them."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.conf import settings
from django.core import mail
from django.test import Client
from django.utils import timezone

from players.models import Player
from players.selectors import stamp_of
from rooms import selectors, tasks
from rooms.models import Seat
from tests.players.accounts import (
    PASSWORD,
    account,
    browser,
    guest,
    session_key,
    sign_in,
    sign_up,
    signed_in,
    text,
    whose,
)
from tests.rooms import stage
from wallet import services as wallet

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


# -- up and in ---------------------------------------------------------------------------------------------------


def test_a_visitor_signs_up_and_is_signed_in() -> None:
    client = browser()
    assert sign_up(client, "Ana Maria", "Me@X.org").status_code == 302
    player = Player.objects.get()
    assert whose(client) == player and not player.is_guest
    assert (player.shown_name, player.username, player.email) == ("Ana Maria", "ana maria", "me@x.org")
    assert EmailAddress.objects.get().email == "me@x.org"
    assert "Ana Maria" in text(client.get("/"))


@pytest.mark.parametrize("login", ["ana", "ANA", " Ana ", "ＡＮＡ", "ana@play.example", "ANA@Play.Example"])
def test_signing_in_by_name_or_address_in_any_form(login: str) -> None:
    ana = account()
    client = browser()
    assert sign_in(client, login).status_code == 302
    assert whose(client) == ana


def test_a_wrong_password_and_an_unknown_account_look_alike() -> None:
    account()
    answers = [sign_in(browser(), login, "wrong") for login in ("ana", "nobody", "ana@play.example", "no@play.example")]
    said = {text(answer).split('role="alert">')[1].split("<")[0] for answer in answers}
    assert said == {"That name or address and that password do not belong together."}
    assert {answer.status_code for answer in answers} == {200}


@pytest.mark.parametrize("name", ["Admin", "ADMIN", " admin", "\u0410dmin", "ad\u200dmin", "<b>x</b>", "=HYPERLINK()"])
def test_names_of_the_house_are_refused_beside_the_field(name: str) -> None:
    answer = sign_up(browser(), name, "me@x.org")
    assert answer.status_code == 200 and not Player.objects.exists()
    assert 'aria-invalid="true"' in text(answer) and 'id="id_username_error"' in text(answer)
    assert "<b>x</b>" not in text(answer)


@pytest.mark.parametrize("name", ["ANA", "a na", "Аna".replace("А", "Α")])
def test_a_name_that_looks_like_one_that_is_taken_is_refused(name: str) -> None:
    account("Ana")
    sign_up(browser(), name, "other@x.org")
    assert Player.objects.count() == 1


@pytest.mark.parametrize("name", ["გიორგი", "عبد الرحمن", "สมชาย"])
def test_honest_names_sign_up_and_in(name: str) -> None:
    sign_up(browser(), name, "me@x.org")
    client = browser()
    sign_in(client, name)
    player = whose(client)
    assert player is not None and player.shown_name == name


def test_signing_out_is_a_post_and_ends_the_session() -> None:
    client = signed_in(account())
    key = session_key(client)
    assert client.get("/accounts/logout/").status_code == 200 and whose(client) is not None
    client.post("/accounts/logout/")
    assert whose(client) is None
    identity = selectors.Identity(Player.objects.get().pk, key, stamp_of(Player.objects.get()))
    assert selectors.ended_identities({identity}) == ({identity}, set())


@pytest.mark.parametrize("page", ["", "delete/", "email/", "password/change/", "2fa/"])
def test_strangers_are_asked_to_sign_in(page: str) -> None:
    assert browser().get(f"/accounts/{page}").headers["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize("page", ["name/", "sessions/end/", "export/"])
def test_nothing_is_done_by_looking(page: str) -> None:
    assert signed_in(account()).get(f"/accounts/{page}").status_code == 405


# -- addresses ---------------------------------------------------------------------------------------------------


def test_where_addresses_must_be_confirmed_nobody_is_signed_in_before(must_confirm: None) -> None:
    client = browser()
    assert sign_up(client, "Ana").headers["Location"] == "/accounts/confirm-email/"
    assert whose(client) is None
    assert sign_in(browser(), "ana").headers["Location"] == "/accounts/confirm-email/"
    link = next(word for word in mail.outbox[0].body.split() if "/confirm-email/" in word)
    path = link.removeprefix(settings.SITE_URL)
    assert client.get(path).status_code == 200 and whose(client) is None
    client.post(path)
    assert whose(client) == Player.objects.get() and EmailAddress.objects.get().verified


@pytest.mark.parametrize("wanted", ["abc", "//evil.example", "https://evil.example/", "javascript:alert(1)", "?x"])
def test_who_is_signed_in_already_goes_to_no_strange_place(wanted: str) -> None:
    client = signed_in(account())
    for answer in (client.get("/accounts/login/", {"next": wanted}), client.post("/accounts/login/", {"next": wanted})):
        assert answer.headers["Location"] == "/accounts/"
    assert client.get("/accounts/login/", {"next": "/lobby/"}).headers["Location"] == "/lobby/"


@pytest.mark.parametrize("charset", ["undefined", "base64", "rot13", "utf-16", "idna", "latin-1", "no such"])
@pytest.mark.parametrize("path", ["/play/", "/rooms/", "/accounts/login/"])
def test_a_form_in_another_charset_makes_no_sense(path: str, charset: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.get("/accounts/login/")
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    answer = client.generic("POST", path, b"name=Bo", content_type=kind)
    assert answer.status_code == 400 and "did not make sense" in text(answer)


def test_mails_lead_to_the_site_itself(settings: Any) -> None:
    settings.SITE_URL = "https://domino.example"
    account()
    for address in ("ana@play.example", "nobody@play.example"):
        browser().post("/accounts/password/reset/", {"email": address}, headers={"Host": "localhost:4444"})
    settings.EMAIL_VERIFICATION = settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(browser(), "Bea")
    assert len(mail.outbox) == 3
    for one in mail.outbox:
        links = [word for word in one.body.split() if "://" in word]
        assert links and all(link.startswith("https://domino.example/") for link in links), one.body


def test_known_and_unknown_addresses_get_the_same_answers(must_confirm: None) -> None:
    account("Ana")
    answers: dict[str, tuple[Any, ...]] = {}
    for what, address in (("known", "ANA@play.example"), ("unknown", "new@play.example")):
        client = browser()
        up = sign_up(client, f"Zoe {what}", address)
        page = text(client.get(up.headers["Location"]))
        reset = browser().post("/accounts/password/reset/", {"email": address})
        answers[what] = (up.status_code, up.headers["Location"], page.replace(address, "").replace(address.lower(), ""))
        answers[what] += (reset.status_code, reset.headers["Location"])
    assert answers["known"] == answers["unknown"]
    assert Player.objects.count() == 2
    assert len(mail.outbox) == 4, "the one who has the address hears of it in either case"


def test_a_guest_learns_no_more_of_addresses(must_confirm: None) -> None:
    ana = account("Ana")
    pages = []
    for name, address in (("Cleo", ana.email), ("Dora", "dora@x.org")):
        client = browser()
        player = guest(client, f"Guest{name}")
        up = sign_up(client, name, address)
        own = text(client.get("/accounts/"))
        assert whose(client) == player and "not confirmed yet" in own and address in own
        pages.append((up.status_code, up.headers["Location"]))
    assert pages[0] == pages[1]
    assert Player.objects.get(shown_name="Cleo").email == "" and Player.objects.get(email=ana.email) == ana


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_confirmation_never_takes_an_address_from_its_owner(must_confirm: None, confirmed: bool) -> None:
    ana = account("Ana", confirmed=confirmed)
    client = browser()
    guest(client)
    sign_up(client, "Cleo", ana.email)
    address = EmailAddress.objects.get(user__shown_name="Cleo")
    answer = client.post(f"/accounts/confirm-email/{EmailConfirmationHMAC(address).key}/")
    assert answer.status_code < 500
    address.refresh_from_db()
    assert not address.verified and Player.objects.get(email=ana.email) == ana


def test_a_new_address_counts_once_it_is_confirmed() -> None:
    ana, bea = account(), account("Bea")
    client = signed_in(ana)
    for address in ("ana@new.example", bea.email):
        mail.outbox.clear()
        asked = client.post("/accounts/email/", {"email": address, "action_add": ""})
        if asked.status_code == 302 and "reauthenticate" in asked.headers["Location"]:
            client.post(asked.headers["Location"], {"password": PASSWORD})
        assert "style=" not in text(client.get("/accounts/email/"))
        link = next(word for sent in mail.outbox for word in sent.body.split() if "/confirm-email/" in word)
        path = link.removeprefix(settings.SITE_URL)
        assert Player.objects.get(pk=ana.pk).email != address
        client.get(path)
        client.post(path)
    assert Player.objects.get(pk=ana.pk).email == "ana@new.example"
    assert Player.objects.get(pk=bea.pk).email == "bea@play.example"
    assert sign_in(browser(), "ana@new.example").status_code == 302


def test_a_new_password_by_mail() -> None:
    ana = account()
    other = signed_in(ana)
    client = browser()
    client.post("/accounts/password/reset/", {"email": "ANA@play.example"})
    link = next(word for word in mail.outbox[0].body.split() if "/password/reset/key/" in word)
    form = client.get(link.removeprefix(settings.SITE_URL)).headers["Location"]
    assert client.get(form).status_code == 200
    client.post(form, {"password1": "a quite other one 9", "password2": "a quite other one 9"})
    assert whose(other) is None
    assert sign_in(client, "ana", "a quite other one 9").status_code == 302


def test_accounts_that_nobody_confirmed_are_forgotten(must_confirm: None, settings: Any) -> None:
    settings.UNCONFIRMED_DAYS = 7
    played = account("Played", confirmed=False)
    stage.running(played, stage.person("Cleo"))
    Seat.objects.filter(player=played).delete()
    sits = account("Sits", confirmed=False)
    stage.waiting(sits)
    coins = account("Coins", confirmed=False)
    wallet.open_account(coins.pk)
    account("Boss", confirmed=False, is_staff=True)
    account("Confirmed")
    account("Gone", confirmed=False)
    account("Gone too", confirmed=False)
    bo = browser()
    guest(bo)
    Seat.objects.filter(player=whose(bo)).delete()
    Player.objects.update(last_seen_at=timezone.now() - timedelta(days=6.9))
    assert tasks.forget_unconfirmed() == 0
    Player.objects.update(last_seen_at=timezone.now() - timedelta(days=7.1))
    # A guest of long ago who signs up now has the whole time before the account is forgotten.
    sign_up(bo, "Bo")
    settings.EMAIL_VERIFICATION = "none"
    assert tasks.forget_unconfirmed() == 0
    settings.EMAIL_VERIFICATION = "mandatory"
    assert tasks.forget_unconfirmed() == 2 and tasks.forget_unconfirmed() == 0
    left = set(Player.objects.filter(is_guest=False).values_list("shown_name", flat=True))
    assert left == {"Played", "Sits", "Coins", "Boss", "Confirmed", "Bo"}
    assert sign_up(browser(), "Gone").status_code == 302
