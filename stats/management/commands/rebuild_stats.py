"""Makes all statistics anew from the matches."""

from typing import Any

from django.core.management.base import BaseCommand

from stats import services


class Command(BaseCommand):
    help = "Wipe the statistics and make them anew from the matches; the pages are the same afterwards."

    def handle(self, *_args: Any, **_options: Any) -> None:
        looked, counted = services.rebuild()
        self.stdout.write(f"{looked} finished matches, {counted} of them between four registered people")
