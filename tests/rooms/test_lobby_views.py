"""The lobby's pages and every way to a seat: what is offered, what is refused, and that nothing happens twice."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from players.models import Player
from rooms import hosting, limits, lobby_rows, seating
from rooms.models import Room, Seat
from tests.rooms import stage
from tests.rooms.gold import paid, rich
from tests.rooms.pages import client_of, text

pytestmark = pytest.mark.django_db(transaction=True)

CREATE = {"game": "domino_poker", "visibility": "public", "rounds": "3"}


def signed_in(name: str = "Ana") -> tuple[Client, Player]:
    player = stage.person(name)
    return client_of(player), player


def table_of(player: Player) -> Room:
    return Room.objects.get(seats__player=player)


def at(answer: Any, room: Room) -> bool:
    """Whether the answer leads to this room's table with a seat cookie that opens it, or one that is known."""
    return bool(answer.status_code == 302 and answer["Location"] == f"/tables/{room.code}/")


# -- the list ----------------------------------------------------------------------------------------------------


def test_an_empty_lobby_says_what_to_do_and_makes_nobody_a_guest(client: Client) -> None:
    answer = client.get("/lobby/")
    page = text(answer)
    assert answer.status_code == 200 and "No room is waiting" in page and 'action="/quick/"' in page
    assert 'data-empty="none" hidden' not in page and 'data-empty="filter" hidden' in page
    assert not Player.objects.filter(is_guest=True).exists() and settings.SESSION_COOKIE_NAME not in client.cookies


def test_the_list_is_whole_without_scripts(client: Client) -> None:
    room = stage.waiting(stage.person("Ana"), stage.person("Bo"))
    page = text(client.get("/lobby/"))
    assert f'id="room-{room.pk}"' in page and "Ana’s room" in page and "2 of 4 seats taken" in page
    assert 'data-empty="none" hidden' in page
    assert room.code not in page


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", True), ("?fee=free", True), ("?fee=paid", False), ("?game=domino_poker", True),
        ("?game=chess", True), ("?fee=%00&game=" + "x" * 5000, True), ("?fee=paid&fee=free", True),
    ],
)  # fmt: skip
def test_the_filter_stands_in_the_address(client: Client, query: str, shown: bool) -> None:
    room = stage.waiting(stage.person("Ana"))
    page = text(client.get(f"/lobby/{query}"))
    assert ("<li hidden " not in page) is shown and f'id="room-{room.pk}"' in page
    assert ("No waiting room fits" in page.split('data-empty="filter" hidden')[0]) is not shown


def test_who_sits_is_offered_the_way_back_and_out() -> None:
    client, player = signed_in()
    room = stage.waiting(player)
    page = text(client.get("/lobby/"))
    assert f'action="/tables/{room.code}/return/"' in page and f'action="/tables/{room.code}/leave/"' in page
    assert 'name="name"' not in page


def test_the_row_of_the_own_room_is_a_way_back_and_no_offer_to_sit_down() -> None:
    client, player = signed_in()
    own, other = stage.waiting(player), stage.waiting(stage.person("Bo"))
    page = text(client.get("/lobby/"))
    mine = page.split(f'id="room-{own.pk}"')[1].split("</li>")[0]
    assert "Your room" in mine and "data-return" in mine and "data-sit" not in mine and 'form="own-form"' in mine
    theirs = page.split(f'id="room-{other.pk}"')[1].split("</li>")[0]
    assert "data-sit" in theirs and "data-return" not in theirs and "Your room" not in theirs
    assert f'data-own="{own.pk}"' in page
    page = text(Client().get("/lobby/"))
    assert "data-own" not in page and "data-return" not in page and "Your room" not in page


# -- opening a table ---------------------------------------------------------------------------------------------


def test_a_visitor_opens_a_table_under_a_name_of_choice(client: Client) -> None:
    answer = client.post("/rooms/", {**CREATE, "visibility": "private", "name": "  Zoë ", "code": "ignored"})
    room = Room.objects.get()
    assert at(answer, room) and settings.SEAT_COOKIE_NAME in answer.cookies
    assert (room.visibility, room.options, room.status) == ("private", {"rounds": 3}, "waiting")
    seat = Seat.objects.get()
    assert (seat.number, seat.name) == (0, "Zoë") and room.host_id == seat.player_id


