"""How a pot is divided: plain arithmetic on whole coins."""

from collections.abc import Sequence


def shares(pot: int, eligible: int) -> tuple[int, ...]:
    """The coins of the first, and of the second, of so many eligible humans in the order of the match.

    The second gets three tenths rounded down, the first the rest; a sole one gets all. Without an eligible human the
    result is empty and the pot goes to the house. Raises ValueError for a pot below 0 or fewer humans than none."""
    if pot < 0 or eligible < 0:
        raise ValueError(f"no pot is divided like this: {pot} among {eligible}")
    if eligible == 0:
        return ()
    if eligible == 1:
        return (pot,)
    second = pot * 3 // 10
    return (pot - second, second)


def divide(pot: int, winners: Sequence[int]) -> dict[int, int]:
    """Who gets how many coins; a share of 0 coins (the second of a pot below 4) is left out.

    `winners` are the eligible humans in the order of the match. Raises ValueError when one is named twice."""
    if len(set(winners)) != len(winners):
        raise ValueError(f"somebody is named twice: {list(winners)}")
    parts = zip(winners, shares(pot, len(winners)), strict=False)
    return {player_id: coins for player_id, coins in parts if coins}
