"""What changes a match: opening, beginning, answering, withdrawing, abandoning. The caller holds the table's lock."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from django.db import connection
from django.db.models.functions import Now
from django.db.transaction import TransactionManagementError

from games import bots, history
from games.engine import registry, table
from games.engine.deals import SecretDeal
from games.engine.errors import NoQuestion
from games.engine.table import Outcome
from games.errors import ActionReused, BadActionId, MatchClosed
from games.history import Loaded
from games.models import Match, MatchSeat
from players import services as players
from players.selectors import registered as registered_among

By = Literal["seat", "bot", "idle", "table"]
LONGEST_ACTION_ID = 64


@dataclass(frozen=True, slots=True)
class SeatSpec:
    """Who will sit: a player, or a bot of some level (then `player_id` is None)."""

    player_id: int | None
    name: str
    bot_level: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What one action made of a match: its new state, the new events, the outcome if that was the end.

    `repeated`: the action had been done before, so nothing was added."""

    loaded: Loaded
    events: tuple[tuple[int, Any], ...] = field(repr=False)
    outcome: Outcome | None
    repeated: bool = False


def open_match(key: str, options: Mapping[str, Any], seats: Sequence[SeatSpec]) -> Loaded:
    """A new match that waits to begin, with the seals of all its rounds. Raises BadOptions, and ValueError for a wrong
    number of seats."""
    _require_transaction()
    game = registry.build(key, options)
    if len(seats) != game.seats():
        raise ValueError(f"{key} has {game.seats()} seats, not {len(seats)}")
    secret = secrets.token_bytes(32)
    # The deals depend on the match's number, so that is drawn first.
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('games_match', 'id'))")
        (match_id,) = cursor.fetchone()
    deal = SecretDeal(secret, key, match_id)
    match = Match.objects.create(
        pk=match_id,
        game=key,
        rules_version=registry.RULES_VERSION[key],
        options=dict(options),
        secret=secret,
        commitments=[deal.commitment(number) for number in range(1, rounds_of(game) + 1)],
    )
    registered = registered_among([spec.player_id for spec in seats if spec.player_id is not None])
    MatchSeat.objects.bulk_create(
        MatchSeat(
            match=match,
            number=number,
            player_id=spec.player_id,
            name=spec.name,
            bot_level=spec.bot_level,
            registered=spec.player_id in registered,
        )
        for number, spec in enumerate(seats)
    )
    for spec in seats:
        if spec.player_id is not None:
            players.touch(spec.player_id)
    match.refresh_from_db(fields=["created_at"])
    return history.load_row(match)


def rounds_of(game: table.Game[Any, Any, Any]) -> int:
    """How many deals a match has at most: its rounds, or the one of a game that is a single hand."""
    return int(getattr(game, "rounds", 1))


def begin(match_id: int) -> Step:
    """The first deal; whoever has left before it is withdrawn at once. A match that has begun is left as it is.

    Raises NoSuchMatch and MatchClosed."""
    _require_transaction()
    loaded = _open(match_id)
    if loaded.version:
        return Step(loaded, (), None, repeated=True)
    state, events = table.start(loaded.game, loaded.deal)
    step = _write(loaded, state, events, by="table")
    gone = MatchSeat.objects.filter(match_id=match_id, forfeited=True).order_by("number")
    for seat in gone.values_list("number", flat=True):
        state, events = table.withdraw(step.loaded.game, step.loaded.state, step.loaded.deal, seat)
        after = _write(step.loaded, state, events, answer=table.WITHDRAW, by="seat", seat=seat)
        step = Step(after.loaded, step.events + after.events, after.outcome)
    return step


def answered(match_id: int, seat: int, action_id: str, step: str, text: str) -> bool:
    """Whether this seat has already given this very answer under this action id.

    Raises ActionReused when the id came with another answer, BadActionId when it can be none."""
    if not 1 <= len(action_id) <= LONGEST_ACTION_ID or not action_id.isprintable():
        raise BadActionId(action_id)
    before = history.used(match_id, seat, action_id)
    if before is None:
        return False
    if before != (step, text):
        raise ActionReused(action_id)
    return True


