"""The work of statistics on a schedule, safe to run twice, late, or beside itself."""

from celery import shared_task
from django.db import close_old_connections

from stats import services

__all__ = ["rate_matches"]


@shared_task
def rate_matches() -> int:
    """Rate the matches that have ended since the last time."""
    close_old_connections()
    return services.rate_new()
