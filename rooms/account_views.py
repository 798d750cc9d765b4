"""The pages of an account: sign up and in, where allauth does not know of guests and tables, and the account itself."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.internal import flows
from allauth.account.models import EmailAddress
from allauth.account.views import ConfirmEmailView as AllauthConfirmEmailView
from allauth.account.views import LoginView as AllauthLoginView
from allauth.account.views import SignupView as AllauthSignupView
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.utils import is_mfa_enabled
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players import services as players
from players.adapter import guest_in
from players.devices import device
from players.errors import AccountGone, AlreadyRegistered, NameRefused, TooManyNames
from players.files import file_allowed, too_many_files
from players.selectors import Player
from rooms import accounts, closing, export, seating, selectors
from rooms.account_forms import DeleteForm, NameForm
from rooms.errors import AlreadySeated, NotAgreed
from rooms.greeting import greet
from rooms.retries import retried
from rooms.views import player_in

View = Callable[[HttpRequest], HttpResponse]


def _registered(request: HttpRequest) -> Player | None:
    player = player_in(request)
    return player if player is not None and not player.is_guest else None


def for_registered(view: Callable[[HttpRequest, Player], HttpResponse]) -> View:
    """A page for whoever has an account; others are asked to sign in."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        player = _registered(request)
        if player is None:
            return redirect_to_login(request.get_full_path())
        return view(request, player)

    return guarded


# -- the ways in -------------------------------------------------------------------------------------------------


class GuestsPage:
    """A page on the way in that knows which guest asks, and what table that one would leave or keep."""

    request: HttpRequest

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        guest = guest_in(self.request)
        table = selectors.running_table(guest.pk if guest is not None else None)
        context: dict[str, Any] = super().get_context_data(**kwargs)  # type: ignore[misc]
        return {**context, "guest": guest, "table": table}


class SignupView(GuestsPage, AllauthSignupView):
    """A new account; for a guest, an account in place of the guest's row, with seat, name and running match."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if _registered(request) is not None:
            return redirect("account")
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer

    def get_initial(self) -> dict[str, Any]:
        name = self.get_form_class().initial_name(self.request)
        return {**super().get_initial(), "username": name}

    def form_valid(self, form: Any) -> HttpResponse:
        refused: HttpResponse | None = ratelimit.consume_or_429(self.request, action="sign_up")
        if refused is not None:
            return refused
        was_guest = guest_in(self.request)
        try:
            # Who loses a race for a name or an address gets the answer of a moment later; it can be lost twice.
            for _again in range(3):
                try:
                    return self._sign_up(form, was_guest)
                except IntegrityError as error:
                    if self._taken(form, error):
                        break
        except AlreadyRegistered:
            messages.info(self.request, _("You have an account by now. Sign in with it."))
            return redirect("account_login")
        answer: HttpResponse = self.form_invalid(form)
        return answer

    def _sign_up(self, form: Any, was_guest: Player | None) -> HttpResponse:
        self.user, answer = self._save(form)
        player: Player | None = form.player
        if was_guest is not None and player is not None:
            # The guest's session goes on, under a new key; the table's page comes back with it by itself.
            update_session_auth_hash(self.request, player)
            self.request.session.save()
            self.request.user = player
            UserSession.objects.create_from_request(self.request, user=player)
            seating.rename(player)
        if player is not None and (was_guest is not None or settings.EMAIL_VERIFICATION != "mandatory"):
            greet(self.request, player)
        if answer is not None:
            return answer
        # What follows signs in, or sends the mail and asks to read it.
        try:
            done: HttpResponse = (
                form.tell_owner(self.request)
                if form.address_is_elsewhere
                else flows.signup.complete_signup(self.request, user=self.user, redirect_url=self.get_success_url())
            )
        except ImmediateHttpResponse as instead:
            done = instead.response
        return done

    @retried
    def _save(self, form: Any) -> tuple[Player | None, HttpResponse | None]:
        with transaction.atomic(durable=True):
            player, answer = form.try_save(self.request)
        return player, answer

    def _taken(self, form: Any, error: IntegrityError) -> bool:
        """Whether the form says now what was taken in this moment. It says nothing of an address where that would tell
        strangers: then the next try gives the answer of an address that is known."""
        constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", "") or ""
        if constraint != "email_is_unique_in_any_case":
            form.add_error("username", str(NameRefused.TEXTS["taken"]))
        elif settings.EMAIL_VERIFICATION != "mandatory":
            form.add_error("email", get_adapter().validation_error("email_taken"))
        else:
            form.account_already_exists = True
        return not form.account_already_exists or "username" in form.errors


class LoginView(GuestsPage, AllauthLoginView):
    """Sign in, also from a guest's session."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if _registered(request) is not None:
            wanted = self.get_success_url() or ""
            return redirect(wanted if wanted.startswith("/") else reverse("account"))
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer


