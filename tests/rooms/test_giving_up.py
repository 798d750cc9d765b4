"""A seat is given up only by who was asked about that very one, and only once the new one can be had."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import override_settings

from games.models import MatchSeat
from players.models import Player
from rooms import accounts, closing, hosting, seating
from rooms.errors import NoOpenSeat, NotAgreed, NotEnough, RoomFull
from rooms.models import Room, Seat
from tests.players.accounts import PASSWORD, account
from tests.rooms import stage
from tests.rooms.gold import begun, has, nothing_is_lost, paid, rich
from tests.rooms.pages import CREATE, client_of, text
from tests.rooms.racing import together
from tests.rooms.test_lobby_views import at, signed_in, table_of

pytestmark = pytest.mark.django_db(transaction=True)


def start(room: Room) -> None:
    assert room.host_id is not None
    hosting.fill_bots(room.pk, room.host_id, "medium")
    hosting.start(room.pk, room.host_id)


def asked(answer: Any) -> dict[str, str]:
    """What the page that asks sends on when its button is pressed."""
    assert answer.status_code == 409
    form = text(answer).rsplit("<form", 1)[1]
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))


@pytest.mark.parametrize("path", ["/rooms/", "/quick/", "/join/", "sit", "/play/"])
def test_a_match_that_began_since_the_question_is_not_given_up(path: str) -> None:
    host, ana = rich("Host"), rich("Ana")
    own, other = paid(1000, host, ana), stage.waiting(stage.person("Bo"))
    client = client_of(ana)
    path = f"/rooms/{other.pk}/sit/" if path == "sit" else path
    fields = {**CREATE, "code": other.code, "level": "medium"}
    first = client.post(path, fields)
    agreed = asked(first)
    assert "Your fee of 1000 gold comes back" in text(first)
    start(own)
    rooms = Room.objects.count()
    again = client.post(path, {**fields, **agreed})
    assert "is not given back" in text(again) and "comes back" not in text(again)
    assert table_of(ana) == own and has(ana) == [4000] and Room.objects.count() == rooms
    assert not MatchSeat.objects.filter(forfeited=True).exists()
    assert client.post(path, {**fields, **asked(again)}).status_code == 302, "told the truth, and agreed"
    assert table_of(ana) != own and has(ana) == [4000]
    nothing_is_lost()


@pytest.mark.parametrize("wrong", ["1", "on", "another"])
def test_consent_names_the_table_that_it_is_about(wrong: str) -> None:
    client, ana = signed_in()
    before = stage.waiting(ana)
    agreed = stage.stake(before) if wrong == "another" else wrong
    closing.leave(before.pk, ana.pk)
    own, other = stage.waiting(ana), stage.waiting(stage.person("Bo"))
    for path in (f"/rooms/{other.pk}/sit/", "/play/"):
        answer = client.post(path, {"rounds": "1", "level": "medium", "give_up": agreed})
        assert asked(answer)["give_up"] == stage.stake(own) and table_of(ana) == own


def test_it_is_compared_under_the_lock_of_the_room() -> None:
    ana, ben = stage.people("Ana", "Ben")
    room = stage.waiting(ana, ben)
    agreed = stage.stake(room)
    start(room)
    with pytest.raises(NotAgreed):
        closing.leave(room.pk, ben.pk, agreed)
    assert Seat.objects.filter(player=ben).exists()
    closing.give_up_running(ben.pk, stage.stake(room))
    assert not Seat.objects.filter(player=ben).exists()
    closing.give_up_running(ben.pk, agreed)  # sits nowhere: there is nothing to give up


def test_who_asks_for_the_own_table_gives_nothing_up() -> None:
    host, ana = rich("Host"), rich("Ana")
    room = begun(paid(100, host, ana))
    client = client_of(ana)
    fields = {"agreed_fee": "100", "give_up": stage.stake(room)}
    assert at(client.post(f"/rooms/{room.pk}/sit/", fields), room)
    assert at(client.post("/join/", {**fields, "code": room.code}), room)
    assert table_of(ana) == room and not MatchSeat.objects.filter(forfeited=True).exists()


def test_an_account_is_not_deleted_with_a_match_that_began_since_the_question() -> None:
    ana = account("Ana")
    room = stage.waiting(stage.person("Host"), ana)
    client = client_of(ana)
    asked_about = {"password": PASSWORD, "stake": stage.stake(room)}
    assert f'name="stake" value="{stage.stake(room)}"' in text(client.get("/accounts/delete/"))
    start(room)
    for agreed in (asked_about, {"password": PASSWORD}):
        answer = client.post("/accounts/delete/", {**agreed, "give_up": "on"})
        assert answer.status_code == 409 and str(NotAgreed.text) in text(answer)
        assert f'name="stake" value="{stage.stake(room)}"' in text(answer) and "checked" not in text(answer)
        assert table_of(ana) == room and Player.objects.get(pk=ana.pk).is_active
    fields = {"password": PASSWORD, "stake": stage.stake(room), "give_up": "on"}
    assert client.post("/accounts/delete/", fields).status_code == 302
    assert Player.objects.get(pk=ana.pk).closed_at is not None


def test_an_account_is_not_deleted_in_the_moment_in_which_the_match_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    ana = account("Ana")
    room = stage.waiting(stage.person("Host"), ana)
    client, fields = client_of(ana), {"password": PASSWORD, "stake": stage.stake(room)}
    close = accounts.close

    def meanwhile(player_id: int, agreed: str | None = None) -> None:
        start(room)
        close(player_id, agreed)

    monkeypatch.setattr(accounts, "close", meanwhile)
    answer = client.post("/accounts/delete/", fields)
    assert answer.status_code == 409 and 'name="give_up"' in text(answer)
    assert table_of(ana) == room and Player.objects.get(pk=ana.pk).is_active


def test_who_sits_down_again_and_again_keeps_the_account_and_sees_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    ana = account("Ana")
    client = client_of(ana)
    monkeypatch.setattr(accounts, "_close_unless_seated", lambda _player: False)
    answer = client.post("/accounts/delete/", {"password": PASSWORD, "stake": ""})
    assert answer.status_code == 409 and 'name="password"' in text(answer)
    assert Player.objects.get(pk=ana.pk).is_active


def taken(room: Room, *people: Player) -> None:
    for one in people:
        seating.sit(one, room.pk, agreed_fee=room.fee)


def test_paid_seats_that_are_used_up_cost_no_running_match() -> None:
    host, other, ana = rich("Host"), rich("Other"), rich("Ana")
    first, second = paid(100, host), paid(50, other)
    client = client_of(ana)
    with override_settings(PAID_SEATS_IN_TEN_MINUTES=2):
        taken(second, ana)
        closing.leave(second.pk, ana.pk)
        taken(first, ana)
        own = begun(first)
        for _i in range(3):
            answer = client.post(f"/rooms/{second.pk}/sit/", {"agreed_fee": "50", "give_up": stage.stake(own)})
            assert answer.status_code == 429 and table_of(ana) == own and has(ana) == [4900]
    assert not MatchSeat.objects.filter(forfeited=True).exists()


def test_clicks_that_are_refused_use_up_no_paid_seat() -> None:
    host, other, full, ana = rich("Host"), rich("Other"), rich("Full"), rich("Ana")
    first, second = paid(100, host), paid(50, other)
    client = client_of(ana)
    with override_settings(PAID_SEATS_IN_TEN_MINUTES=2):
        taken(first, ana)
        own, crowded = begun(first), paid(50, full)
        hosting.fill_bots(crowded.pk, full.pk, "medium")
        for _i in range(4):
            assert client.post(f"/rooms/{second.pk}/sit/", {"agreed_fee": "50"}).status_code == 409
            answer = client.post(f"/rooms/{crowded.pk}/sit/", {"agreed_fee": "50", "give_up": stage.stake(own)})
            assert answer.status_code == 409 and table_of(ana) == own
        fields = {"agreed_fee": "50", "give_up": stage.stake(own)}
        assert client.post(f"/rooms/{second.pk}/sit/", fields).status_code == 302
    assert table_of(ana) == second and has(ana) == [4850]


def test_quick_play_leaves_no_seat_for_a_table_that_may_not_be_opened() -> None:
    client, ana = signed_in()
    own = stage.waiting(ana)
    with override_settings(ROOMS_IN_TEN_MINUTES=1):
        assert client.post("/quick/", {"give_up": stage.stake(own)}).status_code == 429
    assert table_of(ana) == own


def test_leaving_a_waiting_room_is_no_forfeit_of_the_match_that_began_meanwhile() -> None:
    host, ana = rich("Host"), rich("Ana")
    room = paid(1000, host, ana)
    client = client_of(ana)
    start(room)
    answer = client.post(f"/tables/{room.code}/leave/", {"gives_up": "seat"})
    assert answer.headers["Location"] == f"/tables/{room.code}/"
    assert Seat.objects.filter(room=room, player=ana).exists() and has(ana) == [4000]
    assert client.post(f"/tables/{room.code}/leave/", {"gives_up": "match"}).status_code == 302
    assert not Seat.objects.filter(room=room, player=ana).exists() and MatchSeat.objects.filter(forfeited=True).exists()


# -- both or neither ---------------------------------------------------------------------------------------------


def test_a_seat_that_a_rival_took_meanwhile_costs_none() -> None:
    host, other, ana = rich("Host"), rich("Other"), rich("Ana")
    first, second = paid(100, host, ana), paid(50, other)
    own = begun(first)
    agreed = stage.stake(own)
    taken(second, rich("Ben"), rich("Cleo"), rich("Dora"))
    for take in (seating.sit, seating.sit_with_code):
        with pytest.raises((RoomFull, NoOpenSeat)):
            take(ana, second.pk, agreed_fee=50, give_up=agreed)
    assert table_of(ana) == own and has(ana) == [4900]
    assert not MatchSeat.objects.filter(forfeited=True).exists()
    nothing_is_lost()


def test_the_fee_that_comes_back_pays_the_next_seat_or_nothing_moves() -> None:
    host, rich_host, ana = rich("Host"), rich("Other"), rich("Ana")
    own, other = paid(3000, host, ana), paid(4500, rich_host)
    agreed = stage.stake(own)
    too_dear = paid(5001, rich("Rich", 9000))
    with pytest.raises(NotEnough) as refused:
        seating.sit(ana, too_dear.pk, agreed_fee=5001, give_up=agreed)
    assert "5000" in str(refused.value.text) and table_of(ana) == own and has(ana) == [2000]
    seating.sit(ana, other.pk, agreed_fee=4500, give_up=agreed)
    assert table_of(ana) == other and has(ana) == [500]
    nothing_is_lost()


def test_consent_to_another_table_takes_no_seat() -> None:
    ana, bo = stage.people("Ana", "Bo")
    own, other = stage.waiting(ana), stage.waiting(bo)
    ways: tuple[Callable[[], object], ...] = (
        lambda: seating.sit(ana, other.pk, give_up=stage.stake(other)),
        lambda: seating.quick_play(ana, give_up=stage.stake(other)),
        lambda: seating.create_room(ana, visibility="public", options={"rounds": 1}, give_up=stage.stake(other)),
        lambda: seating.open_solo(ana, {"rounds": 1}, "medium", clocked=False, give_up=stage.stake(other)),
    )
    rooms = Room.objects.count()
    for way in ways:
        with pytest.raises(NotAgreed):
            way()
        assert table_of(ana) == own and Room.objects.count() == rooms


def test_both_tables_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ana, ben, bo = stage.people("Ana", "Ben", "Bo")
    own, other = stage.waiting(ana, ben), stage.waiting(bo)
    before = stage.refreshed(own).version, stage.refreshed(other).version
    told: list[tuple[int, int]] = []

    def notice(room_id: int, version: int) -> bool:
        told.append((room_id, version))
        return True

    monkeypatch.setattr("rooms.hub.notice_from_thread", notice)
    seating.sit(ben, other.pk, give_up=stage.stake(own))
    assert told == [(own.pk, before[0] + 1), (other.pk, before[1] + 1)]


def test_a_double_click_leads_to_the_new_table() -> None:
    host, ana = rich("Host"), rich("Ana")
    own, other = stage.waiting(stage.person("Z"), ana), paid(100, host)
    fields = {"agreed_fee": "100", "give_up": stage.stake(own)}
    clicks = [partial(client_of(ana).post, f"/rooms/{other.pk}/sit/", fields) for _i in range(2)]
    answers = together(*clicks)
    assert all(at(answer, other) for answer in answers) and has(ana) == [4900]


def test_a_new_room_like_the_one_of_another_host_is_opened() -> None:
    host, ana = stage.people("Host", "Ana")
    own = stage.waiting(host, ana)
    client = client_of(ana)
    assert client.post("/rooms/", CREATE).status_code == 409, "it is not Ana's own, so she is asked"
    assert client.post("/rooms/", {**CREATE, "give_up": stage.stake(own)}).status_code == 302
    assert table_of(ana) not in {None, own} and table_of(ana).host_id == ana.pk
    assert at(client.post("/rooms/", CREATE), table_of(ana)), "a second click leads there"
