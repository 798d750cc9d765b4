"""A real site for tests: uvicorn and, when asked for, the Celery worker with beat, on a free port."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import psycopg

from dominopoker.local import Services
from dominopoker.local.place import CHECKOUT
from dominopoker.local.valkey import free_port

START_SECONDS = 30
# Times short enough for a test to wait through, and limits that a test's many visits don't meet.
SHORT = {
    "TESTING": "1",
    "SOLO_COUNTDOWN_SECONDS": "0.2",
    "COUNTDOWN_SECONDS": "0.5",
    "BOT_PACE_SECONDS": "0.05",
    "TRICK_PAUSE_SECONDS": "0.05",
    "ROUND_PAUSE_SECONDS": "0.3",
    "HANDSHAKES_A_MINUTE": "100000",
    "ROOMS_IN_TEN_MINUTES": "100000",
    "GUESTS_IN_TEN_MINUTES": "100000",
    "PAID_SEATS_IN_TEN_MINUTES": "100000",
    "SIGN_INS_A_MINUTE": "100000",
    "SIGN_UPS_AN_HOUR": "100000",
    "RESETS_AN_HOUR": "100000",
    "FRAMES_A_SECOND": "1000",
    "FRAMES_BURST": "2000",
    "LOG_LEVEL": "INFO",
}


class LiveSite:
    """The site's processes, to be visited, stopped, killed and started again; the port stays the same."""

    def __init__(
        self,
        services: Services,
        addresses: dict[str, str],
        log: Path,
        *,
        private: bool = False,
        changes: Mapping[str, str] | None = None,
    ) -> None:
        self.services = services
        self.addresses = addresses
        self.private = private  # whether the servers are this site's alone, and may be restarted
        self.port = free_port()
        self.log = log
        self.changes = dict(changes or {})
        self._web: subprocess.Popen[bytes] | None = None
        self._worker: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def socket_url(self, path: str) -> str:
        """The address of a socket, for a path like /ws/tables/K7Q2M9XA/; its Origin must be `url`."""
        return f"ws://127.0.0.1:{self.port}{path}"

    def environment(self) -> dict[str, str]:
        """The whole environment of the site's processes."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST", "TEST_", "DJANGO_ALLOW", "DB_ROLE"))
        }
        return {**inherited, **SHORT, **self.addresses, "SITE_URL": self.url, **self.changes}

    def start(self, *, worker: bool = False) -> None:
        """Start the web process, and the worker with beat when asked for; back when the site answers."""
        self._web = self._run(
            "uvicorn", "dominopoker.asgi:application", "--host", "127.0.0.1", "--port", str(self.port),
            "--ws-per-message-deflate", "false", "--timeout-graceful-shutdown", "10", "--no-proxy-headers",
            "--no-access-log",
        )  # fmt: skip
        if worker:
            self.start_worker()
        self.wait_until_answering()

    def start_worker(self) -> None:
        """Start the Celery worker with beat; back at once."""
        self._worker = self._run(
            "celery", "-A", "dominopoker", "worker", "--beat", "--pool", "threads", "--concurrency", "2",
            "--scheduler", "celery.beat:Scheduler", "--loglevel", "INFO",
        )  # fmt: skip

    def wait_until_answering(self) -> None:
        """Wait for /healthz; raises RuntimeError with the end of the log when the process ends or time is up."""
        ends = time.monotonic() + START_SECONDS
        while time.monotonic() < ends:
            if self._web is None or self._web.poll() is not None:
                raise RuntimeError(f"The site ended at its start.\n{self.log_tail()}")
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/healthz", timeout=2) as answer:
                if answer.status == 200:
                    return
            time.sleep(0.03)
        raise RuntimeError(f"The site did not answer within {START_SECONDS} s.\n{self.log_tail()}")

    @property
    def running(self) -> bool:
        return self._web is not None and self._web.poll() is None

    @property
    def web_pid(self) -> int:
        """The number of the web process, which is running."""
        assert self._web is not None
        return self._web.pid

    def kill(self) -> None:
        """SIGKILL the web process: no handler runs."""
        if self._web is not None:
            os.killpg(self._web.pid, signal.SIGKILL)
            self._web.wait(10)
            self._web = None

    def pause(self) -> None:
        """SIGSTOP the web process: it stands still, its sockets stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._web is not None
        os.killpg(self._web.pid, number)

    def kill_worker(self) -> None:
        """SIGKILL the worker and its beat."""
        if self._worker is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._worker.pid, signal.SIGKILL)
            self._worker.wait(10)
            self._worker = None

    def terminate(self) -> int:
        """SIGTERM the web process as a deploy does, and wait for its drain; its exit code."""
        if self._web is None:
            return 0
        self._web.terminate()
        code = self._web.wait(20)
        self._web = None
        return code

    def stop(self) -> None:
        """End all processes, without ceremony."""
        self.kill()
        self.kill_worker()

    def restart_postgres(self, *, seconds_down: float = 0.0) -> None:
        """A crash of the database and its return; only for a site with servers of its own (`lone_site`)."""
        self._must_be_private()
        with self.services.place.locked():
            self.services.postgres.stop(immediately=True)
            time.sleep(seconds_down)
            self.services.postgres.start()

    def restart_valkey(self, *, seconds_down: float = 0.0) -> None:
        """A crash of Valkey and its return, empty, on the same port; only for `lone_site`."""
        self._must_be_private()
        with self.services.place.locked():
            self.services.valkey.kill()
            time.sleep(seconds_down)
            self.services.valkey.start()

    def sql(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """Rows of the site's database, read as its superuser."""
        database = self.addresses["DATABASE_URL"].split("@/")[1].split("?")[0]
        with psycopg.connect(self.services.postgres.url("postgres", database), autocommit=True) as connection:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def log_text(self) -> str:
        """All that the processes have written so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def log_tail(self) -> str:
        return "\n".join(self.log_text().splitlines()[-40:])

    def _must_be_private(self) -> None:
        if not self.private:
            raise RuntimeError("Other tests use these servers at this moment: ask for the fixture lone_site.")

    def _run(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=CHECKOUT, env=self.environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip
