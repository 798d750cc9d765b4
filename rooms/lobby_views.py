"""The lobby's pages: who waits for players, and every way to a seat among people."""

import contextlib
import hashlib
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from games.engine import registry
from games.engine.errors import BadOptions
from players import services as players
from players.address import client_address
from players.errors import AlreadyRegistered, NameRefused, TooManyGuests
from players.selectors import Player
from rooms import clock, codes, lobby, lobby_rows, money, presence, seating, selectors
from rooms.busy import busy
from rooms.errors import (
    AlreadySeated,
    FeeToAgree,
    GuestsCannotPay,
    KeptOut,
    NoOpenSeat,
    NoSuchRoom,
    NotAgreed,
    NotEnough,
    RoomError,
    TooMany,
)
from rooms.forms import CreateForm, SitForm
from rooms.seating import DEFAULT_ROUNDS, Sitting
from rooms.views import player_in, tell_parting, to_table

FEES = ("free", "paid")
STATUS: dict[type[RoomError], int] = {
    TooMany: 429,
    NoOpenSeat: 404,
    NoSuchRoom: 404,
    GuestsCannotPay: 403,
    KeptOut: 403,
}


# -- the pages ---------------------------------------------------------------------------------------------------


@require_safe
def lobby_page(request: HttpRequest) -> HttpResponse:
    """Every public table that waits, live; the filter stands in the address."""
    return _page(request)


@require_safe
def join_link(request: HttpRequest, text: str) -> HttpResponse:
    """What a shared link opens. It never looks the code up: strangers learn nothing here."""
    player = player_in(request)
    code = codes.normalise(text)
    context = {**_who(player), "code": code, "shown_code": _spaced(code) if code else text[:20]}
    return render(request, "lobby/join.html", context)


def _page(request: HttpRequest, *, status: int = 200, **more: object) -> HttpResponse:
    player = player_in(request)
    chosen = _filter(request.GET)
    now, rows = clock.now(), lobby_rows.read()
    fits = [_fits(row, chosen) for row in rows]
    who = _who(player)
    at = who["table"]["room"] if isinstance(who["table"], dict) else None
    own = next((row.room_id for row in rows if row.room_id == at), None)
    context = {
        **who,
        "rows": [
            mark_safe(row.html(now, hidden=not fit, own=row.room_id == own))  # noqa: S308
            for row, fit in zip(rows, fits, strict=True)
        ],
        "own": own,
        "state": lobby.state_of(rows),
        "none_waits": not rows,
        "none_fits": bool(rows) and not any(fits),
        "online": lobby_rows.online(lobby.viewers(), presence.PROCESS),
        "chosen": chosen,
        "games": [(key, registry.title(key)) for key in registry.KEYS],
        "rounds": DEFAULT_ROUNDS,
        "visibility": "public",
        "fee": "0",
        **more,
    }
    return render(request, "lobby/index.html", context, status=status)


def _who(player: Player | None) -> dict[str, object]:
    table = selectors.running_table(player.pk if player else None)
    return {
        "table": table,
        "may_name": table is None and (player is None or player.is_guest),
        "name": player.shown_name if player is not None and player.is_guest else "",
    }


def _filter(query: QueryDict) -> dict[str, str]:
    game, fee = query.get("game", ""), query.get("fee", "")
    return {"game": game if game in registry.KEYS else "", "fee": fee if fee in FEES else ""}


def _fits(row: lobby_rows.Row, chosen: dict[str, str]) -> bool:
    return chosen["game"] in {"", row.game} and chosen["fee"] in {"", row.cost}


def _spaced(code: str) -> str:
    """A code as people read it: K7Q2-M9XA."""
    return f"{code[:4]}-{code[4:]}"


# -- the ways to a seat ------------------------------------------------------------------------------------------


