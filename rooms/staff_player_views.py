"""The page of a player, with all that staff may do to an account; each action leaves a record."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from games import selectors as games
from players import former_names, staff, visits
from players import services as player_services
from players.errors import AccountGone
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
# What may be done there, by the names that the template knows.
FORMS: dict[str, Callable[..., forms.Form]] = {
    "ban_form": partial(BanForm, auto_id="ban_%s"),
    "note_form": partial(NoteForm, auto_id="note_%s"),
    "reason_form": partial(ReasonForm, auto_id=False),
    "role_form": partial(RoleForm, auto_id="role_%s"),
    "ask_form": partial(CorrectionForm, auto_id="ask_%s"),
}


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


def _player_page(request: HttpRequest, player: Player, status: int = 200, **filled: forms.Form) -> HttpResponse:
    me = member(request)
    personal = staff.may(me, "see_personal")
    played = games.matches_of(player.pk, LINES)
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
        **{name: make(initial={"role": staff.role_of(player)}) for name, make in FORMS.items()},
        **filled,
    }
    return show(request, "player", player.shown_name, status, **context)


def _done(request: HttpRequest, player: Player, text: str) -> HttpResponse:
    messages.success(request, text)
    return redirect("staff_player", player.pk)


def _refused(
    request: HttpRequest, player: Player, form: forms.Form, name: str, why: str = "", noted: str = ""
) -> HttpResponse:
    """The page once more, with what is wrong; that it was seen is recorded, and what was refused (`noted`)."""
    if why:
        form.add_error(None, why)
        staff.record(
            member(request),
            Act.REFUSED,
            player=player.pk,
            subject=noted or request.path,
            reason=form.data.get("reason", ""),
        )
    staff.record(member(request), Act.LOOK, player=player.pk)
    return _player_page(request, player, status=400, **{name: form})


def _asked(request: HttpRequest, player_id: int, name: str) -> tuple[Player, Any, HttpResponse | None]:
    """The player, the form as it was filled in, and the page that refuses when this can't be done."""
    player, form = _player(player_id), FORMS[name](request.POST)
    why = ""
    if player.pk == member(request).pk:
        why = _("Nobody acts on their own account.")
    elif player.is_staff and not staff.may(request.user, "appoint"):
        why = _("Only admins act on the accounts of staff.")
    elif player.closed_at is not None and name != "note_form":
        why = str(AccountGone.text)
    if not form.is_valid() or why:
        return player, form, _refused(request, player, form, name, why)
    return player, form, None


@require_POST
@staff_page("ban")
def ban(request: HttpRequest, player_id: int) -> HttpResponse:
    """Keep this player out: signed out, and a running match forfeited, at once."""
    player, form, refusal = _asked(request, player_id, "ban_form")
    if refusal is not None:
        return refusal
    reason, until = form.cleaned_data["reason"], form.until()
    # Written before it is done: a crash in between leaves a line too many, never one too few.
    staff.record(member(request), Act.BAN, player=player.pk, subject=f"until {until or '-'}", reason=reason)
    try:
        accounts.ban(player, member(request), reason, until)
    except AccountGone as gone:  # in this moment
        return _refused(request, player, form, "ban_form", str(gone.text))
    return _done(request, player, _("%(name)s is banned.") % {"name": player.shown_name})


@require_POST
@staff_page("ban")
def unban(request: HttpRequest, player_id: int) -> HttpResponse:
    """Let this player in again."""
    player, form, refusal = _asked(request, player_id, "reason_form")
    if refusal is not None:
        return refusal
    if player_services.open_ban(player.pk) is None:
        return _done(request, player, _("There is no ban to lift."))
    staff.record(member(request), Act.UNBAN, player=player.pk, reason=form.cleaned_data["reason"])
    player_services.unban(player, member(request))
    return _done(request, player, _("The ban is lifted."))


@require_POST
@staff_page("note")
def note(request: HttpRequest, player_id: int) -> HttpResponse:
    """Write down what the next one should know of this player."""
    player, form, refusal = _asked(request, player_id, "note_form")
    if refusal is not None:
        return refusal
    staff.record(member(request), Act.NOTE, player=player.pk, reason=form.cleaned_data["reason"])
    return _done(request, player, _("Noted."))


@require_POST
@staff_page("end_sessions")
def end_sessions(request: HttpRequest, player_id: int) -> HttpResponse:
    """Sign this player out everywhere."""
    player, form, refusal = _asked(request, player_id, "reason_form")
    if refusal is not None:
        return refusal
    staff.record(member(request), Act.SESSIONS, player=player.pk, reason=form.cleaned_data["reason"])
    count = player_services.end_sessions(player.pk)
    return _done(request, player, _("Signed out of %(count)s sessions.") % {"count": count})


@require_POST
@staff_page("appoint")
def appoint(request: HttpRequest, player_id: int) -> HttpResponse:
    """Give this player a role of staff, or take it."""
    player, form, refusal = _asked(request, player_id, "role_form")
    if refusal is not None:
        return refusal
    try:
        staff.appoint(player, form.cleaned_data["role"], member(request), form.cleaned_data["reason"])
    except staff.Refused as refused:
        why = _("Nobody changes their own role; guests, banned and closed accounts have none.")
        if str(refused) == "no admin":
            why = _("Your own role has changed in this moment.")
        return _refused(request, player, form, "role_form", why)
    return _done(request, player, _("The role is changed."))


@require_POST
@staff_page("ask_correction")
def ask(request: HttpRequest, player_id: int) -> HttpResponse:
    """Ask for a correction of this player's account; a second person decides."""
    player, form, refusal = _asked(request, player_id, "ask_form")
    if refusal is not None:
        return refusal
    data, me = form.cleaned_data, member(request)
    try:
        made = accounts.ask_correction(me, player.pk, data["amount"], data["reason"], data["corrects"] or None)
    except WalletError as error:
        return _refused(request, player, form, "ask_form", str(error.text), noted=f"correction: {error}")
    messages.success(request, _("Correction %(number)s waits for a second person.") % {"number": made.pk})
    return redirect("staff_corrections")
