"""One person, one table: the page that offers the way back, or to leave it for what was asked."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from players.selectors import Player
from rooms import closing, selectors


def busy(request: HttpRequest, player: Player, *, action: str, fields: Mapping[str, str], offer: str) -> HttpResponse:
    """Answer 409: go back to the table, or give it up and send `fields` to the address `action` again (`offer` says on
    the button what that does), with `give_up`, which names what the page says is given up. Who has become free
    meanwhile is sent to the lobby."""
    table = selectors.running_table(player.pk)
    if table is None:
        return redirect("lobby")
    stake = closing.stake(str(table["code"]), str(table["status"]))
    context = {"table": table, "action": action, "fields": {**fields, "give_up": stake}, "offer": offer}
    return render(request, "home/busy.html", context, status=409)