@require_POST
def room_create(request: HttpRequest) -> HttpResponse:
    """Open a table. Asked again by its host for the table that waits (a double click, Back), it leads there."""
    form = CreateForm(request.POST)
    typed = {key: request.POST.get(key, "")[:20] for key in ("game", "visibility", "rounds")}
    typed["fee"] = request.POST.get("fee", "0")[:20]
    if not form.is_valid():
        return _page(request, status=400, create_error=form.one_error(), **typed)
    asked = form.cleaned_data
    fields = {key: str(asked[key]) for key in ("game", "visibility", "rounds", "fee")}
    if asked["fee"] and _is_guest(player_in(request)):
        return _page(request, status=403, create_error=GuestsCannotPay.text, **typed)

    def take(player: Player, give_up: str) -> Sitting:
        return seating.create_room(
            player,
            visibility=asked["visibility"],
            options={"rounds": asked["rounds"]},
            game=asked["game"],
            fee=asked["fee"],
            give_up=give_up,
        )

    def same(table: dict[str, Any]) -> bool:
        alike = all(str(table[key]) == value for key, value in fields.items())
        return alike and table["status"] == "waiting" and bool(table["is_host"])

    fee = asked["fee"]
    offer = _("Leave it, pay %(fee)d gold and open a new room") if fee else _("Leave it and open a new room")
    return _seat(
        request,
        take,
        same=same,
        fields=fields,
        offer=offer % {"fee": fee},
        fee=fee,
        error_name="create_error",
        typed=typed,
    )


@require_POST
def join(request: HttpRequest) -> HttpResponse:
    """Sit down by a code. Nobody becomes a guest for a code that opens nothing, or for a table that costs gold, whose
    price is shown before anything is paid."""
    text = request.POST.get("code", "")[:64]
    typed = {"typed_code": text[:20]}
    if not text.strip():
        return _page(request, status=400, join_error=_("Type the eight symbols of the code."), **typed)
    code, player = codes.normalise(text), player_in(request)
    table = selectors.running_table(player.pk if player else None)
    if player is not None and table is not None and code is not None and table["code"] == code:
        return _back(request, player, code)
    # A visitor without a name is known by the browser's own secret, so that one who guesses does not lock out others.
    browser = hashlib.sha256(request.META.get("CSRF_COOKIE", "").encode()).hexdigest()[:32]
    identity = f"player:{player.pk}" if player is not None else f"browser:{browser}"
    try:
        room_id = seating.room_for_code(text, identity=identity, address=client_address(request))
    except RoomError as error:
        return _page(request, status=STATUS.get(type(error), 409), join_error=error.text, **typed)
    quote = money.quote(room_id)
    agreed, fields = money.amount(request.POST.get("agreed_fee", "0")), {"code": text}
    if agreed is None:
        return _page(request, status=400, join_error=_("This is not an amount of gold."), **typed)
    if quote is not None and _is_guest(player):
        back = reverse("join_link", args=[code])
        return _page(request, status=403, join_error=GuestsCannotPay.text, join_quote=quote, join_back=back, **typed)
    if quote is not None and "agreed_fee" not in request.POST:
        return _price(request, room_id, fields)
    return _seat(
        request,
        lambda player, give_up: seating.sit_with_code(player, room_id, agreed_fee=agreed, give_up=give_up),
        same=lambda table: bool(table["code"] == code),
        fields={**fields, "agreed_fee": str(agreed)} if quote is not None else fields,
        offer=_offer(agreed if quote is not None else 0),
        fee=agreed if quote is not None else 0,
        unpaid=lambda error: _price(request, room_id, fields, error),
        error_name="join_error",
        typed=typed,
    )


@require_POST
def quick_play(request: HttpRequest) -> HttpResponse:
    """The best table that waits, or a new one."""
    offer = _("Leave it and find another room")

    def take(player: Player, give_up: str) -> Sitting:
        return seating.quick_play(player, give_up=give_up)

    return _seat(request, take, same=lambda _table: False, fields={}, offer=offer)


@require_POST
def room_sit(request: HttpRequest, room_id: int) -> HttpResponse:
    """Sit down at a public table: at a seat by its number, or the first that is free."""
    form = SitForm(request.POST)
    if not form.is_valid():
        return _page(request, status=400, error=form.one_error())
    seat, agreed = form.cleaned_data["seat"], form.cleaned_data["agreed_fee"]
    fields = {"seat": seat} if seat else {}
    if player_in(request) is None and not selectors.is_public(room_id):
        return _page(request, status=404, error=NoSuchRoom().text)  # and makes no guest
    if selectors.is_paid(room_id) and _is_guest(player_in(request)):
        return _price(request, room_id, fields, GuestsCannotPay())
    return _seat(
        request,
        lambda player, give_up: seating.sit(
            player, room_id, int(seat) if seat else None, agreed_fee=agreed, give_up=give_up
        ),
        same=lambda table: bool(table["code"] == selectors.code_of(room_id)),
        fields={**fields, "agreed_fee": str(agreed)} if agreed else fields,
        offer=_offer(agreed),
        fee=agreed,
        unpaid=lambda error: _price(request, room_id, fields, error),
    )


