"""Gold as staff see it: the search of the ledger, the books of a room, and corrections that a second person decides."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from players import selectors as players
from players import staff
from players.files import file_allowed, too_many_files
from players.staff import Act
from rooms import accounts, sheets, threads
from rooms.staff_forms import DecisionForm, LedgerForm
from rooms.staff_pages import member, show, staff_page
from wallet import chart, csv
from wallet import selectors as wallet
from wallet.errors import OverLimit, WalletError


@require_safe
@staff_page("see_ledger")
def ledger(request: HttpRequest) -> HttpResponse:
    """Search the ledger. Looking at it is all that can be done here."""
    form = LedgerForm(request.GET or None)
    page, rows = None, []
    if form.is_valid():
        wanted = form.search()
        staff.record(member(request), Act.LEDGER, player=wanted.player_id, subject=_query(form))
        page = wallet.search(wanted, _number(request.GET.get("page", "1")))
        names = _names(page.lines) if staff.may(request.user, "see_players") else {}
        rows = [_row(posting, names, wanted.player_id) for posting in page.lines]
    query = urlencode(_asked(form), doseq=True)
    context = {"form": form, "page": page, "rows": rows, "query": query}
    return show(request, "ledger", _("Search the ledger"), 400 if form.errors else 200, **context)


@require_safe
@staff_page("export_ledger")
def ledger_csv(request: HttpRequest) -> HttpResponseBase:
    """The same search as a file, streamed; at most EXPORTS_AN_HOUR."""
    form = LedgerForm(request.GET)
    if not form.is_valid():
        return show(request, "ledger", _("Search the ledger"), 400, form=form, page=None, rows=[], query="")
    if not file_allowed(member(request).pk):
        form.add_error(None, too_many_files())
        return show(request, "ledger", _("Search the ledger"), 429, form=form, page=None, rows=[], query="")
    wanted = form.search()
    staff.record(member(request), Act.EXPORT, player=wanted.player_id, subject=_query(form))
    response = StreamingHttpResponse(threads.parcels(csv.found(wanted)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="ledger.csv"'
    return response


def _asked(form: LedgerForm) -> dict[str, list[str]]:
    """What was asked in the form's own fields; whatever else stands in the address is nobody's business."""
    data = form.data
    if not isinstance(data, MultiValueDict):
        return {}
    given = {name: list(dict.fromkeys(one for one in data.getlist(name) if one)) for name in form.fields}
    return {name: values for name, values in given.items() if values}


def _query(form: LedgerForm) -> str:
    """What was asked, without the player's name: the record has the number beside it."""
    asked = _asked(form)
    return "&".join(f"{name}={value}" for name, values in asked.items() if name != "player" for value in values)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _names(postings: list[Any]) -> dict[int, str]:
    """What the players of these postings are called, in one query."""
    codes = {code for posting in postings for code in (posting.source.code, posting.destination.code)}
    return players.names({chart.number_of(code) for code in codes if chart.family(code) == "player"})


def _row(posting: Any, names: dict[int, str], of: int | None) -> dict[str, Any]:
    """A posting with the names and the pages that its codes lead to; of one player (`of`) with the sign that it has
    for that one's account."""
    reference = posting.transaction.reference
    fact = chart.fact(reference)
    return {
        "at": posting.transaction.at,
        "reference": reference,
        "kind": wallet.Kind(posting.kind).label,
        "source": _account(posting.source.code, names),
        "destination": _account(posting.destination.code, names),
        "coins": posting.amount,
        "sign": "" if of is None else "−" if posting.source.code == chart.player_account(of) else "+",
        "memo": posting.transaction.memo,
        "by": posting.transaction.by_id,
        "match": fact.number if fact.subject == "match" else None,
    }


def _account(code: str, names: dict[int, str]) -> dict[str, str]:
    family = chart.family(code)
    page = {"player": "staff_player", "room": "staff_room"}.get(family)
    name = names.get(chart.number_of(code), "") if family == "player" else ""
    return {"code": code, "name": name, "url": reverse(page, args=[chart.number_of(code)]) if page else ""}


@require_safe
@staff_page("see_ledger")
def transaction_page(_request: HttpRequest, number: int) -> HttpResponse:
    """To the postings of one transaction, in the search."""
    reference = wallet.reference_of(number)
    if reference is None:
        raise Http404
    return redirect(f"{reverse('staff_ledger')}?reference={reference}")


@require_safe
@staff_page("see_ledger")
def room_page(request: HttpRequest, room_id: int) -> HttpResponse:
    """One room's gold as debits and credits, with the reasons."""
    told = sheets.told(room_id)
    if told is None:
        raise Http404
    staff.record(member(request), Act.MONEY, subject=f"room:{room_id}")
    return show(request, "room", _("The gold of room %(number)s") % {"number": room_id}, told=told)


# -- corrections -------------------------------------------------------------------------------------------------


@require_safe
@staff_page("see_ledger")
def corrections_page(request: HttpRequest) -> HttpResponse:
    """What waits for a second person, and what became of the last ones."""
    return _corrections(request)


def _corrections(request: HttpRequest, status: int = 200) -> HttpResponse:
    staff.record(member(request), Act.CORRECTIONS)
    context = {
        "waiting": list(wallet.pending_corrections().select_related("account__owner")),
        "last": [one for one in wallet.corrections() if one.status != "pending"],
        "limit": settings.CORRECTION_COINS,
        "limit_a_day": settings.CORRECTION_COINS_A_DAY,
        "hours": round(settings.CORRECTION_SECONDS / 3600, 1),
    }
    return show(request, "corrections", _("Corrections"), status, **context)


@require_POST
@staff_page("approve_correction")
def decide(request: HttpRequest, number: int, answer: str) -> HttpResponse:
    """Say yes or no as the second person."""
    me = member(request)
    owner = wallet.corrected_player(number)
    done = _("Approved: the gold has moved.") if answer == "approve" else _("Declined.")
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["reason"][0]))
        return _corrections(request, 400)
    reason = form.cleaned_data["reason"]
    if answer == "decline" and not reason:
        messages.error(request, _("Say why it is declined."))
        return _corrections(request, 400)
    if players.is_staff(owner) and not staff.may(me, "appoint"):
        staff.record(me, Act.REFUSED, player=owner, subject=f"correction:{number} {answer}: of staff")
        messages.error(request, _("Only admins act on the accounts of staff."))
        return _corrections(request, 400)
    try:
        accounts.decide_correction(me, number, approve=answer == "approve", owner=owner, reason=reason)
    except WalletError as error:
        staff.record(me, Act.REFUSED, player=owner, subject=f"correction:{number} {answer}: {error.code}")
        messages.error(request, _limits() if isinstance(error, OverLimit) else str(error.text))
        return _corrections(request, 400)
    messages.success(request, done)
    return redirect("staff_corrections")


def _limits() -> str:
    """Why a person's yes is refused, with the limits that it would break."""
    return _(
        "This is more than one person may correct: at most %(limit)d gold at once, and %(limit_a_day)d in 24 hours."
    ) % {"limit": settings.CORRECTION_COINS, "limit_a_day": settings.CORRECTION_COINS_A_DAY}
