"""Checks a match of the database by its number, or an exported file: deals and plays it again and compares."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games import record, verify


class Command(BaseCommand):
    help = (
        "Check a match (by its number) or an exported file; exit code 0 when all is as its secret and answers make it."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("match", help="the number of a match, or the path of an exported file")

    def handle(self, *_args: Any, **options: Any) -> None:
        what: str = options["match"]
        try:
            found = _of_database(int(what)) if what.isascii() and what.isdigit() else record.read(_bytes(what))
            wrong = list(verify.differences(found))
        except ValueError as error:  # a bad record, or a line of the log that is not written as the log writes
            raise CommandError(f"{what}: {error}") from error
        if wrong:
            for line in wrong:
                self.stdout.write(f"match {found.match}: {line}")
            sys.exit(1)
        self.stdout.write(f"match {found.match}: OK ({found.status}, {len(found.events)} events)")


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def _of_database(match_id: int) -> record.Record:
    from games import selectors
    from games.errors import NoSuchMatch

    try:
        return selectors.record_of(match_id)
    except NoSuchMatch as error:
        raise CommandError(str(error)) from error