def test_without_a_name_the_visitor_is_a_numbered_guest(client: Client) -> None:
    client.post("/rooms/", CREATE)
    assert Seat.objects.get().name.startswith("Guest ")


@pytest.mark.parametrize(
    "wrong",
    [
        {"rounds": "0"}, {"rounds": "51"}, {"rounds": ""}, {"rounds": "٣"}, {"rounds": "3 "}, {"rounds": "3.0"},
        {"rounds": "-1"}, {"rounds": "1e1"}, {"rounds": "9" * 100_000}, {"rounds": "3\x00"}, {"rounds": "3\n"},
        {"visibility": "solo"}, {"visibility": ""}, {"visibility": "public\x00"}, {"visibility": "x" * 100_000},
        {"game": "chess"}, {"game": ""}, {"game": "domino_poker\x00"},
    ],
)  # fmt: skip
def test_bad_fields_are_answered_once_and_change_nothing(client: Client, wrong: dict[str, str]) -> None:
    answer = client.post("/rooms/", {**CREATE, **wrong})
    assert answer.status_code == 400
    assert text(answer).count('role="alert"') == 1
    assert not Room.objects.exists() and not Player.objects.filter(is_guest=True).exists()


@pytest.mark.parametrize("missing", sorted(CREATE))
def test_a_missing_field_is_bad_too(client: Client, missing: str) -> None:
    fields = {name: value for name, value in CREATE.items() if name != missing}
    assert client.post("/rooms/", fields).status_code == 400 and not Room.objects.exists()


@pytest.mark.parametrize("path", ["/rooms/", "/quick/", "/join/"])
@pytest.mark.parametrize("name", ["admin", "x" * 21, "a\u200bb", "<script>", "a\x00b", "x" * 100_000])
def test_a_refused_name_is_told_beside_the_field_and_nobody_sits(client: Client, path: str, name: str) -> None:
    room = stage.waiting(stage.person("Ana"))
    answer = client.post(path, {**CREATE, "code": room.code, "name": name})
    page = text(answer)
    assert answer.status_code == 400 and 'id="name-error"' in page and "<script>alert" not in page
    assert Room.objects.count() == 1 and Seat.objects.count() == 1
    assert not Player.objects.filter(username__startswith="guest-").exists()


def test_the_same_creation_again_leads_to_the_table_that_waits() -> None:
    client, _player = signed_in()
    client.post("/rooms/", CREATE)
    room = Room.objects.get()
    again = client.post("/rooms/", CREATE)
    assert at(again, room) and Room.objects.count() == 1
    assert client.get(again["Location"]).status_code == 200
    del client.cookies[settings.SEAT_COOKIE_NAME]  # lost: the way back renews it
    again = client.post("/rooms/", CREATE)
    assert at(again, room) and client.get(again["Location"]).status_code == 200


def test_two_creations_at_once_make_one_room() -> None:
    clients = [signed_in()[0]]
    twin = Client()
    twin.cookies.update(clients[0].cookies)
    calls: list[Callable[[], Any]] = [partial(one.post, "/rooms/", CREATE) for one in (clients[0], twin)]
    answers = stage.at_once(calls)
    assert Room.objects.count() == 1
    assert all(at(answer, Room.objects.get()) for answer in answers)


def test_too_many_tables_are_refused_before_anything_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    client, player = signed_in()
    room = stage.waiting(player)
    monkeypatch.setattr(settings, "ROOMS_IN_TEN_MINUTES", 0)
    answer = client.post("/rooms/", {**CREATE, "give_up": stage.stake(room)})
    assert answer.status_code == 429 and table_of(player) == room


