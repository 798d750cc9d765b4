"""Staff: their roles, what each may, and the record of all that they see and do."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group
from django.db import connection, transaction

from players.devices import device
from players.models import Ban, Player, StaffAct, normal_address
from players.names import checked, login_name
from players.services import end_sessions

__all__ = [
    "ROLES",
    "Act",
    "Refused",
    "appoint",
    "bans_of",
    "has_second_step",
    "make_staff",
    "masked",
    "may",
    "notes_of",
    "record",
    "role_of",
    "sessions_of",
]

# From the least to the most; migration 0004 has made them, with what each may.
ROLES = ("support", "moderator", "senior", "admin")
Act = StaffAct.Act

# Number and time are the database's.
_RECORD = "INSERT INTO players_staffact (by_id, act, player, subject, reason) VALUES (%s, %s, %s, %s, %s)"


class Refused(Exception):
    """This cannot be done; the text says why, to the person."""


def may(user: Any, permission: str) -> bool:
    """Whether this member of staff may do it; `permission` is one of `StaffAct`'s."""
    return isinstance(user, Player) and user.is_active and user.is_staff and user.has_perm(f"players.{permission}")


def record(by: Player | None, act: str, *, player: int | None = None, subject: str = "", reason: str = "") -> None:
    """Note for good who saw or did what, to whom and why; the time is the database's. A NUL, which no text of
    PostgreSQL can have, is left out: what was done is recorded whatever somebody typed."""
    texts = [text.replace("\0", "")[:500] for text in (subject, reason)]
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, [by.pk if by is not None else None, act, player, *texts])


def role_of(player: Player) -> str:
    """The role of a member of staff; "" for everybody else."""
    names = set(player.groups.values_list("name", flat=True)) if player.is_staff else set()
    return next((role for role in reversed(ROLES) if role in names), "")


def appoint(player: Player, role: str, by: Player | None, reason: str) -> None:
    """Give this player a role, or take it with "". Sessions end, so that what follows begins with the second step.

    Raises Refused for oneself, a guest, an account that is banned or closed, and to one who is no admin any more."""
    if by is not None and by.pk == player.pk:
        raise Refused("own")
    people = [player.pk] if by is None else [player.pk, by.pk]
    with transaction.atomic():
        # Both in order: of two who take each other's role one comes first, and the other has none to do it with.
        rows = {one.pk: one for one in Player.objects.select_for_update().filter(pk__in=people).order_by("pk")}
        row = rows[player.pk]
        if row.is_guest or not row.is_active:
            raise Refused("guest")
        if by is not None and not may(rows[by.pk], "appoint"):
            raise Refused("no admin")
        record(by, Act.APPOINT, player=row.pk, subject=role or "-", reason=reason)
        row.is_staff, row.is_superuser = bool(role), False
        row.save(update_fields=["is_staff", "is_superuser"])
        row.groups.set(Group.objects.filter(name=role) if role else [])
        end_sessions(row.pk)


def make_staff(name: str, role: str, password: str, address: str = "") -> tuple[Player, str, list[str]]:
    """A new member of staff who can sign in at once; the secret of the one-time codes and the recovery codes, which
    nobody can read again. Raises NameRefused."""
    shown = checked(name)
    with transaction.atomic():
        player = Player(username=login_name(shown), shown_name=shown, email=normal_address(address))
        player.set_password(password)
        player.save()
        if address:
            EmailAddress.objects.create(user=player, email=player.email, verified=True, primary=True)
        secret = generate_totp_secret()
        TOTP.activate(player, secret)
        codes = RecoveryCodes.activate(player).get_unused_codes()
        appoint(player, role, None, "make admin")
    player.refresh_from_db()
    return player, secret, list(codes)


def masked(address: str) -> str:
    """An e-mail address of which the first letter and the host are left."""
    name, _at, host = address.partition("@")
    return f"{name[:1]}…@{host}" if host else ""


def sessions_of(player_id: int) -> list[dict[str, Any]]:
    """Where this player is signed in: device, address and when; only registered players have such rows."""
    found = UserSession.objects.filter(user_id=player_id).order_by("-last_seen_at")
    return [
        {"device": device(one.user_agent), "address": one.ip, "since": one.created_at, "seen": one.last_seen_at}
        for one in found
    ]


def has_second_step(player_id: int) -> bool:
    """Whether this player signs in with one-time codes."""
    return bool(Authenticator.objects.filter(user_id=player_id, type=Authenticator.Type.TOTP).exists())


def bans_of(player_id: int) -> list[Ban]:
    """All bans of this player, the newest first."""
    return list(Ban.objects.filter(player_id=player_id).select_related("by", "lifted_by").order_by("-pk"))


def notes_of(player_id: int) -> list[StaffAct]:
    """What staff did to this player and noted about it, the newest first; looks are left out."""
    acts = (Act.NOTE, Act.BAN, Act.UNBAN, Act.SESSIONS, Act.ASK, Act.APPROVE, Act.DECLINE, Act.APPOINT)
    return list(StaffAct.objects.filter(player=player_id, act__in=acts).select_related("by").order_by("-pk")[:100])
