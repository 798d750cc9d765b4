"""The pages of a match for those who sat in it: result, the check of a round's deal, the export."""

import json
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from games import history, record, selectors
from games.models import Match
from players import selectors as player_selectors


def _own_match(request: HttpRequest, match_id: int, *, finished: bool) -> Match:
    """404 alike for strangers, for what does not exist, and for what is not over yet."""
    found = selectors.match_for(request.user.pk if request.user.is_authenticated else None, match_id)
    if found is None or (finished and found.status != Match.Status.FINISHED):
        raise Http404
    return found


@require_GET
def match(request: HttpRequest, match_id: int, more: Callable[[], dict[str, object]] | None = None) -> HttpResponse:
    """The result: places, and every round's points. `more` is what other apps add to the page, asked for those alone
    who may see it."""
    found = _own_match(request, match_id, finished=True)
    view: dict[str, Any] = json.loads(selectors.view_json(history.load(match_id), None))
    result = view["result"]
    seats = selectors.seats_in(match_id)
    public = player_selectors.public([seat.player_id for seat in seats if seat.player_id is not None])
    players = [
        {
            "seat": number,
            "name": seats[number].name,
            "place": result["places"][number],
            "total": result["totals"][number],
            "level": seats[number].bot_level,
            "forfeited": seats[number].forfeited,
            "page": seats[number].player_id if seats[number].player_id in public else None,
            "you": seats[number].player_id == request.user.pk,
        }
        for number in result["order"]
    ]
    context = {
        "match": {"id": match_id, "rounds": view["rounds"], "finished_at": found.finished_at},
        "players": players,
        "rounds": view["scored"],
        "decided": result["decided"],
        **(more() if more is not None else {}),
    }
    return render(request, "games/match.html", context)


@require_GET
def match_round(request: HttpRequest, match_id: int, number: int) -> HttpResponse:
    """The check of one round's deal, from the moment that the round is scored."""
    _own_match(request, match_id, finished=False)
    check = selectors.revealed_round(match_id, number)
    if check is None:
        raise Http404
    view = json.loads(selectors.view_json(history.load(match_id), None))
    return render(request, "games/round.html", {"check": {**check, "marks": view["marks"]}})


@require_GET
def match_export(request: HttpRequest, match_id: int) -> HttpResponse:
    """The whole match as a file, its secret included: it is over, so nothing is hidden any more."""
    _own_match(request, match_id, finished=True)
    body = record.write(selectors.record_of(match_id))
    response = HttpResponse(body, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="match-{match_id}.json"'
    return response