# -- one person, one table ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/rooms/", "/quick/", "/join/", "sit", "/play/"])
def test_who_sits_elsewhere_is_asked_first_and_may_then_leave(path: str) -> None:
    client, player = signed_in()
    own = stage.waiting(player, rounds=9)
    other = stage.waiting(stage.person("Bo"))
    path = f"/rooms/{other.pk}/sit/" if path == "sit" else path
    fields = {**CREATE, "code": other.code.lower(), "level": "medium", "seat": "2", "name": "Other"}
    answer = client.post(path, fields)
    page = text(answer)
    assert answer.status_code == 409 and table_of(player) == own
    assert f'action="/tables/{own.code}/return/"' in page and f'action="{path}"' in page
    form = page.split(f'action="{path}"')[1]
    hidden = {
        part.split('"')[0]: part.split('value="')[1].split('"')[0] for part in form.split('type="hidden" name="')[1:]
    }
    hidden.pop("csrfmiddlewaretoken", None)
    assert hidden["give_up"] == stage.stake(own)
    answer = client.post(path, hidden)
    new = table_of(player)
    assert at(answer, new) and new != own
    own.refresh_from_db()
    assert own.status == "destroyed"


def test_a_seat_is_not_given_up_for_one_that_is_not_to_be_had() -> None:
    client, player = signed_in()
    own = stage.waiting(player)
    full = stage.waiting(*(stage.person(name) for name in ("Bo", "Cem", "Dee", "Eve")))
    for path, fields, status in (
        ("/join/", {"code": "ZZZZZZZZ"}, 404),
        ("/join/", {"code": full.code}, 404),
        (f"/rooms/{full.pk}/sit/", {}, 409),
        (f"/rooms/{full.pk}/sit/", {"seat": "1"}, 409),
        ("/rooms/999999/sit/", {}, 404),
    ):
        answer = client.post(path, {**fields, "give_up": stage.stake(own)})
        assert answer.status_code == status, path
        assert table_of(player) == own


def test_who_sits_at_that_very_table_is_led_back_to_it() -> None:
    client, player = signed_in()
    room = stage.waiting(player)
    assert at(client.post("/join/", {"code": room.code}), room)
    assert at(client.post(f"/rooms/{room.pk}/sit/"), room)
    assert at(client.post(f"/rooms/{room.pk}/sit/", {"seat": "3"}), room)
    assert Seat.objects.get(player=player).number == 0


def test_a_guest_takes_another_name_only_while_at_no_table(client: Client) -> None:
    client.post("/quick/", {"name": "Zoë"})
    guest = Player.objects.get(is_guest=True)
    client.post("/quick/", {"name": "Mia"})
    guest.refresh_from_db()
    assert guest.shown_name == "Zoë"
    client.post(f"/tables/{table_of(guest).code}/leave/")
    client.post("/quick/", {"name": "Mia"})
    guest.refresh_from_db()
    assert guest.shown_name == "Mia" and Seat.objects.get(player=guest).name == "Mia"


# -- by code -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("visibility", ["public", "private"])
@pytest.mark.parametrize("typed", ["{0}-{1}", " {0} {1} ", "{0}{1}", "{0} - {1}"])
def test_a_code_is_taken_as_people_type_it(client: Client, visibility: str, typed: str) -> None:
    room = stage.waiting(stage.person("Ana"), visibility=visibility)
    Room.objects.filter(pk=room.pk).update(code="K01Q2M9X")
    room.refresh_from_db()
    answer = client.post("/join/", {"code": typed.format("kOl", "q2m9x")})
    assert at(answer, room) and Seat.objects.filter(room=room).count() == 2


def test_wrong_unknown_full_and_started_codes_are_answered_alike_and_make_no_guest() -> None:
    full = stage.waiting(*(stage.person(name) for name in ("Ana", "Bo", "Cem", "Dee")), visibility="private")
    started = stage.started(stage.person("Eve"), visibility="private")
    solo = stage.solo(stage.person("Fin"))
    people = Player.objects.count()
    answers = set()
    for code in ("wrong", "ZZZZ-ZZZZ", full.code, started.code, solo.code, "x" * 10_000, "K\x00"):
        answer = Client().post("/join/", {"code": code})
        message = text(answer).split('id="join-error" role="alert">')[1].split("<")[0]
        answers.add((answer.status_code, message))
    assert answers == {(404, "There is no open seat with this code. Look at it again, or ask who gave it to you.")}
    assert Player.objects.count() == people


