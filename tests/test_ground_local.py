"""The embedded servers: roles, attaching, killed leftovers, races of starters, folders out of reach."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dominopoker.local import Services
from dominopoker.local.place import CHECKOUT, LocalError, own_directory
from tests.support import commands


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with commands.folder() as path:
        yield path


@pytest.fixture
def servers(folder: Path) -> Services:
    made = Services(folder)
    made.start()
    return made


def test_the_owner_makes_tables_and_the_site_only_uses_them(servers: Services) -> None:
    with psycopg.connect(servers.postgres.url("owner"), autocommit=True) as owner:
        owner.execute("CREATE TABLE things (id bigserial PRIMARY KEY, word text)")
    with psycopg.connect(servers.postgres.url("app"), autocommit=True) as app:
        app.execute("INSERT INTO things (word) VALUES ('one')")
        assert app.execute("SELECT id, word FROM things").fetchall() == [(1, "one")]
        for refused in (
            "CREATE TABLE more (id int)",
            "CREATE TEMP TABLE more (id int)",
            "ALTER TABLE things ADD COLUMN more int",
            "DROP TABLE things",
            "TRUNCATE things",
            "CREATE SCHEMA more",
            "CREATE DATABASE more",
            "SET session_replication_role = replica",
            "SET ROLE owner",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(refused)
    with psycopg.connect(servers.postgres.url("owner"), autocommit=True) as owner:
        owner.execute("DROP TABLE things")


def test_nobody_gets_in_without_the_password(servers: Services) -> None:
    address = servers.postgres.url("app").replace(servers.place.notes()["app"], "guess")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(address)


def test_play_data_is_durable_and_on_no_network(servers: Services) -> None:
    with psycopg.connect(servers.postgres.url("app")) as app:
        for name, value in (("fsync", "on"), ("synchronous_commit", "on"), ("listen_addresses", "")):
            assert app.execute(f"SHOW {name}".encode()).fetchone() == (value,)


def test_a_second_user_attaches(servers: Services) -> None:
    second = Services(servers.directory)
    second.start()
    assert second.started == []
    assert second.environment() == servers.environment()


def test_killed_servers_come_back_with_their_data(servers: Services) -> None:
    with psycopg.connect(servers.postgres.url("owner"), autocommit=True) as owner:
        owner.execute("CREATE TABLE kept AS SELECT 7 AS number")
    address = servers.valkey.url()
    servers.postgres.kill()
    servers.valkey.kill()
    again = Services(servers.directory)
    again.start()
    assert sorted(again.started) == ["postgres", "valkey"]
    assert again.valkey.url() == address
    with psycopg.connect(again.postgres.url("owner"), autocommit=True) as owner:
        assert owner.execute("SELECT number FROM kept").fetchone() == (7,)
        owner.execute("DROP TABLE kept")


def test_a_stale_note_with_the_number_of_another_program_does_not_stop_the_start(servers: Services) -> None:
    servers.postgres.stop()
    note = servers.postgres.data / "postmaster.pid"
    servers.postgres._write(note, f"{os.getpid()}\n{servers.postgres.data}\n0\n5432\n\n\n")
    servers.start()
    assert servers.postgres.running()


def test_a_server_whose_note_is_wrong_is_still_found_and_stopped(servers: Services) -> None:
    (servers.valkey.folder / "pid").write_text(f"{os.getpid()}\n")
    assert servers.valkey.pid() not in (None, os.getpid())
    servers.valkey.stop()
    assert not servers.valkey.running()
    (servers.valkey.folder / "pid").write_text(f"{os.getpid()}\n")
    servers.start()
    assert servers.valkey.running()


def test_starters_at_the_same_time_start_one(folder: Path) -> None:
    Services(folder).stop()
    starts = [
        subprocess.Popen(
            [sys.executable, "-m", "dominopoker.local", "env"], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True,
            env=commands.environment({"LOCAL_DIR": str(folder)}),
        )
        for _ in range(3)
    ]  # fmt: skip
    answers = {start.communicate(timeout=60)[0] for start in starts}
    assert [start.returncode for start in starts] == [0, 0, 0]
    assert len(answers) == 1
    assert "DATABASE_URL" in answers.pop()


def test_commands_start_and_attach_by_themselves(folder: Path) -> None:
    Services(folder).stop()
    done = commands.run("python", "manage.py", "migrate", "--verbosity=0", env={"LOCAL_DIR": str(folder)})
    assert done.returncode == 0, done.stderr
    done = commands.run("python", "-m", "dominopoker.local", "status", env={"LOCAL_DIR": str(folder)})
    assert done.stdout == "PostgreSQL: running\nValkey: running\n"
    with psycopg.connect(Services(folder).postgres.url("postgres")) as connection:
        owners = connection.execute("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert owners == [("owner",)]


def test_conform_needs_no_database(tmp_path: Path) -> None:
    vectors = sorted(Path("tests/vectors").glob("dp_*.json"))
    done = commands.run("python", "manage.py", "conform", *vectors, env={"LOCAL_DIR": str(tmp_path / "never")})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().splitlines()[-1].endswith("0 failed")
    assert not (tmp_path / "never").exists()


def test_no_file_with_a_secret_is_open_to_others(servers: Services) -> None:
    servers.place.secret_key()
    for path in (servers.place.home / "notes.json", servers.directory / "secret_key", servers.valkey.folder):
        assert path.stat().st_mode & 0o077 == 0, path
    assert servers.place.sockets.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands PostgreSQL to another account")
def test_a_folder_out_of_reach_keeps_its_permissions_and_the_data_lies_elsewhere(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    servers = Services(home / "checkout" / ".local")
    try:
        servers.start()
        assert servers.place.moved
        assert servers.postgres.running()
        assert home.stat().st_mode & 0o777 == 0o700
        done = commands.run("python", "-m", "dominopoker.local", "start", env={"LOCAL_DIR": str(servers.directory)})
        assert str(servers.place.home) in done.stdout
    finally:
        servers.remove()
    assert not servers.place.home.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_that_somebody_else_made_in_a_shared_place_is_refused(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    os.chown(trap, 65534, 65534)
    with pytest.raises(LocalError, match="belongs to somebody else"):
        own_directory(trap, 0o711)


def test_a_long_path_still_fits_a_socket(tmp_path: Path) -> None:
    servers = Services(tmp_path / ("long" * 30) / ".local")
    try:
        servers.start(valkey=False)
        assert servers.postgres.running()
    finally:
        servers.remove()
