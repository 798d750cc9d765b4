"""PostgreSQL and Valkey of one machine: started from their wheels, or attached to, when no addresses are given."""

import os
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .place import CHECKOUT, LocalError, Place
from .postgres import Postgres
from .valkey import Valkey

__all__ = ["LocalError", "Services", "default_directory", "ensure", "stop"]


def default_directory() -> Path:
    """The folder of this checkout's data: LOCAL_DIR, or `.local/` beside manage.py."""
    return Path(os.environ.get("LOCAL_DIR") or CHECKOUT / ".local").absolute()


@dataclass
class Services:
    """The two servers of one folder. Not durable: faster, for tests."""

    directory: Path
    durable: bool = True
    started: list[str] = field(default_factory=list)  # what this object started, to stop it again

    @cached_property
    def place(self) -> Place:
        return Place(self.directory)

    @cached_property
    def postgres(self) -> Postgres:
        return Postgres(self.place, self.durable)

    @cached_property
    def valkey(self) -> Valkey:
        return Valkey(self.place)

    def start(self, *, postgres: bool = True, valkey: bool = True) -> None:
        """Attach to the servers or start them. Raises LocalError when one does not come up."""
        with self.place.locked():
            if postgres and not self.postgres.running():
                self.started.append("postgres")  # before: a start cut short is stopped, too
                self.postgres.start()
            if valkey and not self.valkey.running():
                self.started.append("valkey")
                self.valkey.start()

    def stop(self, *, only_started: bool = False) -> None:
        """Stop the servers; only_started spares those that ran before us."""
        with self.place.locked():
            if not only_started or "valkey" in self.started:
                self.valkey.stop()
            if not only_started or "postgres" in self.started:
                self.postgres.stop()
            self.started.clear()

    def remove(self) -> None:
        """Stop the servers and delete all their data."""
        if not self.directory.exists():
            return
        home, sockets = self.place.home, self.place.sockets
        with self.place.locked():
            self.valkey.kill()
            self.postgres.stop(immediately=True)  # nothing is left to be saved
        shutil.rmtree(home, ignore_errors=True)
        if not sockets.is_relative_to(home):
            shutil.rmtree(sockets.parent, ignore_errors=True)
        shutil.rmtree(self.directory)

    def environment(self) -> dict[str, str]:
        """The variables that the settings read, for these servers."""
        return {
            "DATABASE_URL": self.postgres.url("app"),
            "DATABASE_OWNER_URL": self.postgres.url("owner"),
            "REDIS_URL": self.valkey.url(),
            "SECRET_KEY": self.place.secret_key(),
        }


def ensure(directory: Path | None = None) -> dict[str, str]:
    """Start or attach to what the environment gives no address for, and put the addresses into the environment.

    DATABASE_URL, DATABASE_OWNER_URL, REDIS_URL and SECRET_KEY that are set already stay as they are; with
    DATABASE_URL set and no owner's address, none is made up. Raises LocalError.
    """
    services = Services(directory or default_directory())
    start_missing(services)
    return {name: os.environ[name] for name in services.environment() if name in os.environ}


def start_missing(services: Services) -> None:
    """`ensure` for services at hand, so that a caller can stop what was started."""
    own_database = bool(os.environ.get("DATABASE_URL"))
    own_redis = bool(os.environ.get("REDIS_URL"))
    if not (own_database and own_redis):
        services.start(postgres=not own_database, valkey=not own_redis)
    made: dict[str, str] = {}
    if not own_database:
        made["DATABASE_URL"] = services.postgres.url("app")
        made["DATABASE_OWNER_URL"] = services.postgres.url("owner")
    if not own_redis:
        made["REDIS_URL"] = services.valkey.url()
    if not os.environ.get("SECRET_KEY"):
        made["SECRET_KEY"] = services.place.secret_key()
    os.environ.update(made)


def stop(directory: Path | None = None) -> None:
    """Stop both servers of the folder."""
    target = directory or default_directory()
    if target.exists():
        Services(target).stop()
