"""The site under each server, its logs, and the stage that the tests stand on."""

import contextlib
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from dominopoker.local.place import CHECKOUT
from dominopoker.local.valkey import free_port
from tests.support.services import Run, empty, superuser
from tests.support.site import LiveSite


def test_the_site_answers_under_daphne(live_site: LiveSite, tmp_path: Path) -> None:
    port = free_port()
    log = tmp_path / "daphne.log"
    with log.open("wb") as output:
        daphne = subprocess.Popen(
            [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "dominopoker.asgi:application"],
            cwd=CHECKOUT, env=live_site.environment() | {"SITE_URL": f"http://127.0.0.1:{port}"},
            stdout=output, stderr=output,
        )  # fmt: skip
    try:
        ends = time.monotonic() + 30
        while time.monotonic() < ends and daphne.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/") as page:
                assert b"Domino Poker" in page.read()
                return
            time.sleep(0.05)
        pytest.fail(f"No answer under daphne:\n{log.read_text()}")
    finally:
        daphne.kill()
        daphne.wait(10)


def test_the_site_drains_on_sigterm_and_comes_back(live_site: LiveSite) -> None:
    live_site.terminate()
    assert "Application shutdown complete" in live_site.log_text()
    live_site.start()
    with urllib.request.urlopen(live_site.url) as page:
        assert page.status == 200


def test_a_killed_site_comes_back_on_its_port(live_site: LiveSite) -> None:
    address = live_site.url
    live_site.kill()
    live_site.start()
    assert live_site.url == address


def test_servers_that_others_use_are_not_restarted(live_site: LiveSite) -> None:
    with pytest.raises(RuntimeError, match="lone_site"):
        live_site.restart_postgres()


def test_the_site_outlives_restarts_of_postgresql_and_valkey(lone_site: LiveSite) -> None:
    lone_site.restart_postgres()
    lone_site.restart_valkey()
    ends = time.monotonic() + 15
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(lone_site.url) as page:
            assert page.status == 200
            break
        assert time.monotonic() < ends, lone_site.log_tail()
        time.sleep(0.1)


@pytest.mark.django_db
def test_tests_run_as_the_role_of_the_site(services: Run) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, current_database()")
        assert cursor.fetchone() == ("app", services.database)


def test_the_database_goes_back_to_what_the_migrations_left(services: Run) -> None:
    with superuser(services.services, services.database) as admin:
        before = admin.execute("SELECT count(*) FROM django_content_type").fetchone()
        admin.execute("INSERT INTO django_session VALUES ('k', 'd', now())")
        admin.execute("DELETE FROM auth_group_permissions")
        admin.execute("DELETE FROM auth_permission")
        empty(services.services, services.database)
        assert admin.execute("SELECT count(*) FROM django_session").fetchone() == (0,)
        assert admin.execute("SELECT count(*) FROM auth_permission").fetchone() != (0,)
        assert admin.execute("SELECT count(*) FROM auth_group_permissions").fetchone() != (0,)
        assert admin.execute("SELECT count(*) FROM django_content_type").fetchone() == before


def test_append_only_rows_are_refused_to_the_site_and_to_their_owner(services: Run) -> None:
    for role in ("app", "owner"):
        with psycopg.connect(services.services.postgres.url(role, services.database), autocommit=True) as link:
            for command in ("TRUNCATE games_matchevent", "DELETE FROM games_matchevent WHERE false"):
                if command.startswith("DELETE") and role == "owner":
                    continue  # a trigger for each row has no row to refuse
                with pytest.raises(psycopg.Error):
                    link.execute(command.encode())
