"""One's own data as a file: a sheet for each kind of thing, as JSON and as CSV, in one archive."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession

from games import selectors as games
from players import former_names, staff, visits
from players.selectors import Player
from wallet import csv
from wallet import selectors as wallet


@dataclass(frozen=True, slots=True)
class Sheet:
    """One kind of thing: its name (the files are called so), its columns, its rows."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def profile(player: Player) -> Sheet:
    columns = ("number", "name", "address", "joined_at", "last_seen_at")
    row = (player.pk, player.shown_name, player.email, player.date_joined, player.last_seen_at)
    return Sheet("profile", columns, [row])


def matches(player: Player) -> Sheet:
    columns = ("match", "game", "status", "created_at", "finished_at", "seat", "name", "place", "forfeited")
    return Sheet("matches", columns, [[one[key] for key in columns] for one in games.matches_of(player.pk)])


def gold(player: Player) -> Sheet:
    """Every movement of the player's coins, oldest first."""
    columns = ("at", "kind", "reference", "amount", "balance", "memo")
    lines = wallet.all_lines(player.pk)
    return Sheet("gold", columns, [[getattr(line, key) for key in columns] for line in lines])


def visited(player: Player) -> Sheet:
    """From where the player came, the latest first."""
    columns = ("at", "network", "browser")
    return Sheet("visits", columns, [[getattr(one, key) for key in columns] for one in visits.of_player(player.pk)])


def names(player: Player) -> Sheet:
    """What the player was called, and until when, the latest first."""
    return Sheet("names", ("at", "name"), former_names.of_player(player.pk))


def addresses(player: Player) -> Sheet:
    """E-mail addresses, the one that mails go to and others that wait to be confirmed."""
    columns = ("email", "verified", "primary")
    return Sheet("addresses", columns, list(EmailAddress.objects.filter(user_id=player.pk).values_list(*columns)))


def sessions(player: Player) -> Sheet:
    """Where the player is signed in."""
    columns = ("created_at", "last_seen_at", "ip", "user_agent")
    return Sheet("sessions", columns, list(UserSession.objects.filter(user_id=player.pk).values_list(*columns)))


def bans(player: Player) -> Sheet:
    """Bans with their reasons, also those that are over."""
    columns = ("at", "reason", "until", "lifted_at")
    return Sheet("bans", columns, [[getattr(one, key) for key in columns] for one in staff.bans_of(player.pk)])


# Whoever keeps something of a player adds the function that gives it to its owner.
SHEETS: list[Callable[[Player], Sheet]] = [
    profile, addresses, matches, gold, visited, names, sessions, bans,
]  # fmt: skip


def archive(player: Player) -> bytes:
    """A zip of all sheets, each as NAME.json and NAME.csv."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for make in SHEETS:
            sheet = make(player)
            packed.writestr(f"{sheet.name}.json", as_json(sheet))
            packed.writestr(f"{sheet.name}.csv", as_csv(sheet))
    return file.getvalue()


def as_json(sheet: Sheet) -> str:
    rows = [dict(zip(sheet.columns, map(_plain, row), strict=True)) for row in sheet.rows]
    return json.dumps(rows, ensure_ascii=False, indent=1)


def as_csv(sheet: Sheet) -> str:
    """Comma-separated, with a byte order mark, so that spreadsheets read every alphabet; text is never a formula."""
    return "".join(csv.lines(sheet.columns, sheet.rows))


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
