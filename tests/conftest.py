"""The stage of every test: own servers, a database for each worker, a live site, a browser."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import chromium
from tests.support.links import close_links
from tests.support.services import Run, clone, empty, make_template, new_services
from tests.support.site import SHORT, LiveSite

# The settings read the environment when Django is set up, which is before any fixture: addresses first, servers later,
# when the first test needs them.
run = Run()
os.environ.update(SHORT | run.environment())
os.environ["DJANGO_SETTINGS_MODULE"] = "dominopoker.settings"
os.environ.pop("DB_ROLE", None)
# Playwright's synchronous interface keeps an event loop on the thread of the test, where Django would refuse queries.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

import django  # noqa: E402
from django.conf import settings  # noqa: E402

if settings.configured:
    pytest.exit("Unset DJANGO_SETTINGS_MODULE: the settings must not be read before the tests say where.", returncode=2)
django.setup()
# A worker inherits this environment, and with the variable set pytest-django would read the settings before us.
del os.environ["DJANGO_SETTINGS_MODULE"]

from django.core.cache import cache  # noqa: E402
from django.db import connections  # noqa: E402
from django.test import TransactionTestCase  # noqa: E402


def pytest_unconfigure() -> None:
    run.close()


@pytest.fixture(scope="session")
def services() -> Run:
    """The servers of this run, started, with this worker's database in its first state."""
    run.prepare()
    return run


@pytest.fixture(scope="session")
def django_db_setup(services: Run, django_db_blocker: Any) -> Iterator[None]:
    """Tests run as the role of the site, on a copy of a database that the owner's role migrated."""
    yield
    with django_db_blocker.unblock():
        for connection in connections.all():
            connection.close()
            connection.close_pool()  # type: ignore[attr-defined]


def _empty_instead_of_flush(self: TransactionTestCase) -> None:
    for connection in connections.all():
        connection.close()
    empty(run.services, run.database)
    cache.clear()


# Django would TRUNCATE as the site's role, which may not; the append-only tables refuse it to everybody.
TransactionTestCase._fixture_teardown = _empty_instead_of_flush  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def _sites(services: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveSite]]:
    site = LiveSite(services.services, services.environment(), tmp_path_factory.mktemp("site") / "site.log")
    yield {"shared": site}
    site.stop()


@pytest.fixture
def live_site(_sites: dict[str, LiveSite], transactional_db: None) -> Iterator[LiveSite]:
    """The running site on this worker's database, with short times; kept between tests, started when it is not up.

    The test's own ORM sees the same database. A test may kill, terminate and start it. Not to be restarted here:
    PostgreSQL and Valkey, which other workers use (`lone_site`).
    """
    site = _sites["shared"]
    if not site.running:
        site.start()
    yield site
    site.kill_worker()


@pytest.fixture
def quiet_site(_sites: dict[str, LiveSite], transactional_db: None) -> None:
    """No web process pulses on this worker's database while the test says what time has done."""
    _sites["shared"].stop()


@pytest.fixture
def other_site(services: Run, transactional_db: None, tmp_path: Path) -> Iterator[Any]:
    """Makes a further site on this worker's database: `other_site(TURN_SECONDS="1", worker=True)`."""
    made: list[LiveSite] = []

    def make(*, worker: bool = False, **environment: str) -> LiveSite:
        log = tmp_path / f"site{len(made)}.log"
        site = LiveSite(services.services, services.environment(), log, changes=environment)
        made.append(site)
        site.start(worker=worker)
        return site

    yield make
    for site in made:
        site.stop()


@pytest.fixture
def lone_site(tmp_path: Path) -> Iterator[LiveSite]:
    """A site with PostgreSQL and Valkey of its own, which a test may restart; its database is read with `sql`."""
    servers = new_services()
    try:
        servers.start()
        make_template(servers)
        clone(servers, "dominopoker")
        addresses = {**servers.environment(), "CHANNEL_PREFIX": "lone"}
        site = LiveSite(servers, addresses, tmp_path / "site.log", private=True)
        try:
            site.start()
            yield site
        finally:
            site.stop()
    finally:
        servers.remove()


@pytest.fixture
def quick_hashes(settings: Any) -> None:
    """Passwords are hashed in no time."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _links_are_closed() -> Iterator[None]:
    """A socket left open would be counted, and served, in the next test."""
    yield
    close_links()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Playwright's browser is the machine's Chromium; without one the test fails and says what to install."""
    program = chromium.path()
    if program is None:
        pytest.fail(chromium.MISSING)
    return {**browser_type_launch_args, "executable_path": program, "args": chromium.arguments()}