@pytest.mark.parametrize("fields", [{}, {"code": ""}, {"code": "  "}])
def test_no_code_at_all_is_a_slip(client: Client, fields: dict[str, str]) -> None:
    answer = client.post("/join/", fields)
    assert answer.status_code == 400 and "eight symbols" in text(answer)


def test_who_guesses_is_slowed_down_and_a_friend_is_not() -> None:
    cache.clear()
    room = stage.waiting(stage.person("Ana"), visibility="private")
    eve, _player = signed_in("Eve")
    statuses = [eve.post("/join/", {"code": f"ZZZZZZ{n:02}"}).status_code for n in range(13)]
    assert statuses == [404] * 10 + [429] * 3
    assert eve.post("/join/", {"code": room.code}).status_code == 429
    friend, player = signed_in("Fay")
    assert friend.post("/join/", {"code": "zzzz-zzzz"}).status_code == 404
    assert at(friend.post("/join/", {"code": room.code.lower()}), room)
    assert limits.guess_allowed(f"player:{player.pk}", "")


def test_the_link_shows_the_same_page_for_every_code_and_never_looks() -> None:
    room = stage.waiting(stage.person("Ana"), visibility="private")
    pages = set()
    for code in (room.code, "ZZZZZZZZ"):
        client = Client()
        answer = client.get(f"/join/{code}/")
        page = text(answer)
        assert answer.status_code == 200 and f"{code[:4]}-{code[4:]}" in page and 'name="name"' in page
        token = page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        pages.add(page.replace(token, "").replace(code, "").replace(f"{code[:4]}-{code[4:]}", ""))
        assert not client.session.keys()
    assert len(pages) == 1


