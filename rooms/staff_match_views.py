"""Matches as staff see them, without what is hidden of a running one, and signals to look at."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from games import selectors as games
from games import transcript, verify
from players import staff
from players.staff import Act
from rooms import flags, sheets
from rooms.staff_forms import PeriodForm
from rooms.staff_pages import member, show, staff_page

# Signals of one sort on the page.
FLAGS_SHOWN = 100


def _match(request: HttpRequest, match_id: int) -> Any:
    """The match, for staff who did not sit in it."""
    match = games.match_of(match_id)
    if match is None:
        raise Http404
    if games.seat_in(match_id, member(request).pk) is not None:
        staff.record(member(request), Act.REFUSED, subject=f"match:{match_id} (sat in it)")
        raise PermissionDenied
    return match


@require_safe
@staff_page("see_matches")
def match_page(request: HttpRequest, match_id: int) -> HttpResponse:
    """One match; its course only when it is over."""
    match = _match(request, match_id)
    staff.record(member(request), Act.MATCH, subject=f"match:{match_id}")
    return _match_page(request, match)


def _match_page(request: HttpRequest, match: Any, **more: Any) -> HttpResponse:
    over = games.is_over(match)
    order = list((match.outcome or {}).get("order", [])) if over else []
    seats = [
        {"seat": seat, "place": order.index(seat.number) + 1 if seat.number in order else None}
        for seat in games.seats_in(match.pk)
    ]
    context = {
        "match": match,
        "over": over,
        "seats": seats,
        "room": sheets.room_of_match(match.pk),
        "lines": transcript.lines(match.pk) if over else [],
        **more,
    }
    return show(request, "match", _("Match %(number)s") % {"number": match.pk}, **context)


@require_POST
@staff_page("see_matches")
def match_verify(request: HttpRequest, match_id: int) -> HttpResponse:
    """Deal and play the match again, and compare."""
    match = _match(request, match_id)
    if not games.is_over(match):
        staff.record(member(request), Act.REFUSED, subject=f"match:{match_id} (not over)")
        raise PermissionDenied
    staff.record(member(request), Act.VERIFY, subject=f"match:{match_id}")
    try:
        wrong = list(verify.differences(games.record_of(match_id)))
    except ValueError as error:  # a line of the log that is not written as the log writes
        wrong = [str(error)]
    return _match_page(request, match, verified=True, wrong=wrong)


# -- signals -----------------------------------------------------------------------------------------------------


@require_safe
@staff_page("see_flags")
def flags_page(request: HttpRequest) -> HttpResponse:
    """Signals to look at, of a period that ends now."""
    form = PeriodForm(request.GET if "days" in request.GET else {"days": settings.FLAG_DAYS})
    found: list[flags.Flag] = []
    more = 0
    if form.is_valid():
        staff.record(member(request), Act.FLAGS, subject=f"{form.cleaned_data['days']} days")
        now = timezone.now() + timedelta(minutes=1)  # whatever was just booked, by the database's clock
        found, more = flags.flags(now - timedelta(days=form.cleaned_data["days"]), now, FLAGS_SHOWN)
    status = 400 if form.errors else 200
    context = {"form": form, "flags": found, "more": more, "limits": _limits()}
    return show(request, "flags", _("Signals to look at"), status, **context)


def _limits() -> list[str]:
    """From where on each signal is shown."""
    return [
        _("Most losses go to one other: %(coins)d gold or more, and %(share)d %% of all losses.")
        % {"coins": settings.FLAG_COINS, "share": settings.FLAG_SHARE_PERCENT},
        _("Fed by young accounts: the same of all winnings, from %(accounts)d or more, then under %(days)d days old.")
        % {"accounts": settings.FLAG_YOUNG_ACCOUNTS, "days": settings.FLAG_YOUNG_DAYS},
        _("A quick forfeit of a large pot: %(coins)d gold or more, left within %(seconds)d s.")
        % {"coins": settings.FLAG_POT_COINS, "seconds": settings.FLAG_FORFEIT_SECONDS},
        _("The same pair, often: %(matches)d matches together or more.") % {"matches": settings.FLAG_PAIR_MATCHES},
    ]
