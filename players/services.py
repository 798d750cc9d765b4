"""What changes players: guests come and go here, accounts are renamed, banned and closed."""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, login
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, ProtectedError, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from players import former_names, keys, pace, visits
from players.address import client_address, limit_key
from players.errors import AccountGone, AlreadyRegistered, NameRefused, TooManyGuests, TooManyNames
from players.mailboxes import mailbox
from players.models import Ban, Player, UsedAddress, normal_address
from players.names import checked, login_name

__all__ = [
    "Ban",
    "Player",
    "ban",
    "close_account",
    "end_sessions",
    "first_use_of",
    "forget_ended_sessions",
    "forget_expired_sessions",
    "forget_idle_guests",
    "forget_unconfirmed",
    "former_name",
    "lift_ban_that_is_over",
    "lift_bans_that_are_over",
    "open_ban",
    "rename",
    "rename_guest",
    "second_step_added",
    "sign_in_guest",
    "touch",
    "unban",
]

BACKEND = "players.backends.NameOrAddress"
# Being seen is noted this seldom, so that a busy player does not write a row a move.
SEEN_ANEW_AFTER = timedelta(minutes=5)
# More are left to the next run, so that one task stays short.
FORGOTTEN_AT_ONCE = 500
EXPIRED_AT_ONCE = 10_000


def sign_in_guest(request: HttpRequest, name: str = "") -> Player:
    """Make a guest of this visitor and sign the guest in, under a new session key; shown by `name`, or as Guest 1234.

    Raises ValueError unless the request is a POST (looking at a page makes nobody a player), NameRefused, and
    TooManyGuests above GUESTS_IN_TEN_MINUTES from one address: whoever throws the cookies away is new each time."""
    if request.method != "POST":
        raise ValueError(f"a guest is made by a POST only, not by {request.method}")
    shown_name = checked(name) if name.strip() else _("Guest %(number)s") % {"number": 1000 + secrets.randbelow(9000)}
    _count_guest(client_address(request))
    with transaction.atomic():
        guest = Player(
            username=f"guest-{secrets.token_hex(12)}",
            shown_name=shown_name,
            is_guest=True,
        )
        guest.set_unusable_password()
        guest.save()
        login(request, guest, backend=BACKEND)
        visits.note(request, guest)
    return guest


def _count_guest(address: str) -> None:
    """Raises TooManyGuests. Without the cache everybody may."""
    if pace.count(f"guests:{limit_key(address)}", 600) > settings.GUESTS_IN_TEN_MINUTES:
        raise TooManyGuests


def rename_guest(player: Player, name: str) -> None:
    """Show this guest by another name. The caller sees to it that the guest sits nowhere: seats keep their names.

    Raises NameRefused; AlreadyRegistered for who is a guest no more."""
    name = checked(name, player=player)
    with transaction.atomic():
        row = Player.objects.select_for_update().filter(pk=player.pk, is_guest=True, is_active=True).first()
        if row is None:
            raise AlreadyRegistered
        row.shown_name = name
        row.save(update_fields=["shown_name"])
    player.shown_name = name


def touch(player_id: int) -> None:
    """The player was here just now (noted at most every five minutes)."""
    Player.objects.filter(pk=player_id, last_seen_at__lt=Now() - SEEN_ANEW_AFTER).update(last_seen_at=Now())