class ConfirmEmailView(AllauthConfirmEmailView):
    """An address is confirmed by whoever has the link. Nobody is signed out by looking at it."""

    def logout_other_user(self, _confirmation: Any) -> None:
        return


# -- the account -------------------------------------------------------------------------------------------------


@require_safe
@for_registered
def account(request: HttpRequest, player: Player) -> HttpResponse:
    """Who one is here, and where one is signed in."""
    return _account(request, player, NameForm(initial={"name": player.shown_name}))


def _account(request: HttpRequest, player: Player, form: NameForm, status: int = 200) -> HttpResponse:
    if not UserSession.objects.filter(session_key=request.session.session_key).exists():
        UserSession.objects.create_from_request(request, user=player)  # Django gave the session another key
    sessions = sorted(UserSession.objects.purge_and_list(player), key=lambda one: (not one.is_current(), -one.pk))
    for session in sessions:
        session.device = device(session.user_agent)
    context = {
        "player": player,
        "form": form,
        "addresses": list(EmailAddress.objects.filter(user_id=player.pk).order_by("-verified", "pk")),
        "must_confirm": settings.EMAIL_VERIFICATION == "mandatory",
        "second_step": is_mfa_enabled(player),
        "sessions": sessions,
    }
    return render(request, "account/account.html", context, status=status)


@require_POST
@for_registered
def change_name(request: HttpRequest, player: Player) -> HttpResponse:
    """Be called otherwise, at once and everywhere."""
    form, status = NameForm(request.POST), 400
    if form.is_valid():
        try:
            accounts.rename(player, form.cleaned_data["name"])
        except NameRefused as refused:
            form.add_error("name", str(refused.text))
        except TooManyNames as many:
            form.add_error("name", str(many.text))
            status = 429
        except AccountGone:
            return redirect("account_login")
        else:
            messages.success(request, _("You are called %(name)s now.") % {"name": player.shown_name})
            return redirect("account")
    return _account(request, player, form, status=status)


@require_POST
@for_registered
def end_other_sessions(request: HttpRequest, player: Player) -> HttpResponse:
    """Stay signed in here alone."""
    players.end_sessions(player.pk, keep=request)
    messages.success(request, _("You are signed out everywhere else."))
    return redirect("account")


@require_POST
@for_registered
def export_data(request: HttpRequest, player: Player) -> HttpResponse:
    """All that is kept of oneself, as a file."""
    if not file_allowed(player.pk):
        messages.error(request, too_many_files())
        return _account(request, player, NameForm(initial={"name": player.shown_name}), status=429)
    response = HttpResponse(export.archive(player), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="domino-poker-player-{player.pk}.zip"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@for_registered
def delete(request: HttpRequest, player: Player) -> HttpResponse:
    """Give the account up, with the password once more; a running match first, or forfeited with it."""
    stake, running = _stake(player)
    form = DeleteForm(request.POST or None, user=player, running=running)
    status = 400 if form.errors else 200
    if request.method == "POST" and form.is_valid():
        try:
            accounts.close(player.pk, agreed=request.POST.get("stake", ""))
        except (AlreadySeated, NotAgreed):  # sat down, or the match began, since the page said what is given up
            messages.info(request, NotAgreed.text)
            stake, running = _stake(player)
            form, status = DeleteForm(user=player, running=running), 409
        else:
            logout(request)
            messages.success(request, _("Your account is gone, and all that was personal with it."))
            return redirect("home")
    context = {"form": form, "running": running, "stake": stake}
    return render(request, "account/delete.html", context, status=status)


def _stake(player: Player) -> tuple[str, bool]:
    """What the player's seat is, as forms carry it ("" at no table), and whether a match is given up with it."""
    table = selectors.running_table(player.pk)
    if table is None:
        return "", False
    return closing.stake(str(table["code"]), str(table["status"])), table["status"] != "waiting"
