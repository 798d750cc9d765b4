"""Settings come from the environment and refuse to start on a value that is missing or wrong."""

import re
from pathlib import Path

import pytest

from tests.support import commands

LOAD = "import dominopoker.settings"
GOOD = {
    "DATABASE_URL": "postgresql://app@/x?host=/tmp",
    "DATABASE_OWNER_URL": "postgresql://owner@/x?host=/tmp",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "SECRET_KEY": "s" * 50,
}


def test_good_settings_load() -> None:
    assert commands.run("python", "-c", LOAD, env=GOOD).returncode == 0


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL", "SECRET_KEY"])
def test_a_missing_setting_is_named(name: str) -> None:
    done = commands.run("python", "-c", LOAD, env=GOOD | {name: ""})
    assert done.returncode != 0
    assert f"{name} must be set" in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TURN_SECONDS", "soon"),
        ("DEBUG", "yes"),
        ("DB_ROLE", "root"),
        ("DATABASE_URL", "mysql://x"),
        ("TURN_SECONDS", "-1"),
    ],
)
def test_a_wrong_setting_is_quoted(name: str, value: str) -> None:
    done = commands.run("python", "-c", LOAD, env=GOOD | {name: value})
    assert done.returncode != 0
    assert name in done.stderr.splitlines()[-1]


def test_every_setting_is_in_the_example_and_in_the_operations_page() -> None:
    source = Path("dominopoker/settings.py").read_text()
    names = set(re.findall(r"\b(?:env|env_bool|env_int|env_seconds|env_list|database)\(\s*\"([A-Z_]+)\"", source))
    assert len(names) > 20
    for page in (".env.example", "docs/operations.md"):
        text = Path(page).read_text()
        missing = sorted(name for name in names if not re.search(rf"\b{name}\b", text))
        assert not missing, f"{page} says nothing of {', '.join(missing)}"


def test_production_passes_djangos_own_deployment_check() -> None:
    done = commands.run(
        "python", "manage.py", "check", "--deploy", "--fail-level", "WARNING",
        env=GOOD | {"PRODUCTION": "1", "SECRET_KEY": "aB3$" * 20 + "xyz123", "SITE_URL": "https://play.example"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_cookie_of_production_is_bound_to_its_host() -> None:
    script = """
import django; django.setup()
from django.conf import settings
from dominopoker.notices import OwnCookie
print(OwnCookie.cookie_name, *(getattr(settings, f"{one}_COOKIE_NAME") for one in ("SESSION", "CSRF", "SEAT")))
print(settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE, settings.SEAT_COOKIE_SECURE)
"""
    production = {"PRODUCTION": "1", "SECRET_KEY": "aB3$" * 20 + "xyz123", "SITE_URL": "https://play.example"}
    done = commands.run(
        "python", "-c", script, env=GOOD | production | {"DJANGO_SETTINGS_MODULE": "dominopoker.settings"}
    )
    names, safe = (line.split() for line in done.stdout.splitlines())
    assert len(names) == 4 and all(name.startswith("__Host-") for name in names) and set(safe) == {"True"}, done.stderr
