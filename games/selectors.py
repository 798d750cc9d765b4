"""Questions about matches that change nothing; what a viewer may know comes from here alone."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Count, Q, QuerySet

from games import history
from games.engine import deals, table, wire
from games.engine.table import Prompt
from games.errors import NoSuchMatch
from games.history import Loaded
from games.models import Match, MatchEvent, MatchSeat
from games.record import FORMAT, EventRecord, Record, SeatRecord

_PAIRS = """
SELECT a.player_id, b.player_id, count(*) FROM games_match m
JOIN games_matchseat a ON a.match_id = m.id JOIN games_matchseat b ON b.match_id = m.id AND b.player_id > a.player_id
JOIN players_player p ON p.id = a.player_id AND NOT p.is_guest
JOIN players_player q ON q.id = b.player_id AND NOT q.is_guest
WHERE m.created_at >= %(since)s AND m.created_at < %(until)s
GROUP BY 1, 2 HAVING count(*) >= %(least)s ORDER BY 3 DESC, 1, 2"""


class Withdrawal(NamedTuple):
    """A player who left a match for good, so many seconds after it was opened."""

    match_id: int
    player_id: int
    seconds: int


# Games whose tiles are all known once a round is scored; only theirs may be opened.
OPENED_WHEN_SCORED = {"domino_poker"}


def wire_events(loaded: Loaded, seat: int | None, after: int) -> list[dict[str, Any]]:
    """The events after number `after` as this seat may see them (None: a spectator), each with its number `n`."""
    return [{"n": number, **loaded.game.witness(event, seat)} for number, event in loaded.events[max(after, 0) :]]


def view_json(loaded: Loaded, seat: int | None) -> bytes:
    """What this seat may know of the match, as JSON."""
    return wire.encode(loaded.game.view(loaded.state, seat))


def prompts(loaded: Loaded) -> tuple[Prompt[Any], ...]:
    """Every question that waits for an answer; none before the match begins and after it has ended."""
    if loaded.status != Match.Status.PLAYING:
        return ()
    return table.waiting(loaded.game, loaded.state)


def round_now(loaded: Loaded) -> int | None:
    """The number of the round that is played, or was played last; None before the first deal."""
    return getattr(loaded.state, "round", None) or None


def commitment(loaded: Loaded, number: int) -> str | None:
    """The seal of a round, in hex; None when the match has no such round."""
    return loaded.commitments[number - 1] if 1 <= number <= len(loaded.commitments) else None


def revealed_round(match_id: int, number: int) -> dict[str, Any] | None:
    """All that is needed to deal a round again: its key and salt, its seal and what was dealt. None until the round is
    scored, and for games that keep folded hands secret."""
    try:
        loaded = history.load(match_id)
    except NoSuchMatch:
        return None
    if loaded.key not in OPENED_WHEN_SCORED:
        return None
    dealt: dict[str, Any] | None = None
    scored = False
    for _n, event in loaded.events:
        tag, body = type(event).__name__, loaded.game.event_body(event)
        if body.get("round") == number:
            dealt = body if tag == "Dealt" else dealt
            scored = scored or tag == "RoundScored"
    if dealt is None or not scored:
        return None
    source = (loaded.secret, loaded.key, loaded.match_id, number)
    return {
        "match": loaded.match_id,
        "game": loaded.key,
        "round": number,
        "key": deals.round_key(*source).hex(),
        "salt": deals.round_salt(*source).hex(),
        "commitment": commitment(loaded, number),
        "dealer": dealt["dealer"],
        "hands": dealt["hands"],
        "names": [seat.name for seat in seats_in(match_id)],
    }


def seats_in(match_id: int) -> list[MatchSeat]:
    """The seats of a match, in order."""
    return list(MatchSeat.objects.filter(match_id=match_id).order_by("number"))


def answered_itself(match_id: int, seat: int) -> bool:
    """Whether the player of this seat gave at least half of its answers; the table gave the others."""
    answers = MatchEvent.objects.filter(match_id=match_id, seat=seat).exclude(answer="")
    own = Count("pk", filter=Q(by=MatchEvent.By.SEAT))
    counted = answers.aggregate(own=own, all=Count("pk"))
    return bool(2 * counted["own"] >= counted["all"])


def seat_in(match_id: int, player_id: int) -> int | None:
    """The number of the player's seat; None for those who did not sit in it."""
    return MatchSeat.objects.filter(match_id=match_id, player_id=player_id).values_list("number", flat=True).first()


def match_for(player_id: int | None, match_id: int) -> Match | None:
    """The match, for those who sat in it; None for everybody else and when there is none."""
    if player_id is None:
        return None
    return Match.objects.filter(pk=match_id, seats__player_id=player_id).defer("secret").first()


