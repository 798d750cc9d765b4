"""The pages of staff that join players, gold, rooms and matches; each says who may see it, and leaves a record."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from functools import wraps
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from games import selectors as games
from games import transcript, verify
from players import former_names, staff, visits
from players import services as player_services
from players.files import file_allowed, too_many_files
from players.selectors import Player
from players.selectors import found as found_player
from rooms import accounts, flags, sheets, threads
from rooms.staff_forms import (
    BanForm,
    CorrectionForm,
    DecisionForm,
    LedgerForm,
    NoteForm,
    PeriodForm,
    ReasonForm,
    RoleForm,
)
from wallet import chart, csv
from wallet import selectors as wallet
from wallet.errors import WalletError

Act = staff.Act
# Lines of an export that are made at a time.
LINES_AT_ONCE = 500
# Lines of a list on the page of a player.
LINES = 50


def staff_page(permission: str) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """A page of the admin for those who have the permission; others are refused, and that is recorded."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not staff.may(request.user, permission):
                staff.record(_me(request), Act.REFUSED, subject=request.path)
                raise PermissionDenied
            return view(request, *args, **kwargs)

        wrapped: Callable[..., HttpResponseBase] = admin.site.admin_view(guarded)
        return wrapped

    return decorate


def _me(request: HttpRequest) -> Player:
    assert isinstance(request.user, Player)
    return request.user


def _player(player_id: int) -> Player:
    player = found_player(str(player_id))
    if player is None:
        raise Http404
    return player


def _page(request: HttpRequest, template: str, title: str, status: int = 200, **context: Any) -> HttpResponse:
    me = _me(request)
    may = {name: staff.may(me, name) for name in PERMISSIONS}
    whole = {**admin.site.each_context(request), "title": title, "may": may, "me": me, **context}
    return render(request, f"staff/{template}.html", whole, status=status)


PERMISSIONS = (
    "see_players", "see_personal", "see_ledger", "export_ledger", "see_matches", "see_flags", "ban", "note",
    "end_sessions", "ask_correction", "approve_correction", "see_log", "appoint",
)  # fmt: skip


# -- players -----------------------------------------------------------------------------------------------------


@require_safe
@staff_page("see_players")
def player_page(request: HttpRequest, player_id: int) -> HttpResponse:
    """One player: who it is, as far as the role allows, gold, matches, bans, notes, and what may be done."""
    player = _player(player_id)
    staff.record(_me(request), Act.LOOK, player=player.pk)
    return _player_page(request, player)


def _player_page(request: HttpRequest, player: Player, status: int = 200, **forms: Form) -> HttpResponse:
    me = _me(request)
    personal = staff.may(me, "see_personal")
    played = games.matches_of(player.pk)[:LINES]
    rooms = sheets.rooms_of([one["match"] for one in played])
    context = {
        "player": player,
        "address": player.email if personal else staff.masked(player.email),
        "role": staff.role_of(player),
        "second_step": staff.has_second_step(player.pk),
        "balance": wallet.balance(player.pk),
        "sessions": staff.sessions_of(player.pk) if personal else None,
        "visits": visits.of_player(player.pk, LINES) if personal else None,
        "neighbours": visits.neighbours(player.pk, guests=False) if personal else None,
        "guests": visits.neighbours(player.pk, guests=True) if personal else None,
        "matches": [{**one, "room": rooms.get(one["match"])} for one in played],
        "names": former_names.of_player(player.pk, LINES),
        "bans": staff.bans_of(player.pk),
        "banned": player_services.open_ban(player.pk) is not None,
        "notes": staff.notes_of(player.pk),
        "corrections": wallet.corrections(player.pk, 20),
        "ban_form": forms.get("ban_form", BanForm(auto_id="ban_%s")),
        "note_form": forms.get("note_form", NoteForm(auto_id="note_%s")),
        "reason_form": forms.get("reason_form", ReasonForm(auto_id=False)),
        "role_form": forms.get("role_form", RoleForm(auto_id="role_%s", initial={"role": staff.role_of(player)})),
        "ask_form": forms.get("ask_form", CorrectionForm(auto_id="ask_%s")),
    }
    return _page(request, "player", player.shown_name, status, **context)


