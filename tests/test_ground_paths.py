"""No log shows what opens a private table or an account."""

import logging

import pytest
from django.db import OperationalError
from django.test import Client, RequestFactory

from dominopoker.paths import shown
from dominopoker.unavailable import DatabaseBusy

SECRET = "7K2M9PQA"


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        (f"/tables/{SECRET}/", "/tables/***/"),
        (f"/tables/{SECRET}", "/tables/***"),
        (f"/Tables/{SECRET}/qr.svg", "/Tables/***/qr.svg"),
        (f"//join/{SECRET} x/", "//join/*** x/"),
        (f"/ws/watch/{SECRET}/", "/ws/watch/***/"),
        (f"/accounts/confirm-email/{SECRET}:1:x/", "/accounts/confirm-email/***"),
        (f"/accounts/password/reset/key/1-{SECRET}/", "/accounts/password/reset/key/***"),
        ("/accounts/confirm-email/", "/accounts/confirm-email/"),
        ("/rooms/17/", "/rooms/17/"),
        ("/lobby/", "/lobby/"),
    ],
)
def test_secrets_are_stars(path: str, seen: str) -> None:
    assert shown(path) == seen


PATHS = [
    f"/tables/{SECRET}/nothing/",
    f"/tables/{SECRET.lower()}/",
    f"/watch/{SECRET}/",
    f"/join/{SECRET}/nothing/",
    f"/accounts/confirm-email/{SECRET}!/",
    f"/accounts/password/reset/key/{SECRET}/",
    f"/accounts/confirm-email/{SECRET}:1:x/",
]


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_pages_that_are_not_there_are_logged_without_secrets(path: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        answer = Client(enforce_csrf_checks=True).get(path)
        Client(enforce_csrf_checks=True).post(path, {})
    assert answer.status_code in {200, 301, 302, 404}
    assert "***" in caplog.text and SECRET not in caplog.text.upper()


def test_a_busy_database_is_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    busy = DatabaseBusy(lambda _request: pytest.fail("not asked"))
    answer = busy.process_exception(RequestFactory().get(PATHS[-1]), OperationalError("late"))
    assert answer is not None and answer.status_code == 503
    assert "503 at /accounts/confirm-email/***" in caplog.text and SECRET not in caplog.text


@pytest.mark.parametrize("name", ["django.request", "django.security.csrf", "django.server", "django.channels.server"])
def test_whoever_logs_requests_is_filtered(name: str, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger(name).error('"%s" %s', f"GET /join/{SECRET}/ HTTP/1.1", 404)
    logging.getLogger(name).error("HTTP %(method)s %(path)s", {"method": "GET", "path": f"/tables/{SECRET}/"})
    assert '"GET /join/***/ HTTP/1.1" 404' in caplog.text and "HTTP GET /tables/***/" in caplog.text
