"""Wiring only: settings, addresses, ASGI, Celery, and the services of one machine."""

from dominopoker.celery import app as celery_app

__all__ = ["celery_app"]