def _done(request: HttpRequest, player: Player, text: str) -> HttpResponse:
    messages.success(request, text)
    return redirect("staff_player", player.pk)


def _refused(request: HttpRequest, player: Player, form: Form, name: str, why: str = "") -> HttpResponse:
    if why:
        form.add_error(None, why)
    return _player_page(request, player, status=400, **{name: form})


def _touchable(request: HttpRequest, player: Player) -> str:
    """Why this person may not act on that account; "" when nothing speaks against it."""
    if player.pk == _me(request).pk:
        return _("Nobody acts on their own account.")
    if player.is_staff and not staff.may(request.user, "appoint"):
        return _("Only admins act on the accounts of staff.")
    return ""


@require_POST
@staff_page("ban")
def ban(request: HttpRequest, player_id: int) -> HttpResponse:
    """Keep this player out: signed out, and a running match forfeited, at once."""
    player, form = _player(player_id), BanForm(request.POST, auto_id="ban_%s")
    why = _touchable(request, player) or (_("This account is closed.") if player.closed_at else "")
    if not form.is_valid() or why:
        return _refused(request, player, form, "ban_form", why)
    reason, until = form.cleaned_data["reason"], form.until()
    # Written before it is done: a crash in between leaves a line too many, never one too few.
    staff.record(_me(request), Act.BAN, player=player.pk, subject=f"until {until or '-'}", reason=reason)
    accounts.ban(player, _me(request), reason, until)
    return _done(request, player, _("%(name)s is banned.") % {"name": player.shown_name})


@require_POST
@staff_page("ban")
def unban(request: HttpRequest, player_id: int) -> HttpResponse:
    """Let this player in again."""
    player, form = _player(player_id), ReasonForm(request.POST, auto_id=False)
    why = _touchable(request, player)
    if not form.is_valid() or why:
        return _refused(request, player, form, "reason_form", why)
    staff.record(_me(request), Act.UNBAN, player=player.pk, reason=form.cleaned_data["reason"])
    player_services.unban(player, _me(request))
    return _done(request, player, _("The ban is lifted."))


@require_POST
@staff_page("note")
def note(request: HttpRequest, player_id: int) -> HttpResponse:
    """Write down what the next one should know of this player."""
    player, form = _player(player_id), NoteForm(request.POST, auto_id="note_%s")
    why = _touchable(request, player)
    if not form.is_valid() or why:
        return _refused(request, player, form, "note_form", why)
    staff.record(_me(request), Act.NOTE, player=player.pk, reason=form.cleaned_data["reason"])
    return _done(request, player, _("Noted."))


@require_POST
@staff_page("end_sessions")
def end_sessions(request: HttpRequest, player_id: int) -> HttpResponse:
    """Sign this player out everywhere."""
    player, form = _player(player_id), ReasonForm(request.POST, auto_id=False)
    why = _touchable(request, player)
    if not form.is_valid() or why:
        return _refused(request, player, form, "reason_form", why)
    staff.record(_me(request), Act.SESSIONS, player=player.pk, reason=form.cleaned_data["reason"])
    count = player_services.end_sessions(player.pk)
    return _done(request, player, _("Signed out of %(count)s sessions.") % {"count": count})


@require_POST
@staff_page("appoint")
def appoint(request: HttpRequest, player_id: int) -> HttpResponse:
    """Give this player a role of staff, or take it."""
    player, form = _player(player_id), RoleForm(request.POST, auto_id="role_%s")
    if not form.is_valid():
        return _refused(request, player, form, "role_form")
    try:
        staff.appoint(player, form.cleaned_data["role"], _me(request), form.cleaned_data["reason"])
    except staff.Refused:
        why = _("Nobody changes their own role; guests, banned and closed accounts have none.")
        return _refused(request, player, form, "role_form", why)
    return _done(request, player, _("The role is changed."))


