"""The log: append-only for everybody, one writer at a time, and a cache that says what the database says."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from games import history, services
from games.engine import table
from games.engine.table import Game
from games.errors import Conflict, NoSuchMatch
from games.models import Match, MatchEvent
from tests.conftest import run
from tests.games import matches

pytestmark = pytest.mark.django_db(transaction=True)

CHANGES = [
    "UPDATE games_matchevent SET body = '{}' WHERE match_id = %(id)s",
    "UPDATE games_matchevent SET at = at WHERE match_id = %(id)s AND number = 1",
    "DELETE FROM games_matchevent WHERE match_id = %(id)s",
    "TRUNCATE games_matchevent",
    "DELETE FROM games_match WHERE id = %(id)s",
    "UPDATE games_match SET secret = '\\x00' WHERE id = %(id)s",
    "UPDATE games_match SET commitments = '[]' WHERE id = %(id)s",
    "UPDATE games_match SET options = '{\"rounds\": 3}' WHERE id = %(id)s",
]


def log_of(match_id: int) -> list[object]:
    return [*MatchEvent.objects.filter(match_id=match_id).order_by("number").values_list()]


@pytest.mark.parametrize("change", CHANGES)
def test_the_sites_role_may_not_change_the_log(change: str) -> None:
    match_id = matches.begun().match_id
    before = log_of(match_id)
    with pytest.raises(DatabaseError, match="permission denied") as refusal, connection.cursor() as cursor:
        cursor.execute(change, {"id": match_id})
    assert isinstance(refusal.value.__cause__, psycopg.errors.InsufficientPrivilege)
    assert log_of(match_id) == before


@pytest.mark.parametrize("change", CHANGES)
def test_not_even_the_owner_of_the_tables_changes_the_log(change: str) -> None:
    match_id = matches.begun().match_id
    before = log_of(match_id)
    with (
        psycopg.connect(run.environment()["DATABASE_OWNER_URL"]) as owner,
        pytest.raises(psycopg.errors.RestrictViolation),
    ):
        owner.execute(change, {"id": match_id})
    assert log_of(match_id) == before


def test_the_owner_may_change_what_is_not_guarded() -> None:
    """The control of the test above: it is the guard that refuses, not something else."""
    match_id = matches.begun().match_id
    with psycopg.connect(run.environment()["DATABASE_OWNER_URL"]) as owner:
        done = owner.execute("UPDATE games_match SET version = version WHERE id = %s", [match_id])
        assert done.rowcount == 1


def test_the_sites_role_cannot_change_tables() -> None:
    for change in ("DROP TRIGGER append_only_rows ON games_matchevent", "ALTER TABLE games_match ADD COLUMN x int"):
        with pytest.raises(DatabaseError, match="must be owner"), connection.cursor() as cursor:
            cursor.execute(change)


def test_two_writers_of_one_version_are_one_event_and_one_conflict() -> None:
    loaded = matches.begun()
    _state, events = table.act(loaded.game, loaded.state, loaded.deal, *_asked(loaded), "bid 2")
    gate = Barrier(2)

    def write() -> str:
        try:
            gate.wait(5)
            with transaction.atomic():
                history.append(
                    loaded, events, answer="bid 2", step=_asked(loaded)[1], by="seat", seat=_asked(loaded)[0]
                )
            return "written"
        except Conflict as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        results = sorted(future.result() for future in [pool.submit(write) for _i in range(2)])
    assert results == ["conflict", "written"]
    assert Match.objects.get(pk=loaded.match_id).version == len(log_of(loaded.match_id)) == 2


def test_a_match_that_ended_takes_no_more_events() -> None:
    loaded = matches.begun()
    _state, events = table.act(loaded.game, loaded.state, loaded.deal, *_asked(loaded), "bid 2")
    with transaction.atomic():
        services.abandon(loaded.match_id)
    with pytest.raises(Conflict), transaction.atomic():
        history.append(loaded, events, answer="bid 2", by="seat", seat=_asked(loaded)[0])
    assert len(log_of(loaded.match_id)) == 1


def _asked(loaded: history.Loaded) -> tuple[int, str]:
    (prompt,) = table.waiting(loaded.game, loaded.state)
    return prompt.seat, prompt.step


def test_an_action_is_one_statement(django_assert_num_queries: Callable[..., object]) -> None:
    loaded = matches.begun()
    _state, events = table.act(loaded.game, loaded.state, loaded.deal, *_asked(loaded), "bid 2")
    with transaction.atomic(), django_assert_num_queries(1):  # type: ignore[attr-defined]
        history.append(loaded, events, answer="bid 2", by="seat", seat=_asked(loaded)[0])


def same(one: history.Loaded, other: history.Loaded) -> bool:
    names = ("match_id", "key", "options", "state", "events", "version", "status", "commitments", "secret")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def test_what_is_kept_is_what_a_cold_load_gives() -> None:
    match_id = matches.begun(rounds=2).match_id
    for turn in range(40):
        step = matches.answer(match_id)
        if turn % 3 == 0:
            history.remember(step.loaded)
        kept = history.load(match_id)
        history.forget()
        cold = history.load(match_id)
        assert same(kept, cold) and same(step.loaded, cold)


def test_only_newer_lines_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    match_id = matches.begun().match_id
    matches.answers(match_id, 10)
    kept = history.load(match_id)
    matches.answer(match_id)
    read: list[str] = []
    game_type = type(kept.game)
    original = game_type.event_from

    def counting(self: Game[object, object, object], tag: str, body: dict[str, object]) -> object:
        read.append(tag)
        return original(self, tag, body)

    history.forget()
    history.remember(kept)
    monkeypatch.setattr(game_type, "event_from", counting)
    loaded = history.load(match_id)
    assert len(read) == loaded.version - kept.version > 0


def test_a_version_that_is_kept_asks_the_database_nothing(django_assert_num_queries: Callable[..., object]) -> None:
    match_id = matches.begun().match_id
    loaded = history.load(match_id)
    with django_assert_num_queries(0):  # type: ignore[attr-defined]
        assert history.load(match_id, loaded.version) is loaded
    with django_assert_num_queries(1):  # type: ignore[attr-defined]
        assert history.load(match_id, loaded.version + 1).version == loaded.version


def test_nothing_undone_is_remembered() -> None:
    match_id = matches.begun().match_id
    (prompt,) = table.waiting((loaded := history.load(match_id)).game, loaded.state)
    with transaction.atomic():
        step = services.act(match_id, prompt.seat, prompt.step, "bid 1", "bot")
        history.remember(step.loaded)
        assert history.load(match_id).version == 2
        transaction.set_rollback(True)
    assert history.load(match_id, 1).version == history.load(match_id).version == 1


def test_an_older_state_never_replaces_a_newer_one() -> None:
    match_id = matches.begun().match_id
    older = history.load(match_id)
    newer = matches.answer(match_id).loaded
    history.remember(newer)
    history.remember(older)
    assert history.load(match_id, 1) is newer


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KEPT", 3)
    history.forget()
    ana = matches.person("Ana")
    numbers = [matches.begun(ana).match_id for _i in range(5)]
    for number in numbers:
        history.load(number)
    assert list(history._newest) == numbers[2:]


def test_an_ended_match_is_seen_as_ended() -> None:
    match_id = matches.begun().match_id
    assert history.load(match_id).status == "playing"
    with transaction.atomic():
        services.abandon(match_id)
    assert history.load(match_id).status == "abandoned"


def test_a_match_that_is_not_there() -> None:
    with pytest.raises(NoSuchMatch, match="987654321"):
        history.load(987654321)


def test_no_repr_shows_a_secret_or_a_hand() -> None:
    loaded = matches.begun()
    match = Match.objects.get(pk=loaded.match_id)
    event = MatchEvent.objects.get(match=match)
    (row,) = history.rows(match.pk)
    step = matches.answer(match.pk)
    tiles = [one.text for hand in loaded.state.hands for one in hand]
    for thing in (match, event, loaded, row, step, loaded.deal, loaded.state):
        for text in (repr(thing), str(thing)):
            assert loaded.secret.hex() not in text and repr(loaded.secret) not in text
            assert not [tile for tile in tiles if tile in text], text