def test_the_link_asks_the_database_nothing(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        client.get("/join/K7Q2M9XA/")


@pytest.mark.parametrize("odd", ["abc", "%00", "<script>alert(1)</script>", "K7Q2-M9XA-", "x" * 2000, "٣" * 8])
def test_a_link_with_a_slip_leaves_the_code_to_be_typed(client: Client, odd: str) -> None:
    answer = client.get(f"/join/{quote(odd, safe='%')}/")
    assert answer.status_code in {200, 404} and "<script>alert" not in text(answer)


# -- public seats and quick play ---------------------------------------------------------------------------------


def test_sitting_down_takes_the_seat_asked_for_or_the_first_that_is_free() -> None:
    room = stage.waiting(stage.person("Ana"))
    bo, _bo = signed_in("Bo")
    cem, _cem = signed_in("Cem")
    assert at(bo.post(f"/rooms/{room.pk}/sit/", {"seat": "2"}), room)
    assert at(cem.post(f"/rooms/{room.pk}/sit/"), room)
    names = dict(Seat.objects.filter(room=room).values_list("number", "name"))
    assert names == {0: "Ana", 1: "Cem", 2: "Bo"}


@pytest.mark.parametrize("seat", ["4", "-1", "x", "1\x00", "٣", "1 ", "9" * 10_000])
def test_a_seat_that_does_not_exist_is_refused(client: Client, seat: str) -> None:
    room = stage.waiting(stage.person("Ana"))
    assert client.post(f"/rooms/{room.pk}/sit/", {"seat": seat}).status_code == 400
    assert Seat.objects.count() == 1 and Player.objects.count() == 1


def test_private_solo_unknown_and_huge_numbers_are_the_same_nothing(client: Client) -> None:
    private = stage.waiting(stage.person("Ana"), visibility="private")
    solo = stage.solo(stage.person("Bo"))
    seats = Seat.objects.count()
    for number in (private.pk, solo.pk, 987654321):
        answer = client.post(f"/rooms/{number}/sit/")
        assert answer.status_code == 404 and "There is no such room" in text(answer)
    assert client.post(f"/rooms/{'9' * 40}/sit/").status_code == 404
    assert Seat.objects.count() == seats


def test_quick_play_joins_who_waits_and_else_opens_a_table() -> None:
    ana, _ana = signed_in("Ana")
    bo, bo_player = signed_in("Bo")
    ana.post("/quick/")
    room = Room.objects.get()
    assert room.visibility == "public"
    assert at(bo.post("/quick/"), room)  # Ana's page is on its way
    assert Room.objects.count() == 1 and stage.seat_of(room, bo_player).number == 1


def test_quick_play_joins_nobody_who_has_been_away() -> None:
    (ana, _ana), (bo, _bo), (cleo, _cleo) = signed_in("Ana"), signed_in("Bo"), signed_in("Cleo")
    ana.post("/quick/")
    room = Room.objects.get()
    Room.objects.update(created_at=room.created_at - timedelta(seconds=6))
    bo.post("/quick/")
    assert Room.objects.count() == 2 and Seat.objects.filter(room=room).count() == 1
    stage.arrive(room, _ana)
    assert at(cleo.post("/quick/"), room)


def test_get_does_nothing_where_a_post_is_meant(client: Client) -> None:
    for path in ("/rooms/", "/join/", "/quick/", "/rooms/1/sit/"):
        assert client.get(path).status_code == 405
    assert client.post("/lobby/").status_code == 405


def test_the_lobby_says_which_rooms_it_counts(client: Client) -> None:
    assert "0 rooms in use" in text(client.get("/lobby/"))
    stage.waiting(stage.person("Ana"), visibility="private")
    assert "· 1 room in use" in text(client.get("/lobby/"))
    stage.begun(stage.person("Bo"))
    assert "· 2 rooms in use" in text(client.get("/lobby/"))


def test_a_full_table_has_no_button(client: Client) -> None:
    ana = stage.person("Ana")
    room = stage.waiting(ana)
    hosting.fill_bots(room.pk, ana.pk, "medium")
    page = text(client.get("/lobby/"))
    assert f"/rooms/{room.pk}/sit/" not in page and "Full" in page


def test_the_start_page_leads_to_the_lobby_and_back_to_a_table_that_waits() -> None:
    client, player = signed_in()
    assert 'href="/lobby/"' in text(client.get("/"))
    room = stage.waiting(player)
    page = text(client.get("/"))
    assert f'action="/tables/{room.code}/return/"' in page and "waiting for players" in page


def test_the_list_costs_the_same_however_many_wait(client: Client, django_assert_max_num_queries: Any) -> None:
    for number in range(12):
        seating.create_room(stage.person(f"P{number}"), visibility="public", options={"rounds": 1})
    client.get("/lobby/")
    with django_assert_max_num_queries(6):
        client.get("/lobby/")
    assert len(lobby_rows.read()) == 12


def test_a_visitor_becomes_no_guest_for_a_room_that_is_not_there() -> None:
    hidden = stage.waiting(stage.person("Ana"), visibility="private")
    for room_id in (999_999, hidden.pk):
        answer = Client().post(f"/rooms/{room_id}/sit/", {"name": "Nosy"})
        assert answer.status_code == 404 and not Player.objects.filter(shown_name="Nosy").exists()


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_a_guest_with_the_code_of_a_paid_room_reads_its_price_and_the_ways_back_to_it(
    client: Client, visibility: str
) -> None:
    room = paid(301, rich("Ana"), visibility=visibility)
    for one in (client, signed_in("Gus")[0]):
        answer = one.post("/join/", {"code": room.code.lower()})
        page = text(answer)
        assert answer.status_code == 403 and "A seat there costs <strong>301 gold</strong>." in page
        assert "With you the pot is 602: 422 for the first, 180 for the second." in page
        for way in ("signup", "login"):
            assert f'href="/accounts/{way}/?next=/join/{room.code}/"' in page
    assert "301" not in text(client.get(f"/join/{room.code}/"))


def test_the_way_through_the_sign_up_comes_back_to_the_room(client: Client) -> None:
    room = paid(300, rich("Ana"), visibility="private")
    back = f"/join/{room.code}/"
    form = text(client.get("/accounts/signup/", {"next": back}))
    assert f'name="next" value="{back}"' in form and f'href="/accounts/login/?next={quote(back, safe="")}"' in form
    fields = {"username": "Newcomer", "email": "new@play.example", "password1": "Wonder walls 77", "next": back}
    assert client.post("/accounts/signup/", fields)["Location"] == back
    assert "A seat here costs 300 gold" in text(client.post("/join/", {"code": room.code}))