# -- gold --------------------------------------------------------------------------------------------------------


@require_safe
@staff_page("see_ledger")
def ledger(request: HttpRequest) -> HttpResponse:
    """Search the ledger. Looking at it is all that can be done here."""
    form = LedgerForm(request.GET or None)
    page, rows = None, []
    if form.is_valid():
        wanted = form.search()
        staff.record(_me(request), Act.LEDGER, player=wanted.player_id, subject=_query(form))
        page = wallet.search(wanted, _number(request.GET.get("page", "1")))
        rows = [_row(posting) for posting in page.lines]
    query = urlencode(_asked(form), doseq=True)
    context = {"form": form, "page": page, "rows": rows, "query": query}
    return _page(request, "ledger", _("Search the ledger"), 400 if form.errors else 200, **context)


@require_safe
@staff_page("export_ledger")
def ledger_csv(request: HttpRequest) -> HttpResponseBase:
    """The same search as a file, streamed; at most EXPORTS_AN_HOUR."""
    form = LedgerForm(request.GET)
    if not form.is_valid():
        return _page(request, "ledger", _("Search the ledger"), 400, form=form, page=None, rows=[], query="")
    if not file_allowed(_me(request).pk):
        form.add_error(None, too_many_files())
        return _page(request, "ledger", _("Search the ledger"), 429, form=form, page=None, rows=[], query="")
    wanted = form.search()
    staff.record(_me(request), Act.EXPORT, player=wanted.player_id, subject=_query(form))
    response = StreamingHttpResponse(_streamed(csv.found(wanted)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="ledger.csv"'
    return response


async def _streamed(lines: Iterator[str]) -> AsyncIterator[bytes]:
    """The lines in parcels, each made on a thread that gives its connection back: no export holds one."""
    while parcel := await threads.run(lambda: list(islice(lines, LINES_AT_ONCE))):
        yield "".join(parcel).encode()


def _asked(form: LedgerForm) -> dict[str, list[str]]:
    """What was asked in the form's own fields; whatever else stands in the address is nobody's business."""
    data = form.data
    if not isinstance(data, MultiValueDict):
        return {}
    given = {name: [one for one in data.getlist(name) if one] for name in form.fields}
    return {name: values for name, values in given.items() if values}


def _query(form: LedgerForm) -> str:
    """What was asked, without the player's name: the record has the number beside it."""
    asked = _asked(form)
    return "&".join(f"{name}={value}" for name, values in asked.items() if name != "player" for value in values)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _row(posting: Any) -> dict[str, Any]:
    """A posting with the pages that its codes lead to."""
    reference = posting.transaction.reference
    fact = chart.fact(reference)
    return {
        "at": posting.transaction.at,
        "reference": reference,
        "kind": wallet.Kind(posting.kind).label,
        "source": _account(posting.source.code),
        "destination": _account(posting.destination.code),
        "coins": posting.amount,
        "memo": posting.transaction.memo,
        "by": posting.transaction.by_id,
        "match": fact.number if fact.subject == "match" else None,
    }


def _account(code: str) -> dict[str, str]:
    pages = {"player": "staff_player", "room": "staff_room"}
    page = pages.get(chart.family(code))
    return {"code": code, "url": reverse(page, args=[chart.number_of(code)]) if page else ""}


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
    staff.record(_me(request), Act.MONEY, subject=f"room:{room_id}")
    return _page(request, "room", _("The gold of room %(number)s") % {"number": room_id}, told=told)


@require_POST
@staff_page("ask_correction")
def ask(request: HttpRequest, player_id: int) -> HttpResponse:
    """Ask for a correction of this player's account; a second person decides."""
    player, form = _player(player_id), CorrectionForm(request.POST, auto_id="ask_%s")
    why = _touchable(request, player)
    if not form.is_valid() or why:
        return _refused(request, player, form, "ask_form", why)
    data, me = form.cleaned_data, _me(request)
    try:
        made = accounts.ask_correction(me, player.pk, data["amount"], data["reason"], data["corrects"] or None)
    except WalletError as error:
        staff.record(me, Act.REFUSED, player=player.pk, subject=f"correction: {error}", reason=data["reason"])
        return _refused(request, player, form, "ask_form", str(error.text))
    messages.success(request, _("Correction %(number)s waits for a second person.") % {"number": made.pk})
    return redirect("staff_corrections")


@require_safe
@staff_page("see_ledger")
def corrections_page(request: HttpRequest) -> HttpResponse:
    """What waits for a second person, and what became of the last ones."""
    staff.record(_me(request), Act.CORRECTIONS)
    return _corrections(request)


def _corrections(request: HttpRequest, status: int = 200) -> HttpResponse:
    context = {
        "waiting": list(wallet.pending_corrections().select_related("account__owner")),
        "last": [one for one in wallet.corrections() if one.status != "pending"],
        "limit": settings.CORRECTION_COINS,
        "limit_a_day": settings.CORRECTION_COINS_A_DAY,
        "hours": round(settings.CORRECTION_SECONDS / 3600, 1),
    }
    return _page(request, "corrections", _("Corrections"), status, **context)


@require_POST
@staff_page("approve_correction")
def decide(request: HttpRequest, number: int, answer: str) -> HttpResponse:
    """Say yes or no as the second person."""
    me = _me(request)
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
    try:
        accounts.decide_correction(me, number, approve=answer == "approve", owner=owner, reason=reason)
    except WalletError as error:
        staff.record(me, Act.REFUSED, player=owner, subject=f"correction:{number} {answer}: {error.code}")
        messages.error(request, str(error.text))
        return _corrections(request, 400)
    messages.success(request, done)
    return redirect("staff_corrections")


# -- matches -----------------------------------------------------------------------------------------------------


def _match(request: HttpRequest, match_id: int) -> Any:
    """The match, for staff who did not sit in it."""
    match = games.match_of(match_id)
    if match is None:
        raise Http404
    if games.seat_in(match_id, _me(request).pk) is not None:
        staff.record(_me(request), Act.REFUSED, subject=f"match:{match_id} (sat in it)")
        raise PermissionDenied
    return match


@require_safe
@staff_page("see_matches")
def match_page(request: HttpRequest, match_id: int) -> HttpResponse:
    """One match; its course only when it is over."""
    match = _match(request, match_id)
    staff.record(_me(request), Act.MATCH, subject=f"match:{match_id}")
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
    return _page(request, "match", _("Match %(number)s") % {"number": match.pk}, **context)


@require_POST
@staff_page("see_matches")
def match_verify(request: HttpRequest, match_id: int) -> HttpResponse:
    """Deal and play the match again, and compare."""
    match = _match(request, match_id)
    if not games.is_over(match):
        raise PermissionDenied
    staff.record(_me(request), Act.VERIFY, subject=f"match:{match_id}")
    try:
        wrong = list(verify.differences(games.record_of(match_id)))
    except ValueError as error:  # a line of the log that is not written as the log writes
        wrong = [str(error)]
    return _match_page(request, match, verified=True, wrong=wrong)


# -- flags -------------------------------------------------------------------------------------------------------


@require_safe
@staff_page("see_flags")
def flags_page(request: HttpRequest) -> HttpResponse:
    """Signals to look at, of a period that ends now."""
    form = PeriodForm(request.GET if "days" in request.GET else {"days": settings.FLAG_DAYS})
    found: list[flags.Flag] = []
    if form.is_valid():
        staff.record(_me(request), Act.FLAGS, subject=f"{form.cleaned_data['days']} days")
        now = timezone.now() + timedelta(minutes=1)  # whatever was just booked, by the database's clock
        found = flags.flags(now - timedelta(days=form.cleaned_data["days"]), now)
    status = 400 if form.errors else 200
    return _page(request, "flags", _("Signals to look at"), status, form=form, flags=found, limits=_limits())


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