def forget_idle_guests(before: datetime, excluding: Collection[int] = ()) -> int:
    """Delete guests not seen since `before`, but for the numbers in `excluding`; how many were deleted.

    A guest to whom something still belongs stays. Results keep the name that the guest played under."""
    idle = Player.objects.filter(is_guest=True, last_seen_at__lt=before).exclude(pk__in=excluding)
    forgotten = 0
    for player_id in list(idle.order_by("last_seen_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE]):
        try:
            with transaction.atomic():
                guest = idle.select_for_update().filter(pk=player_id).first()
                if guest is None:
                    continue  # seen again, registered, or forgotten by a second run
                guest.delete()
        except (ProtectedError, IntegrityError):
            continue  # took a seat meanwhile
        forgotten += 1
    return forgotten


# -- registered players ------------------------------------------------------------------------------------------


def rename(player: Player, name: str) -> None:
    """Show this registered player by another name, by which the player signs in from now on as well.

    Raises NameRefused, also when somebody takes the same name in the same moment; TooManyNames above NAMES_A_DAY within
    24 hours; AccountGone for one that is banned or closed, and for a guest."""
    name = checked(name, player=player)
    try:
        with transaction.atomic():
            row = Player.objects.select_for_update().filter(pk=player.pk, is_guest=False, is_active=True).first()
            if row is None:
                raise AccountGone("only a registered player is renamed so")
            if row.shown_name == name:
                player.shown_name, player.username = row.shown_name, row.username
                return
            if former_names.given_up_today(row.pk) >= settings.NAMES_A_DAY:
                raise TooManyNames
            former_names.note(row, row.shown_name)
            row.shown_name, row.username = name, login_name(name)
            row.save(update_fields=["shown_name", "username"])
    except IntegrityError:
        raise NameRefused("taken") from None
    player.shown_name, player.username = row.shown_name, row.username


def end_sessions(player_id: int, *, keep: HttpRequest | None = None) -> int:
    """Sign this player out everywhere, but for the session of the request `keep`; of how many sessions we knew.

    The new salt ends also those that no row of UserSession names. The rows are deleted all the same: they are personal,
    and what is not there needs no comparing. Sockets of the session that stays come back by themselves."""
    salt = secrets.token_urlsafe(16)
    with transaction.atomic():
        Player.objects.filter(pk=player_id).update(session_salt=salt)
        kept = (keep.session.session_key or "") if keep is not None else ""
        listed = UserSession.objects.filter(user_id=player_id).exclude(session_key=kept)
        keys = list(listed.values_list("session_key", flat=True))
        Session.objects.filter(session_key__in=keys).delete()
        listed.delete()
        if keep is not None:
            keep.session[HASH_SESSION_KEY] = Player.objects.get(pk=player_id).get_session_auth_hash()
            # Stored with the salt: whatever this browser asks before the answer is ready finds its session in order.
            keep.session.save()
    if keep is not None and isinstance(keep.user, Player):
        keep.user.session_salt = salt
    return len(keys)


def forget_ended_sessions() -> int:
    """Forget address and browser of sessions that are over; how many."""
    alive = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=Now())
    return int(UserSession.objects.filter(~Exists(alive)).delete()[0])


def forget_expired_sessions() -> int:
    """Delete a bounded number of sessions of anybody, visitors too, whose time is over; how many."""
    over = Session.objects.filter(expire_date__lte=Now()).order_by("expire_date")[:EXPIRED_AT_ONCE]
    return int(Session.objects.filter(pk__in=list(over.values_list("pk", flat=True))).delete()[0])


def forget_unconfirmed(candidates: QuerySet[Player]) -> int:
    """Delete a bounded number of these accounts (`selectors.unconfirmed`), which nobody ever came to; how many.

    An account to which something still belongs stays."""
    forgotten = 0
    for player_id in list(candidates.order_by("last_seen_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE]):
        try:
            with transaction.atomic():
                row = candidates.select_for_update(of=("self",)).filter(pk=player_id).first()
                if row is None:
                    continue  # confirmed or seated meanwhile, or forgotten by a second run
                end_sessions(row.pk)
                row.delete()
        except (ProtectedError, IntegrityError):
            continue
        forgotten += 1
    return forgotten


def second_step_added(*, request: HttpRequest, user: Player, **_more: Any) -> None:
    """From now on a password is not enough: sessions that began with one alone end, but for this one."""
    end_sessions(user.pk, keep=request)


# -- bans --------------------------------------------------------------------------------------------------------


def ban(player: Player, by: Player | None, reason: str, until: datetime | None = None) -> Ban:
    """Keep this player out until a time, or for good: signed out everywhere, no action is taken from now on. A ban
    that is open already gets the new reason and time. The seat is given up by `rooms.closing.shut_out`.

    Raises ValueError without a reason and for a time that is past, AccountGone for a closed account."""
    if not reason.strip():
        raise ValueError("a ban needs a reason")
    if until is not None and until <= timezone.now():
        raise ValueError("a ban cannot end before it begins")
    with transaction.atomic():
        row = Player.objects.select_for_update().get(pk=player.pk)
        if row.closed_at is not None:
            raise AccountGone("this account is closed")
        Ban.objects.filter(player=row, lifted_at__isnull=True).update(lifted_at=Now(), lifted_by=by)
        made = Ban.objects.create(player=row, by=by, reason=reason.strip(), until=until)
        Player.objects.filter(pk=row.pk).update(is_active=False)
        end_sessions(row.pk)
    player.is_active = False
    return made


def unban(player: Player, by: Player | None) -> bool:
    """Let this player in again; False when there is no open ban."""
    return _lift(player.pk, by)


def open_ban(player_id: int) -> Ban | None:
    """The ban that keeps this player out."""
    return Ban.objects.filter(player_id=player_id, lifted_at__isnull=True).first()


def lift_ban_that_is_over(player_id: int) -> bool:
    """Whether there was a ban whose time has come to an end."""
    over = Ban.objects.filter(player_id=player_id, lifted_at__isnull=True, until__lte=Now()).exists()
    return over and _lift(player_id, None)


def lift_bans_that_are_over() -> int:
    """All of them; how many."""
    over = Ban.objects.filter(lifted_at__isnull=True, until__lte=Now()).values_list("player_id", flat=True)
    return sum(_lift(player_id, None) for player_id in list(over))


def _lift(player_id: int, by: Player | None) -> bool:
    with transaction.atomic():
        row = Player.objects.select_for_update().get(pk=player_id)
        lifted = Ban.objects.filter(player=row, lifted_at__isnull=True).update(lifted_at=Now(), lifted_by=by)
        if lifted and row.closed_at is None:
            Player.objects.filter(pk=player_id).update(is_active=True)
    return bool(lifted)


# -- the end of an account ---------------------------------------------------------------------------------------


def former_name(player_id: int) -> str:
    """What a closed account is called in the histories of others."""
    return _("Former player %(number)s") % {"number": player_id}


CLOSING = [
    "username", "shown_name", "email", "first_name", "last_name", "is_active", "is_staff", "is_superuser", "is_guest",
    "last_login", "closed_at", "password",
]  # fmt: skip


def close_account(player_id: int) -> None:
    """Erase all that is personal and sign out everywhere. The row stays with its number, since others' matches and
    every booking quote it; nobody can sign in to it. Inside the caller's transaction; a second time changes nothing."""
    with transaction.atomic():
        row = Player.objects.select_for_update().get(pk=player_id)
        if row.closed_at is not None:
            return
        end_sessions(row.pk)
        visits.forget_player(row.pk)
        former_names.forget_player(row)
        EmailAddress.objects.filter(user=row).delete()
        Authenticator.objects.filter(user=row).delete()
        row.groups.clear()
        row.user_permissions.clear()
        row.username = f"former-{row.pk}-{secrets.token_hex(4)}"
        row.shown_name = former_name(row.pk)
        row.email = row.first_name = row.last_name = ""
        row.is_active = row.is_staff = row.is_superuser = row.is_guest = False
        row.last_login, row.closed_at = None, timezone.now()
        row.set_unusable_password()
        row.save(update_fields=CLOSING)


def first_use_of(address: str) -> bool:
    """Whether this mailbox is used for the first time, which uses it: the welcome bonus comes once for each, also when
    an account of it was deleted since. Inside the caller's transaction."""
    today, *before = keys.digests("players.used-address", mailbox(address))
    before += keys.digests("players.used-address", normal_address(address))  # rows were made of those once
    before = [one for one in before if one != today]
    if UsedAddress.objects.filter(digest__in=before).exists():
        return False
    _row, made = UsedAddress.objects.get_or_create(digest=today)
    return made
