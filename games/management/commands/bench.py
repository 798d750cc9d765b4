"""manage.py bench: figures of the engine on this machine."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from games import benchmark


class Command(BaseCommand):
    help = "Measures the engine: random matches, folding, views and prompts. Needs no database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--matches", type=int, default=100, help="how many matches to play (default 100)")
        parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["matches"] < 1:
            raise CommandError(f"--matches must be at least 1, not {options['matches']}")
        figures = benchmark.measure(options["matches"])
        for figure in figures:
            self.stdout.write(f"{figure.what:<58} {figure.value:>10.1f} {figure.unit}")
        path: Path | None = options["json"]
        if path is not None:
            try:
                path.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
            except OSError as error:
                raise CommandError(f"cannot write {path}: {error.strerror}") from error
