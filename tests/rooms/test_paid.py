"""The coins of a room of people: paid on sitting, given back before the start, won at the end, never lost."""

from collections.abc import Callable
from functools import partial

import pytest
from django.conf import settings

from games.models import MatchEvent
from rooms import audit, closing, hosting, playing, seating, tasks
from rooms.errors import AlreadySeated, FeeToAgree, GuestsCannotPay, NoOpenSeat, NotEnough
from rooms.models import Room, Seat
from tests.rooms import stage
from tests.rooms.gold import begun, escrow, has, nothing_is_lost, outcome, paid, rich
from wallet import selectors as wallet
from wallet.models import Resolution, Transaction

pytestmark = pytest.mark.django_db(transaction=True)


def test_everybody_pays_on_sitting_and_the_host_too() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana, ben)
    assert has(ana, ben) == [4700, 4700] and escrow(room) == 600
    frame = stage.frame_of(room, 0)["room"]["money"]
    assert (frame["fee"], frame["pot"]) == (300, 600)


def test_leaving_before_the_start_gives_the_whole_fee_back_however_often() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana, ben)
    for _i in range(3):
        closing.leave(room.pk, ben.pk)
        assert has(ben) == [5000] and escrow(room) == 300
        seating.sit(ben, room.pk, agreed_fee=300)
        assert has(ben) == [4700] and escrow(room) == 600
    closing.leave(room.pk, ana.pk)
    assert has(ana) == [5000] and stage.refreshed(room).host_id == ben.pk
    closing.leave(room.pk, ben.pk)
    assert has(ana, ben) == [5000, 5000] and escrow(room) == 0 and stage.refreshed(room).status == "destroyed"
    nothing_is_lost()


def test_removal_deletion_and_expiry_give_every_fee_back() -> None:
    ana, ben, cleo = rich("Ana"), rich("Ben"), rich("Cleo")
    room = paid(300, ana, ben, cleo)
    hosting.remove(room.pk, ana.pk, stage.seat_of(room, ben).pk)
    assert has(ben) == [5000] and escrow(room) == 600
    hosting.delete(room.pk, ana.pk)
    assert has(ana, ben, cleo) == [5000] * 3 and escrow(room) == 0
    room = paid(300, ana, ben, cleo)
    Room.objects.filter(pk=room.pk).update(expires_at=room.created_at, due_at=room.created_at)
    tasks.expire_rooms()
    tasks.ring_due()
    assert stage.refreshed(room).status == "destroyed"
    assert has(ana, ben, cleo) == [5000] * 3 and escrow(room) == 0
    nothing_is_lost()


def test_guests_the_poor_and_those_who_did_not_see_the_price_do_not_sit() -> None:
    ana, poor, guest = rich("Ana"), rich("Poor", 4900), stage.person("Guest")
    room = paid(4950, ana)
    with pytest.raises(GuestsCannotPay):
        seating.sit(guest, room.pk, agreed_fee=4950)
    with pytest.raises(NotEnough, match="insufficient"):
        seating.sit(poor, room.pk, agreed_fee=4950)
    with pytest.raises(FeeToAgree):
        seating.sit(poor, room.pk, agreed_fee=4000)
    with pytest.raises(GuestsCannotPay):
        seating.create_room(guest, visibility="public", options={"rounds": 1}, fee=1)
    with pytest.raises(NotEnough):
        seating.create_room(poor, visibility="public", options={"rounds": 1}, fee=4901)
    assert Seat.objects.count() == 1 and has(poor) == [4900] and escrow(room) == 4950


def test_the_pot_goes_seventy_to_thirty_to_the_first_two_people() -> None:
    people = [rich(name) for name in ("Ana", "Ben", "Cleo", "Dan")]
    room = paid(101, *people)
    room = begun(room)
    stage.play_to_the_end(room)
    assert stage.refreshed(room).status == "finished"
    order = outcome(room)["order"]
    won = {order[0]: 283, order[1]: 121}
    assert has(*people) == [5000 - 101 + won.get(number, 0) for number in range(4)]
    assert escrow(room) == 0
    nothing_is_lost()
    money = stage.frame_of(room, 0)["room"]["money"]
    assert {line["seat"]: line["coins"] for line in money["payout"]} == won


def test_bots_and_forfeiters_win_nothing_of_it() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    closing.leave(room.pk, ben.pk)
    assert has(ben) == [4700]
    stage.play_to_the_end(room)
    assert has(ana, ben) == [5300, 4700] and escrow(room) == 0
    nothing_is_lost()


def test_a_pot_that_nobody_may_win_goes_to_the_house() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    closing.leave(room.pk, ana.pk)
    closing.leave(room.pk, ben.pk)
    assert stage.refreshed(room).status == "destroyed" and escrow(room) == 0
    assert has(ana, ben) == [4700, 4700] and wallet.held("house:abandoned") == 600
    nothing_is_lost()


def test_one_forfeits_and_the_other_stays_away() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    stage.go_away(room, ben)
    closing.leave(room.pk, ana.pk)
    stage.pass_time(room, 59)
    playing.ring(room.pk)
    assert stage.refreshed(room).status == "playing"
    stage.arrive(room, ben)
    stage.go_away(room, ben)
    stage.pass_time(room, 61)
    for _i in range(3):
        playing.ring(room.pk)
        tasks.close_abandoned()
    assert stage.refreshed(room).status == "destroyed" and wallet.held("house:abandoned") == 600
    seating.create_room(ana, visibility="public", options={"rounds": 1})
    seating.create_room(ben, visibility="public", options={"rounds": 1})
    nothing_is_lost()


