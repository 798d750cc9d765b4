"""Accounts under attack: parallel sign-ups, guessed passwords, a limit without its cache."""

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Lock
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core import mail
from django.db import connection
from django.http import HttpRequest

from players.adapter import AccountAdapter
from players.models import Player
from tests.players.accounts import PASSWORD, account, browser, sign_in, sign_up, text, whose
from tests.rooms.stage import at_once

pytestmark = pytest.mark.django_db(transaction=True)
TRIES = 10


class Hashes:
    """How many passwords were hashed; each in an instant."""

    def __init__(self) -> None:
        self.count, self.lock = 0, Lock()


@pytest.fixture(autouse=True)
def hashes(monkeypatch: pytest.MonkeyPatch) -> Hashes:
    counted = Hashes()
    encode = PBKDF2PasswordHasher.encode

    def counting(self: Any, password: str, salt: str, iterations: int | None = None) -> str:
        with counted.lock:
            counted.count += 1
        return encode(self, password, salt, iterations)

    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", 1)
    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", counting)
    return counted


def all_have_looked(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Nobody stores a sign-up before all have found name and address free."""
    barrier, store = Barrier(count), AccountAdapter.new_user

    def wait(self: AccountAdapter, request: HttpRequest) -> Player:
        barrier.wait(20)
        return store(self, request)

    monkeypatch.setattr(AccountAdapter, "new_user", wait)


@pytest.mark.parametrize("verification", ["mandatory", "none"])
def test_ten_sign_ups_with_one_address_are_one_account(
    settings: Any, monkeypatch: pytest.MonkeyPatch, verification: str
) -> None:
    settings.EMAIL_VERIFICATION = settings.ACCOUNT_EMAIL_VERIFICATION = verification
    all_have_looked(monkeypatch, TRIES)
    names = ["Ana", "Bea", "Cleo", "Dora", "Ella", "Fritz", "Gina", "Hugo", "Ida", "Jan"]
    answers: list[Any] = at_once(
        [partial(sign_up, browser(), names[i], ("Me@x.org", "me@x.org")[i % 2]) for i in range(TRIES)]
    )
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert Player.objects.get().email == "me@x.org" and EmailAddress.objects.count() == 1
    statuses = sorted(answer.status_code for answer in answers)
    if verification == "mandatory":
        assert {(answer.status_code, answer.headers["Location"]) for answer in answers} == {
            (302, "/accounts/confirm-email/")
        }
        assert {message.to[0] for message in mail.outbox} == {"me@x.org"}
    else:
        assert statuses == [200] * (TRIES - 1) + [302]
        refused = next(answer for answer in answers if answer.status_code == 200)
        assert 'id="id_email_error"' in text(refused)


def test_ten_sign_ups_with_names_that_look_alike_are_one_account(monkeypatch: pytest.MonkeyPatch) -> None:
    all_have_looked(monkeypatch, 4)
    names = ["Marta", "marta", "M a r t a", "Rnarta"]
    answers: list[Any] = at_once([partial(sign_up, browser(), names[i], f"m{i}@x.org") for i in range(4)])
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 302]
    assert all('id="id_username_error"' in text(answer) for answer in answers if answer.status_code == 200)
    assert Player.objects.count() == 1


def test_an_address_that_is_known_costs_as_much_as_one_that_is_not(settings: Any, hashes: Hashes) -> None:
    settings.EMAIL_VERIFICATION = settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    account()
    cost = []
    for name, address in (("Bea", "ana@play.example"), ("Cleo", "cleo@play.example")):
        hashes.count = 0
        sign_up(browser(), name, address)
        cost.append(hashes.count)
    assert cost == [1, 1]
    cost = []
    for login in ("ana", "nobody", "ana@play.example", "nobody@play.example"):
        hashes.count = 0
        sign_in(browser(), login, "wrong")
        cost.append(hashes.count)
    assert cost == [1, 1, 1, 1]


@pytest.fixture
def slow_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between reading the count and writing it there is time for another try."""
    apply = ratelimit.apply_rate

    def slowly(*arguments: Any, **more: Any) -> Any:
        time.sleep(0.01)
        return apply(*arguments, **more)

    monkeypatch.setattr(ratelimit, "apply_rate", slowly)


def guess_a_hundred_times() -> list[tuple[int, str]]:
    """Status and page of a hundred wrong passwords for Ana, eight at a time, by all her names."""
    spellings = ["ana", "ANA", "ana@play.example", "Ana@PLAY.example", "ＡＮＡ"]

    def guess(number: int) -> tuple[int, str]:
        try:
            answer = sign_in(browser(), spellings[number % 5], f"guess {number}")
            return answer.status_code, text(answer)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(guess, range(100)))


def test_of_a_hundred_wrong_passwords_five_are_looked_at(hashes: Hashes, slow_counting: None) -> None:
    ana = account()
    hashes.count = 0
    answers = guess_a_hundred_times()
    # Those that could not even be counted within a second are refused, too.
    assert {status for status, _page in answers} <= {200, 429}
    assert 1 <= hashes.count <= 5
    assert sum("Too many tries" in page for _status, page in answers) >= 95
    hashes.count = 0
    client = browser()
    sign_in(client, "ana", PASSWORD)
    assert whose(client) is None and hashes.count == 0, "the right one is not looked at either"
    assert Player.objects.get() == ana
    other = account("Bea")
    fresh = browser()
    sign_in(fresh, "bea")
    assert whose(fresh) == other, "nobody else is locked out"


def test_without_its_lock_the_count_would_let_more_through(
    hashes: Hashes, slow_counting: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the test above."""
    monkeypatch.setattr(ratelimit, "cache_lock", lambda _key: contextlib.nullcontext(True))
    account()
    hashes.count = 0
    guess_a_hundred_times()
    assert hashes.count > 5


def test_unknown_accounts_are_limited_alike() -> None:
    pages = [text(sign_in(browser(), "nobody", "wrong")) for _i in range(6)]
    assert ["Too many tries" in page for page in pages] == [False] * 5 + [True]


def test_an_address_signs_up_five_times_an_hour_and_slips_do_not_count(settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "sign_up": "5/h/ip"}
    for _i in range(7):
        assert sign_up(browser(), "Admin", "a@x.org").status_code == 200
    names = ["Ana", "Bea", "Cleo", "Dora", "Ella", "Fritz"]
    statuses = [sign_up(browser(), name).status_code for name in names]
    assert statuses == [302] * 5 + [429] and Player.objects.count() == 5


def test_a_new_password_is_asked_for_five_times_an_hour(settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "reset_password": "5/h/key"}
    account()
    for address in ("ana@play.example", "nobody@play.example"):
        statuses = [
            browser().post("/accounts/password/reset/", {"email": spelling}).status_code
            for spelling in [address, address.upper(), f" {address}"] * 2
        ]
        assert statuses == [302] * 5 + [429], address


def test_sign_ins_are_counted_for_an_address(settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login": "30/m/ip"}
    statuses = [sign_in(browser(), f"nobody{number}", "x").status_code for number in range(31)]
    assert statuses == [200] * 30 + [429]


def test_nobody_gets_in_while_tries_cannot_be_counted(settings: Any) -> None:
    account()
    nowhere = {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": nowhere}
    client = browser()
    assert client.get("/accounts/login/").status_code == 200
    assert sign_in(client, "ana").status_code == 503 and whose(client) is None
    assert sign_up(client, "Bea").status_code == 503 and Player.objects.count() == 1
