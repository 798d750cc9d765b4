"""One room's coins told as debits and credits: who paid, who was paid back, who won what for which place, and why."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from games import selectors as games
from players import selectors as players
from rooms.models import Room
from wallet import chart, split
from wallet import selectors as wallet

__all__ = ["Row", "Told", "room_of_match", "rooms_of", "told"]


@dataclass(frozen=True, slots=True)
class Row:
    """One posting: a debit of one account, a credit of another."""

    at: datetime
    reference: str
    kind: str
    source: str
    destination: str
    source_player: int | None
    destination_player: int | None
    coins: int
    note: str


@dataclass(frozen=True, slots=True)
class Told:
    """A room's whole money: `rows`, each person's sums, the sentences that say why they are right, and whether they
    are."""

    room: Room
    sheet: wallet.Sheet
    rows: list[Row]
    people: list[dict[str, Any]]
    why: list[str]
    right: bool


def room_of_match(match_id: int) -> int | None:
    """The number of the room in which this match was played."""
    return Room.objects.filter(match_id=match_id).values_list("pk", flat=True).first()


def rooms_of(match_ids: list[int]) -> dict[int, int]:
    """The room of each of these matches."""
    return dict(Room.objects.filter(match_id__in=match_ids).values_list("match_id", "pk"))


def told(room_id: int) -> Told | None:
    """All coins of this room; None when there is no such room."""
    room = Room.objects.filter(pk=room_id).first()
    if room is None:
        return None
    sheet = wallet.room_sheet(room_id)
    places = _places(room)
    ids = {number for line in sheet.lines for number in (_player(line.source), _player(line.destination)) if number}
    names = players.names(ids)

    def name(code: str) -> str:
        player_id = _player(code)
        if player_id is not None:
            return names.get(player_id, code)
        return _("the pot") if code == chart.room_account(room_id) else _house(code)

    rows = [
        Row(
            line.at, line.reference, str(wallet.Kind(line.kind).label), name(line.source), name(line.destination),
            _player(line.source), _player(line.destination), line.amount, _note(line, places),
        )
        for line in sheet.lines
    ]  # fmt: skip
    why, right = _why(room, sheet, places, names)
    return Told(room, sheet, rows, _people(sheet, names, places), why, right)


def _player(code: str) -> int | None:
    return chart.number_of(code) if chart.family(code) == "player" else None


def _house(code: str) -> str:
    return {chart.ABANDONED: _("the house (abandoned pots)")}.get(code, code)


def _places(room: Room) -> dict[int, tuple[int | None, bool]]:
    """Of each player of the room's match the place (None without a result) and whether it was forfeited."""
    if room.match_id is None:
        return {}
    match = games.match_of(room.match_id)
    order = list((match.outcome or {}).get("order", [])) if match is not None else []
    return {
        seat.player_id: (order.index(seat.number) + 1 if seat.number in order else None, seat.forfeited)
        for seat in games.seats_in(room.match_id)
        if seat.player_id is not None
    }


def _note(line: wallet.SheetLine, places: dict[int, tuple[int | None, bool]]) -> str:
    if line.kind == wallet.Kind.PAYOUT:
        place, _gone = places.get(chart.number_of(line.destination), (None, False))
        return _("for place %(place)s of the match") % {"place": place} if place else ""
    if line.kind == wallet.Kind.FEE:
        return _("ended by %(reference)s") % {"reference": line.ended_by} if line.ended_by else _("still in the pot")
    return ""


