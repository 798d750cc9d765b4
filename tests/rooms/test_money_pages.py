"""Prices before sitting, what forged forms and frames cannot do, the wallet's pages, and the result's coins."""

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.utils import timezone

from games import selectors as game_selectors
from players.models import Player
from rooms import closing, hosting, money, seating
from rooms.models import Room, Seat
from tests.rooms import stage
from tests.rooms.test_paid import begun, escrow, has, nothing_is_lost, paid, rich
from wallet import selectors as wallet
from wallet import services as coins
from wallet.models import Kind, Reward, Transaction

pytestmark = pytest.mark.django_db(transaction=True)

CREATE = {"game": "domino_poker", "visibility": "public", "rounds": "1"}
# B13, as text in a form.
NO_AMOUNTS = [
    "-1", "0.5", "1e3", '"10"', " 10 ", "10 ", "null", "true", "[]", "NaN",
    "Infinity", str(10**12 + 1), str(2**63), str(10**40),
    "٣٠٠", "３００", "+300", "0x10", "1_000", "1,000", "007", "300\n", "300\x00", "１", "9" * 100_000,
]  # fmt: skip


def client_of(player: Player) -> Client:
    client = Client()
    client.force_login(player, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client


def text(answer: Any) -> str:
    return str(answer.content.decode())


def words(answer: Any) -> str:
    """What a reader reads: without markup, blanks as one."""
    return " ".join(re.sub(r"<[^>]*>", " ", text(answer)).split())


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


@pytest.mark.parametrize("fee", ["5001", str(2**31), str(10**12)])
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
    assert said == {"reward": won, "offered": won, "left": 3000 - won, "why": ""} and has(ana) == [5000 + won]
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


# -- the wallet --------------------------------------------------------------------------------------------------


def test_guests_and_visitors_are_told_how_to_get_a_wallet(client: Client) -> None:
    for one in (client, client_of(stage.person("Guest"))):
        answer = one.get("/wallet/")
        assert answer.status_code == 200 and "Gold is for registered players" in text(answer)
        assert one.get("/wallet/statement.csv")["Location"] == "/wallet/"
        assert "data-purse" not in text(one.get("/lobby/")) and "balance.js" not in text(one.get("/"))
    assert Player.objects.count() == 1


def test_every_page_shows_the_balance() -> None:
    ana = rich("Ana")
    client = client_of(ana)
    room = paid(300, ana)
    for path in ("/", "/lobby/", "/rules/", "/wallet/", f"/rooms/{room.pk}/", "/nowhere/"):
        answer = client.get(path, follow=True)
        assert 'data-purse="4700"' in text(answer) and "js/balance.js" in text(answer), path


def statement(client: Client, query: str = "") -> list[list[str]]:
    page = text(client.get(f"/wallet/{query}"))
    rows = re.findall(r"<tr>\s*<td><time.*?</tr>", page, re.DOTALL)
    return [[" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in row.split("</td>")[1:4]] for row in rows]


def test_the_statement_runs_and_links_to_matches_and_rooms() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    first = begun(paid(300, ana, ben))
    closing.leave(first.pk, ben.pk)
    stage.play_to_the_end(first)
    room = paid(200, ana)
    client = client_of(ana)
    match = stage.match_of(first)
    assert statement(client) == [
        ["entry fee room of 200 gold", "−200", "5100"],
        [f"winnings match {match}", "+600", "5300"],
        [f"entry fee match {match}", "−300", "4700"],
        ["welcome bonus for signing up", "+5000", "5000"],
    ]
    page = text(client.get("/wallet/"))
    assert f'href="/matches/{match}/"' in page and f'href="/tables/{room.code}/"' in page
    closing.leave(room.pk, ana.pk)
    page = text(client.get("/wallet/"))
    assert room.code not in page and statement(client)[0][0] == "fee paid back room of 200 gold"


def test_a_line_leads_nowhere_that_its_reader_may_not_go() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    running = begun(paid(300, ana, ben, visibility="private"))
    match = stage.match_of(running)
    page = text(client_of(ana).get("/wallet/"))
    assert f"/matches/{match}/" not in page and f'href="/tables/{running.code}/"' in page
    closing.leave(running.pk, ben.pk)
    page = text(client_of(ben).get("/wallet/"))
    assert running.code not in page and f"/rooms/{running.pk}/" not in page and "room of 300 gold" in page


def test_the_filters_and_pages_of_the_statement() -> None:
    ana = rich("Ana")
    for number in range(1, 61):
        with transaction.atomic():
            coins.reward(number, ana.pk, 1, timezone.now())
    client = client_of(ana)
    assert len(statement(client)) == 50 and len(statement(client, "?page=2")) == 11
    assert len(statement(client, "?kind=reward&page=2")) == 10 and len(statement(client, "?kind=welcome")) == 1
    assert statement(client, "?kind=fee") == [] and "No line fits the filter" in text(client.get("/wallet/?kind=fee"))
    assert 'href="?kind=reward&amp;page=2"' in text(client.get("/wallet/?kind=reward"))
    today, tomorrow = timezone.now().date(), timezone.now().date() + timedelta(days=1)
    assert len(statement(client, f"?since={today}&until={today}&kind=welcome")) == 1
    assert statement(client, f"?since={tomorrow}") == []
    for page in ("0", "-1", "99", "x", "٢", "9" * 50):
        assert client.get("/wallet/", {"page": page}).status_code == 200


@pytest.mark.parametrize(
    "query", ["since=yesterday", "until=2026-13-01", "since=9999999-01-01", "kind=hand", "kind=%00"]
)
def test_a_filter_that_is_none_is_answered_beside_it(query: str) -> None:
    client = client_of(rich("Ana"))
    answer = client.get(f"/wallet/?{query}")
    assert answer.status_code == 400 and 'id="filter-error"' in text(answer)
    assert client.get(f"/wallet/statement.csv?{query}").status_code == 400


@pytest.mark.parametrize("query", ["until=9999-12-31", "since=0001-01-01", "since=9999-12-31"])
def test_the_ends_of_time_are_days_too(query: str) -> None:
    assert client_of(rich("Ana")).get(f"/wallet/?{query}").status_code == 200


def rows_of(answer: Any) -> list[list[str]]:
    async def read() -> bytes:
        return b"".join([chunk async for chunk in answer.streaming_content])

    body = async_to_sync(read)().decode()
    assert body.startswith("\ufeff")
    return list(csv.reader(io.StringIO(body.removeprefix("\ufeff"))))


def test_the_file_holds_what_the_page_shows_and_comes_five_times_an_hour() -> None:
    cache.clear()
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    closing.leave(room.pk, ben.pk)
    stage.play_to_the_end(room)
    client = client_of(ana)
    rows = rows_of(client.get("/wallet/statement.csv"))
    assert [row[2:5] for row in rows[1:]] == [
        ["welcome bonus", "5000", "5000"], ["entry fee", "-300", "4700"], ["winnings", "600", "5300"],
    ]  # fmt: skip
    assert [row[2] for row in rows_of(client.get("/wallet/statement.csv?kind=fee"))] == ["kind", "entry fee"]
    for _i in range(3):
        assert client.get("/wallet/statement.csv").status_code == 200
    answer = client.get("/wallet/statement.csv")
    assert answer.status_code == 429 and "5 files within an hour" in text(answer)
    assert client_of(ben).get("/wallet/statement.csv").status_code == 200


def test_the_wallet_adds_up() -> None:
    ana = rich("Ana")
    room = paid(300, ana)
    closing.leave(room.pk, ana.pk)
    lines = wallet.statement(ana.pk).lines
    assert [line.balance for line in lines] == [5000, 4700, 5000] and has(ana) == [5000]
