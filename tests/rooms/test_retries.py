"""A service that PostgreSQL gives up for another transaction is run anew, three times in all, and has one effect."""

import ast
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, connection, transaction

import rooms
from games.models import MatchEvent
from players.models import Player, StaffAct
from players.staff import Act
from rooms import accounts, clock, closing, hosting, playing, presence, seating
from rooms.models import Connection, Room, Seat, Watcher
from rooms.retries import retried
from tests.players.accounts import browser, sign_up, whose
from tests.rooms import stage
from tests.rooms.gold import has, nothing_is_lost, paid, rich
from tests.rooms.test_once import everything
from tests.support.services import Run
from wallet import corrections
from wallet import services as coins
from wallet.models import Account, Correction, Transaction

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quiet_site", "wide_pool")]

ROOM = "SELECT 1 FROM rooms_room WHERE id = %s FOR UPDATE"
MATCH = "SELECT 1 FROM games_match WHERE id = %s FOR UPDATE"
ACCOUNT = "SELECT 1 FROM wallet_account WHERE owner_id = %s FOR UPDATE"
CORRECTION = "SELECT 1 FROM wallet_correction WHERE id = %s FOR UPDATE"
PLAYER = "SELECT 1 FROM players_player WHERE id = %s FOR UPDATE"
CONNECTION = "SELECT 1 FROM rooms_connection WHERE id = %s FOR UPDATE"
WATCHER = "SELECT 1 FROM rooms_watcher WHERE id = %s FOR UPDATE"
Lock = tuple[LiteralString, int]
AWAITED = "SELECT count(*) FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid"


@contextmanager
def crossed(run: Run, late: Lock, early: Lock, times: int) -> Iterator[list[int]]:
    """Another transaction takes the row that a service locks late. When the service waits for it, it asks for the one
    that the service locked early: a deadlock, `times` times, then it goes away. The victim is the service, since the
    other one never looks whether it is in a deadlock. Gives the deadlocks that there were."""
    crossings: list[int] = []
    ready, failures = threading.Event(), []

    def cross() -> None:
        try:
            with psycopg.connect(run.services.postgres.url("postgres", run.database)) as other:
                other.execute("SET deadlock_timeout = '1min'")
                other.execute(late[0], [late[1]])
                ready.set()
                for number in range(times):
                    ends = time.monotonic() + 15
                    while other.execute(AWAITED).fetchone() == (0,):
                        assert time.monotonic() < ends, "nobody waits for the row"
                        time.sleep(0.01)
                    other.execute("SAVEPOINT one")
                    other.execute(early[0], [early[1]])  # comes when the service was undone
                    crossings.append(number)
                    other.execute("ROLLBACK TO one")
                other.rollback()
        except Exception as error:  # noqa: BLE001  the test says it
            failures.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=cross)
    thread.start()
    ready.wait(15)
    try:
        with pytest.MonkeyPatch.context() as patch:
            # Else a busy machine lets the other one run too late: the next try has the row first, and both cross anew.
            patch.setattr("rooms.retries.PAUSE_SECONDS", 0.3)
            yield crossings
    finally:
        thread.join(30)
    assert not failures, failures


