"""Questions about facts: one player's figures, and the leaderboards. Nothing here divides by nothing."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, F, FloatField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Cast, NullIf
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stats.models import PlayerFact, RoundFact
from stats.reading import GAMES

__all__ = [
    "GAMES",
    "PERIODS",
    "SORTS",
    "Board",
    "Figures",
    "Line",
    "figures",
    "game_name",
    "leaderboard",
    "matches_of",
    "since",
]

PERIODS: dict[str, str | Promise] = {
    "all": _("All time"),
    "month": _("This month"),
    "30d": _("30 days"),
    "7d": _("7 days"),
}
SORTS: dict[str, str | Promise] = {
    "rating": _("Rating"),
    "score": _("Points a round"),
    "exact": _("Exact bids"),
}
_NAMES: dict[str, str | Promise] = {"domino_poker": _("Domino Poker")}
PAGE_LENGTH = 25
# Matches on the chart of scores; a longer line says no more.
CHARTED = 40
TRICKS = 7


def game_name(key: str) -> str:
    """What people call the game."""
    return str(_NAMES.get(key, key))


def since(period: str, now: datetime) -> datetime | None:
    """The first moment of a period that ends now (days and months are UTC's); None for all time."""
    if period == "month":
        return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    days = {"30d": 30, "7d": 7}.get(period)
    return None if days is None else now - timedelta(days=days)


def _facts(game: str, period: str, now: datetime) -> QuerySet[PlayerFact]:
    facts = PlayerFact.objects.filter(game=game)
    start = since(period, now)
    return facts if start is None else facts.filter(finished_at__gte=start)


def matches_of(player_id: int, game: str, period: str, now: datetime) -> int:
    """How many matches of this player count."""
    return _facts(game, period, now).filter(player_id=player_id).count()


# -- one player --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """How many of how many; `share` is None when there were none at all."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        return self.count / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Played:
    """One match on the line of scores."""

    match_id: int
    finished_at: datetime
    place: int
    score: int
    forfeited: bool
    rounds: int
    points: int

    @property
    def points_a_round(self) -> float | None:
        return self.points / self.rounds if self.rounds else None


@dataclass(frozen=True, slots=True)
class Figures:
    """All that is told of a player's matches in one game and period; `rating` alone is today's in every period.

    `places` are of matches played to the end, `left` those that the player forfeited. None: nothing to average."""

    matches: int
    rating: int | None
    places: tuple[Part, ...]
    left: Part
    average_score: float | None
    points_a_round: float | None
    rounds: int
    exact: Part
    over: Part
    under: Part
    nil: Part
    seven: Part
    # Rounds by bid (rows) and tricks taken (columns).
    matrix: tuple[tuple[int, ...], ...]
    line: tuple[Played, ...]


def figures(player_id: int, game: str, period: str, now: datetime) -> Figures:
    """The player's figures; a player without matches has zeros and Nones."""
    facts = _facts(game, period, now).filter(player_id=player_id)
    stayed = Q(forfeited=False)
    counted: dict[str, Any] = facts.aggregate(
        matches=Count("pk"),
        left=Count("pk", filter=Q(forfeited=True)),
        score=Sum("score", filter=stayed),
        rounds=Sum("rounds"),
        points=Sum("points"),
        exact=Sum("exact"),
        over=Sum("over"),
        under=Sum("under"),
        **{f"place{place}": Count("pk", filter=stayed & Q(place=place)) for place in range(1, 5)},
    )
    matches, left = counted["matches"], counted["left"]
    rounds, points = counted["rounds"] or 0, counted["points"] or 0
    matrix = _matrix(facts)
    bids = [sum(row) for row in matrix]
    newest = facts.order_by("-finished_at", "-match_id")
    return Figures(
        matches=matches,
        rating=_rated(player_id, game).first(),
        places=tuple(Part(counted[f"place{place}"], matches) for place in range(1, 5)),
        left=Part(left, matches),
        average_score=counted["score"] / (matches - left) if matches > left else None,
        points_a_round=points / rounds if rounds else None,
        rounds=rounds,
        exact=Part(counted["exact"] or 0, rounds),
        over=Part(counted["over"] or 0, rounds),
        under=Part(counted["under"] or 0, rounds),
        nil=Part(matrix[0][0], bids[0]),
        seven=Part(matrix[TRICKS][TRICKS], bids[TRICKS]),
        matrix=matrix,
        line=_line(newest),
    )


def _rated(player_id: int | OuterRef, game: str) -> QuerySet[PlayerFact, int | None]:
    """The player's ratings, today's first."""
    return (
        PlayerFact.objects.filter(player_id=player_id, game=game, rating__isnull=False)
        .order_by("-finished_at", "-match_id")
        .values_list("rating", flat=True)
    )


def _matrix(facts: QuerySet[PlayerFact]) -> tuple[tuple[int, ...], ...]:
    cells = [[0] * (TRICKS + 1) for _bid in range(TRICKS + 1)]
    played = RoundFact.objects.filter(player_fact__in=facts).values_list("bid", "tricks").annotate(count=Count("pk"))
    for bid, tricks, count in played:
        cells[bid][tricks] = count
    return tuple(map(tuple, cells))


def _line(newest: QuerySet[PlayerFact]) -> tuple[Played, ...]:
    names = ("match_id", "finished_at", "place", "score", "forfeited", "rounds", "points")
    return tuple(Played(*values) for values in reversed(newest.values_list(*names)[:CHARTED]))


# -- leaderboards ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """One player on a leaderboard."""

    position: int
    player_id: int
    name: str
    matches: int
    wins: int
    rating: int | None
    points_a_round: float | None
    exact: float | None


@dataclass(frozen=True, slots=True)
class Board:
    """One page of a leaderboard; `page` and `pages` count from 1, also when nobody is on it."""

    lines: tuple[Line, ...]
    players: int
    page: int
    pages: int


def leaderboard(game: str, period: str, sort: str, page: int, now: datetime) -> Board:
    """Registered players with STATS_MIN_MATCHES matches or more in the period, best first; a page too far is the last.

    Equals stand in a fixed order: rating, matches (more first), name, and at last the player's number."""
    players = (
        _facts(game, period, now)
        .filter(player__is_active=True, player__is_guest=False)
        .values("player_id", "player__shown_name", "player__name_key")
        .annotate(
            matches=Count("pk"),
            wins=Count("pk", filter=Q(place=1, forfeited=False)),
            all_rounds=Sum("rounds"),
            all_points=Sum("points"),
            all_exact=Sum("exact"),
        )
        .filter(matches__gte=settings.STATS_MIN_MATCHES)
        .annotate(current=Subquery(_rated(OuterRef("player_id"), game)[:1]))
    )
    best = {"rating": F("current"), "score": _ratio("all_points"), "exact": _ratio("all_exact")}[sort]
    ranked = players.order_by(
        best.desc(nulls_last=True), F("current").desc(nulls_last=True), "-matches", "player__name_key", "player_id"
    )
    count = players.count()
    pages = max(1, -(-count // PAGE_LENGTH))
    page = min(max(page, 1), pages)
    first = (page - 1) * PAGE_LENGTH
    rows: Any = ranked[first : first + PAGE_LENGTH]  # mypy knows no values() after annotate()
    lines = (
        Line(
            position=position,
            player_id=row["player_id"],
            name=row["player__shown_name"],
            matches=row["matches"],
            wins=row["wins"],
            rating=row["current"],
            points_a_round=Part(row["all_points"], row["all_rounds"]).share,
            exact=Part(row["all_exact"], row["all_rounds"]).share,
        )
        for position, row in enumerate(rows, first + 1)
    )
    return Board(tuple(lines), count, page, pages)


def _ratio(of: str) -> Any:
    """A sum over the rounds; nothing where a player left before the first round was scored."""
    return Cast(F(of), FloatField()) / NullIf(F("all_rounds"), 0)
