"""Commands of the project run as a person runs them: from a shell that knows nothing of the tests."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from dominopoker.local import Services
from dominopoker.local.place import CHECKOUT

from .site import SHORT

OURS = {
    "ALLOWED_ORIGINS", "CHANNEL_PREFIX", "DATABASE_OWNER_URL", "DATABASE_URL", "DB_ROLE", "DJANGO_ALLOW_ASYNC_UNSAFE",
    "DJANGO_SETTINGS_MODULE", "LOCAL_DIR", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PORT", "REDIS_URL", "SECRET_KEY",
    "SITE_URL", "TEST_SERVICES_DIRECTORY", "WITHOUT_DATABASE",
} | set(SHORT)  # fmt: skip


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without what the tests (or a make around them) have put there."""
    return {name: value for name, value in os.environ.items() if name not in OURS} | dict(more or {})


def run(
    *command: object, timeout: float = 60, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in the checkout to its end; `python` is this one."""
    words = [sys.executable if word == "python" else str(word) for word in command]
    return subprocess.run(
        words, cwd=CHECKOUT, env=environment(env), capture_output=True, text=True, check=False, timeout=timeout
    )


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder for local data in a place that every account can reach; emptied and its servers stopped at the end."""
    path = Path(tempfile.mkdtemp(prefix="dominopoker-folder-", dir="/tmp"))
    path.chmod(0o711)
    try:
        yield path / ".local"
    finally:
        Services(path / ".local").remove()
        shutil.rmtree(path)


class Shell:
    """A command that goes on running, with its output in a file."""

    def __init__(self, output: Path, *command: str, env: Mapping[str, str] | None = None) -> None:
        self.output = output
        with output.open("ab") as handle:
            self.process = subprocess.Popen(
                command, cwd=CHECKOUT, env=environment(env), stdin=subprocess.DEVNULL, stdout=handle,
                stderr=handle, start_new_session=True,
            )  # fmt: skip

    def text(self) -> str:
        return self.output.read_text(errors="replace")

    def wait_for(self, words: str, seconds: float = 40) -> None:
        """Wait until the output has the words; raises AssertionError with the output when it ends or takes longer."""
        ends = time.monotonic() + seconds
        while words not in self.text():
            if self.process.poll() is not None or time.monotonic() > ends:
                raise AssertionError(f"{words!r} did not appear:\n{self.text()}")
            time.sleep(0.05)
