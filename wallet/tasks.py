"""The wallet's work on a schedule: each task is safe to run twice, late, or beside itself."""

import logging

from celery import shared_task
from django.db import close_old_connections

from wallet import audit, corrections, seals

log = logging.getLogger(__name__)


@shared_task
def seal_days() -> int:
    """Seal the days that are over."""
    close_old_connections()
    return len(seals.seal_days())


@shared_task
def expire_corrections() -> int:
    """Mark requests that nobody decided in time."""
    close_old_connections()
    return corrections.expire()


@shared_task
def check_ledger() -> int:
    """Look the whole ledger over; each finding is an error in the log."""
    close_old_connections()
    count = 0
    for finding in audit.findings():
        log.error("ledger: %s", finding)
        count += 1
    return count
