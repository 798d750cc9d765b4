"""The pages of statistics in real Chromium: readable at every size and in both themes, with nothing for axe to find."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Browser, Page

from players.models import Player
from stats import services as stats
from tests.stats import people
from tests.support.site import LiveSite

SIZES = {"phone": (360, 740), "tablet": (820, 1180), "desktop": (1440, 900)}
NAMES = ("Ana", "Bo", "Maximilian Kraftwerk", "Dara", "Eli", "Wwwwwwwwwwwwwwwwwwww")


@pytest.fixture
def crowd(live_site: LiveSite) -> list[Player]:
    crowd = people.four(*NAMES)
    people.season(crowd, 24, end=timezone.now(), rounds=4)
    stats.rate_new()
    return crowd


def signed_in(browser: Browser, site: LiveSite, player: Player, size: str, scheme: Any) -> Page:
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": people.visit(player).cookies[name].value, "url": site.url}])
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.on("console", lambda line: pytest.fail(line.text) if "Content Security Policy" in line.text else None)
    return page


def look(page: Page, name: str) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"
    serious = [
        violation
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in {"moderate", "serious", "critical"}
    ]
    assert serious == [], f"{name}: {serious}"
    small = page.evaluate(
        """() => [...document.querySelectorAll("main a, main summary")].filter((one) => {
          const box = one.getBoundingClientRect();
          return box.height > 0 && box.height < 24;
        }).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert small == [], name


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.soak)])
def test_every_page_is_readable_everywhere(
    browser: Browser, live_site: LiveSite, crowd: list[Player], scheme: str
) -> None:
    newcomer = people.person("Newcomer")
    for size in SIZES:
        page = signed_in(browser, live_site, crowd[0], size, scheme)
        page.goto(f"{live_site.url}/stats/")
        page.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.open = one.closest('.chart') !== null })"
        )
        look(page, f"stats-{size}-{scheme}")
        page.goto(f"{live_site.url}/leaderboard/")
        look(page, f"leaderboard-{size}-{scheme}")
        page.goto(f"{live_site.url}/leaderboard/?period=7d&sort=exact")
        look(page, "leaderboard by exact bids")
        page.goto(f"{live_site.url}/players/{newcomer.pk}/")
        look(page, f"newcomer-{size}-{scheme}")
        page.context.close()
        page = signed_in(browser, live_site, people.person(f"Guest {size}", guest=True), size, scheme)
        page.goto(f"{live_site.url}/stats/")
        look(page, f"hint-{size}-{scheme}")
        page.context.close()


def test_the_charts_follow_the_chosen_theme(browser: Browser, live_site: LiveSite, crowd: list[Player]) -> None:
    page = signed_in(browser, live_site, crowd[0], "desktop", "light")
    page.goto(f"{live_site.url}/stats/")
    colour = "getComputedStyle(document.querySelector('.chart-picture text')).fill"
    light = page.evaluate(colour)
    page.click("summary.icon-button")
    page.check("input[name=theme][value=dark]", force=True)
    assert page.evaluate(colour) != light
    page.context.close()


def test_without_a_pointer_the_tables_open_and_say_the_same(
    browser: Browser, live_site: LiveSite, crowd: list[Player]
) -> None:
    page = signed_in(browser, live_site, crowd[0], "phone", "light")
    page.goto(f"{live_site.url}/stats/")
    page.locator(".chart summary").first.focus()
    page.keyboard.press("Enter")
    cells = page.locator(".matrix tbody td").all_inner_texts()
    drawn = page.locator(".dot-graph .dot").count()
    assert drawn == sum(text != "0" for text in cells) > 0
    page.context.close()
