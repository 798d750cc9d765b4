"""manage.py check_ledger: whether every coin is accounted for."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from wallet import audit


class Command(BaseCommand):
    help = "Checks sums, balances, escrows, fees, guards and seals; one line a finding, exit 1. Safe while running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--closed-room", type=int, action="append", default=[], metavar="NUMBER",
            help="a room that is over, so that its escrow must be empty (may be repeated)",
        )  # fmt: skip

    def handle(self, *_args: Any, **options: Any) -> None:
        count = 0
        for finding in audit.findings([lambda: audit.left_open(options["closed_room"])]):
            self.stdout.write(finding)
            count += 1
        if count:
            raise SystemExit(1)
        self.stdout.write("The ledger holds.")
