#!/usr/bin/env python3
"""Django's command line; commands that need the database attach to this machine's own, or start it."""

import os
import sys

# These look at code and files only, and run on a machine without any service.
WITHOUT_DATABASE = {
    "bench",
    "collectstatic",
    "compilemessages",
    "conform",
    "diffsettings",
    "findstatic",
    "help",
    "makemessages",
    "makemigrations",
    "version",
}
# These change tables, which the site's own role may not.
AS_OWNER = {"migrate", "sqlmigrate"}


def needs_database(arguments: list[str]) -> bool:
    """Whether the command line asks for something that lives in the database."""
    if not arguments or {"-h", "--help", "--version"} & set(arguments):
        return False
    command, *rest = arguments
    if command == "verify_match":  # a match by its number, or a file
        return any(word.isdigit() for word in rest)
    return command not in WITHOUT_DATABASE


def main() -> None:
    """Run one command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dominopoker.settings")
    arguments = sys.argv[1:]
    if needs_database(arguments):
        from dominopoker import local

        try:
            local.ensure()
        except local.LocalError as error:
            sys.exit(str(error))
        if arguments[0] in AS_OWNER and os.environ.get("DATABASE_OWNER_URL"):
            os.environ["DB_ROLE"] = "owner"
    else:
        os.environ["WITHOUT_DATABASE"] = "1"
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
