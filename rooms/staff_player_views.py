"""The page of a player, with all that staff may do to an account; each action leaves a record."""

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from games import selectors as games
from players import former_names, staff, visits
from players import services as player_services
from players.selectors import Player
from players.selectors import found as found_player
from players.staff import Act
from rooms import accounts, sheets
from rooms.staff_forms import BanForm, CorrectionForm, NoteForm, ReasonForm, RoleForm
from rooms.staff_pages import member, show, staff_page
from wallet import selectors as wallet
from wallet.errors import WalletError

# Lines of a list on the page of a player.
LINES = 50


def _player(player_id: int) -> Player:
    player = found_player(str(player_id))
    if player is None:
        raise Http404
    return player


@require_safe
@staff_page("see_players")
def player_page(request: HttpRequest, player_id: int) -> HttpResponse:
    """One player: who it is, as far as the role allows, gold, matches, bans, notes, and what may be done."""
    player = _player(player_id)
    staff.record(member(request), Act.LOOK, player=player.pk)
    return _player_page(request, player)


def _player_page(request: HttpRequest, player: Player, status: int = 200, **forms: Form) -> HttpResponse:
    me = member(request)
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
    return show(request, "player", player.shown_name, status, **context)


def _done(request: HttpRequest, player: Player, text: str) -> HttpResponse:
    messages.success(request, text)
    return redirect("staff_player", player.pk)


def _refused(request: HttpRequest, player: Player, form: Form, name: str, why: str = "") -> HttpResponse:
    if why:
        form.add_error(None, why)
    return _player_page(request, player, status=400, **{name: form})


def _touchable(request: HttpRequest, player: Player) -> str:
    """Why this person may not act on that account; "" when nothing speaks against it."""
    if player.pk == member(request).pk:
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
    staff.record(member(request), Act.BAN, player=player.pk, subject=f"until {until or '-'}", reason=reason)
    accounts.ban(player, member(request), reason, until)
    return _done(request, player, _("%(name)s is banned.") % {"name": player.shown_name})


@require_POST
@staff_page("ban")
def unban(request: HttpRequest, player_id: int) -> HttpResponse:
    """Let this player in again."""
    player, form = _player(player_id), ReasonForm(request.POST, auto_id=False)
    why = _touchable(request, player)
    if not form.is_valid() or why:
        return _refused(request, player, form, "reason_form", why)
    staff.record(member(request), Act.UNBAN, player=player.pk, reason=form.cleaned_data["reason"])
    player_services.unban(player, member(request))
    return _done(request, player, _("The ban is lifted."))


@require_POST
@staff_page("note")
def note(request: HttpRequest, player_id: int) -> HttpResponse:
    """Write down what the next one should know of this player."""
    player, form = _player(player_id), NoteForm(request.POST, auto_id="note_%s")
    why = _touchable(request, player)
    if not form.is_valid() or why:
        return _refused(request, player, form, "note_form", why)
    staff.record(member(request), Act.NOTE, player=player.pk, reason=form.cleaned_data["reason"])
    return _done(request, player, _("Noted."))


@require_POST
@staff_page("end_sessions")
def end_sessions(request: HttpRequest, player_id: int) -> HttpResponse:
    """Sign this player out everywhere."""
    player, form = _player(player_id), ReasonForm(request.POST, auto_id=False)
    why = _touchable(request, player)
    if not form.is_valid() or why:
        return _refused(request, player, form, "reason_form", why)
    staff.record(member(request), Act.SESSIONS, player=player.pk, reason=form.cleaned_data["reason"])
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
        staff.appoint(player, form.cleaned_data["role"], member(request), form.cleaned_data["reason"])
    except staff.Refused:
        why = _("Nobody changes their own role; guests, banned and closed accounts have none.")
        return _refused(request, player, form, "role_form", why)
    return _done(request, player, _("The role is changed."))


@require_POST
@staff_page("ask_correction")
def ask(request: HttpRequest, player_id: int) -> HttpResponse:
    """Ask for a correction of this player's account; a second person decides."""
    player, form = _player(player_id), CorrectionForm(request.POST, auto_id="ask_%s")
    why = _touchable(request, player)
    if not form.is_valid() or why:
        return _refused(request, player, form, "ask_form", why)
    data, me = form.cleaned_data, member(request)
    try:
        made = accounts.ask_correction(me, player.pk, data["amount"], data["reason"], data["corrects"] or None)
    except WalletError as error:
        staff.record(me, Act.REFUSED, player=player.pk, subject=f"correction: {error}", reason=data["reason"])
        return _refused(request, player, form, "ask_form", str(error.text))
    messages.success(request, _("Correction %(number)s waits for a second person.") % {"number": made.pk})
    return redirect("staff_corrections")
