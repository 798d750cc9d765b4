"""Pots are divided exactly: three tenths to the second rounded down, the rest to the first, nothing lost."""

import pytest

from wallet.split import divide, shares

POTS = range(1, 10_001)


@pytest.mark.parametrize("eligible", [1, 2, 3, 4])
def test_every_pot_is_divided_to_the_coin(eligible: int) -> None:
    for pot in POTS:
        parts = shares(pot, eligible)
        assert sum(parts) == pot and all(part >= 0 for part in parts)
        if eligible == 1:
            assert parts == (pot,)
        else:
            first, second = parts
            assert 0 <= pot * 3 - second * 10 < 10  # three tenths, rounded down
            assert first >= second


def test_without_an_eligible_human_nobody_gets_the_pot() -> None:
    assert all(shares(pot, 0) == () for pot in (0, 1, 404, 10_000))


def test_bots_before_humans_and_forfeits_do_not_matter() -> None:
    """All finishing orders of four seats, each of which is a bot, a human, or a human who forfeited."""
    mismatches = count = 0
    for pattern in range(3**4):
        order = [pattern // 3**seat % 3 for seat in range(4)]
        winners = [seat + 1 for seat, sort in enumerate(order) if sort == 1]
        for pot in (1, 3, 4, 9, 10, 11, 404, 9999, 10_000):
            paid = divide(pot, winners)
            count += 1
            mismatches += not (
                sum(paid.values()) == (pot if winners else 0)
                and set(paid) <= set(winners[:2])
                and all(coins > 0 for coins in paid.values())
                and (len(winners) < 2 or paid.get(winners[1], 0) == pot * 3 // 10)
            )
    assert (count, mismatches) == (81 * 9, 0)


def test_the_example_of_the_rules() -> None:
    assert divide(404, [7, 5, 9]) == {7: 283, 5: 121}


def test_a_share_of_nothing_is_left_out() -> None:
    assert divide(3, [7, 5]) == {7: 3}


def test_nonsense_is_refused() -> None:
    for pot, eligible in ((-1, 2), (1, -1)):
        with pytest.raises(ValueError, match="no pot is divided"):
            shares(pot, eligible)
    with pytest.raises(ValueError, match="named twice"):
        divide(10, [7, 7])
