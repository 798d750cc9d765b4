"""The pages around a table: home, play, the table itself, leaving."""

from django import forms
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from games import selectors as game_selectors
from games.bots import levels as bot_levels
from players import services as players
from players.selectors import Player, player_of
from rooms import closing, hub, presence, seating, selectors
from rooms.errors import AlreadySeated, NoSuchRoom, TooMany
from rooms.models import Room

GAME = "domino_poker"
DEFAULT_ROUNDS = 7


class PlayForm(forms.Form):
    """A solo match: how many rounds, how strong the bots, with or without the turn clock."""

    rounds = forms.RegexField(r"^[0-9]{1,2}\Z", strip=False)
    level = forms.ChoiceField(choices=lambda: [(key, key) for key, ready in bot_levels(GAME).items() if ready])
    clock = forms.BooleanField(required=False)

    def clean_rounds(self) -> int:
        rounds = int(self.cleaned_data["rounds"])
        if not 1 <= rounds <= 50:
            raise forms.ValidationError(_("Rounds must be a whole number from 1 to 50."))
        return rounds

    def one_error(self) -> str:
        if "rounds" in self.errors:
            return _("Rounds must be a whole number from 1 to 50.")
        return _("Choose a level that is offered.")


def player_in(request: HttpRequest) -> Player | None:
    return player_of(request.user)


def _home_context(request: HttpRequest) -> dict[str, object]:
    player = player_in(request)
    titles = {"medium": _("Medium"), "hard": _("Hard"), "epic": _("Epic")}
    return {
        "table": selectors.running_table(player.pk if player else None),
        "levels": [{"key": key, "title": titles[key], "available": ready} for key, ready in bot_levels(GAME).items()],
        "default_rounds": DEFAULT_ROUNDS,
    }


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home/index.html", _home_context(request))


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    return render(request, "rules/domino_poker.html")


@require_POST
def play(request: HttpRequest) -> HttpResponse:
    """Start a solo match; a first visitor becomes a guest here, and nowhere on a GET."""
    form = PlayForm(request.POST)
    if not form.is_valid():
        return render(request, "home/index.html", {**_home_context(request), "error": form.one_error()}, status=400)
    player = player_in(request) or players.sign_in_guest(request)
    try:
        seating.check_pace(player)  # before anything is given up for it
        if request.POST.get("give_up") == "1":
            closing.give_up_running(player.pk)
        sitting = seating.open_solo(
            player,
            {"rounds": form.cleaned_data["rounds"]},
            form.cleaned_data["level"],
            clocked=form.cleaned_data["clock"],
        )
    except AlreadySeated:
        context = {
            "table": selectors.running_table(player.pk),
            "rounds": form.cleaned_data["rounds"],
            "level": form.cleaned_data["level"],
            "clock": form.cleaned_data["clock"],
        }
        return render(request, "home/busy.html", context, status=409)
    except TooMany:
        context = {**_home_context(request), "error": _("Too many new games at once. Wait a few minutes.")}
        return render(request, "home/index.html", context, status=429)
    return _to_table(sitting.code, sitting.token)


def _to_table(code: str, token: str) -> HttpResponse:
    response = HttpResponseRedirect(reverse("table", args=[code]))
    response.set_cookie(
        settings.SEAT_COOKIE_NAME,
        token,
        max_age=86400,
        httponly=True,
        samesite="Lax",
        secure=settings.SEAT_COOKIE_SECURE,
    )
    return response


@require_safe
def table(request: HttpRequest, code: str) -> HttpResponse:
    """The live table for those who sit at it, its result for those who sat; 404 alike for everybody else."""
    player = player_in(request)
    room = selectors.room_by_code(code)
    if player is not None and room is not None:
        try:
            presence.membership(player, code, request.COOKIES.get(settings.SEAT_COOKIE_NAME, ""))
        except NoSuchRoom:
            running = selectors.running_table(player.pk)
            if running is not None and running["code"] == code:
                return redirect("home")  # the seat's cookie is lost; the way back is offered there
            if running is None and room.match_id is not None:
                return _after_the_end(request, room, player)
        else:
            context = {
                "room_code": code,
                "socket_path": f"/ws/tables/{code}/",
                "rounds": room.options.get("rounds"),
                "level": next((s.bot_level for s in game_selectors.seats_in(room.match_id) if s.bot_level), "medium")
                if room.match_id
                else "medium",
                "clock": room.turn_seconds is not None,
            }
            return render(request, "rooms/table.html", context)
    return render(request, "404.html", status=404)


def _after_the_end(request: HttpRequest, room: Room, player: Player) -> HttpResponse:
    assert room.match_id is not None
    if game_selectors.seat_in(room.match_id, player.pk) is None:
        return render(request, "404.html", status=404)
    if game_selectors.is_finished(room.match_id):
        return redirect("match", room.match_id)
    return redirect("home")


@require_POST
def table_return(request: HttpRequest, code: str) -> HttpResponse:
    """Back to the own table, with a new seat cookie in case that the old one is lost."""
    player = player_in(request)
    if player is None:
        return redirect("home")
    try:
        return _to_table(code, seating.new_token(player, code))
    except NoSuchRoom:
        return redirect("home")


@require_POST
def table_leave(request: HttpRequest, code: str) -> HttpResponse:
    """Give the match up. Leaving a table where one does not sit changes nothing."""
    player = player_in(request)
    room = selectors.room_by_code(code)
    response = redirect("home")
    if player is None or room is None:
        return response
    try:
        closing.leave(room.pk, player.pk)
    except NoSuchRoom:
        return response
    response.delete_cookie(settings.SEAT_COOKIE_NAME, samesite="Lax")
    return response


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 while this process answers and reaches the database; 503 otherwise, and while it is told to stop."""
    if hub.draining():
        return JsonResponse({"status": "stopping"}, status=503)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception:  # noqa: BLE001  whatever it is, we are not ready
        return JsonResponse({"status": "no database"}, status=503)
    return JsonResponse({"status": "ok"})
