"""One person, one table: the page that offers the way back, or to leave it for what was asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from players.selectors import Player
from rooms import closing, selectors
from wallet import selectors as wallet


@dataclass(frozen=True, slots=True)
class Price:
    """What the other seat costs: what the player has, the fee that comes back for this one, and what would be left;
    None when it cannot be paid."""

    fee: int
    balance: int
    back: int

    @property
    def left(self) -> int | None:
        left = self.balance + self.back - self.fee
        return left if left >= 0 else None


def busy(
    request: HttpRequest, player: Player, *, action: str, fields: Mapping[str, str], offer: str, fee: int = 0
) -> HttpResponse:
    """Answer 409: go back to the table, or give it up and send `fields` to the address `action` again (`offer` says on
    the button what that does, its `fee` included), with `give_up`, which names what the page says is given up. Who has
    become free meanwhile is sent to the lobby."""
    table = selectors.running_table(player.pk)
    if table is None:
        return redirect("lobby")
    stake = closing.stake(str(table["code"]), str(table["status"]))
    context = {
        "table": table,
        "action": action,
        "fields": {**fields, "give_up": stake},
        "offer": offer,
        "price": _price(player, table, fee) if fee else None,
    }
    return render(request, "home/busy.html", context, status=409)


def _price(player: Player, table: dict[str, Any], fee: int) -> Price:
    return Price(fee, wallet.balance(player.pk), int(table["fee"]) if table["status"] == "waiting" else 0)