def act(
    match_id: int,
    seat: int,
    step: str,
    text: str,
    by: By,
    action_id: str | None = None,
    loaded: Loaded | None = None,
) -> Step:
    """One answer and all that follows from it. The same action id with the same answer again changes nothing. `loaded`
    is the match as the caller has read it under the lock of its table, None to read it here.

    Raises the engine's errors, ActionReused, BadActionId, NoSuchMatch and MatchClosed."""
    _require_transaction()
    if action_id is not None and answered(match_id, seat, action_id, step, text):
        known = history.load(match_id)
        return Step(known, (), known.game.outcome(known.state), repeated=True)
    loaded = _open(match_id, loaded)
    state, events = table.act(loaded.game, loaded.state, loaded.deal, seat, step, text)
    return _write(loaded, state, events, answer=text, step=step, by=by, seat=seat, action_id=action_id)


def withdraw(match_id: int, seat: int, by: By) -> Step:
    """The seat leaves for good and is marked as forfeited; a second time changes nothing. Before the first deal it is
    marked alone, and `begin` withdraws it. Raises NoSuchMatch and MatchClosed."""
    _require_transaction()
    loaded = _open(match_id)
    if not MatchSeat.objects.filter(match_id=match_id, number=seat, forfeited=False).update(forfeited=True):
        return Step(loaded, (), None, repeated=True)
    if not loaded.version:
        return Step(loaded, (), None)
    state, events = table.withdraw(loaded.game, loaded.state, loaded.deal, seat)
    return _write(loaded, state, events, answer=table.WITHDRAW, by=by, seat=seat)


def rename_seat(match_id: int, player_id: int, name: str) -> None:
    """Show this player's seat of a match by another name."""
    MatchSeat.objects.filter(match_id=match_id, player_id=player_id).update(name=name)


def forget_name(player_id: int, name: str) -> int:
    """Show this player by `name` in every match, as one whose account is closed; in how many."""
    return MatchSeat.objects.filter(player_id=player_id).exclude(name=name).update(name=name)


def abandon(match_id: int) -> None:
    """Nobody is left to play it: it ends without a result. A match that has ended is left as it is."""
    _require_transaction()
    Match.objects.filter(pk=match_id, status__in=[Match.Status.WAITING, Match.Status.PLAYING]).update(
        status=Match.Status.ABANDONED, finished_at=Now()
    )


def think(loaded: Loaded, seat: int, level: str) -> str:
    """What a bot of this level would answer in this seat, from what the seat sees; outside any transaction.

    Asked again it says the same, and nobody without the match's secret can foretell it. Raises NoQuestion."""
    prompt = loaded.game.prompt(loaded.state, seat)
    if prompt is None:
        raise NoQuestion(f"seat {seat} is not asked now")
    draw = bots.Draw(loaded.secret, f"{loaded.key}|{loaded.match_id}|{prompt.step}")
    return bots.answer(loaded.key, level, loaded.game.view(loaded.state, seat), prompt, draw)


def _open(match_id: int, loaded: Loaded | None = None) -> Loaded:
    loaded = loaded or history.load(match_id)
    if loaded.status in {Match.Status.FINISHED, Match.Status.ABANDONED}:
        raise MatchClosed(match_id)
    return loaded


def _write(
    loaded: Loaded,
    state: Any,
    events: list[Any],
    *,
    by: By,
    answer: str = "",
    step: str = "",
    seat: int | None = None,
    action_id: str | None = None,
) -> Step:
    history.append(loaded, events, answer=answer, step=step, by=by, seat=seat, action_id=action_id)
    numbered = tuple(enumerate(events, loaded.version + 1))
    outcome = loaded.game.outcome(state)
    if outcome is not None:
        Match.objects.filter(pk=loaded.match_id).update(
            status=Match.Status.FINISHED, outcome=asdict(outcome), finished_at=Now()
        )
    after = replace(
        loaded,
        state=state,
        events=loaded.events + numbered,
        version=loaded.version + len(events),
        status=(Match.Status.PLAYING if outcome is None else Match.Status.FINISHED).value,
    )
    return Step(after, numbered, outcome)


def _require_transaction() -> None:
    if not connection.in_atomic_block:
        raise TransactionManagementError("a match changes only inside the transaction that holds its table's lock")
