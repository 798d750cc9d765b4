"""Command line: python -m dominopoker.local start|stop|status|env|clean|play."""

import shlex
import sys

from . import LocalError, Services, default_directory, stop

USAGE = "usage: python -m dominopoker.local start|stop|status|env|clean|play"


def main(arguments: list[str]) -> int:
    """Run one command; the exit code."""
    services = Services(default_directory())
    match arguments:
        case ["start"]:
            services.start()
            if services.place.moved:
                print(f"The database's account can't reach {services.directory}; its data is in {services.place.home}")
        case ["stop"]:
            stop()
        case ["status"]:
            there = services.directory.exists()
            up = [services.postgres.running(), services.valkey.running()] if there else [False, False]
            for name, answers in zip(("PostgreSQL", "Valkey"), up, strict=True):
                print(f"{name}: {'running' if answers else 'stopped'}")
            return 0 if all(up) else 3
        case ["env"]:
            services.start()
            for name, value in services.environment().items():
                print(f"export {name}={shlex.quote(value)}")
        case ["clean"]:
            services.remove()
        case ["play"]:
            from .play import play

            return play()
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LocalError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
