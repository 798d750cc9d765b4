"""The pages of statistics: one's own, a player's public ones, the leaderboards."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import Promise
from django.views.decorators.http import require_safe

from players import selectors as players
from stats import charts, selectors

Choices = Mapping[str, str | Promise]


@require_safe
def own(request: HttpRequest) -> HttpResponse:
    """The figures of whoever looks; guests and visitors are told what is counted, and for whom."""
    player = players.player_of(request.user)
    if player is None or player.is_guest:
        return render(request, "stats/hint.html", {"guest": player is not None})
    return _figures(request, player.pk, player.shown_name, own=True)


@require_safe
def player(request: HttpRequest, player_id: int) -> HttpResponse:
    """A registered player's figures, for everybody. 404 alike for guests, for those who are gone, and for no one."""
    name = players.public_name(player_id)
    if name is None:
        raise Http404
    return _figures(request, player_id, name, own=request.user.pk == player_id)


@require_safe
def leaderboard(request: HttpRequest) -> HttpResponse:
    """Who plays best, in a period and by one measure."""
    now = timezone.now()
    chosen = _chosen(request, sort=selectors.SORTS)
    page = request.GET.get("page", "")
    number = int(page) if page.isascii() and page.isdigit() and len(page) <= 6 else 1
    board = selectors.leaderboard(chosen["game"], chosen["period"], chosen["sort"], number, now)
    viewer = players.player_of(request.user)
    has = None
    if viewer is not None and not viewer.is_guest:
        has = selectors.matches_of(viewer.pk, chosen["game"], chosen["period"], now)
    context = {
        "board": board,
        "sort": chosen["sort"],
        "rows": _filters(chosen, sort=selectors.SORTS),
        "least": settings.STATS_MIN_MATCHES,
        "has": has if has is not None and has < settings.STATS_MIN_MATCHES else None,
        "viewer_id": viewer.pk if viewer is not None else None,
        "before": _query(chosen, page=str(board.page - 1)) if board.page > 1 else None,
        "after": _query(chosen, page=str(board.page + 1)) if board.page < board.pages else None,
    }
    return render(request, "stats/leaderboard.html", context)


def _figures(request: HttpRequest, player_id: int, name: str, *, own: bool) -> HttpResponse:
    now: datetime = timezone.now()
    chosen = _chosen(request)
    found = selectors.figures(player_id, chosen["game"], chosen["period"], now)
    context: dict[str, Any] = {
        "player_id": player_id,
        "name": name,
        "own": own,
        "figures": found,
        "rows": _filters(chosen),
        "bids_chart": charts.bids_against_tricks(found.matrix) if found.rounds else "",
        "scores_chart": charts.scores(found.line) if found.rounds else "",
    }
    return render(request, "stats/player.html", context)


# -- what may be chosen -------------------------------------------------------------------------------------------


def _choices(**more: Choices) -> dict[str, Choices]:
    games = {key: selectors.game_name(key) for key in selectors.GAMES}
    return {"game": games, "period": selectors.PERIODS, **more}


def _chosen(request: HttpRequest, **more: Choices) -> dict[str, str]:
    """What the address asks for; the first choice where it asks for nothing that there is."""
    found = {}
    for name, choices in _choices(**more).items():
        asked = request.GET.get(name, "")
        found[name] = asked if asked in choices else next(iter(choices))
    return found


def _filters(chosen: Mapping[str, str], **more: Choices) -> dict[str, list[dict[str, Any]]]:
    """Links to every other choice, for each thing that can be chosen; nothing where there is one choice alone."""
    return {
        name: [
            {"text": text, "query": _query(chosen, **{name: key}), "current": key == chosen[name]}
            for key, text in choices.items()
        ]
        for name, choices in _choices(**more).items()
        if len(choices) > 1
    }


def _query(chosen: Mapping[str, str], **changed: str) -> str:
    return "?" + urlencode({**chosen, **changed})