def _is_guest(player: Player | None) -> bool:
    return player is None or player.is_guest


def _offer(fee: int) -> str:
    """The button of who sits elsewhere: nobody agrees to a price that it does not name."""
    if not fee:
        return _("Leave it and sit down there")
    return _("Leave it, pay %(fee)d gold and sit down") % {"fee": fee}


def _price(request: HttpRequest, room_id: int, fields: dict[str, str], error: RoomError | None = None) -> HttpResponse:
    """What a seat costs and what it may win, before it is paid; and why it was not."""
    try:
        quote = money.quote(room_id)
    except NoSuchRoom as gone:
        return _page(request, status=404, error=gone.text)
    context: dict[str, object] = {
        "quote": quote,
        "action": request.path,
        "back": selectors.public_page(room_id),
        "fields": fields,
        "error": error.text if error else "",
        "may_pay": not isinstance(error, NotEnough | GuestsCannotPay),
    }
    return render(request, "lobby/price.html", context, status=STATUS.get(type(error), 409) if error else 200)


def _seat(
    request: HttpRequest,
    take: Callable[[Player, str], Sitting],
    *,
    same: Callable[[dict[str, Any]], bool],
    fields: dict[str, str],
    offer: str,
    fee: int = 0,
    unpaid: Callable[[RoomError], HttpResponse] | None = None,
    error_name: str = "error",
    typed: dict[str, str] | None = None,
) -> HttpResponse:
    """Take a seat for whoever asks. Who sits elsewhere is offered the way back; with `give_up`, which names the other
    seat, that is left for the one asked for, both or neither; its `fee` is named there. Who sits at that very table
    (`same`) is led there. `unpaid` answers where the price was not agreed on or cannot be paid."""
    typed = typed or {}
    try:
        player = _person(request)
    except NameRefused as error:
        typed_name = request.POST.get("name", "")[:60]
        return _page(request, status=400, name_error=error.text, asked_by=error_name, **{**typed, "name": typed_name})
    except TooManyGuests as error:
        return _page(request, status=429, **typed, **{error_name: error.text})
    agreed = request.POST.get("give_up", "")
    try:
        try:
            return to_table(take(player, ""))
        except AlreadySeated:
            table = selectors.running_table(player.pk)
            if not agreed or (table is not None and same(table)):
                raise
        sitting = take(player, agreed)
        if sitting.left is not None:
            tell_parting(request, player, sitting.left)
        return to_table(sitting)
    except (AlreadySeated, NotAgreed):  # also when the other table began, or the same click sat down, meanwhile
        table = selectors.running_table(player.pk)
        if table is not None and same(table):
            return _back(request, player, str(table["code"]))
        return busy(request, player, action=request.path, fields=fields, offer=offer, fee=fee)
    except BadOptions:
        return _page(request, status=400, **typed, **{error_name: _("That is not a room that can be opened.")})
    except RoomError as error:
        if unpaid is not None and isinstance(error, FeeToAgree | GuestsCannotPay | NotEnough):
            return unpaid(error)
        return _page(request, status=STATUS.get(type(error), 409), **typed, **{error_name: error.text})


def _person(request: HttpRequest) -> Player:
    """Who asks: a first visitor becomes a guest here; a guest may take another name while at no table.
    Raises NameRefused and TooManyGuests."""
    name = request.POST.get("name", "")
    player = player_in(request)
    if player is None:
        return players.sign_in_guest(request, name=name)
    if player.is_guest and name and name != player.shown_name and selectors.running_table(player.pk) is None:
        with contextlib.suppress(AlreadyRegistered):  # in another tab: the account's name stays
            players.rename_guest(player, name)
    return player


def _back(request: HttpRequest, player: Player, code: str) -> HttpResponse:
    """To the table where the player sits; the seat's cookie is renewed only when it is lost."""
    if seating.holds(player, code, request.COOKIES.get(settings.SEAT_COOKIE_NAME, "")):
        return redirect("table", code)
    try:
        return to_table(Sitting(code, 0, seating.new_token(player, code)))
    except (NoSuchRoom, KeptOut):
        return redirect(reverse("lobby"))