def _people(
    sheet: wallet.Sheet, names: dict[int, str], places: dict[int, tuple[int | None, bool]]
) -> list[dict[str, Any]]:
    sums: dict[int, dict[str, Any]] = {}
    for line in sheet.lines:
        payer, getter = _player(line.source), _player(line.destination)
        column = {wallet.Kind.FEE: "paid", wallet.Kind.REFUND: "refunded", wallet.Kind.PAYOUT: "won"}.get(
            wallet.Kind(line.kind)
        )
        player_id = payer or getter
        if player_id is None or column is None:
            continue
        place, forfeited = places.get(player_id, (None, False))
        row = sums.setdefault(
            player_id,
            {"id": player_id, "name": names.get(player_id, ""), "paid": 0, "refunded": 0, "won": 0,
             "place": place, "forfeited": forfeited},
        )  # fmt: skip
        row[column] += line.amount
    for row in sums.values():
        row["net"] = row["won"] + row["refunded"] - row["paid"]
    return sorted(sums.values(), key=lambda row: (row["place"] or 99, row["id"]))


def _why(
    room: Room, sheet: wallet.Sheet, places: dict[int, tuple[int | None, bool]], names: dict[int, str]
) -> tuple[list[str], bool]:
    """The sentences that a person can follow with a finger, and whether all of them hold."""
    pot = sheet.paid - sheet.refunded
    said = [
        _(
            "Paid in %(paid)s = paid back before the start %(refunded)s + paid out %(paid_out)s + left to the house "
            "%(abandoned)s + still there %(left)s."
        )
        % {
            "paid": sheet.paid, "refunded": sheet.refunded, "paid_out": sheet.paid_out,
            "abandoned": sheet.abandoned, "left": sheet.left,
        }
    ]  # fmt: skip
    right = sheet.adds_up
    if room.status in {Room.Status.FINISHED, Room.Status.DESTROYED} and sheet.left:
        said.append(_("This room is over, and yet %(left)s are still there: that is wrong.") % {"left": sheet.left})
        right = False
    if sheet.abandoned:
        said.append(_("Nobody was left to win the pot: it went to the house."))
        right = right and sheet.abandoned == pot and not sheet.paid_out
    if sheet.paid_out:
        more, holds = _shares(sheet, pot, places, names)
        said += more
        right = right and holds
    if not sheet.lines:
        said.append(_("No gold was ever at stake here."))
    return said, right


def _shares(
    sheet: wallet.Sheet, pot: int, places: dict[int, tuple[int | None, bool]], names: dict[int, str]
) -> tuple[list[str], bool]:
    """The rule of the pot applied anew to the order of the match, beside what was booked."""
    stayed = {
        number for line in sheet.lines if line.kind == wallet.Kind.FEE and not line.ended_by.endswith(":refund")
        if (number := _player(line.source)) is not None
    }  # fmt: skip
    may_win = [
        (place, number) for number, (place, gone) in places.items() if number in stayed and place and not gone
    ]  # fmt: skip
    ranked = [number for _place, number in sorted(may_win)]
    shares = split.shares(pot, len(ranked)) if ranked else ()
    due = {number: coins for number, coins in zip(ranked, shares, strict=False) if coins}
    booked = {chart.number_of(line.destination): line.amount for line in sheet.lines if line.kind == wallet.Kind.PAYOUT}
    said = [
        _("The pot was %(pot)s. It goes to the first two people who paid and did not forfeit; bots win nothing.")
        % {"pot": pot}
    ]
    forfeits = [names.get(number, str(number)) for number in stayed if places.get(number, (None, False))[1]]
    if forfeits:
        said.append(_("Forfeited, so without a share: %(names)s.") % {"names": ", ".join(sorted(forfeits))})
    if len(ranked) == 1:
        said.append(_("One person was left, who takes it all."))
    else:
        said.append(
            _("The second gets three tenths, rounded down: %(second)s; the first gets the rest: %(first)s.")
            % {"first": shares[0] if shares else 0, "second": shares[1] if len(shares) > 1 else 0}
        )
    for number, coins in due.items():
        place = places[number][0]
        said.append(
            _("%(name)s came in place %(place)s: due %(due)s, booked %(booked)s.")
            % {"name": names.get(number, number), "place": place, "due": coins, "booked": booked.get(number, 0)}
        )
    return said, due == booked
