"""What a table and its result say of the gold that was played for."""

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from games import selectors as game_selectors
from rooms import closing, hosting, money, seating
from tests.rooms import stage
from tests.rooms.gold import begun, has, paid, rich
from tests.rooms.pages import client_of, text, words
from wallet import services as coins
from wallet.models import Reward

pytestmark = pytest.mark.django_db(transaction=True)


# -- at the table ------------------------------------------------------------------------------------------------


def test_the_frame_says_fee_pot_and_prizes_and_at_the_end_who_got_what() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(101, ana)
    assert stage.frame_of(room, None)["room"]["money"] == {"fee": 101, "pot": 101, "prizes": [101], "payout": None}
    seating.sit(ben, room.pk, agreed_fee=101)
    stage.arrive(room, ben)
    frame = {"fee": 101, "pot": 202, "prizes": [142, 60], "payout": None}
    assert stage.frame_of(room, 1)["room"]["money"] == frame
    room = begun(stage.refreshed(room))
    assert stage.frame_of(room, 0)["room"]["money"] == frame
    stage.play_to_the_end(room)
    after = stage.frame_of(room, 0)["room"]["money"]
    assert sorted(line["coins"] for line in after["payout"]) == [60, 142] and after["pot"] == 202
    assert after["prizes"] == [142, 60] and {line["seat"] for line in after["payout"]} == {0, 1}


def test_a_free_table_has_no_money_and_a_room_given_back_has_no_pot() -> None:
    free = stage.waiting(stage.person("Guest"))
    assert stage.frame_of(free, 0)["room"]["money"] is None
    ana = rich("Ana")
    room = paid(300, ana)
    hosting.delete(room.pk, ana.pk)
    money_said = stage.frame_of(stage.refreshed(room), None)["room"]["money"]
    assert money_said == {"fee": 300, "pot": 0, "prizes": [], "payout": []}


def test_a_solo_table_says_what_it_paid_and_what_is_left_today() -> None:
    ana = rich("Ana")
    room = stage.begun(ana)
    assert stage.frame_of(room, 0)["room"]["money"] is None
    stage.play_out(room)
    place = game_selectors.places(stage.match_of(room))[0]
    won = 50 if place <= 2 else 0
    said = stage.frame_of(room, 0)["room"]["money"]
    assert said == {"reward": won, "offered": won, "worth": 50, "left": 3000 - won, "why": ""}
    assert has(ana) == [5000 + won]
    guest = stage.begun(stage.person("Guest"))
    stage.play_out(guest)
    assert stage.frame_of(guest, 0)["room"]["money"] is None


def test_the_start_page_says_what_is_left_to_win() -> None:
    ana = rich("Ana")
    said = words(client_of(ana).get("/"))
    assert "up to 3000 gold left to win today" in said and "50 gold" in said
    assert "left to win today" not in words(Client().get("/"))
    assert "left to win today" not in words(client_of(stage.person("Guest")).get("/"))
    with transaction.atomic():
        coins.reward(1, ana.pk, 3000, timezone.now())
    assert Reward.objects.count() == 1
    assert "You have won all the gold of today" in words(client_of(ana).get("/"))


# -- after the match ---------------------------------------------------------------------------------------------


def test_the_result_explains_every_coin_to_those_who_sat_in_it() -> None:
    people = [rich(name) for name in ("Ana", "Ben", "Cleo")]
    room = begun(paid(101, *people))
    closing.leave(room.pk, people[2].pk)
    stage.play_to_the_end(room)
    match = stage.match_of(room)
    said = words(client_of(people[2]).get(f"/matches/{match}/"))
    assert "3 players paid 101 each: 3 × 101 = 303 gold." in said
    assert "the rest: 303 − 90 = 213 213" in said and "three tenths: 303 × 3 / 10 = 90, rounded down 90" in said
    assert "Who gives a match up wins nothing of the pot: Cleo." in said and "Bots win no gold" in said
    assert client_of(rich("Eve")).get(f"/matches/{match}/").status_code == 404


def test_a_sole_winner_gets_it_all_and_a_free_match_says_nothing_of_gold() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    closing.leave(room.pk, ben.pk)
    stage.play_to_the_end(room)
    assert "the whole pot 600" in words(client_of(ana).get(f"/matches/{stage.match_of(room)}/"))
    guest = stage.person("Guest")
    solo = stage.begun(guest)
    stage.play_out(solo)
    answer = client_of(guest).get(f"/matches/{stage.match_of(solo)}/")
    assert answer.status_code == 200 and "coins-title" not in text(answer)


@pytest.mark.parametrize(
    ("pot", "won", "said"),
    [
        (404, [283, 121], ["the rest: 404 − 121 = 283", "three tenths: 404 × 3 / 10 = 121, rounded down"]),
        (600, [420, 180], ["the rest: 600 − 180 = 420", "three tenths: 600 × 3 / 10 = 180"]),
        (600, [600], ["the whole pot"]),
        (3, [3], ["the whole pot"]),
        (600, [], []),
    ],
)
def test_how_a_share_came_about(pot: int, won: list[int], said: list[str]) -> None:
    assert money.hows(pot, won) == said
