"""The Celery application: work on a schedule that no player waits for."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dominopoker.settings")

app = Celery("dominopoker")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
