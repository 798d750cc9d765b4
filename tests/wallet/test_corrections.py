"""Corrections: asked for by one, approved by another, in time, within limits, and never of one's own account."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

import pytest
from django.db import connection
from django.test import override_settings

from tests.wallet.purses import balance, balances_and_rows, guest, in_atomic, person, purse, total
from wallet import audit, corrections, errors, selectors, services
from wallet.corrections import Correction

pytestmark = pytest.mark.django_db(transaction=True)


class Stage:
    def __init__(self) -> None:
        self.ana = purse("Ana", 5000)
        self.asker, self.second = person("Mo"), person("Sam")


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_two_people_set_an_account_right(stage: Stage) -> None:
    correction = corrections.request(stage.ana, -700, " paid twice ", stage.asker, corrects=f"welcome:{stage.ana}")
    assert balance(stage.ana) == 5000
    booked = corrections.approve(correction.pk, stage.second)
    assert (balance(stage.ana), balance("house:adjust"), total()) == (4300, 700, 0)
    assert (booked.by_id, booked.memo, booked.reference) == (stage.asker, "paid twice", f"correction:{correction.pk}")
    assert booked.reverses is not None and booked.reverses.reference == f"welcome:{stage.ana}"
    assert list(audit.findings()) == []


def test_coins_can_be_given(stage: Stage) -> None:
    corrections.approve(corrections.request(stage.ana, 250, "a lost pot", stage.asker).pk, stage.second)
    assert (balance(stage.ana), balance("house:adjust")) == (5250, -250)


# What is asked for, and how it is refused: n of n.
REFUSED: list[tuple[type[errors.WalletError], Callable[[Stage], object]]] = [
    (errors.OwnAccount, lambda s: corrections.request(s.ana, 50, "for me", s.ana)),
    (errors.ReasonMissing, lambda s: corrections.request(s.ana, 50, "  ", s.asker)),
    (errors.ReasonMissing, lambda s: corrections.request(s.ana, 50, "x" * 501, s.asker)),
    (errors.WrongAmount, lambda s: corrections.request(s.ana, 0, "nothing", s.asker)),
    (errors.WrongAmount, lambda s: corrections.request(s.ana, True, "yes", s.asker)),
    (errors.WrongAmount, lambda s: corrections.request(s.ana, -(10**13), "all", s.asker)),
    (errors.OverLimit, lambda s: corrections.request(s.ana, 10_001, "much", s.asker)),
    (errors.OverLimit, lambda s: corrections.request(s.ana, -10_001, "much", s.asker)),
    (errors.NoAccount, lambda s: corrections.request(guest("Gil"), 50, "a guest", s.asker)),
    (errors.NotTheMirror, lambda s: corrections.request(s.ana, 50, "twice", s.asker, f"welcome:{s.ana}")),
    (errors.NotTheMirror, lambda s: corrections.request(s.ana, -5001, "more", s.asker, f"welcome:{s.ana}")),
    (errors.NotTheMirror, lambda s: corrections.request(s.ana, -50, "which", s.asker, "welcome:999999")),
    (errors.NoSuchCorrection, lambda s: corrections.approve(999_999, s.second)),
]


def test_what_may_not_be_asked_is_refused(stage: Stage) -> None:
    guests_before = len(balances_and_rows()[5])
    for error, call in REFUSED:
        with pytest.raises(error):
            call(stage)
    assert len(balances_and_rows()[5]) == guests_before == 0
    print(f"corrections refused: {len(REFUSED)}/{len(REFUSED)}")


def test_the_second_person_is_another_and_not_the_owner(stage: Stage) -> None:
    correction = corrections.request(stage.ana, 50, "a lost pot", stage.asker)
    with pytest.raises(errors.SecondPersonNeeded):
        corrections.approve(correction.pk, stage.asker)
    with pytest.raises(errors.OwnAccount):
        corrections.approve(correction.pk, stage.ana)
    with pytest.raises(errors.OwnAccount):
        corrections.decline(correction.pk, stage.ana)
    assert balance(stage.ana) == 5000


def test_a_correction_is_decided_once(stage: Stage) -> None:
    approved = corrections.request(stage.ana, 50, "a lost pot", stage.asker)
    corrections.approve(approved.pk, stage.second)
    declined = corrections.request(stage.ana, 50, "again", stage.asker)
    corrections.decline(declined.pk, stage.asker)
    for correction in (approved, declined):
        with pytest.raises(errors.AlreadyDecided):
            corrections.approve(correction.pk, stage.second)
        with pytest.raises(errors.AlreadyDecided):
            corrections.decline(correction.pk, stage.second)
    assert balance(stage.ana) == 5050


def test_ten_approvals_at_once_are_one(stage: Stage) -> None:
    correction = corrections.request(stage.ana, 50, "a lost pot", stage.asker)
    seconds = [person(f"Sen{number}") for number in range(8)]
    gate = Barrier(8)

    def approve(second: int) -> str:
        gate.wait(5)
        try:
            corrections.approve(correction.pk, second)
            return "done"
        except errors.AlreadyDecided:
            return "decided"
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        results = sorted(pool.map(approve, seconds))
    assert results == ["decided"] * 7 + ["done"]
    assert balance(stage.ana) == 5050


def test_an_old_request_is_void(stage: Stage) -> None:
    with override_settings(CORRECTION_SECONDS=0.05):
        correction = corrections.request(stage.ana, 50, "a lost pot", stage.asker)
    sleep(0.1)
    with pytest.raises(errors.CorrectionExpired):
        corrections.approve(correction.pk, stage.second)
    assert (corrections.expire(), corrections.expire()) == (1, 0)
    with pytest.raises(errors.AlreadyDecided):
        corrections.approve(correction.pk, stage.second)
    assert balance(stage.ana) == 5000


def test_one_person_asks_for_so_much_a_day(stage: Stage) -> None:
    with override_settings(CORRECTION_COINS_A_DAY=900):
        corrections.request(stage.ana, 500, "first", stage.asker)
        with pytest.raises(errors.OverLimit):
            corrections.request(stage.ana, -401, "second", stage.asker)
        corrections.request(stage.ana, -400, "second", stage.asker)


def test_one_person_approves_so_much_a_day(stage: Stage) -> None:
    waiting = [corrections.request(stage.ana, 500, "a lost pot", person(f"Mod{number}")) for number in range(2)]
    with override_settings(CORRECTION_COINS_A_DAY=900):
        corrections.approve(waiting[0].pk, stage.second)
        with pytest.raises(errors.OverLimit):
            corrections.approve(waiting[1].pk, stage.second)
    assert list(selectors.pending_corrections()) == [waiting[1]]


def test_one_transaction_is_taken_back_once(stage: Stage) -> None:
    first = corrections.request(stage.ana, -3000, "wrong", stage.asker, f"welcome:{stage.ana}")
    with pytest.raises(errors.NotTheMirror):
        corrections.request(stage.ana, -2001, "wrong", stage.asker, f"welcome:{stage.ana}")
    rest = corrections.request(stage.ana, -2000, "wrong", stage.asker, f"welcome:{stage.ana}")
    corrections.approve(first.pk, stage.second)
    corrections.approve(rest.pk, stage.second)
    assert balance(stage.ana) == 0


def test_what_is_spent_cannot_be_taken(stage: Stage) -> None:
    correction = corrections.request(stage.ana, -4500, "wrong", stage.asker)
    in_atomic(services.charge_fee, 301, 88, stage.ana, 600)
    with pytest.raises(errors.InsufficientFunds):
        corrections.approve(correction.pk, stage.second)
    assert Correction.objects.get(pk=correction.pk).status == "pending"
