"""Coins move with their fact, once, and back again; what is refused leaves everything as it was."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction
from django.db.transaction import TransactionManagementError
from django.test import override_settings

from tests.wallet.purses import balance, balances_and_rows, guest, in_atomic, person, purse, total
from wallet import corrections, errors, ledger, services
from wallet.models import Account
from wallet.services import Move

pytestmark = pytest.mark.django_db(transaction=True)

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_a_player_is_welcomed_once() -> None:
    ana = purse("Ana")
    first = in_atomic(services.welcome, ana)
    with override_settings(WELCOME_COINS=7000):
        assert in_atomic(services.welcome, ana) == first
    assert balance(ana) == 5000
    assert total() == 0


def test_a_guest_is_not_welcomed() -> None:
    with pytest.raises(errors.NoAccount):
        in_atomic(services.welcome, guest("Gil"))


@pytest.mark.parametrize(
    "call",
    [
        lambda: services.transfer("welcome:1", "welcome", [Move("house:issue", "player:1", 1)]),
        lambda: services.welcome(1),
        lambda: services.charge_fee(1, 1, 1, 1),
        lambda: services.refund_fee(1, 1, 1, 1),
        lambda: services.pay_out(1, 1, {1: 1}, [1]),
        lambda: services.abandon_pot(1, 1, {1: 1}),
        lambda: services.reward(1, 1, 1, NOON),
        lambda: services.close_account(1),
        lambda: services.lock([1]),
    ],
)
def test_coins_do_not_move_outside_a_transaction(call: Callable[[], object]) -> None:
    with pytest.raises(TransactionManagementError):
        call()


def test_a_fee_goes_in_and_comes_back_whole() -> None:
    ana = purse("Ana", 5000)
    in_atomic(services.charge_fee, 301, 88, ana, 600)
    assert (balance(ana), balance("room:88")) == (4400, 600)
    in_atomic(services.refund_fee, 301, 88, ana, 600)
    assert (balance(ana), balance("room:88")) == (5000, 0)


def test_paying_leaving_and_returning_five_times_is_five_fees_and_five_refunds() -> None:
    ana = purse("Ana", 5000)
    for sitting in range(301, 306):
        in_atomic(services.charge_fee, sitting, 88, ana, 600)
        in_atomic(services.refund_fee, sitting, 88, ana, 600)
    assert (balance(ana), balance("room:88")) == (5000, 0)


def test_nobody_pays_more_than_they_have() -> None:
    ana = purse("Ana", 5000)
    before = balances_and_rows()
    with pytest.raises(errors.InsufficientFunds) as refusal:
        in_atomic(services.charge_fee, 301, 88, ana, 5001)
    assert refusal.value.missing == 1
    assert balances_and_rows() == before


@pytest.mark.parametrize("amount", [-1, 0, 0.5, 1e3, "10", " 10 ", None, True, [], float("nan"), 2**63, 10**40, "１０"])
def test_only_plain_whole_numbers_are_coins(amount: object) -> None:
    ana = purse("Ana", 5000)
    before = balances_and_rows()
    for call in (services.charge_fee, services.refund_fee):
        with pytest.raises(errors.WrongAmount):
            in_atomic(call, 301, 88, ana, amount)
    with pytest.raises(errors.WrongAmount):
        in_atomic(services.pay_out, 88, 88, {301: amount}, [ana])
    if amount != 0:
        with pytest.raises(errors.WrongAmount):
            in_atomic(services.reward, 88, ana, amount, NOON)
    assert balances_and_rows() == before


def paid_room(room_id: int = 88, fee: int = 101) -> tuple[list[int], dict[int, int]]:
    """Four players who paid, and the fees by sitting."""
    players = [purse(name, 5000) for name in ("Ana", "Ben", "Cleo", "Dan")]
    fees = {room_id * 10 + number: fee for number in range(4)}
    for sitting, player in zip(fees, players, strict=True):
        in_atomic(services.charge_fee, sitting, room_id, player, fee)
    return players, fees


def test_the_pot_goes_to_the_first_two_once() -> None:
    players, fees = paid_room()
    first = in_atomic(services.pay_out, 95, 88, fees, [players[2], players[0], players[1]])
    after = balances_and_rows()
    for _again in range(3):
        assert in_atomic(services.pay_out, 95, 88, fees, [players[2], players[0], players[1]]) == first
    assert balances_and_rows() == after
    assert [balance(player) for player in players] == [4899 + 121, 4899, 4899 + 283, 4899]
    assert (balance("room:88"), total()) == (0, 0)


def test_a_sole_winner_takes_all_and_nobody_leaves_it_to_the_house() -> None:
    players, fees = paid_room()
    in_atomic(services.pay_out, 95, 88, fees, [players[3]])
    assert balance(players[3]) == 4899 + 404
    ann = purse("Ann", 5000)
    in_atomic(services.charge_fee, 1, 89, ann, 7)
    in_atomic(services.pay_out, 96, 89, {1: 7}, [])
    assert (balance("room:89"), balance("house:abandoned"), total()) == (0, 7, 0)


def test_a_fee_ends_once() -> None:
    players, fees = paid_room()
    in_atomic(services.refund_fee, 880, 88, players[0], 101)
    rest = {sitting: amount for sitting, amount in fees.items() if sitting != 880}
    with pytest.raises(errors.AlreadyResolved):
        in_atomic(services.pay_out, 95, 88, fees, players)
    with pytest.raises(errors.AlreadyResolved):
        in_atomic(services.abandon_pot, 95, 88, fees)
    in_atomic(services.pay_out, 95, 88, rest, players[1:])
    with pytest.raises(errors.AlreadyResolved):
        in_atomic(services.refund_fee, 881, 88, players[1], 101)
    with pytest.raises(errors.AlreadyResolved):
        in_atomic(services.abandon_pot, 95, 88, rest)
    assert (balance("room:88"), total()) == (0, 0)


def test_a_refund_is_of_the_fee_and_to_who_paid_it() -> None:
    players, _fees = paid_room()
    before = balances_and_rows()
    for arguments in (
        (880, 88, players[0], 100),  # another amount
        (880, 88, players[1], 101),  # another player
        (880, 89, players[0], 101),  # another room
        (999, 88, players[0], 101),  # no such sitting
    ):
        with pytest.raises(errors.NoSuchFee):
            in_atomic(services.refund_fee, *arguments)
    assert balances_and_rows() == before


def test_only_payers_win() -> None:
    _players, fees = paid_room()
    stranger = purse("Eve", 5000)
    with pytest.raises(errors.NotAPayer):
        in_atomic(services.pay_out, 95, 88, fees, [stranger])


def test_one_reference_says_one_thing() -> None:
    players, fees = paid_room()
    in_atomic(services.pay_out, 95, 88, fees, players[:2])
    with pytest.raises(errors.ReferenceReused):
        in_atomic(services.pay_out, 95, 88, fees, players[1:3])
    with pytest.raises(errors.ReferenceReused):
        in_atomic(services.charge_fee, 880, 88, players[0], 102)
    with pytest.raises(errors.ReferenceReused):
        in_atomic(services.charge_fee, 880, 88, players[1], 101)


def test_a_repeat_is_answered_after_the_coins_have_gone() -> None:
    ana = purse("Ana", 5000)
    first = in_atomic(services.charge_fee, 301, 88, ana, 3000)
    in_atomic(services.charge_fee, 302, 89, ana, 2000)
    assert in_atomic(services.charge_fee, 301, 88, ana, 3000) == first
    assert balance(ana) == 0


def test_a_refusal_leaves_the_transaction_usable() -> None:
    ana = purse("Ana", 5000)
    with transaction.atomic():
        with pytest.raises(errors.InsufficientFunds):
            services.charge_fee(301, 88, ana, 6000)
        services.charge_fee(302, 88, ana, 5000)
    assert balance("room:88") == 5000


def test_what_the_surrounding_transaction_undoes_moves_nothing() -> None:
    ana = purse("Ana", 5000)
    before = balances_and_rows()
    with transaction.atomic():
        services.charge_fee(301, 88, ana, 600)
        transaction.set_rollback(True)
    assert balances_and_rows() == before


def test_kinds_that_rest_on_more_than_postings_are_not_written_by_hand() -> None:
    ana = purse("Ana", 5000)
    in_atomic(services.charge_fee, 301, 88, ana, 600)
    before = balances_and_rows()
    for reference, kind, move in (
        ("sitting:301:refund", "refund", Move("room:88", f"player:{ana}", 600)),
        ("match:1:payout", "payout", Move("room:88", f"player:{ana}", 600)),
        ("match:1:abandoned", "abandoned", Move("room:88", "house:abandoned", 600)),
        ("match:1:reward", "reward", Move("house:issue", f"player:{ana}", 600)),
        ("correction:1", "correction", Move("house:adjust", f"player:{ana}", 600)),
    ):
        with pytest.raises(IntegrityError):
            in_atomic(services.transfer, reference, kind, [move])
    assert balances_and_rows() == before


def test_chips_are_bought_moved_and_cashed_in() -> None:
    ana, ben = purse("Ana", 5000), purse("Ben", 5000)
    with transaction.atomic():
        services.open_stacks([301, 302])
        services.transfer("sitting:301:buyin:1", "buyin", [Move(f"player:{ana}", "stack:301", 400)])
        services.transfer("sitting:302:buyin:1", "buyin", [Move(f"player:{ben}", "stack:302", 400)])
        services.transfer("match:95:hand", "hand", [Move("stack:301", "stack:302", 150)])
        services.transfer("sitting:302:cashout", "cashout", [Move("stack:302", f"player:{ben}", 550)])
    assert [balance(ana), balance(ben), balance("stack:301"), balance("stack:302")] == [4600, 5150, 250, 0]


def test_an_account_without_coins_is_closed_as_well() -> None:
    ana, mo, sam = purse("Ana", 5000), person("Mo"), person("Sam")
    in_atomic(services.charge_fee, 301, 88, ana, 5000)
    ben = purse("Ben", 5000)
    ledger.close(ben)
    assert not Account.objects.get(code=f"player:{ben}").closed
    asked = corrections.request(ana, 50, "a lost pot", mo)
    assert in_atomic(services.close_account, ana) is None
    assert Account.objects.get(code=f"player:{ana}").closed
    with pytest.raises(errors.AccountClosed):
        corrections.approve(asked.pk, sam)
    with pytest.raises(errors.AccountClosed):
        in_atomic(services.refund_fee, 301, 88, ana, 5000)
    assert in_atomic(services.close_account, ana) is None
    assert balance(ana) == 0 and total() == 0


def test_a_closed_account_is_empty_and_stays_so() -> None:
    ana = purse("Ana", 5000)
    in_atomic(services.charge_fee, 301, 88, ana, 600)
    first = in_atomic(services.close_account, ana)
    assert in_atomic(services.close_account, ana) == first
    assert (balance(ana), balance("house:closed")) == (0, 4400)
    with pytest.raises(errors.AccountClosed):
        in_atomic(services.refund_fee, 301, 88, ana, 600)
    assert in_atomic(services.close_account, guest("Gil")) is None
    assert total() == 0
