"""What writes facts: recording a match as it ends, rating what is recorded, making all of it anew."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.transaction import TransactionManagementError

from games.models import Match
from stats import reading, skill
from stats.models import MatchFact, PlayerFact, RoundFact
from stats.reading import MatchRead, SeatRead
from stats.skill import Skill

__all__ = ["rate_new", "rebuild", "record_match"]

# Matches that are rated, or made anew, in one transaction: some tenths of a second.
AT_ONCE = 200
# Only one process rates at a time, since a rating follows from the ones before it (the number is any that is ours).
_RATING_LOCK = 7_361_004
# A forfeiter ranks behind all who stayed, level with others who left.
_LAST = 5


def record_match(match_id: int) -> bool:
    """Write down a match that has just come to its result, in the transaction that ends it; whether it counts.

    A match that does not count (`reading.read`), or is not over, is left out. A second time changes nothing."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("a match is recorded inside the transaction that ends it")
    found = reading.read(match_id)
    if found is None:
        return False
    if not MatchFact.objects.filter(match_id=match_id).exists():
        _write([found])
    return True


def _write(matches: Sequence[MatchRead]) -> list[MatchFact]:
    facts = MatchFact.objects.bulk_create(
        MatchFact(match_id=one.match_id, game=one.game, finished_at=one.finished_at, rounds=one.rounds)
        for one in matches
    )
    seats = [(fact, seat) for fact, one in zip(facts, matches, strict=True) for seat in one.seats]
    players = PlayerFact.objects.bulk_create(_player_fact(fact, seat) for fact, seat in seats)
    RoundFact.objects.bulk_create(
        RoundFact(player_fact=player, round=one.round, bid=one.bid, tricks=one.tricks, score=one.score)
        for player, (_fact, seat) in zip(players, seats, strict=True)
        for one in seat.rounds
    )
    return facts


def _player_fact(fact: MatchFact, seat: SeatRead) -> PlayerFact:
    return PlayerFact(
        fact=fact,
        match_id=fact.match_id,
        game=fact.game,
        finished_at=fact.finished_at,
        player_id=seat.player_id,
        seat=seat.seat,
        place=seat.place,
        score=seat.score,
        forfeited=seat.forfeited,
        rounds=len(seat.rounds),
        points=sum(one.score for one in seat.rounds),
        exact=sum(one.tricks == one.bid for one in seat.rounds),
        over=sum(one.tricks > one.bid for one in seat.rounds),
        under=sum(one.tricks < one.bid for one in seat.rounds),
    )


# -- rating ------------------------------------------------------------------------------------------------------


def rate_new() -> int:
    """Rate what is not rated yet, in the order in which the matches ended; how many matches.

    A match that was recorded late (its transaction took longer than that of a later match) has the later ones rated
    again, so that the numbers depend on the matches alone. Does nothing while another process rates."""
    rated = 0
    for game in reading.GAMES:
        while count := _rate_next(game):
            rated += count
    return rated


def _rate_next(game: str) -> int:
    with transaction.atomic():
        if not _alone():
            return 0
        facts = MatchFact.objects.filter(game=game)
        first = facts.filter(rated=False).order_by("finished_at", "match_id").first()
        if first is None:
            return 0
        since = facts.filter(
            Q(finished_at__gt=first.finished_at) | Q(finished_at=first.finished_at, match_id__gte=first.match_id)
        )
        since.filter(rated=True).update(rated=False)
        batch = list(since.order_by("finished_at", "match_id")[:AT_ONCE])
        _rate(batch)
        return len(batch)


def _alone() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_RATING_LOCK])
        return bool(cursor.fetchone()[0])


def _rate(facts: Sequence[MatchFact]) -> None:
    """Rate matches of one game that ended one after another, all before them being rated."""
    players = PlayerFact.objects.filter(fact__in=facts).order_by("seat")
    seated: dict[int, list[PlayerFact]] = {}
    for player in players:
        seated.setdefault(player.fact_id, []).append(player)
    skills = _skills_before(facts[0], {player.player_id for player in players})
    for fact in facts:
        four = seated[fact.pk]
        before = [skills.get(player.player_id) or skill.newcomer() for player in four]
        after = skill.rate(before, [_LAST if player.forfeited else player.place for player in four])
        for player, old, new in zip(four, before, after, strict=True):
            player.mu_before, player.sigma_before = old.mu, old.sigma
            player.mu, player.sigma, player.rating = new.mu, new.sigma, skill.shown(new)
            skills[player.player_id] = new
    PlayerFact.objects.bulk_update(players, ["mu_before", "sigma_before", "mu", "sigma", "rating"], batch_size=100)
    MatchFact.objects.filter(pk__in=[fact.pk for fact in facts]).update(rated=True)


def _skills_before(first: MatchFact, player_ids: set[int]) -> dict[int, Skill]:
    """What each of these players had after the last match before `first`; newcomers are not in it."""
    earlier: QuerySet[PlayerFact] = PlayerFact.objects.filter(
        Q(finished_at__lt=first.finished_at) | Q(finished_at=first.finished_at, match_id__lt=first.match_id),
        player_id__in=player_ids,
        game=first.game,
    )
    newest = earlier.order_by("player_id", "-finished_at", "-match_id").distinct("player_id")
    return {
        player_id: Skill(mu, sigma)
        for player_id, mu, sigma in newest.values_list("player_id", "mu", "sigma")
        if mu is not None and sigma is not None
    }


# -- all of it anew ------------------------------------------------------------------------------------------------


def rebuild() -> tuple[int, int]:
    """Wipe the facts and write them again from the matches; how many matches were looked at, and how many count.

    Safe while people play: a batch is replaced in one transaction, and matches that end meanwhile record themselves.
    The task that rates waits until this is done."""
    looked, counted = 0, 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_RATING_LOCK])
    try:
        over = Match.objects.filter(status=Match.Status.FINISHED, game__in=reading.GAMES)
        MatchFact.objects.exclude(match__in=over).delete()
        ids = list(over.order_by("finished_at", "pk").values_list("pk", flat=True))
        for batch in _batches(ids):
            with transaction.atomic():
                counted += _replace(batch)
            looked += len(batch)
        rate_new()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_RATING_LOCK])
    return looked, counted


def _replace(match_ids: Sequence[int]) -> int:
    """Facts and ratings of these matches, which follow one another; those before them are right already."""
    MatchFact.objects.filter(match_id__in=match_ids).delete()
    facts = _write([found for match_id in match_ids if (found := reading.read(match_id)) is not None])
    for _game, of_game in groupby(sorted(facts, key=lambda fact: fact.game), key=lambda fact: fact.game):
        _rate(list(of_game))
    return len(facts)


def _batches(ids: Iterable[int]) -> Iterator[list[int]]:
    rest = iter(ids)
    while batch := list(islice(rest, AT_ONCE)):
        yield batch
