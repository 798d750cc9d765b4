"""The wallet's pages: a registered player's balance and statement, each line with its match or room, and as a file."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games import selectors as game_selectors
from players.files import file_allowed, too_many_files
from players.selectors import Player
from rooms import money, selectors, threads
from rooms.forms import PageForm, always
from rooms.views import player_in
from wallet import chart
from wallet import csv as wallet_csv
from wallet import selectors as ledger

# Kinds that a player of today's tables can meet.
KINDS = (
    ledger.Kind.WELCOME,
    ledger.Kind.REWARD,
    ledger.Kind.FEE,
    ledger.Kind.REFUND,
    ledger.Kind.PAYOUT,
    ledger.Kind.CORRECTION,
)


_DAY = always(gettext_lazy("A day is written like 2026-01-31."))


class FilterForm(PageForm):
    """Which lines of the statement: kinds, and days in UTC, both included."""

    since = forms.DateField(input_formats=["%Y-%m-%d"], required=False, error_messages=_DAY)
    until = forms.DateField(input_formats=["%Y-%m-%d"], required=False, error_messages=_DAY)
    kind = forms.MultipleChoiceField(
        choices=[(kind.value, kind.label) for kind in KINDS],
        required=False,
        error_messages=always(gettext_lazy("Choose from the kinds that are offered.")),
    )

    def wanted(self) -> ledger.Filters:
        asked = self.cleaned_data
        since, until = asked.get("since"), asked.get("until")
        return ledger.Filters(
            kinds=tuple(asked.get("kind") or ()),
            since=datetime.combine(since, time(), UTC) if since else None,
            until=datetime.combine(until, time(), UTC) + timedelta(days=1) if until and until.year < 9999 else None,
        )


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of the statement with words for people, and the page that it speaks of where the reader may see it."""

    line: ledger.Line
    label: str
    about: str
    href: str

    @property
    def coins_out(self) -> int:
        return -self.line.amount


@require_safe
@never_cache
def wallet(request: HttpRequest) -> HttpResponse:
    """Balance and statement of a registered player; everybody else reads how to become one."""
    player = player_in(request)
    if player is None or player.is_guest:
        return render(request, "wallet/sign_up.html")
    form = FilterForm(request.GET)
    valid = form.is_valid()
    filters = form.wanted() if valid else ledger.ALL
    page = ledger.statement(player.pk, filters, _page_number(request.GET))
    context = {
        "lines": shown(player, page.lines),
        "page": page,
        "kinds": [(kind.value, kind.label) for kind in KINDS],
        "chosen": {
            "kinds": request.GET.getlist("kind"),
            "since": request.GET.get("since", "")[:10],
            "until": request.GET.get("until", "")[:10],
        },
        "filtered": filters != ledger.ALL,
        "error": "" if valid else form.one_error(),
        "query": _query(request.GET),
        "rewards": money.rewards(player),
    }
    return render(request, "wallet/index.html", context, status=200 if valid else 400)


@require_safe
@never_cache
def statement_csv(request: HttpRequest) -> HttpResponseBase:
    """The statement as a file, filtered as the page is; at most EXPORTS_AN_HOUR."""
    player = player_in(request)
    if player is None or player.is_guest:
        return redirect("wallet")
    form = FilterForm(request.GET)
    if not form.is_valid():
        return render(request, "wallet/refused.html", {"why": form.one_error()}, status=400)
    if not file_allowed(player.pk):
        return render(request, "wallet/refused.html", {"why": too_many_files()}, status=429)
    response = StreamingHttpResponse(
        threads.parcels(wallet_csv.statement(player.pk, form.wanted())), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = 'attachment; filename="statement.csv"'
    return response


def _page_number(query: QueryDict) -> int:
    text = query.get("page", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else 1


def _query(query: QueryDict) -> str:
    """The filters as they stand in addresses, without the page."""
    kept = query.copy()
    kept.pop("page", None)
    return kept.urlencode()


# -- what a line speaks of ---------------------------------------------------------------------------------------

_ABOUT = {
    ledger.Kind.WELCOME.value: gettext_lazy("for signing up"),
    ledger.Kind.REWARD.value: gettext_lazy("match against bots"),
}


def shown(player: Player, lines: Iterable[ledger.Line]) -> list[ShownLine]:
    """These lines with their words and pages, found in a few questions for all of them."""
    lines = list(lines)
    rooms = selectors.pages_of({number for line in lines if (number := _room_of(line)) is not None}, player.pk)
    matches = {number for line in lines if (number := _match_of(line)) is not None}
    matches |= {page.match_id for page in rooms.values() if page.match_id is not None}
    finished = game_selectors.finished_of(player.pk, matches)
    kept = ledger.kept_by_house([line.reference for line in lines if line.kind == ledger.Kind.FEE])
    return [_shown(line, rooms, finished, kept) for line in lines]


def _shown(line: ledger.Line, rooms: dict[int, selectors.RoomPage], finished: set[int], kept: set[str]) -> ShownLine:
    room_id, match_id = _room_of(line), _match_of(line)
    page = rooms.get(room_id) if room_id is not None else None
    if match_id is None and page is not None:
        match_id = page.match_id
    href, about = "", str(_ABOUT.get(line.kind, ""))
    if match_id is not None and match_id in finished:
        href = reverse("match", args=[match_id])
        about = _("match %(number)d") % {"number": match_id}
    elif match_id is not None and line.reference in kept:
        about = _("match %(number)d, which nobody finished: the pot went to the house") % {"number": match_id}
    elif page is not None:
        href = page.path
        about = _("room of %(fee)d gold") % {"fee": page.fee}
    if line.kind == ledger.Kind.CORRECTION:
        about = line.memo
    return ShownLine(line, str(ledger.Kind(line.kind).label), about, href)


def _room_of(line: ledger.Line) -> int | None:
    return chart.number_of(line.other) if chart.family(line.other) == "room" else None


def _match_of(line: ledger.Line) -> int | None:
    fact = chart.fact(line.reference)
    return fact.number if fact.subject == "match" else None