@pytest.fixture
def anew(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Which services were run anew, as the log says it."""
    caplog.set_level(logging.WARNING, "rooms.retries")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "rooms.retries"]


Case = tuple[Callable[[], object], Lock, Lock, Callable[[], object]]


def a_rematch() -> Case:
    """Two rooms: the old one first, then the new one that already waits."""
    ana, ben = stage.people("Ana", "Ben")
    old = stage.finished(ana, ben)
    new = seating.rematch(ana, old.code)
    return (
        partial(seating.rematch, ben, old.code),
        (ROOM, new.room_id),
        (ROOM, old.pk),
        lambda: (
            list(Seat.objects.filter(room=new.room_id).order_by("number").values_list("player_id", flat=True))
            == [ana.pk, ben.pk, None, None]
        ),
    )


def a_paid_seat() -> Case:
    """The room, then the account."""
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana)
    return (
        partial(seating.sit, ben, room.pk, agreed_fee=300),
        (ACCOUNT, ben.pk),
        (ROOM, room.pk),
        lambda: has(ben) == [4700] and cache.get(f"paid-seats:{ben.pk}") == 1,
    )


def an_answer() -> Case:
    """The room, then its match."""
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben)
    seat = stage.asked(room)
    (prompt,) = stage.prompts(room)
    do = str(stage.frame_of(room, seat.number)["prompt"]["choices"][0]["do"])
    answered = MatchEvent.objects.filter(match_id=stage.match_of(room), action_id="once")
    return (
        partial(playing.act, room.pk, seat.pk, seat.number, "once", prompt.step, do, clock.now()),
        (MATCH, stage.match_of(room)),
        (ROOM, room.pk),
        lambda: answered.count() == 1,
    )


def a_correction() -> Case:
    """The request, then the account; and the record of what staff do."""
    ana, ben, cleo = rich("Ana"), rich("Ben"), rich("Cleo")
    number = corrections.request(ana.pk, 100, "a test", ben.pk).pk
    return (
        partial(accounts.decide_correction, cleo, number, approve=True, owner=ana.pk, reason=""),
        (ACCOUNT, ana.pk),
        (CORRECTION, number),
        lambda: has(ana) == [5100] and Correction.objects.get(pk=number).status == "approved" and records() == 1,
    )


def records() -> int:
    return StaffAct.objects.filter(act=Act.APPROVE).count()


def the_end_of_an_account() -> Case:
    """The player, then the account."""
    ana = rich("Ana")
    return (
        partial(accounts.close, ana.pk),
        (ACCOUNT, ana.pk),
        (PLAYER, ana.pk),
        lambda: Player.objects.get(pk=ana.pk).closed_at is not None and has(ana) == [0],
    )


CASES = [a_rematch, a_paid_seat, an_answer, a_correction, the_end_of_an_account]
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)


def stored() -> list[Any]:
    coins = [list(model.objects.order_by("pk").values_list()) for model in (Account, Transaction, Correction, Player)]
    return [everything(), coins]


@cases
def test_a_deadlock_is_survived_at_the_second_try_with_one_effect(
    services: Run, anew: Callable[[], list[str]], case: Callable[[], Case]
) -> None:
    service, late, early, done = case()
    booked = Transaction.objects.count()
    with crossed(services, late, early, 1) as crossings:
        service()
    assert crossings == [0] and len(anew()) == 1 and "deadlock" in anew()[0]
    assert done()
    assert Transaction.objects.count() <= booked + 1
    nothing_is_lost()


@cases
def test_after_three_tries_the_error_passes_on_and_nothing_has_changed(
    services: Run, anew: Callable[[], list[str]], case: Callable[[], Case]
) -> None:
    service, late, early, done = case()
    before = stored()
    with crossed(services, late, early, 3) as crossings, pytest.raises(OperationalError) as failed:
        service()
    assert state_of(failed.value) == "40P01"
    assert crossings == [0, 1, 2] and len(anew()) == 2
    assert stored() == before
    service()  # nothing is left locked or half-done
    assert done()


def state_of(error: BaseException) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


@pytest.mark.parametrize("as_guest", [False, True])
def test_a_sign_up_that_is_given_up_once_makes_one_account_with_one_bonus(
    monkeypatch: pytest.MonkeyPatch, anew: Callable[[], list[str]], as_guest: bool
) -> None:
    given_up: list[int] = []
    pay = coins.welcome

    def welcome(player_id: int) -> Any:
        paid = pay(player_id)
        if not given_up:
            given_up.append(player_id)
            refuse("40P01")
        return paid

    monkeypatch.setattr("rooms.accounts.wallet.welcome", welcome)
    client = browser()
    if as_guest:
        client.post("/rooms/", {"game": "domino_poker", "visibility": "public", "rounds": "1", "name": "Bo"})
    assert sign_up(client, "Ana").status_code == 302
    player = Player.objects.get()
    assert whose(client) == player and not player.is_guest and has(player) == [settings.WELCOME_COINS]
    assert Transaction.objects.count() == 1 and len(anew()) == 1 and given_up
    assert Seat.objects.filter(player=player).exists() == as_guest


def test_a_lock_that_does_not_come_is_waited_for_once(services: Run, anew: Callable[[], list[str]]) -> None:
    room = stage.waiting(ana := stage.person("Ana"))
    before = stored()
    with psycopg.connect(services.services.postgres.url("postgres", services.database)) as other:
        other.execute(ROOM, [room.pk])
        began = time.monotonic()
        with pytest.raises(OperationalError) as failed:
            seating.move(room.pk, stage.seat_of(room, ana).pk, 2)
        took = time.monotonic() - began
        other.rollback()
    assert state_of(failed.value) == "55P03" and 1.9 < took < 4  # twice would take longer
    assert anew() == [] and stored() == before


# -- the decorator by itself -------------------------------------------------------------------------------------


def refuse(state: str) -> None:
    """PostgreSQL raises an error with this state."""
    with connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$")


def failing(state: str, times: int) -> tuple[Callable[[], str], list[int]]:
    """A service that PostgreSQL refuses with this state so many times, and its tries."""
    tries: list[int] = []

    @retried
    def service() -> str:
        tries.append(len(tries))
        with transaction.atomic():
            if len(tries) <= times:
                refuse(state)
        return "done"

    return service, tries


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_both_failures_that_pass_by_themselves_are_tried_three_times(state: str) -> None:
    service, tries = failing(state, 2)
    assert service() == "done" and len(tries) == 3
    service, tries = failing(state, 3)
    with pytest.raises(OperationalError):
        service()
    assert len(tries) == 3


@pytest.mark.parametrize("state", ["55P03", "57014", "53300", "08006"])
def test_nothing_else_is_tried_again(state: str) -> None:
    service, tries = failing(state, 1)
    with pytest.raises(OperationalError) as failed:
        service()
    assert state_of(failed.value) == state and len(tries) == 1


def test_inside_a_transaction_the_one_who_opened_it_must_begin_anew() -> None:
    service, tries = failing("40P01", 1)
    with pytest.raises(OperationalError), transaction.atomic():
        service()
    assert len(tries) == 1


def test_the_pauses_grow_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("rooms.retries.time.sleep", pauses.append)
    for _i in range(20):
        service, _tries = failing("40P01", 2)
        service()
    first, second = pauses[::2], pauses[1::2]
    assert all(0.02 <= pause <= 0.04 for pause in first) and all(0.04 <= pause <= 0.08 for pause in second)
    assert len(set(first)) > 10


# -- who has it --------------------------------------------------------------------------------------------------

OPENS = {"locked", "locked_together", "_seating", "_as_host"}


def opens_a_transaction(function: ast.FunctionDef) -> bool:
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in OPENS or (name == "atomic" and any(word.arg == "durable" for word in call.keywords)):
            return True
    return False


def decorators(function: ast.FunctionDef) -> Sequence[str]:
    return [getattr(one, "id", getattr(one, "attr", "")) for one in function.decorator_list]


def test_whatever_opens_a_durable_transaction_is_run_anew() -> None:
    folder = Path(rooms.__path__[0])
    opening, without = [], []
    for path in sorted(folder.glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef) or "contextmanager" in decorators(function):
                continue
            if opens_a_transaction(function):
                opening.append(f"{path.stem}.{function.name}")
                if "retried" not in decorators(function):
                    without.append(opening[-1])
    assert len(opening) > 25 and "playing.act" in opening and "hosting.start" in opening
    assert without == []


# -- the order of rows -------------------------------------------------------------------------------------------


def meets_nobody(run: Run, what: Callable[[], object], row: LiteralString, first: int, second: int) -> None:
    """Do what takes both rows: it comes to the first one and waits there without having the second, which whoever holds
    the first takes all the same."""
    with psycopg.connect(run.services.postgres.url("postgres", run.database)) as other:
        other.execute(row, [first])
        results: list[object] = []
        waiting = threading.Thread(target=lambda: results.extend(stage.at_once([what])))
        waiting.start()
        ends = time.monotonic() + 10
        while other.execute(AWAITED).fetchone() == (0,):
            assert time.monotonic() < ends, "it does not come to the first row"
            time.sleep(0.01)
        other.execute("SET lock_timeout = '500ms'")
        other.execute(row, [second])
        other.rollback()
        waiting.join(10)
    assert len(results) == 1 and not isinstance(results[0], Exception), results


@pytest.mark.parametrize("way", ["to the lower", "to the higher"])
def test_who_leaves_a_room_for_another_locks_the_lower_first(services: Run, way: str) -> None:
    ana, ben, host = rich("Ana"), rich("Ben"), rich("Host")
    first, second = paid(30, host, ana), paid(20, ben)
    player, old, new = (ben, second, first) if way == "to the lower" else (ana, first, second)
    sit = partial(seating.sit, player, new.pk, agreed_fee=new.fee, give_up=stage.stake(old))
    meets_nobody(services, sit, ROOM, first.pk, second.pk)
    assert Seat.objects.get(player=player).room_id == new.pk


def test_lost_time_is_given_back_in_the_order_of_rooms(services: Run, anew: Callable[[], list[str]]) -> None:
    """The first room is the one that the last statement would come to: who locks first and second meets nobody."""
    ana, ben = stage.people("Ana", "Ben")
    first, second = stage.running(ana), stage.started(ben)
    stage.go_away(first, ana)
    Room.objects.filter(pk=first.pk).update(deadline_at=None)
    stage.outage(30)
    before = stage.refreshed(second).starts_at
    meets_nobody(services, presence.mend_outage, ROOM, first.pk, second.pk)
    assert anew() == []
    after = stage.refreshed(second).starts_at
    assert before is not None and after is not None and 25 < (after - before).total_seconds() < 60


def mend_an_outage() -> None:
    stage.outage(30)
    assert presence.mend_outage() is not None


@pytest.mark.parametrize("what", ["mending", "a ping", "parting"])
def test_connections_are_taken_in_the_order_of_their_numbers(what: str, services: Run) -> None:
    ana = stage.person("Ana")
    room = stage.waiting(ana)
    stage.arrive(room, ana, "second tab")
    channels = [f"page-{ana.pk}", "second tab"]
    first, second = Connection.objects.order_by("pk")
    first.save()  # lies behind the second one from now on
    acts: dict[str, Callable[[], object]] = {
        "mending": mend_an_outage,
        "a ping": lambda: presence.touch(channels),
        "parting": lambda: presence.disconnect(room.pk, channels),
    }
    meets_nobody(services, acts[what], CONNECTION, first.pk, second.pk)
    assert Connection.objects.filter(seen_at__gt=first.seen_at).count() == (0 if what == "parting" else 2)
    assert Connection.objects.count() == (0 if what == "parting" else 2)


@pytest.mark.parametrize("what", ["the end", "leaving", "a forfeit"])
def test_and_so_they_go_with_their_seats(what: str, services: Run, anew: Callable[[], list[str]]) -> None:
    """The first seat has the younger connection, and both tabs of the second seat lie in the wrong order."""
    ana, ben = stage.people("Ana", "Ben")
    room = stage.running(ana, ben) if what == "a forfeit" else stage.waiting(ana, ben)
    stage.arrive(room, ben, "second tab")
    stage.go_away(room, ana)
    stage.arrive(room, ana, "again")
    first, second, _last = Connection.objects.order_by("pk")
    first.save()
    do = partial(hosting.delete, room.pk, ana.pk) if what == "the end" else partial(closing.leave, room.pk, ben.pk)
    meets_nobody(services, do, CONNECTION, first.pk, second.pk)
    assert Connection.objects.count() == (0 if what == "the end" else 1) and anew() == []


@pytest.mark.parametrize("what", ["mending", "a ping", "sweeping"])
def test_and_so_are_watchers(what: str, services: Run) -> None:
    room = stage.waiting(stage.person("Ana"))
    for channel in ("one", "two"):
        presence.watch(presence.onlooker(None, room_id=room.pk), channel, "somewhere")
    Watcher.objects.update(seen_at=clock.now() - timedelta(hours=1))
    first, second = Watcher.objects.order_by("pk")
    first.save()
    acts: dict[str, Callable[[], object]] = {
        "mending": mend_an_outage,
        "a ping": lambda: presence.touch(["one", "two"]),
        "sweeping": presence.drop_stale,
    }
    meets_nobody(services, acts[what], WATCHER, first.pk, second.pk)
    assert Watcher.objects.filter(seen_at__gt=first.seen_at).count() == (0 if what == "sweeping" else 2)
    assert Watcher.objects.count() == (0 if what == "sweeping" else 2)
