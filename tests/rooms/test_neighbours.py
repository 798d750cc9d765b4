"""What one visitor can't do to the others: guests without number, codes in logs, endless talk, pauses cut short."""

from datetime import timedelta

import pytest
from django.test import Client, override_settings

from players.models import Player
from rooms import clock, closing, hub, playing, presence
from rooms.errors import TooMany
from rooms.models import Room, Seat
from tests.rooms import stage
from tests.support.site import LiveSite
from tests.support.visitor import Visitor

pytestmark = pytest.mark.django_db(transaction=True)


@override_settings(GUESTS_IN_TEN_MINUTES=3)
def test_an_address_makes_a_bounded_number_of_guests() -> None:
    answers = [Client().post("/quick/").status_code for _i in range(5)]
    assert answers == [302, 302, 302, 429, 429] and Player.objects.count() == 3
    solo = Client().post("/play/", {"rounds": "1", "level": "medium"})
    assert solo.status_code == 429 and b"Too many new guests" in solo.content
    elsewhere = Client(REMOTE_ADDR="192.0.2.9").post("/quick/")
    assert elsewhere.status_code == 302


def test_no_code_gets_into_the_logs(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    ana.sit(code).asked()
    assert code not in live_site.log_text()


def test_another_seat_is_no_way_to_speak_more() -> None:
    here = hub.Hub.__new__(hub.Hub)
    here.tables = {1: hub.LocalTable(1)}
    here.spawn = lambda work: work.close()  # type: ignore[method-assign]
    for seat in range(3):
        here.talk(1, seat, "hello", 7)
    with pytest.raises(TooMany):
        here.talk(1, 3, "hello", 7)
    here.talk(1, 3, "hello", 8)


def paused(*people: Player) -> tuple[Room, Seat]:
    """A running table in a pause of a minute, and the seat that will be asked after it."""
    room = stage.running(*people)
    seat = stage.asked(room)
    ends = clock.now() + timedelta(seconds=60)
    Room.objects.filter(pk=room.pk).update(is_open=False, deadline_at=None, opened_at=ends, due_at=ends)
    return stage.refreshed(room), seat


def test_leaving_in_a_pause_does_not_cut_it_short() -> None:
    room, seat = paused(stage.person("Ana"), stage.person("Ben"))
    assert seat.player_id is not None
    before = room.opened_at
    closing.leave(room.pk, seat.player_id)
    assert stage.refreshed(room).opened_at == before and room.due_at == before


def test_taking_control_in_a_pause_does_not_cut_it_short() -> None:
    room, seat = paused(stage.person("Ana"), stage.person("Ben"))
    Seat.objects.filter(pk=seat.pk).update(missed=3, auto_play=True)
    playing.take_control(room.pk, seat.pk)
    assert not stage.refreshed(room).is_open and room.opened_at is not None
    assert room.opened_at > clock.now() + timedelta(seconds=50)


@pytest.mark.usefixtures("quiet_site")
def test_an_outage_in_the_countdown_is_shown_to_those_who_stayed() -> None:
    room = stage.started(stage.person("Ana"), stage.person("Ben"))
    before = room.version
    stage.outage(20)
    assert presence.mend_outage() is not None
    assert stage.refreshed(room).version > before


def test_what_fails_after_the_commit_leaves_the_action_done(monkeypatch: pytest.MonkeyPatch) -> None:
    room = stage.waiting(stage.person("Ana"), stage.person("Ben"))
    monkeypatch.setattr("rooms.table._tell_old_table", lambda _room: 1 / 0)
    stage.go_away(room, Player.objects.get(shown_name="Ben"))
    assert stage.refreshed(room).version > 3
