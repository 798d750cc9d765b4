"""Work on a schedule: each task is safe to run twice, late, or beside itself."""

import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections
from django.db.models import QuerySet

from games import selectors as games
from players import former_names, visits
from players import selectors as player_selectors
from players import services as players
from rooms import accounts, clock, closing, playing, presence, selectors
from rooms.models import Room, Seat
from wallet import selectors as wallet

log = logging.getLogger(__name__)
RING_BATCH = 500
BONUS_BATCH = 200


@shared_task
def ring_due() -> int:
    """Ring every room whose time has come and that nobody else has rung; one bad room holds up no other."""
    close_old_connections()
    clock.sample()
    presence.mend_outage()
    return _ring_all(Room.objects.filter(due_at__lte=clock.now()).order_by("due_at"))


@shared_task
def expire_rooms() -> int:
    """End the rooms whose lifetime, or whose time to read the result, has run out."""
    close_old_connections()
    clock.sample()
    over = [Room.Status.WAITING, Room.Status.FINISHED]
    return _ring_all(Room.objects.filter(status__in=over, expires_at__lte=clock.now()).order_by("expires_at"))


@shared_task
def close_abandoned() -> int:
    """End the matches whose humans have all been away for the whole grace."""
    close_old_connections()
    clock.sample()
    presence.mend_outage()
    shortest = min(settings.GRACE_SECONDS, settings.SOLO_GRACE_SECONDS)
    away = Room.objects.filter(status=Room.Status.PLAYING, away_since__lte=clock.now() - timedelta(seconds=shortest))
    return _ring_all(away.order_by("away_since"))


def _ring_all(rooms: QuerySet[Room]) -> int:
    """Ring a bounded number of rooms; a bad one holds up no other, and one that is not due is left as it is."""
    due = list(rooms.values_list("pk", flat=True)[:RING_BATCH])
    for room_id in due:
        try:
            playing.ring(room_id)
        except Exception:
            log.exception("room %s could not be rung", room_id)
    return len(due)


@shared_task
def drop_stale_connections() -> int:
    """End the presence of sockets whose process has died."""
    close_old_connections()
    return presence.drop_stale()


@shared_task
def forget_idle_guests() -> int:
    """Delete guests who have not been seen for GUEST_IDLE_SECONDS and sit nowhere."""
    close_old_connections()
    seated = set(Seat.objects.filter(player__isnull=False).values_list("player_id", flat=True))
    return players.forget_idle_guests(clock.now() - timedelta(seconds=settings.GUEST_IDLE_SECONDS), excluding=seated)


@shared_task
def shut_out_banned() -> int:
    """Give up the seats of players who are kept out, should nobody have done so yet."""
    close_old_connections()
    without_right = selectors.seated_without_right()
    for player_id in without_right:
        try:
            closing.shut_out(player_id)
        except Exception:
            log.exception("the seat of player %s could not be given up", player_id)
    return len(without_right)


@shared_task
def lift_bans() -> int:
    """Let those in again whose ban has come to its end."""
    close_old_connections()
    return players.lift_bans_that_are_over()


@shared_task
def give_missing_bonuses() -> int:
    """Give those their account of coins, with the welcome bonus, whom an end of a process kept from it."""
    close_old_connections()
    without = wallet.without_account(player_selectors.with_address())[:BONUS_BATCH]
    given = 0
    for player in list(without):
        try:
            accounts.welcome(player, player_selectors.own_address(player))
        except Exception:
            log.exception("player %s could not be given an account of coins", player.pk)
        else:
            given += 1
    return given


@shared_task
def forget_ended_sessions() -> int:
    """Delete sessions whose time is over, of visitors too, and forget address and browser of those that have ended."""
    close_old_connections()
    return players.forget_expired_sessions() + players.forget_ended_sessions()


@shared_task
def forget_unconfirmed() -> int:
    """Where addresses must be confirmed, delete accounts whose address nobody confirmed within UNCONFIRMED_DAYS, and
    that never sat at a table nor had coins."""
    close_old_connections()
    if settings.EMAIL_VERIFICATION != "mandatory":
        return 0
    quiet = player_selectors.unconfirmed(clock.now() - timedelta(days=settings.UNCONFIRMED_DAYS))
    seated = Seat.objects.filter(player__isnull=False).values("player_id")
    unused = wallet.without_account(games.without_match(quiet)).exclude(pk__in=seated)
    return players.forget_unconfirmed(unused)


@shared_task
def forget_old_visits() -> int:
    """Forget where players came from more than VISIT_DAYS ago, and names that are no longer kept from others."""
    close_old_connections()
    return visits.forget_old() + former_names.forget_old()
