"""manage.py conform PATH...: run test vectors through the engine."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from games import conformance


class Command(BaseCommand):
    help = "Runs test vectors (tests/vectors/FORMAT.md) through the engine. Needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")

    def handle(self, *_args: Any, paths: list[Path], **_options: Any) -> None:
        report = conformance.Report()
        for path in paths:
            conformance.run(path, report)
        for failure in report.failures:
            self.stdout.write(f"FAILED {failure}")
        if report.skipped:
            self.stdout.write("The qq_* kinds come with QiuQiu; their cases are skipped until then.")
        self.stdout.write(report.close())
        if report.failures:
            sys.exit(1)
