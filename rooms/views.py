"""The pages around a table: home, play, the table itself, leaving."""

import qrcode
from django.conf import settings
from django.contrib import messages
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from qrcode.image.svg import SvgPathImage

from games import selectors as game_selectors
from games import views as game_views
from games.bots import levels as bot_levels
from players import services as players
from players.errors import TooManyGuests
from players.selectors import Player, player_of
from rooms import closing, hub, money, presence, seating, selectors
from rooms.busy import busy
from rooms.errors import AlreadySeated, KeptOut, NoSuchRoom, NotAgreed, RoomError, TooMany
from rooms.forms import PlayForm
from rooms.models import Room
from rooms.seating import DEFAULT_ROUNDS, GAME, Sitting


def player_in(request: HttpRequest) -> Player | None:
    return player_of(request.user)


def _home_context(request: HttpRequest) -> dict[str, object]:
    player = player_in(request)
    titles = {"medium": _("Medium"), "hard": _("Hard"), "epic": _("Epic")}
    return {
        "table": selectors.running_table(player.pk if player else None),
        "levels": [
            {"key": key, "title": titles[key], "available": ready, "reward": settings.REWARDS.get(key, 0)}
            for key, ready in bot_levels(GAME).items()
        ],
        "rewards": money.rewards(player),
        "default_rounds": DEFAULT_ROUNDS,
    }


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home/index.html", _home_context(request))


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """The icon, for what asks for it without reading a page."""
    response = redirect(static("img/favicon.svg"))
    response["Cache-Control"] = "public, max-age=86400"
    return response


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    return render(request, "rules/domino_poker.html")


@require_POST
def play(request: HttpRequest) -> HttpResponse:
    """Start a solo match; a first visitor becomes a guest here, and nowhere on a GET."""
    form = PlayForm(request.POST)
    if not form.is_valid():
        return render(request, "home/index.html", {**_home_context(request), "error": form.one_error()}, status=400)
    try:
        player = player_in(request) or players.sign_in_guest(request)
    except TooManyGuests as error:
        return render(request, "home/index.html", {**_home_context(request), "error": error.text}, status=429)
    try:
        sitting = seating.open_solo(
            player,
            {"rounds": form.cleaned_data["rounds"]},
            form.cleaned_data["level"],
            clocked=form.cleaned_data["clock"],
            give_up=request.POST.get("give_up", ""),
        )
    except (AlreadySeated, NotAgreed):
        fields = {"rounds": str(form.cleaned_data["rounds"]), "level": form.cleaned_data["level"]}
        if form.cleaned_data["clock"]:
            fields["clock"] = "on"
        offer = _("Give it up and start a new match")
        return busy(request, player, action=request.path, fields=fields, offer=offer)
    except TooMany:
        context = {**_home_context(request), "error": _("Too many new games at once. Wait a few minutes.")}
        return render(request, "home/index.html", context, status=429)
    except KeptOut as error:
        return render(request, "home/index.html", {**_home_context(request), "error": error.text}, status=403)
    if sitting.left is not None:
        tell_parting(request, player, sitting.left)
    return to_table(sitting)


def to_table(sitting: Sitting) -> HttpResponse:
    """Off to the table, with the seat's cookie."""
    return _with_seat(sitting.code, sitting.token)


