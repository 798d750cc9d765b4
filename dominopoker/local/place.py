"""Where the embedded services keep their files, and as whom PostgreSQL runs when we are root."""

import contextlib
import fcntl
import hashlib
import json
import os
import pwd
import secrets
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent.parent
# A socket's path must fit sun_path: 104 bytes on the smallest system, less the name PostgreSQL puts in the directory.
SOCKET_DIRECTORY_BYTES = 103 - len("/.s.PGSQL.5432.lock")
# Accounts that a root start may hand PostgreSQL to, first found first.
ACCOUNTS = ("postgres", "nobody", "daemon")


class LocalError(Exception):
    """An embedded service could not be started, reached or stopped; the message says what to do."""


@dataclass(frozen=True)
class Place:
    """One folder of local data (`.local/` of a checkout, or a temporary one of a test run)."""

    directory: Path

    @cached_property
    def account(self) -> pwd.struct_passwd | None:
        """The account that PostgreSQL runs as: ours (None), or an unprivileged one when we are root."""
        if os.geteuid() != 0:
            return None
        for candidate in (self.directory / "postgres" / "data", self._elsewhere / "data"):
            if candidate.exists() and candidate.stat().st_uid != 0:
                return pwd.getpwuid(candidate.stat().st_uid)
        for name in ACCOUNTS:
            with contextlib.suppress(KeyError):
                return pwd.getpwnam(name)
        raise LocalError(f"As root, PostgreSQL needs an unprivileged account: none of {', '.join(ACCOUNTS)} exists.")

    @cached_property
    def _elsewhere(self) -> Path:
        digest = hashlib.sha256(str(self.directory.resolve()).encode()).hexdigest()[:16]
        base = Path("/var/tmp")
        if not os.access(base, os.W_OK | os.X_OK):
            base = Path(tempfile.gettempdir())
        return base / f"dominopoker-{digest}"

    @cached_property
    def home(self) -> Path:
        """The folder of PostgreSQL's data, passwords and log; made when missing.

        Where the unprivileged account cannot reach the folder of local data (a checkout below /root, say),
        no permission is loosened: the data lies elsewhere, under a name derived from the folder's path.
        """
        self.directory.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        if self.reachable(self.directory):
            home = self.directory / "postgres"
            home.mkdir(mode=0o711, exist_ok=True)
        else:
            home = self._elsewhere
            own_directory(home, 0o711)
            (self.directory / "postgres-data-is-in").write_text(f"{home}\n")
        return home

    @property
    def moved(self) -> bool:
        return self.home == self._elsewhere

    @cached_property
    def sockets(self) -> Path:
        """The folder of PostgreSQL's socket, closed to all other accounts; made when missing."""
        folder = self.home / "run"
        if len(os.fsencode(folder)) > SOCKET_DIRECTORY_BYTES:
            digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
            parent = Path("/tmp") / f"dominopoker-{os.geteuid()}-{digest}"
            own_directory(parent, 0o711)
            folder = parent / "run"
        folder.mkdir(mode=0o700, exist_ok=True)
        self.give(folder)
        return folder

    def reachable(self, path: Path) -> bool:
        """Whether PostgreSQL's account can pass through (a folder) or run (a file) the path."""
        if self.account is None:
            return True
        # Asked as that account: modes alone don't know about access lists and mounts.
        done = subprocess.run(
            ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)], check=False, cwd="/", **self.identity()
        )
        return done.returncode == 0

    def identity(self) -> dict[str, Any]:
        """The arguments that make `subprocess` change to PostgreSQL's account."""
        if self.account is None:
            return {}
        return {"user": self.account.pw_uid, "group": self.account.pw_gid, "extra_groups": []}

    def give(self, path: Path) -> None:
        """Hand one path of ours to PostgreSQL's account."""
        if self.account is not None:
            os.chown(path, self.account.pw_uid, self.account.pw_gid, follow_symlinks=False)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One starter or stopper at a time; the lock falls with the process that holds it."""
        self.directory.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        with (self.directory / "lock").open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def notes(self) -> dict[str, Any]:
        """The passwords and the port chosen for this place; made once, readable by us alone."""
        path = self.home / "notes.json"
        if path.exists():
            found: dict[str, Any] = json.loads(path.read_text())
            return found
        if (self.home / "data").exists():
            raise LocalError(
                f"{path} is gone, and with it the passwords of the data beside it. "
                "Put it back, or start anew: make clean"
            )
        notes = {name: secrets.token_hex(24) for name in ("postgres", "owner", "app", "valkey")}
        return self.write_notes(notes)

    def write_notes(self, notes: dict[str, Any]) -> dict[str, Any]:
        """Replace the notes in one step, so that a kill leaves the old or the new ones."""
        path = self.home / "notes.json"
        write_private(path, json.dumps(notes, indent=1) + "\n")
        return notes

    def secret_key(self) -> str:
        """Django's SECRET_KEY for play on this machine, made once."""
        self.directory.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        path = self.directory / "secret_key"
        if not path.exists():
            write_private(path, secrets.token_urlsafe(48) + "\n")
        return path.read_text().strip()


def write_private(path: Path, text: str) -> None:
    """Write a file that only we may read, all of it or nothing."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    Path(name).replace(path)


def own_directory(path: Path, mode: int) -> None:
    """Make a folder of ours in a shared one; refuse one that somebody else put there."""
    with contextlib.suppress(FileExistsError):
        path.mkdir()
        path.chmod(mode)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise LocalError(f"{path} belongs to somebody else; remove it, or move the checkout.")
