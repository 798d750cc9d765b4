"""`make` as a person uses it: the list, the setup, a game that starts, refuses, stops and leaves nothing running."""

import os
import re
import shutil
import signal
import socket
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from dominopoker.local import Services
from dominopoker.local.place import CHECKOUT
from dominopoker.local.play import MARK
from dominopoker.local.valkey import free_port
from tests.support import commands


@pytest.fixture
def folder() -> Iterator[Path]:
    with commands.folder() as path:
        yield path


def parts(folder: Path) -> dict[str, psutil.Process]:
    """The running parts of the folder's play, by the word that tells them apart."""
    found = {}
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                line = " ".join(process.cmdline())
                found[next((word for word in ("uvicorn", "worker", "beat") if word in line), line)] = process
        except psutil.Error:
            continue
    return found


def running(folder: Path) -> list[bool]:
    servers = Services(folder)
    return [servers.postgres.running(), servers.valkey.running()]


def test_make_alone_lists_every_target() -> None:
    done = commands.run("make")
    targets = set(re.findall(r"^([a-z-]+):", Path("Makefile").read_text(), re.MULTILINE))
    listed = {line.split()[1] for line in done.stdout.splitlines()}
    assert listed == targets
    assert {"setup", "play", "test", "soak", "lint", "bench", "lock", "playthroughs", "screenshots", "clean"} <= listed


def test_setup_without_a_new_enough_python_says_what_to_install(tmp_path: Path) -> None:
    for name in ("Makefile", "requirements.lock"):
        shutil.copy(CHECKOUT / name, tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cat", "cksum"):
        (tools / name).symlink_to(str(shutil.which(name)))
    old = tools / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = commands.run(str(shutil.which("make")), "-C", tmp_path, "setup", env={"PATH": str(tools)})
    assert done.returncode == 2
    assert "Python 3.11 or newer" in done.stderr


def test_a_taken_port_gets_one_sentence(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = commands.run("python", "-m", "dominopoker.local", "play", env={"LOCAL_DIR": str(folder), "PORT": port})
    assert done.returncode == 1
    assert done.stderr == f"Port {port} is taken by another program. Choose another: PORT=9000 make play\n"
    assert running(folder) == [False, False]


def test_a_port_that_is_no_number_gets_one_sentence(folder: Path) -> None:
    done = commands.run("python", "-m", "dominopoker.local", "play", env={"LOCAL_DIR": str(folder), "PORT": "http"})
    assert (done.returncode, done.stderr) == (1, "PORT must be a number from 1 to 65535, not 'http'\n")


def test_play_from_the_start_to_each_kind_of_end(folder: Path, tmp_path: Path) -> None:
    port = str(free_port())
    choice = {"LOCAL_DIR": str(folder), "PORT": port}
    game = [sys.executable, "-m", "dominopoker.local", "play"]

    first = commands.Shell(tmp_path / "first", *game, env=choice)
    first.wait_for(f"ready: http://127.0.0.1:{port}/")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as page:
        assert b"Domino Poker" in page.read()
    assert set(parts(folder)) == {"uvicorn", "worker", "beat"}
    key = (folder / "secret_key").read_text()
    second = commands.run(*game, env={"LOCAL_DIR": str(folder), "PORT": str(free_port())})
    assert second.returncode == 1
    assert f"The game runs already: http://127.0.0.1:{port}/" in second.stderr

    # Killed without a chance to tidy up: the next start ends what was left, and finds the data.
    first.process.kill()
    first.process.wait(10)
    left = parts(folder)
    assert "uvicorn" in left
    third = commands.Shell(tmp_path / "third", *game, env=choice)
    third.wait_for("is ready")
    assert not any(process.is_running() for process in left.values())
    assert (folder / "secret_key").read_text() == key

    # One part dies: the rest stops, the reason is shown.
    parts(folder)["worker"].kill()
    assert third.process.wait(30) == 1
    assert "worker ended by itself (exit code -9)" in third.text()
    assert parts(folder) == {}
    assert running(folder) == [False, False]


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.soak)])
def test_a_signal_to_make_stops_all_that_it_started(folder: Path, tmp_path: Path, number: signal.Signals) -> None:
    shell = commands.Shell(tmp_path / "out", "make", "play", env={"LOCAL_DIR": str(folder), "PORT": str(free_port())})
    shell.wait_for("is ready")
    if number == signal.SIGINT:
        os.killpg(shell.process.pid, number)  # as a terminal does on Ctrl-C
    else:
        shell.process.send_signal(number)
    shell.process.wait(30)
    assert parts(folder) == {}
    assert running(folder) == [False, False]


def test_a_signal_during_the_start_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    shell = commands.Shell(
        tmp_path / "out",
        sys.executable,
        "-m",
        "dominopoker.local",
        "play",
        env={"LOCAL_DIR": str(folder), "PORT": str(free_port())},
    )
    while not (folder / "postgres" / "data").exists() and shell.process.poll() is None:
        pass
    shell.process.terminate()
    shell.process.wait(30)
    assert parts(folder) == {}
    assert running(folder) == [False, False]
