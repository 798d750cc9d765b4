"""Where accounts and coins meet: the welcome bonus, the end of an account, one's own data."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.db import OperationalError
from django.test import override_settings

from players.models import Player, UsedAddress
from rooms import accounts, closing, export, seating, tasks
from rooms.errors import NotEnough, RoomError, TooMany
from rooms.models import Room, Seat
from tests.players.accounts import account, browser
from tests.rooms import stage
from tests.rooms.gold import begun, paid, rich
from wallet import selectors as wallet
from wallet.models import Transaction

pytestmark = pytest.mark.django_db(transaction=True)

FORM = {"username": "Ana", "email": "Ana@play.example", "password1": "seven dry dominoes"}


def sign_up(**changes: str) -> None:
    browser().post("/accounts/signup/", {**FORM, "password2": FORM["password1"], **changes})


@override_settings(EMAIL_VERIFICATION="none", ACCOUNT_EMAIL_VERIFICATION="none")
def test_the_bonus_comes_with_the_account_and_once_for_an_address() -> None:
    sign_up()
    ana = Player.objects.get(username="ana")
    assert wallet.balance(ana.pk) == 5000
    accounts.close(ana.pk)
    assert wallet.balance(ana.pk) == 0 and wallet.held("house:closed") == 5000
    sign_up(username="Anabel", email="ANA@play.example")
    again = Player.objects.get(username="anabel")
    assert wallet.balance(again.pk) == 0
    assert Transaction.objects.filter(kind="welcome").count() == 1
    assert sum(wallet.totals().values()) == 0


@override_settings(EMAIL_VERIFICATION="none", ACCOUNT_EMAIL_VERIFICATION="none")
def test_ten_sign_ups_at_once_bring_one_bonus() -> None:
    stage.at_once([partial(sign_up, email=one) for one in ["Me@play.example", "me@play.example"] * 5])
    assert Player.objects.filter(is_guest=False).count() == 1
    assert Transaction.objects.filter(kind="welcome").count() == 1


@pytest.mark.parametrize("has_begun", [False, True])
def test_the_end_of_an_account_leaves_its_table_first(has_begun: bool) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana, ben)
    if has_begun:
        room = begun(room)
    accounts.close(ben.pk)
    assert not Seat.objects.filter(player=ben).exists()
    assert wallet.held("house:closed") == (4700 if has_begun else 5000)
    assert wallet.held(f"room:{room.pk}") == (600 if has_begun else 300)
    with pytest.raises((NotEnough, RoomError)):
        seating.sit(Player.objects.get(pk=ben.pk), paid(10, rich("Cleo")).pk, agreed_fee=10)
    if has_begun:
        stage.play_to_the_end(room)
        assert wallet.balance(ana.pk) == 5300
    assert sum(wallet.totals().values()) == 0


def test_closing_against_sitting_down_loses_no_coin() -> None:
    hosts = rich("Host")
    room = paid(100, hosts)
    for number in range(8):
        ben = rich(f"Ben {number}")
        clicks: list[Callable[[], object]] = [
            partial(accounts.close, ben.pk),
            partial(seating.sit, ben, room.pk, agreed_fee=100),
        ]
        stage.at_once(clicks)
        held = wallet.held(f"room:{room.pk}")
        seats = Seat.objects.filter(room=room, paid=100).count()
        assert held == 100 * seats
        if Seat.objects.filter(player=ben).exists():
            closing.leave(room.pk, ben.pk)
        assert sum(wallet.totals().values()) == 0
    assert Room.objects.get(pk=room.pk).status == "waiting"


def test_sitting_and_leaving_is_bounded_where_it_costs() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(10, ana)
    with override_settings(PAID_SEATS_IN_TEN_MINUTES=3):
        for _i in range(3):
            seating.sit(ben, room.pk, agreed_fee=10)
            closing.leave(room.pk, ben.pk)
        with pytest.raises(TooMany):
            seating.sit(ben, room.pk, agreed_fee=10)
    assert wallet.balance(ben.pk) == 5000


def test_ones_own_data_has_every_coin() -> None:
    ana = account("Ana")
    accounts.welcome(ana, ana.email)
    paid(300, ana)
    sheet = export.gold(ana)
    assert [(row[1], row[3], row[4]) for row in sheet.rows] == [("welcome", 5000, 5000), ("fee", -300, 4700)]
    assert "gold" in {make(ana).name for make in export.SHEETS}


def link_of(address: EmailAddress) -> str:
    return f"/accounts/confirm-email/{EmailConfirmationHMAC(address).key}/"


def test_a_confirmation_without_its_bonus_is_none(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMAIL_VERIFICATION = settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    ana = account("Ana", confirmed=False)
    address = EmailAddress.objects.get(user=ana)

    def late(player_id: int) -> None:
        raise OperationalError("canceling statement due to lock timeout")

    with monkeypatch.context() as now:
        now.setattr("wallet.services.welcome", late)
        assert browser().post(link_of(address)).status_code == 503
    address.refresh_from_db()
    assert not address.verified and not UsedAddress.objects.exists()
    assert browser().post(link_of(address)).status_code == 302
    assert wallet.balance(ana.pk) == 5000


@pytest.mark.parametrize("verification", ["mandatory", "none"])
def test_lost_bonuses_are_given_later_and_once(settings: Any, verification: str) -> None:
    settings.EMAIL_VERIFICATION = settings.ACCOUNT_EMAIL_VERIFICATION = verification
    must = verification == "mandatory"
    ana, ben = account("Ana"), account("Ben", confirmed=False)
    twin = account("Twin")
    Player.objects.filter(pk=twin.pk).update(email="ana+2@play.example")
    EmailAddress.objects.filter(user=twin).update(email="ana+2@play.example")
    account("Sam", is_staff=True)
    Player.objects.create(username="nobody")
    Player.objects.create(username="guest-1", is_guest=True)
    closed = account("Cleo")
    accounts.close(closed.pk)
    assert tasks.give_missing_bonuses() == (2 if must else 3)
    assert tasks.give_missing_bonuses() == 0
    assert [wallet.balance(one.pk) for one in (ana, ben, twin)] == [5000, 0 if must else 5000, 0]
    assert sum(wallet.totals().values()) == 0


def test_an_account_that_cannot_be_given_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    account("Ana")
    ben = account("Ben")
    whole = accounts.welcome

    def some(player: Player, address: str) -> None:
        if player.shown_name == "Ana":
            raise OperationalError("late")
        whole(player, address)

    monkeypatch.setattr("rooms.accounts.welcome", some)
    assert tasks.give_missing_bonuses() == 1 and wallet.balance(ben.pk) == 5000
