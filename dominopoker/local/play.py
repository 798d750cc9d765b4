"""`make play`: the services, the migrations, then web, worker and beat under one process manager, stopped together."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

import honcho.manager
import psutil
from honcho.environ import parse_procfile
from honcho.manager import SYSTEM_PRINTER_NAME, Manager
from honcho.printer import Message, Printer

from . import Services, default_directory, start_missing
from .place import CHECKOUT, LocalError
from .valkey import can_bind

# Marks the processes of one folder's play, so that a later start finds what a killed one left running.
MARK = "DOMINOPOKER_PLAY"
ANSWER_SECONDS = 60
# The web process drains for 10 s; after this it is killed.
STOP_SECONDS = 13


class Reporter(Printer):
    """Prints and logs every line, and remembers who ended first and what it said last."""

    def __init__(self, log: TextIO) -> None:
        super().__init__(sys.stdout)
        self._log = log
        self.last_lines: dict[str, deque[str]] = {}
        self.first_ended: tuple[str, str] | None = None  # (part, exit code)

    def write(self, message: Message) -> None:
        text = message.data.decode(errors="replace") if isinstance(message.data, bytes) else str(message.data)
        self._log.write(f"{message.time:%Y-%m-%d %H:%M:%S} {message.name} | {text.rstrip()}\n")
        self._log.flush()
        if message.name == SYSTEM_PRINTER_NAME:
            part, _, rest = text.strip().partition(" stopped (rc=")
            if rest and self.first_ended is None:
                self.first_ended = (part, rest.rstrip(")"))
            return
        self.last_lines.setdefault(message.name, deque(maxlen=12)).append(text.rstrip())
        with contextlib.suppress(OSError):  # a closed terminal must not keep us from stopping
            super().write(message)


def play() -> int:
    """Run the game until a signal or the end of a part; the exit code. Raises LocalError with one clear sentence."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    port = _port()
    services = Services(default_directory())
    with _only_one(services.directory) as note:
        try:
            services.started += note.inherited
            note.write(port, services.started)
            if not can_bind(port):
                raise LocalError(f"Port {port} is taken by another program. Choose another: PORT=9000 make play")
            os.environ["PORT"] = str(port)
            os.environ.setdefault("SITE_URL", f"http://127.0.0.1:{port}")
            os.environ.setdefault("ALLOWED_ORIGINS", f"http://127.0.0.1:{port},http://localhost:{port}")
            with _signals_wait():
                start_missing(services)
            note.write(port, services.started)
            if services.place.moved:
                print(f"PostgreSQL's account can't reach {services.directory}; its data is in {services.place.home}")
            _migrate()
            return _run_parts(services, port)
        finally:
            # From here on a second signal would only leave things running.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            services.stop(only_started=True)


def _leave(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


@contextlib.contextmanager
def _signals_wait() -> Iterator[None]:
    """Hold SIGTERM and SIGINT back for the second in which a server is half started and could not be stopped."""
    both = {signal.SIGTERM, signal.SIGINT}
    seen: list[int] = []
    before = {number: signal.signal(number, lambda got, _frame: seen.append(got)) for number in both}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if seen:
        sys.exit(128 + seen[0])


def _port() -> int:
    text = os.environ.get("PORT") or "8000"
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= 65535:
        raise LocalError(f"PORT must be a number from 1 to 65535, not {text[:60]!r}")
    return int(text)


class Note:
    """The file that says which process plays in a folder, where, and which servers it must stop at its end."""

    def __init__(self, handle: TextIO) -> None:
        self._handle = handle
        handle.seek(0)
        # Words are left only where a play was killed: what it had to stop is now ours to stop.
        self.inherited = handle.read().split()[2:]

    def write(self, port: int, servers: list[str]) -> None:
        self._handle.seek(0)
        self._handle.truncate()
        self._handle.write(f"{os.getpid()} http://127.0.0.1:{port}/ {' '.join(servers)}\n")
        self._handle.flush()

    def clear(self) -> None:
        self._handle.seek(0)
        self._handle.truncate()
        self._handle.flush()


@contextlib.contextmanager
def _only_one(directory: Path) -> Iterator[Note]:
    """Hold the folder for one play; end what a killed one left; refuse while another is alive."""
    directory.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    path = directory / "play"
    with path.open("a+") as handle:
        for attempt in range(30):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                process, address, *_ = [*path.read_text().split(), "", ""]
                if process.isdigit() and psutil.pid_exists(int(process)):
                    raise LocalError(
                        f"The game runs already: {address} (process {process}, same folder of data)."
                    ) from None
                if process.isdigit() and attempt == 0:
                    _end_leftovers(directory)
                else:
                    time.sleep(0.1)  # its helpers end by themselves, or it is about to say who it is
        else:
            raise LocalError(f"Something holds {path}; end the processes of an earlier make play first.")
        _end_leftovers(directory)
        note = Note(handle)
        try:
            yield note
        finally:
            note.clear()


def _end_leftovers(directory: Path) -> None:
    """Kill the parts of a play whose manager was killed, which nobody watches any more."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == str(directory):
                process.kill()
                found.append(process)
    psutil.wait_procs(found, timeout=5)


def _migrate() -> None:
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "manage.py"), "migrate", "--verbosity=0"], cwd=CHECKOUT, check=False
    )
    if done.returncode != 0:
        raise LocalError("The database could not be brought up to date (see above).")


def _run_parts(services: Services, port: int) -> int:
    environment = {
        **os.environ,
        MARK: str(services.directory),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONUNBUFFERED": "1",
    }
    environment.pop("DATABASE_OWNER_URL", None)  # the site has no use for it, so it doesn't get it
    logs = services.directory / "logs"
    logs.mkdir(mode=0o700, exist_ok=True)
    log = logs / "play.log"
    if log.exists() and log.stat().st_size > 5_000_000:
        log.replace(log.with_suffix(".old.log"))
    with log.open("a") as handle:
        reporter = Reporter(handle)
        honcho.manager.KILL_WAIT = STOP_SECONDS
        manager: Any = Manager(reporter)
        for name, command in parse_procfile((CHECKOUT / "Procfile").read_text()).processes.items():
            manager.add_process(name, command, env=environment, cwd=str(CHECKOUT))
        threading.Thread(target=_announce, args=[port, manager], daemon=True).start()
        try:
            manager.loop()
        except KeyError:  # honcho's, when a signal comes before it has heard of every start
            manager.returncode = manager.returncode or 128 + signal.SIGTERM
        finally:
            _end_leftovers(services.directory)
    if manager.returncode in (128 + signal.SIGINT, 128 + signal.SIGTERM):
        print("Stopped.", flush=True)
        return 0
    part, code = reporter.first_ended or ("a part", "?")
    print(f"\n{part} ended by itself (exit code {code}), so everything was stopped. Its last lines:", file=sys.stderr)
    for line in reporter.last_lines.get(part, ()):
        print(f"  {line}", file=sys.stderr)
    print(f"All lines: {log}", file=sys.stderr)
    return 1


def _announce(port: int, manager: Any) -> None:
    """Print the address once the site answers there, not before."""
    ends = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < ends and manager.returncode is None:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as answer,
        ):
            if answer.status == 200:
                print(f"\n  Domino Poker is ready: http://127.0.0.1:{port}/   (Ctrl-C stops it)\n", flush=True)
                return
        time.sleep(0.05)