def _with_seat(code: str, token: str) -> HttpResponse:
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
            shared = room.visibility != Room.Visibility.SOLO
            context = {
                "room_code": code,
                "socket_path": f"/ws/tables/{code}/",
                "mode": "seat",
                "join_path": reverse("join_link", args=[code]) if shared else "",
                "qr_url": reverse("table_qr", args=[code]) if shared else "",
                "rematch_url": reverse("table_rematch", args=[code]) if shared else "",
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
    if room.status in {Room.Status.STARTING, Room.Status.PLAYING}:
        messages.info(request, _("You left that match: a bot plays your seat to the end."))
        return redirect("lobby")
    return redirect("home")


@require_safe
def room(request: HttpRequest, room_id: int) -> HttpResponse:
    """A public room for those who don't sit there: its free seats while it waits, then its play when watchable."""
    player = player_in(request)
    try:
        presence.onlooker(player, room_id=room_id)
    except NoSuchRoom:
        return render(request, "404.html", status=404)
    own = selectors.running_table(player.pk if player else None)
    if own is not None and own["code"] == selectors.code_of(room_id):
        return redirect("table", own["code"])
    context: dict[str, object] = {
        "socket_path": f"/ws/rooms/{room_id}/",
        "sit_url": reverse("room_sit", args=[room_id]),
        "quote": money.quote(room_id),
    }
    return _look_on(request, player, context)


@require_safe
def watch(request: HttpRequest, key: str) -> HttpResponse:
    """A private room for those whom an occupant has given its watchers' address."""
    player = player_in(request)
    try:
        presence.onlooker(player, watch_key=key)
    except NoSuchRoom:
        return render(request, "404.html", status=404)
    return _look_on(request, player, {"socket_path": f"/ws/watch/{key}/"})


def _look_on(request: HttpRequest, player: Player | None, context: dict[str, object]) -> HttpResponse:
    guest = player is None or player.is_guest
    context |= {"room_code": "", "mode": "visit", "ask_name": guest, "guest_name": player.shown_name if player else ""}
    return render(request, "rooms/table.html", context)


@require_safe
def table_qr(request: HttpRequest, code: str) -> HttpResponse:
    """The picture of the join link, for the phone beside you; for those who sit there."""
    player = player_in(request)
    if player is None or not seating.holds(player, code, request.COOKIES.get(settings.SEAT_COOKIE_NAME, "")):
        return render(request, "404.html", status=404)
    picture = qrcode.make(settings.SITE_URL + reverse("join_link", args=[code]), image_factory=SvgPathImage, border=2)
    return HttpResponse(picture.to_string(encoding="unicode"), content_type="image/svg+xml")


@require_POST
def table_rematch(request: HttpRequest, code: str) -> HttpResponse:
    """Play again with the same people: to the new room that waits for them."""
    player = player_in(request)
    if player is None:
        return redirect("lobby")
    try:
        return to_table(seating.rematch(player, code))
    except AlreadySeated as error:
        return redirect("table", error.room_code)
    except RoomError as error:
        gone = _("That room is closed: meet again in the lobby.")
        messages.info(request, gone if isinstance(error, NoSuchRoom) else str(error.text))
        return redirect("lobby")


@require_POST
def table_return(request: HttpRequest, code: str) -> HttpResponse:
    """Back to the own table, with a new seat cookie in case that the old one is lost or on another device."""
    player = player_in(request)
    if player is None:
        return redirect("home")
    if seating.holds(player, code, request.COOKIES.get(settings.SEAT_COOKIE_NAME, "")):
        return redirect("table", code)
    try:
        return _with_seat(code, seating.new_token(player, code))
    except (NoSuchRoom, KeptOut):
        return redirect("home")


def tell_parting(request: HttpRequest, player: Player, room_id: int) -> None:
    """On the next page: what leaving this room gave up, or that its fee came back."""
    room = Room.objects.get(pk=room_id)
    if room.match_id is not None and game_selectors.is_finished(room.match_id):
        return  # it ended by itself meanwhile
    if room.match_id is None or game_selectors.seat_in(room.match_id, player.pk) is None:
        if room.fee:
            messages.success(request, _("Your fee of %(fee)d gold came back to you.") % {"fee": room.fee})
        return
    if room.visibility == Room.Visibility.SOLO:
        told, kept = _("You gave the match up: it ends without a result."), ""
    elif room.status == Room.Status.DESTROYED:
        told = _("You gave the match up. Nobody was left to play it, so it ends without a result.")
        kept = _("Your fee of %(fee)d gold is not given back.")
    else:
        told = _("You gave the match up: a bot plays your seat to the end.")
        kept = _("Your fee of %(fee)d gold stays in the pot.")
    messages.warning(request, f"{told} {kept % {'fee': room.fee}}" if room.fee and kept else told)


@require_POST
def table_leave(request: HttpRequest, code: str) -> HttpResponse:
    """Leave for good: the seat of a waiting room, or the match. Leaving where one does not sit changes nothing.

    `gives_up` is what the page asked about, `seat` or `match`: when it has become the other since, the page comes
    again and shows what it is."""
    player = player_in(request)
    room = selectors.room_by_code(code)
    try:
        if player is None or room is None:
            raise NoSuchRoom
        asked = {"seat": Room.Status.WAITING, "match": Room.Status.PLAYING}.get(request.POST.get("gives_up", ""))
        closing.leave(room.pk, player.pk, closing.stake(code, asked) if asked is not None else None)
    except NotAgreed:
        return redirect("table", code)
    except NoSuchRoom:
        return redirect("home")  # alike for a table that exists and one that does not
    tell_parting(request, player, room.pk)
    response = redirect("home" if room.visibility == Room.Visibility.SOLO else "lobby")
    response.delete_cookie(settings.SEAT_COOKIE_NAME, samesite="Lax")
    return response


@require_safe
def match(request: HttpRequest, match_id: int) -> HttpResponse:
    """The result of a match for those who sat in it, with every coin that it was about."""
    return game_views.match(request, match_id, lambda: {"money": money.of_match(match_id)})


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