def finished_of(player_id: int, match_ids: Collection[int]) -> set[int]:
    """Those of these matches that came to a result and in which the player sat."""
    found = Match.objects.filter(pk__in=match_ids, status=Match.Status.FINISHED, seats__player_id=player_id)
    return set(found.values_list("pk", flat=True))


def places(match_id: int) -> tuple[int, ...]:
    """The place of each seat of a finished match. Raises NoSuchMatch when it has no result."""
    outcome = Match.objects.filter(pk=match_id).values_list("outcome", flat=True).first()
    if outcome is None:
        raise NoSuchMatch(match_id)
    return tuple(outcome["places"])


def without_match(players: QuerySet[Any]) -> QuerySet[Any]:
    """Those of these players who never sat in a match."""
    return players.filter(match_seats=None)


def matches_of(player_id: int, most: int | None = None) -> list[dict[str, Any]]:
    """What this player has played, newest first: match, game, status, times, the own seat, name, place and whether it
    was forfeited; the `most` last, or all. Nothing of it is hidden from the player at the table."""
    seats = MatchSeat.objects.filter(player_id=player_id).select_related("match")
    seats = seats.defer("match__secret", "match__commitments", "match__options")
    return [
        {
            "match": seat.match_id,
            "game": seat.match.game,
            "status": seat.match.status,
            "status_label": seat.match.get_status_display(),
            "created_at": seat.match.created_at,
            "finished_at": seat.match.finished_at,
            "seat": seat.number,
            "name": seat.name,
            "place": (seat.match.outcome or {}).get("places", {seat.number: None})[seat.number],
            "forfeited": seat.forfeited,
        }
        for seat in seats.order_by("-match_id")[:most]
    ]


def match_of(match_id: int) -> Match | None:
    """The match, without its secret; for pages that ask themselves who may see what of it."""
    return Match.objects.filter(pk=match_id).defer("secret").first()


def is_over(match: Match) -> bool:
    """Whether nothing is played in it any more."""
    return match.status in {Match.Status.FINISHED, Match.Status.ABANDONED}


def withdrawals(match_ids: Collection[int]) -> list[Withdrawal]:
    """Who left these matches for good, and how many seconds after they were opened."""
    left = MatchEvent.objects.filter(match_id__in=match_ids, answer=table.WITHDRAW).select_related("match")
    rows = left.defer("body", "match__secret").order_by("match_id", "number")
    sat = {
        (seat.match_id, seat.number): seat.player_id
        for seat in MatchSeat.objects.filter(match_id__in=match_ids, player__isnull=False)
    }
    return [
        Withdrawal(row.match_id, player_id, int((row.at - row.match.created_at).total_seconds()))
        for row in rows
        if (player_id := sat.get((row.match_id, row.seat or 0))) is not None
    ]


def pairs(since: datetime, until: datetime, least: int) -> list[tuple[int, int, int]]:
    """Pairs of registered players who sat together in so many matches that were opened in the period, or more: two
    numbers and how many matches, the most first."""
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS, {"since": since, "until": until, "least": least})
        return [(int(one), int(other), int(count)) for one, other, count in cursor.fetchall()]


def is_finished(match_id: int) -> bool:
    """Whether it came to a result (an abandoned match did not)."""
    return Match.objects.filter(pk=match_id, status=Match.Status.FINISHED).exists()


def ended_at(match_id: int) -> datetime:
    """When the match ended, by the database's clock; the same at every asking. Raises NoSuchMatch while it runs."""
    at = Match.objects.filter(pk=match_id).values_list("finished_at", flat=True).first()
    if at is None:
        raise NoSuchMatch(match_id)
    return at


def record_of(match_id: int) -> Record:
    """The whole match with its secret, for a check. Only for finished matches to be given away. Raises NoSuchMatch."""
    match = Match.objects.filter(pk=match_id).first()
    if match is None:
        raise NoSuchMatch(match_id)
    return Record(
        format=FORMAT,
        match=match.pk,
        game=match.game,
        rules_version=match.rules_version,
        options=match.options,
        secret=bytes(match.secret).hex(),
        commitments=match.commitments,
        status=match.status,
        version=match.version,
        outcome=match.outcome,
        created_at=match.created_at.isoformat(),
        finished_at=match.finished_at.isoformat() if match.finished_at else None,
        seats=[SeatRecord(seat.number, seat.name, seat.bot_level, seat.forfeited) for seat in seats_in(match_id)],
        events=[
            EventRecord(
                row.number, row.tag, history.body_of(row), row.at.isoformat(), row.by, row.seat, row.step, row.answer
            )
            for row in history.rows(match_id)
        ],
    )
