"""The database and Valkey of a test run: own servers in a temporary folder, one database for each worker."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from dominopoker.local import Services
from dominopoker.local.place import CHECKOUT
from dominopoker.local.valkey import free_port

FOLDER = "TEST_SERVICES_DIRECTORY"  # set by the process that owns the run, inherited by its workers
PREFIX = "dominopoker-test-"
TEMPLATE = "template_domino"
# Rows that migrations made (content types, permissions, house accounts) are kept in a schema of this name.
KEPT = "kept"


def worker() -> str:
    """The name of this process of the run: gw0, gw1 ..., or main without workers."""
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


def new_services(*, durable: bool = False) -> Services:
    """Servers in a fresh temporary folder, their addresses chosen, not started yet; durable for figures."""
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir="/tmp"))
    folder.chmod(0o711)  # PostgreSQL's account must pass through when we are root
    services = Services(folder, durable=durable)
    services.place.write_notes({**services.place.notes(), "valkey_port": free_port()})
    return services


def sweep() -> None:
    """Stop and delete what killed runs left behind."""
    for folder in Path("/tmp").glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        if folder.stat().st_uid == os.geteuid() and owner.isdigit() and not psutil.pid_exists(int(owner)):
            try:
                Services(folder, durable=False).remove()
            except Exception as error:  # noqa: BLE001 - leftovers of another run must not stop this one
                print(f"Left over, could not be removed: {folder}: {error}", file=sys.stderr)
                shutil.rmtree(folder, ignore_errors=True)


class Run:
    """What one process of a run uses: the shared servers and a database of its own."""

    def __init__(self, *, durable: bool = False) -> None:
        self.owner = FOLDER not in os.environ
        if self.owner:
            sweep()
            self.services = new_services(durable=durable)
            os.environ[FOLDER] = str(self.services.directory)
        else:
            self.services = Services(Path(os.environ[FOLDER]), durable=False)
        self.database = f"test_{worker()}"
        self.ready = False

    def environment(self) -> dict[str, str]:
        """The addresses, for the settings of this process and of the sites that it starts."""
        number = 15 if worker() == "main" else int(worker().removeprefix("gw")) % 15
        return {
            "DATABASE_URL": self.services.postgres.url("app", self.database),
            "DATABASE_OWNER_URL": self.services.postgres.url("owner", self.database),
            "REDIS_URL": self.services.valkey.url(number),
            "CHANNEL_PREFIX": f"test-{worker()}",
            "SECRET_KEY": "a key for tests alone, which nobody else uses",
        }

    def prepare(self) -> None:
        """Start the servers, migrate the template once a run, and copy it for this process. Again: nothing."""
        if self.ready:
            return
        self.services.start()
        with self.services.place.locked():
            make_template(self.services)
            clone(self.services, self.database)
        self.ready = True

    def close(self) -> None:
        """The owner stops the servers and deletes the folder."""
        if self.owner:
            self.services.remove()


def superuser(services: Services, database: str = "postgres") -> "psycopg.Connection[tuple[object, ...]]":
    """A connection that may do all, for building and emptying databases."""
    return psycopg.connect(services.postgres.url("postgres", database), autocommit=True)


def exists(services: Services, database: str) -> bool:
    with superuser(services) as connection:
        return bool(connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone())


def make_template(services: Services) -> None:
    """The migrated database that is copied for each worker; made by the owner's role, as in production."""
    if exists(services, TEMPLATE):
        return
    migrate(services)
    with superuser(services, "dominopoker") as connection:
        connection.execute(f"CREATE SCHEMA {KEPT}")
        for name in tables(connection):
            filled = connection.execute(sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(name)))
            row = filled.fetchone()
            if row and row[0]:
                copy = sql.SQL("CREATE TABLE {}.{} AS TABLE {}")
                connection.execute(copy.format(sql.Identifier(KEPT), sql.Identifier(name), sql.Identifier(name)))
    with superuser(services) as connection:
        connection.execute(f"ALTER DATABASE dominopoker RENAME TO {TEMPLATE}")


def migrate(services: Services) -> None:
    """Run the migrations on the database that a fresh start makes."""
    environment = {
        **os.environ,
        "DATABASE_URL": services.postgres.url("app"),
        "DATABASE_OWNER_URL": services.postgres.url("owner"),
    }
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "manage.py"), "migrate", "--verbosity=0"],
        env=environment, cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"The migrations failed.\n{done.stdout}{done.stderr}")


def clone(services: Services, database: str) -> None:
    """Copy the template; a database of that name from earlier in the run goes."""
    with superuser(services) as connection:
        name = sql.Identifier(database)
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        connection.execute(sql.SQL(f"CREATE DATABASE {{}} OWNER owner TEMPLATE {TEMPLATE}").format(name))
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO app").format(name))


def tables(connection: "psycopg.Connection[tuple[object, ...]]") -> list[str]:
    """The tables of the site."""
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
    return [str(name) for (name,) in rows]


def empty(services: Services, database: str) -> None:
    """Bring a worker's database back to what the migrations left.

    Append-only tables refuse this to the site and to their owner alike; only the superuser of the test server can set
    their triggers aside, for this one connection. Numbers go on counting, so that no cache meets an id again.
    """
    for attempt in range(5):
        try:
            with superuser(services, database) as connection, connection.transaction():
                connection.execute("SET LOCAL session_replication_role = replica")
                connection.execute("SET LOCAL lock_timeout = '3s'")
                _empty(connection)
            return
        except (psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable):
            if attempt == 4:
                raise


def _if_changed(name: str, kept: bool) -> sql.Composed:
    """The name of this table, if it is not as the migrations left it."""
    query = "SELECT {n} WHERE EXISTS (SELECT FROM {t})"
    if kept:
        query = "SELECT {n} WHERE EXISTS ((TABLE {t} EXCEPT TABLE {c}) UNION ALL (TABLE {c} EXCEPT TABLE {t}))"
    return sql.SQL(query).format(n=sql.Literal(name), t=sql.Identifier(name), c=sql.Identifier(KEPT, name))


def _empty(connection: "psycopg.Connection[tuple[object, ...]]") -> None:
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [KEPT])
    kept = {str(name) for (name,) in rows}
    # All in one question: this runs after every test.
    looks = [_if_changed(name, name in kept) for name in tables(connection)]
    changed = [str(name) for (name,) in connection.execute(sql.SQL(" UNION ALL ").join(looks))]
    for name in changed:
        # Nothing follows from it: as a replica the server asks no foreign key. TRUNCATE takes ten times as long.
        connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
    for name in kept.intersection(changed):
        table, copy = sql.Identifier(name), sql.Identifier(KEPT, name)
        back = sql.SQL("INSERT INTO {t} OVERRIDING SYSTEM VALUE TABLE {c}")
        connection.execute(back.format(t=table, c=copy))
