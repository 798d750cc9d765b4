"""Real Chromium on the real site: whole matches by mouse and by keys, trouble on the way, accessibility."""

import json
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from games.models import MatchEvent
from tests.browser import player
from tests.support.site import LiveSite

PHONE = {"width": 360, "height": 740}
pytestmark = pytest.mark.usefixtures("no_page_errors")


def test_a_match_of_two_rounds_by_clicking(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url)
    player.click_through(page)
    assert MatchEvent.objects.filter(by="seat").count() == 16
    page.click('[data-sheet="final"] [data-action="lobby"]')
    expect(page).to_have_url(live_site.url + "/")


def test_a_match_by_keys_alone(page: Page, live_site: LiveSite) -> None:
    page.goto(live_site.url)
    page.locator("input[name=rounds]").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(page.locator("#table")).to_have_attribute("data-status", "connected")
    player.key_through(page)
    assert MatchEvent.objects.filter(by="seat").count() == 8


def test_the_page_goes_on_by_itself_after_the_server_was_killed(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url, rounds=1)
    player.click_through(page, turns=3)
    live_site.kill()
    expect(page.locator("#table")).to_have_attribute("data-status", "reconnecting")
    live_site.start()
    expect(page.locator("#table")).to_have_attribute("data-status", "connected", timeout=5000)
    player.click_through(page)
    assert MatchEvent.objects.filter(by="seat").count() == 8


def test_a_reload_finds_the_same_hand(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url, rounds=1)
    player.click_through(page, turns=2)
    player.wait_for_question(page)
    tiles = "() => [...document.querySelectorAll('[data-hand-tile]')].map((tile) => tile.dataset.handTile)"
    before = page.evaluate(tiles)
    page.reload()
    player.wait_for_question(page)
    assert page.evaluate(tiles) == before


def test_the_network_goes_and_comes_back(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url, rounds=1)
    player.wait_for_question(page)
    for _i in range(3):
        page.context.set_offline(True)
        page.wait_for_timeout(300)
        page.context.set_offline(False)
    expect(page.locator("#table")).to_have_attribute("data-status", "connected", timeout=8000)
    player.click_through(page)
    assert MatchEvent.objects.filter(by="seat").count() == 8


def test_a_double_click_is_one_bid(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url, rounds=1)
    page.locator("[data-bid]:visible").first.wait_for(timeout=20000)
    page.evaluate("""() => { for (const bid of ["3", "4"]) document.querySelector(`[data-bid="${bid}"]`).click(); }""")
    page.locator("[data-bid]:visible").first.wait_for(state="detached", timeout=20000)
    bids = [json.loads(e.body) for e in MatchEvent.objects.filter(tag="BidMade", by="seat")]
    assert [bid["bid"] for bid in bids] == [3]


def test_a_second_match_offers_the_first(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url, rounds=1)
    table = page.url
    page.goto(live_site.url)
    back = page.locator(f'form[action="{table.removeprefix(live_site.url)}return/"] button')
    back.first.click()
    expect(page).to_have_url(table)
    expect(page.locator("#table")).to_have_attribute("data-status", "connected")


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.soak), "dark"])
def test_nothing_serious_is_found_by_axe(page: Page, live_site: LiveSite, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    found = {}

    def look(name: str) -> None:
        # What is on its way is half transparent.
        page.evaluate("Promise.allSettled(document.getAnimations().map((one) => one.finished)).then(() => null)")
        result = Axe().run(page)
        serious = [v["id"] for v in result.response["violations"] if v["impact"] in {"serious", "critical"}]
        if serious:
            found[name] = serious

    page.set_viewport_size({"width": 1440, "height": 900})
    for path in ("/", "/rules/", "/nowhere/"):
        page.goto(live_site.url + path)
        look(path)
    page.set_viewport_size({"width": 360, "height": 740})
    player.start(page, live_site.url, rounds=1)
    player.wait_for_question(page)
    page.wait_for_timeout(400)
    look("bidding")
    player.click_through(page, turns=2)
    player.wait_for_question(page)
    page.wait_for_timeout(400)
    look("trick")
    player.click_through(page)
    page.wait_for_timeout(400)
    look("final")
    match = MatchEvent.objects.values_list("match", flat=True)[0]
    for path in (f"/matches/{match}/", f"/matches/{match}/rounds/1/"):
        page.goto(live_site.url + path)
        look(path)
    assert found == {}


def test_the_browser_deals_the_round_again(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url, rounds=1)
    player.click_through(page)
    match = MatchEvent.objects.values_list("match", flat=True)[0]
    page.goto(f"{live_site.url}/matches/{match}/rounds/1/")
    page.wait_for_selector('[data-check][data-fits="true"]')
    page.wait_for_timeout(300)
    assert page.locator('[data-check][data-fits="false"]').count() == 0


@pytest.mark.parametrize("size", [PHONE, {"width": 820, "height": 1180}, {"width": 1440, "height": 900}])
def test_nothing_spills_over_the_side(page: Page, live_site: LiveSite, size: Any) -> None:
    page.set_viewport_size(size)
    wide = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
    for path in ("/", "/rules/"):
        page.goto(live_site.url + path)
        assert not page.evaluate(wide), path
    player.start(page, live_site.url, rounds=1)
    player.wait_for_question(page)
    assert not page.evaluate(wide)


def test_pages_ask_no_other_host(page: Page, live_site: LiveSite) -> None:
    hosts = set()
    page.on("request", lambda request: hosts.add("/".join(request.url.split("/")[:3])))
    page.goto(live_site.url + "/rules/")
    player.start(page, live_site.url, rounds=1)
    assert hosts == {live_site.url}