def test_leaving_in_the_countdown_forfeits_the_fee() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana, ben)
    hosting.fill_bots(room.pk, ana.pk, "medium")
    hosting.start(room.pk, ana.pk)
    closing.leave(room.pk, ben.pk)
    assert has(ben) == [4700] and escrow(room) == 600
    stage.pass_time(room, 20)
    playing.ring(room.pk)
    stage.play_to_the_end(room)
    assert has(ana, ben) == [5300, 4700] and escrow(room) == 0


def test_a_rematch_costs_the_fee_anew() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    stage.play_to_the_end(room)
    before = has(ana, ben)
    seating.rematch(ana, room.code)
    seating.rematch(ben, room.code)
    assert has(ana, ben) == [coins - 300 for coins in before]
    nothing_is_lost()


def test_the_wallet_is_asked_twenty_times_at_once_and_pays_once() -> None:
    ana, hosts = rich("Ana", 1000), [rich(f"Host {letter}") for letter in "ABCDE"]
    rooms = [seating.create_room(one, visibility="public", options={"rounds": 1}, fee=600) for one in hosts]
    tries: list[Callable[[], seating.Sitting]] = [
        partial(seating.create_room, ana, visibility="public", options={"rounds": 1}, fee=600) for _i in range(10)
    ]
    tries += [partial(seating.sit, ana, rooms[i % 5].room_id, agreed_fee=600) for i in range(10)]
    results = stage.at_once(list(tries))
    taken = [result for result in results if isinstance(result, seating.Sitting)]
    assert len(taken) == 1 and has(ana) == [400]
    assert all(isinstance(result, seating.Sitting | AlreadySeated | NotEnough) for result in results), results
    assert Seat.objects.filter(player=ana).count() == 1
    assert Transaction.objects.filter(kind="fee", postings__source__owner=ana).count() == 1
    nothing_is_lost()


def test_a_match_that_ends_twice_pays_once() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(101, ana, ben))
    # The last of 4 bids and 28 plays is left to whoever comes first.
    while MatchEvent.objects.filter(match_id=stage.match_of(room)).exclude(answer="").count() < 31:
        (prompt,) = stage.prompts(room)
        seat = Seat.objects.get(room=room, number=prompt.seat)
        if seat.player_id is not None and room.is_open:
            stage.give(room, seat, action_id=f"m{room.version}")
        else:
            stage.pass_time(room, 20 if room.deadline_at is None else 0)
            playing.ring(room.pk)
    (prompt,) = stage.prompts(room)
    if Seat.objects.get(room=room, number=prompt.seat).player_id is not None and not room.is_open:
        stage.pass_time(room, 20)
        playing.ring(room.pk)  # opens a person's last question; it runs out below
    stage.pass_time(room, 20)
    stage.at_once([partial(playing.ring, room.pk) for _i in range(8)] + [tasks.ring_due, tasks.ring_due])
    assert stage.refreshed(room).status == "finished"
    assert Transaction.objects.filter(kind="payout").count() == 1
    assert Resolution.objects.count() == 2 and escrow(room) == 0
    nothing_is_lost()


@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_solo_rewards_are_for_the_registered_who_come_first_or_second(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = [1, 2, 3]
    order.insert(place - 1, 0)
    monkeypatch.setattr("games.engine.domino_poker.game.ranking", lambda *_score: (tuple(order), ("score",) * 3))
    ana, guest = rich("Ana"), stage.person("Guest")
    for player in (ana, guest):
        room = stage.begun(player)
        stage.play_out(room)
        assert outcome(room)["places"][0] == place
    assert has(ana, guest) == [5050 if place <= 2 else 5000, 0]
    nothing_is_lost()


@pytest.mark.parametrize(("level", "coins_won"), [("medium", 50), ("hard", 100), ("epic", 300)])
def test_what_the_levels_are_worth(level: str, coins_won: int) -> None:
    assert settings.REWARDS[level] == coins_won


def test_a_full_room_found_by_code_says_nothing_of_its_price() -> None:
    people = [rich(name) for name in ("Ana", "Ben", "Cleo", "Dan")]
    room = paid(300, *people, visibility="private")
    with pytest.raises(NoOpenSeat):
        stage.by_code(rich("Eve"), room.code, address="192.0.2.1", agreed_fee=300)


def test_the_ledger_check_finds_coins_in_a_room_that_is_over() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana, ben)
    assert list(audit.escrows()) == []
    Room.objects.filter(pk=room.pk).update(status="destroyed")
    assert list(audit.escrows()) == [f"escrow: room:{room.pk}: 600 coins although it is destroyed"]
    Room.objects.filter(pk=room.pk).update(status="waiting")
    Seat.objects.filter(player=ben).update(paid=0)
    assert list(audit.escrows()) == [f"escrow: room:{room.pk}: 600 coins, but its seats have paid 300"]


@pytest.mark.parametrize("rooms", [8, pytest.param(64, marks=pytest.mark.soak)])
def test_one_player_is_let_into_one_of_many_rooms_at_once(rooms: int, wide_pool: None) -> None:
    ana = rich("Ana", 4900)
    waiting = [
        seating.create_room(rich(f"Host {number}"), visibility="public", options={"rounds": 1}, fee=300)
        for number in range(rooms)
    ]
    results = stage.at_once([partial(seating.sit, ana, one.room_id, agreed_fee=300) for one in waiting])
    assert sum(isinstance(result, seating.Sitting) for result in results) == 1
    assert all(isinstance(result, seating.Sitting | AlreadySeated) for result in results), results
    assert has(ana) == [4600] and Seat.objects.filter(player=ana).count() == 1
    nothing_is_lost()
