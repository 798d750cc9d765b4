"""Who is away, what an outage of the service must not cost, and how tables end without their people."""

from datetime import timedelta
from functools import partial

import pytest
from django.db.models import F

from games.models import Match
from rooms import clock, closing, playing, presence, tasks
from rooms.errors import AlreadySeated, NoSuchRoom
from rooms.models import Connection, Room, Seat
from tests.rooms import stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quiet_site")]


def test_one_player_opens_eight_tables_at_once_and_gets_one() -> None:
    ana = stage.person("Ana")
    results = stage.at_once([partial(stage.solo, ana) for _i in range(8)])
    assert sum(isinstance(result, Room) for result in results) == 1
    assert all(isinstance(result, Room | AlreadySeated) for result in results)
    assert Seat.objects.filter(player=ana).count() == 1
    assert Room.objects.count() == 1 and Match.objects.count() == 1


def test_leaving_a_solo_table_gives_the_match_up() -> None:
    ana = stage.person("Ana")
    room = stage.begun(ana)
    closing.leave(room.pk, ana.pk)
    room.refresh_from_db()
    assert room.status == "destroyed" and room.due_at is None
    assert Match.objects.get(pk=room.match_id or 0).status == "abandoned"
    with pytest.raises(NoSuchRoom):
        closing.leave(room.pk, ana.pk)


def test_the_grace_runs_while_nobody_is_there_and_ends_the_match() -> None:
    room = stage.begun(stage.person("Ana"), present=False)
    assert room.away_since is not None
    stage.pass_time(room, 3500)
    playing.ring(room.pk)
    room.refresh_from_db()
    assert room.status == "playing"
    stage.pass_time(room, 101)
    playing.ring(room.pk)
    room.refresh_from_db()
    assert room.status == "destroyed"


def test_coming_back_cancels_the_grace() -> None:
    ana = stage.person("Ana")
    room = stage.begun(ana, present=False)
    seat = stage.human(room)
    presence.connect(presence.Membership(room.pk, ana.pk, seat.number, seat.pk), "page")
    room.refresh_from_db()
    assert not room.away_since
    presence.disconnect(room.pk, ["page"])
    room.refresh_from_db()
    assert room.away_since and Seat.objects.filter(pk=seat.pk).exists()


def test_two_tabs_are_one_presence() -> None:
    ana = stage.person("Ana")
    room = stage.begun(ana)
    seat = stage.human(room)
    presence.connect(presence.Membership(room.pk, ana.pk, seat.number, seat.pk), "second")
    presence.disconnect(room.pk, ["second"])
    room.refresh_from_db()
    assert room.away_since is None


def test_a_killed_process_leaves_no_ghost() -> None:
    room = stage.begun(stage.person("Ana"))
    presence.pulse()
    Connection.objects.update(seen_at=clock.now() - timedelta(seconds=60))
    assert presence.drop_stale() == 1
    room.refresh_from_db()
    assert room.away_since is not None
    assert presence.drop_stale() == 0


def test_an_outage_never_costs_a_turn() -> None:
    room = stage.begun(stage.person("Ana"), clocked=True)
    prompt = stage.to_human(room)
    stage.pass_time(room, 30)
    stage.outage(35)
    playing.ring(room.pk)
    room.refresh_from_db()
    assert stage.prompts(room)[0].step == prompt.step and stage.human(room).missed == 0
    assert room.deadline_at is not None and room.deadline_at > clock.now() + timedelta(seconds=8)


def test_without_an_outage_the_turn_is_lost() -> None:
    room = stage.begun(stage.person("Ana"), clocked=True)
    prompt = stage.to_human(room)
    stage.pass_time(room, 30)
    presence.pulse()
    playing.ring(room.pk)
    assert stage.prompts(room)[0].step != prompt.step and stage.human(room).missed == 1


def test_an_outage_prolongs_the_grace() -> None:
    room = stage.begun(stage.person("Ana"), present=False)
    stage.pass_time(room, 3700)
    stage.outage(3650)
    playing.ring(room.pk)
    room.refresh_from_db()
    assert room.status == "playing"


def test_an_outage_is_mended_once() -> None:
    stage.outage(30)
    gaps = stage.at_once([presence.mend_outage for _i in range(6)])
    assert sum(gap is not None for gap in gaps) == 1


def test_beat_rings_what_is_due_and_one_bad_room_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = stage.solo(stage.person("Ana")), stage.solo(stage.person("Ben"))
    Room.objects.update(starts_at=clock.now(), due_at=clock.now() - timedelta(seconds=1))
    ring = playing.ring

    def breaking(room_id: int) -> None:
        if room_id == bad.pk:
            raise RuntimeError("broken room")
        ring(room_id)

    monkeypatch.setattr(playing, "ring", breaking)
    assert tasks.ring_due() == 2
    good.refresh_from_db()
    assert good.status == "playing"
    assert Room.objects.filter(pk=bad.pk, status="starting").exists()


def test_a_version_is_never_reused() -> None:
    room = stage.begun(stage.person("Ana"))
    seen = [room.version]
    for _i in range(5):
        stage.pass_time(room, 20)
        playing.ring(room.pk)
        room.refresh_from_db()
        seen.append(room.version)
    assert seen == sorted(seen)
    assert Room.objects.filter(pk=room.pk).update(version=F("version")) == 1
