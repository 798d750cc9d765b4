"""What the lobby shows: public tables that wait, in an order, with what everybody may know and nothing else."""

from datetime import timedelta

import pytest
from django.template import loader
from django.utils import timezone

from rooms import clock, closing, hosting, lobby, lobby_rows
from rooms.models import Connection, Pulse, Room, Seat
from tests.rooms import stage

pytestmark = pytest.mark.django_db(transaction=True)


def rows() -> list[lobby_rows.Row]:
    return lobby_rows.read()


def older(room: Room, minutes: float) -> Room:
    Room.objects.filter(pk=room.pk).update(created_at=clock.now() - timedelta(minutes=minutes))
    return room


def test_only_public_tables_that_wait_are_listed() -> None:
    shown = stage.waiting(stage.person("Ana"))
    stage.waiting(stage.person("Bo"), visibility="private")
    stage.solo(stage.person("Cem"))
    left = stage.waiting(stage.person("Dee"))
    closing.leave(left.pk, Seat.objects.get(room=left).player_id or 0)
    stage.started(*(stage.person(name) for name in ("Eve", "Fin", "Gus", "Hal")))
    old = stage.waiting(stage.person("Ivo"))
    Room.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert [row.room_id for row in rows()] == [shown.pk]
    assert list(lobby_rows.versions()) == [shown.pk]


def test_a_row_tells_seats_host_rounds_and_never_the_code() -> None:
    ana, bo = stage.person("Ana"), stage.person("Bo")
    room = stage.waiting(ana, bo, rounds=3)
    hosting.put_bot(room.pk, ana.pk, 3, "medium")
    (row,) = rows()
    assert [(mark.kind, mark.host) for mark in row.marks] == [
        ("human", True), ("human", False), ("open", False), ("bot", False),
    ]  # fmt: skip
    assert (row.host, row.rounds, row.humans, row.taken, row.full, row.cost) == ("Ana", 3, 2, 3, False, "free")
    html = row.html(clock.now())
    assert "Ana’s room" in html and "3 of 4 seats taken" in html and "3 rounds" in html and "free" in html
    assert f'formaction="/rooms/{room.pk}/sit/"' in html and f'href="/rooms/{room.pk}/"' in html
    room.refresh_from_db()
    assert room.code not in html and str(room.watch_key) not in html


def test_a_name_is_text_and_not_markup() -> None:
    room = stage.waiting(stage.person("Ana"))
    Seat.objects.filter(room=room).update(name="<b>Ana</b>")
    html = rows()[0].html(clock.now())
    assert "<b>" not in html and "&lt;b&gt;Ana" in html


def test_free_seats_come_first_then_most_people_then_oldest_and_the_deserted_last() -> None:
    names = iter(["Ana", "Bo", "Cem", "Dee", "Eve", "Fin", "Gus", "Hal", "Ivo", "Jo", "Kim", "Lea"])
    people = [[stage.person(next(names)) for _n in range(count)] for count in (1, 4, 2, 1, 3)]
    alone, full, pair, younger, deserted = (stage.waiting(*group) for group in people)
    for gone in people[-1]:
        stage.go_away(deserted, gone)
    older(deserted, 5)
    assert [row.room_id for row in rows()] == [pair.pk, alone.pk, younger.pk, full.pk, deserted.pk]
    assert [row.away for row in rows()] == [False, False, False, False, True]


def test_whoever_has_just_opened_a_table_is_on_the_way_and_not_away() -> None:
    ana = stage.person("Ana")
    room = stage.waiting(ana)
    stage.go_away(room, ana)
    (row,) = rows()
    assert row.unsettled and not row.away
    older(room, 1)
    (row,) = rows()
    assert row.away and not row.unsettled and "all away" in row.html(clock.now())


def test_the_age_is_put_into_kept_markup_each_time() -> None:
    room = stage.waiting(stage.person("Ana"))
    (row,) = rows()
    assert 'data-age="0">new<' in row.html(row.created_at)
    assert 'data-age="185">3 min<' in row.html(row.created_at + timedelta(seconds=185))
    assert row.html(row.created_at, hidden=True).startswith("<li hidden ")
    assert room.pk == row.room_id


def test_markup_is_made_once_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    stage.waiting(stage.person("Ana"))
    made = []
    real = loader.get_template

    def counted(name: str) -> object:
        made.append(name)
        return real(name)

    monkeypatch.setattr(loader, "get_template", counted)
    for _n in range(3):
        (row,) = rows()
        row.html(clock.now())
    assert len(made) == 1


def test_online_counts_people_at_tables_and_in_lobbies_of_living_processes() -> None:
    ana, bo = stage.person("Ana"), stage.person("Bo")
    room = stage.waiting(ana, bo)
    stage.go_away(room, bo)
    seat = stage.seat_of(room, ana)
    Connection.objects.create(channel="tab-2", seat=seat, seen_at=clock.now())
    Pulse.objects.create(process="own", at=clock.now(), viewers=50)
    Pulse.objects.create(process="other", at=clock.now(), viewers=3)
    Pulse.objects.create(process="dead", at=clock.now() - timedelta(seconds=30), viewers=9)
    stage.solo(stage.person("Cem"))
    assert lobby_rows.online(2, "own") == lobby_rows.Online(players=1 + 3 + 2, tables=2)


def test_a_state_has_one_name_and_every_change_another() -> None:
    room = stage.waiting(stage.person("Ana"))
    before = lobby.state_of(rows())
    assert before == lobby.state_of(rows())
    Room.objects.filter(pk=room.pk).update(version=99)
    assert lobby.state_of(rows()) != before
