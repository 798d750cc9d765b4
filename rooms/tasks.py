"""Work on a schedule: each task is safe to run twice, late, or beside itself."""

import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections

from players import services as players
from rooms import clock, playing, presence
from rooms.models import Room, Seat

log = logging.getLogger(__name__)
RING_BATCH = 500


@shared_task
def ring_due() -> int:
    """Ring every room whose time has come and that nobody else has rung; one bad room holds up no other."""
    close_old_connections()
    clock.sample()
    presence.mend_outage()
    now = clock.now()
    due = list(Room.objects.filter(due_at__lte=now).order_by("due_at").values_list("pk", flat=True)[:RING_BATCH])
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
