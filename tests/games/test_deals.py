"""Deals: the formats that the browser page computes again, the commitment, fair draws, no secret in a text."""

import hashlib
import hmac
import re
from collections import Counter

import pytest

from games.engine import deals
from games.engine.deals import ScriptedDeal, SecretDeal
from games.engine.tiles import ALL_TILES, tile

SECRET = bytes(range(32))


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _deck(key: bytes) -> list[str]:
    texts = [f"{low}-{high}" for low in range(7) for high in range(low, 7)]
    return sorted(texts, key=lambda text: _mac(key, text).hex())


@pytest.mark.parametrize(("match", "number"), [(1, 1), (17, 3), (2**40, 50)])
def test_keys_salts_and_decks_are_as_documented(match: int, number: int) -> None:
    key = deals.round_key(SECRET, "domino_poker", match, number)
    salt = deals.round_salt(SECRET, "domino_poker", match, number)
    assert key == _mac(SECRET, f"domino_poker|{match}|{number}")
    assert salt == _mac(SECRET, f"domino_poker|{match}|{number}|salt")
    deck = SecretDeal(SECRET, "domino_poker", match).deck(number)
    assert [one.text for one in deck] == _deck(key)
    expected = hashlib.sha256((key.hex() + "|" + salt.hex()).encode()).hexdigest()
    assert deals.commitment(key, salt) == expected == SecretDeal(SECRET, "domino_poker", match).commitment(number)


def test_known_answers() -> None:
    deal = SecretDeal(SECRET, "domino_poker", 1)
    assert (
        deals.round_key(SECRET, "domino_poker", 1, 1).hex()
        == "8ff31e97125f6a5189bc5c00d860afd5d041559cfd9e800a824a03d35e908618"
    )
    assert deal.commitment(1) == "be6990304e6cd0faa40074ec7377aea008c509f736b4f114c6611312451d23df"
    assert " ".join(map(str, deal.deck(1))) == (
        "0-3 0-1 1-1 0-0 2-2 1-5 0-4 1-6 4-6 4-5 2-5 6-6 2-6 3-3 "
        "4-4 0-5 1-4 5-6 1-2 0-6 5-5 0-2 3-5 2-3 3-6 3-4 1-3 2-4"
    )
    assert deal.draw("first dealer", 4) == 3


def test_a_commitment_is_64_small_hex_digits_and_differs_by_round() -> None:
    deal = SecretDeal(SECRET, "domino_poker", 1)
    texts = [deal.commitment(number) for number in range(1, 51)]
    assert len(set(texts)) == 50
    assert all(re.fullmatch("[0-9a-f]{64}", text) for text in texts)


def test_every_deck_is_the_28_tiles_and_the_same_again() -> None:
    for match in range(20):
        deal = SecretDeal(SECRET, "domino_poker", match)
        assert deal.deck(1) == deal.deck(1) != deal.deck(2)
        assert set(deal.deck(1)) == set(ALL_TILES) and len(deal.deck(1)) == 28
    assert SecretDeal(SECRET, "domino_poker", 1).deck(1) != SecretDeal(SECRET, "qiuqiu", 1).deck(1)


def test_every_tile_comes_to_every_seat_alike() -> None:
    rounds = 2000
    deal = SecretDeal(SECRET, "domino_poker", 5)
    seats: Counter[tuple[str, int]] = Counter()
    for number in range(rounds):
        seats.update((one.text, place // 7) for place, one in enumerate(deal.deck(number)))
    expected = rounds / 4
    spread = sum((seats[one.text, seat] - expected) ** 2 / expected for one in ALL_TILES for seat in range(4))
    assert spread < 160  # chi-square of 81 degrees of freedom: mean 81, above 160 once in a million


@pytest.mark.parametrize("below", [1, 2, 3, 4, 7, 28])
def test_draws_are_in_range_even_and_repeatable(below: int) -> None:
    counts = Counter(deals.unbiased(SECRET, f"draw {number}", below) for number in range(4000))
    assert set(counts) == set(range(below))
    expected = 4000 / below
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < below + 10 * below**0.5 + 10
    assert deals.unbiased(SECRET, "draw 7", below) == deals.unbiased(SECRET, "draw 7", below)


def test_a_draw_from_the_uneven_rest_is_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([2**64 - 1, 2**64 - 2, 5])  # 2**64 - 2 and up are over for 7: 2**64 % 7 == 2
    asked: list[str] = []

    def mac(_key: bytes, text: str) -> bytes:
        asked.append(text)
        return next(values).to_bytes(8, "big") + bytes(24)

    monkeypatch.setattr(deals, "_mac", mac)
    assert deals.unbiased(SECRET, "first dealer", 7) == 5
    assert asked == ["first dealer|0", "first dealer|1", "first dealer|2"]


def test_no_text_of_a_deal_shows_its_secret_or_its_tiles() -> None:
    assert SECRET.hex() not in repr(SecretDeal(SECRET, "domino_poker", 1))
    assert repr(SECRET) not in repr(SecretDeal(SECRET, "domino_poker", 1))
    assert "0-0" not in repr(ScriptedDeal([ALL_TILES]))


def test_a_scripted_deal_gives_its_decks_in_turn() -> None:
    back = tuple(reversed(ALL_TILES))
    deal = ScriptedDeal([ALL_TILES, back], first=6)
    assert [deal.deck(number)[0] for number in (1, 2, 3)] == [tile("0-0"), tile("6-6"), tile("0-0")]
    assert [deal.draw("first dealer", 4), deal.draw("other", 7), ScriptedDeal([]).draw("x", 4)] == [2, 6, 0]
