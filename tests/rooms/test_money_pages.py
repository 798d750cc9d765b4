"""Prices before sitting, and what forged forms cannot do."""

import re
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from players.models import Player
from rooms import money
from rooms.models import Room, Seat
from tests.players.accounts import PASSWORD, account
from tests.rooms import stage
from tests.rooms.gold import begun, escrow, has, nothing_is_lost, paid, rich
from tests.rooms.pages import CREATE, client_of, text, words
from wallet import services as coins
from wallet.models import Kind, Transaction

pytestmark = pytest.mark.django_db(transaction=True)


# B13, as text in a form.
NO_AMOUNTS = [
    "-1", "0.5", "1e3", '"10"', " 10 ", "10 ", "null", "true", "[]", "NaN",
    "Infinity", str(10**12 // 4 + 1), str(2**63), str(10**40),
    "٣٠٠", "３００", "+300", "0x10", "1_000", "1,000", "007", "300\n", "300\x00", "１", "9" * 100_000,
]  # fmt: skip


def nothing_moved(player: Player, coins: int = 5000) -> None:
    assert has(player) == [coins] and not Transaction.objects.filter(kind=Kind.FEE, by=player.pk).exists()
    assert not Seat.objects.filter(player=player).exists()


# -- opening a table ---------------------------------------------------------------------------------------------


def test_the_form_offers_a_fee_up_to_the_own_balance_to_the_registered_only() -> None:
    ana = rich("Ana")
    page = text(client_of(ana).get("/lobby/"))
    assert 'name="fee" min="0" max="5000"' in page
    for other in (Client(), client_of(stage.person("Guest"))):
        page = text(other.get("/lobby/"))
        assert 'name="fee" min' not in page and f'href="{money.signup_url()}"' in page


def test_a_paid_room_takes_the_fee_from_its_host() -> None:
    ana = rich("Ana")
    answer = client_of(ana).post("/rooms/", {**CREATE, "fee": "300"})
    room = Room.objects.get()
    assert answer.status_code == 302 and room.fee == 300 and has(ana) == [4700] and escrow(room) == 300


@pytest.mark.parametrize("fee", NO_AMOUNTS)
def test_what_is_no_amount_opens_nothing(fee: str) -> None:
    ana = rich("Ana")
    answer = client_of(ana).post("/rooms/", {**CREATE, "fee": fee})
    assert answer.status_code == 400 and "A fee is a whole number of gold" in text(answer)
    assert 'id="create-error"' in text(answer) and not Room.objects.exists()
    nothing_moved(ana)


@pytest.mark.parametrize("fee", ["5001", str(2**31), str(10**12 // 4)])
def test_more_than_one_has_is_refused_beside_the_form(fee: str) -> None:
    ana = rich("Ana")
    answer = client_of(ana).post("/rooms/", {**CREATE, "fee": fee})
    assert answer.status_code == 409 and f"A seat here costs {fee} gold, and you have 5000." in text(answer)
    assert "create-error" in text(answer) and f'value="{fee}"' in text(answer) and not Room.objects.exists()
    nothing_moved(ana)


def test_guests_open_no_paid_room_and_visitors_do_not_become_guests_for_it(client: Client) -> None:
    guest = stage.person("Guest")
    for one in (client, client_of(guest)):
        answer = one.post("/rooms/", {**CREATE, "fee": "1"})
        assert answer.status_code == 403 and "Only registered players have gold" in text(answer)
    assert not Room.objects.exists() and Player.objects.count() == 1
    assert client.post("/rooms/", {**CREATE, "fee": "0"}).status_code == 302


def test_the_form_sent_again_pays_once() -> None:
    """B24: a double click, Back and the form again, the reload of its answer."""
    ana = rich("Ana")
    client = client_of(ana)
    answers = [client.post("/rooms/", {**CREATE, "fee": "5000"}) for _i in range(3)]
    room = Room.objects.get()
    assert all(answer["Location"] == f"/tables/{room.code}/" for answer in answers)
    assert has(ana) == [0] and Transaction.objects.filter(kind=Kind.FEE).count() == 1
    other = client.post("/rooms/", {**CREATE, "fee": "100"})
    assert other.status_code == 409 and "Your fee of 5000 gold comes back when you leave." in text(other)
    assert 'name="fee" value="100"' in text(other)
    moved = client.post("/rooms/", {**CREATE, "fee": "100", "give_up": stage.stake(room)})
    assert moved.status_code == 302 and has(ana) == [4900]
    nothing_is_lost()


def test_a_seat_is_not_given_up_for_one_that_cannot_be_paid() -> None:
    ana, ben, cleo = rich("Ana"), rich("Ben"), rich("Cleo", 6000)
    mine, dear, dearer = paid(4000, ana), paid(5000, ben), paid(5001, cleo)
    client = client_of(ana)
    agreed = stage.stake(mine)
    answer = client.post(f"/rooms/{dearer.pk}/sit/", {"agreed_fee": "5001", "give_up": agreed})
    assert answer.status_code == 409 and "costs 5001 gold, and you have 5000" in text(answer)
    assert Seat.objects.get(player=ana).room_id == mine.pk and has(ana) == [1000]
    assert client.post(f"/rooms/{dear.pk}/sit/", {"agreed_fee": "5000", "give_up": agreed}).status_code == 302
    assert Seat.objects.get(player=ana).room_id == dear.pk and has(ana) == [0]
    nothing_is_lost()


def button(answer: Any) -> str:
    """What the last button of the page says: the one that leaves the seat for another."""
    return text(answer).rsplit('<button type="submit" class="button danger">', 1)[1].split("<")[0]


def test_leaving_a_match_for_a_paid_seat_names_the_price_whichever_way_it_comes() -> None:
    host, ana, ben = rich("Host"), rich("Ana"), rich("Ben")
    begun(paid(1000, host, ana))
    other = paid(100, ben)
    client = client_of(ana)
    ways: list[tuple[str, dict[str, str], str]] = [
        (f"/rooms/{other.pk}/sit/", {"agreed_fee": "100"}, "Leave it, pay 100 gold and sit down"),
        ("/join/", {"code": other.code, "agreed_fee": "100"}, "Leave it, pay 100 gold and sit down"),
        ("/rooms/", {**CREATE, "fee": "100"}, "Leave it, pay 100 gold and open a new room"),
    ]
    for path, fields, offer in ways:
        answer = client.post(path, fields)
        assert answer.status_code == 409 and button(answer) == offer
        assert "A seat there costs 100 gold" in words(answer) and "You have 4000. 3900 would be left." in words(answer)
        assert "The fee of 1000 gold is not given back." in words(answer) and "would come back" not in words(answer)
    assert has(ana) == [4000]
    free = stage.waiting(stage.person("Bo"))
    answer = client.post(f"/rooms/{free.pk}/sit/")
    assert button(answer) == "Leave it and sit down there" and "would be left" not in words(answer)


def test_what_would_be_left_counts_the_fee_that_comes_back_and_says_when_it_is_not_enough() -> None:
    ana = rich("Ana")
    paid(4000, ana)
    client = client_of(ana)
    enough, too_dear = paid(4500, rich("Ben")), paid(5001, rich("Cleo", 6000))
    said = words(client.post(f"/rooms/{enough.pk}/sit/", {"agreed_fee": "4500"}))
    assert "You have 1000. The 4000 for your seat would come back. 500 would be left." in said
    answer = client.post(f"/rooms/{too_dear.pk}/sit/", {"agreed_fee": "5001"})
    assert answer.status_code == 409 and "That is not enough." in words(answer)
    assert 'name="give_up"' not in text(answer) and "Go back to it" in text(answer)


# -- the list ----------------------------------------------------------------------------------------------------


def test_rows_name_the_price_and_what_a_seat_may_win() -> None:
    ana, free = rich("Ana"), stage.waiting(stage.person("Bo"))
    room = paid(300, ana)
    answer = Client().get("/lobby/")
    assert 'name="agreed_fee" value="300"' in text(answer)
    assert "With you the pot is 600: 420 for the first, 180 for the second." in words(answer)
    for query, shown in (("fee=paid", [room]), ("fee=free", [free]), ("", [room, free])):
        rows = re.findall(r'<li (hidden )?class="table-row" id="room-(\d+)"', text(Client().get(f"/lobby/?{query}")))
        assert {int(number) for hidden, number in rows if not hidden} == {one.pk for one in shown}


# -- sitting -----------------------------------------------------------------------------------------------------


def test_sitting_needs_the_price_that_was_shown() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana)
    client = client_of(ben)
    for fields in ({}, {"agreed_fee": "299"}, {"agreed_fee": "0"}):
        answer = client.post(f"/rooms/{room.pk}/sit/", {"seat": "2", **fields})
        assert answer.status_code == 409 and "A seat in this room costs 300 gold." in text(answer)
        assert 'name="agreed_fee" value="300"' in text(answer) and 'name="seat" value="2"' in text(answer)
        nothing_moved(ben)
    answer = client.post(f"/rooms/{room.pk}/sit/", {"seat": "2", "agreed_fee": "300"})
    assert answer.status_code == 302 and Seat.objects.get(player=ben).number == 2 and has(ben) == [4700]


@pytest.mark.parametrize("agreed", NO_AMOUNTS)
def test_an_agreed_price_that_is_no_amount_seats_nobody(agreed: str) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana)
    assert client_of(ben).post(f"/rooms/{room.pk}/sit/", {"agreed_fee": agreed}).status_code == 400
    answer = client_of(ben).post("/join/", {"code": room.code, "agreed_fee": agreed})
    assert answer.status_code == 400 and 'id="join-error"' in text(answer)
    nothing_moved(ben)


def test_a_code_shows_the_price_before_anything_is_paid() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana, visibility="private")
    client = client_of(ben)
    answer = client.post("/join/", {"code": room.code.lower()})
    said = words(answer)
    assert answer.status_code == 200 and "A seat here costs 300 gold" in said and "The pot holds 300 gold." in said
    assert "You have 5000." in said and "2 with you 600 420 180 3 900 630 270 4 1200 840 360" in said
    assert 'action="/join/"' in text(answer) and 'name="agreed_fee" value="300"' in text(answer)
    nothing_moved(ben)
    answer = client.post("/join/", {"code": room.code, "agreed_fee": "300"})
    assert answer.status_code == 302 and has(ana, ben) == [4700, 4700] and escrow(room) == 600
    assert client.post("/join/", {"code": room.code, "agreed_fee": "300"}).status_code == 302
    assert has(ben) == [4700]


def test_the_poor_read_why_beside_the_price() -> None:
    ana, poor = rich("Ana"), rich("Poor", 100)
    room = paid(300, ana)
    for answer in (
        client_of(poor).post(f"/rooms/{room.pk}/sit/", {"agreed_fee": "300"}),
        client_of(poor).post("/join/", {"code": room.code, "agreed_fee": "300"}),
    ):
        assert answer.status_code == 409 and "A seat here costs 300 gold, and you have 100." in text(answer)
        assert 'id="price-error"' in text(answer) and "and sit down" not in text(answer)
    nothing_moved(poor, 100)


def test_guests_and_visitors_are_told_to_sign_up(client: Client) -> None:
    room = paid(300, rich("Ana"))
    guest = stage.person("Guest")
    for one in (client, client_of(guest)):
        by_row = one.post(f"/rooms/{room.pk}/sit/", {"agreed_fee": "300"})
        assert by_row.status_code == 403 and 'id="price-error"' in text(by_row) and "Sign up" in text(by_row)
        back = f'href="/accounts/signup/?next=/rooms/{room.pk}/"'
        assert back in text(by_row)
        by_code = one.post("/join/", {"code": room.code, "agreed_fee": "300"})
        assert by_code.status_code == 403 and 'id="join-error"' in text(by_code)
        page = text(one.get(f"/rooms/{room.pk}/"))
        assert back in page and "A seat here costs 300 gold" in page and 'data-action="sit-first"' not in page
    assert Player.objects.count() == 2 and Seat.objects.count() == 1


def test_a_visitor_page_carries_the_price() -> None:
    room = paid(300, rich("Ana"))
    page = text(client_of(rich("Ben")).get(f"/rooms/{room.pk}/"))
    assert 'name="agreed_fee" value="300"' in page and "Sit down for 300 gold" in page


def test_a_price_is_told_to_nobody_who_has_not_the_code() -> None:
    room = paid(300, rich("Ana"), visibility="private")
    answer = client_of(rich("Ben")).post(f"/rooms/{room.pk}/sit/", {"agreed_fee": "0"})
    assert answer.status_code == 404 and "300" not in words(answer)
    assert Client().post(f"/rooms/{room.pk}/sit/").status_code == 404


def test_forged_forms_move_no_coin() -> None:
    """B02: whatever a page could send, and more, around somebody else's table and the own one."""
    ana, ben, eve = rich("Ana"), rich("Ben"), rich("Eve")
    room = begun(paid(300, ana, ben))
    before = (has(ana, ben, eve), escrow(room), Transaction.objects.count())
    client = client_of(eve)
    forged = {"fee": "0", "paid": "300", "winner": "0", "place": "1", "coins": "9999", "reward": "300", "level": "epic"}
    match = stage.match_of(room)
    for path in (
        f"/rooms/{room.pk}/sit/", f"/tables/{room.code}/rematch/", f"/tables/{room.code}/leave/",
        f"/tables/{room.code}/return/", f"/matches/{match}/", "/wallet/", "/wallet/statement.csv",
    ):  # fmt: skip
        for _i in range(2):
            assert client.post(path, {**forged, "agreed_fee": "300"}).status_code in {302, 404, 405, 409}
    assert (has(ana, ben, eve), escrow(room), Transaction.objects.count()) == before
    assert client_of(ana).post("/play/", {**forged, "rounds": "1"}).status_code in {400, 409}
    assert (has(ana, ben, eve), escrow(room), Transaction.objects.count()) == before
    nothing_is_lost()


def test_shares_are_named_by_the_order_of_the_players_not_by_the_places_that_bots_take_too() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    stage.play_to_the_end(room)
    said = words(client_of(ana).get(f"/matches/{stage.match_of(room)}/"))
    assert "First of the players, the rest: 600 − 180 = 420" in said
    assert "Second of the players, three tenths: 600 × 3 / 10 = 180" in said


# -- what else pages say of gold ---------------------------------------------------------------------------------


def test_a_filter_without_hits_leads_to_the_whole_statement() -> None:
    page = words(client_of(rich("Ana")).get("/wallet/?kind=fee"))
    assert "No line fits the filter" in page and "Show all" in page and "Play a match against bots" not in page
    fresh = words(client_of(account("Fresh")).get("/wallet/"))
    assert "No gold has moved yet" in fresh and "Play a match against bots" in fresh


def test_the_page_that_deletes_an_account_names_the_gold_that_is_lost() -> None:
    ana = account("Ana")
    assert "Your gold goes to the house." in words(client_of(ana).get("/accounts/delete/"))
    with transaction.atomic():
        coins.welcome(ana.pk)
    assert "Your gold, 5000 now, goes to the house." in words(client_of(ana).get("/accounts/delete/"))


def test_an_error_stands_beside_its_field_before_the_hint() -> None:
    wrong = {"oldpassword": "wrong", "password1": PASSWORD, "password2": PASSWORD}
    page = text(client_of(account("Ana")).post("/accounts/password/change/", wrong))
    field = page.split('name="oldpassword"')[1].split("</div>")[0]
    assert field.index("That is not your password.") < field.index("Forgot your password?")


def test_a_solo_match_that_won_nothing_says_what_a_place_wins(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(money, "REWARDED_PLACES", 0)
    ana = rich("Ana")
    room = stage.begun(ana)
    stage.play_out(room)
    said = words(client_of(ana).get(f"/matches/{stage.match_of(room)}/"))
    assert f"First or second place against bots of this level wins {settings.REWARDS['medium']} gold." in said
