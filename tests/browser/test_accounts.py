"""Accounts in real Chromium: a guest signs up in mid-match, a second device, signing out, every page on a phone."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from games.models import MatchEvent, MatchSeat
from players.models import Player
from rooms.models import Seat
from tests.browser import player
from tests.players.accounts import PASSWORD, account
from tests.support.site import LiveSite

PHONE = {"width": 360, "height": 740}
pytestmark = pytest.mark.usefixtures("no_page_errors")


def fill_in(page: Page, name: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("E-mail address").fill(f"{name.lower()}@play.example")
    page.get_by_label("Password").fill(PASSWORD)


def sign_in(page: Page, url: str, name: str) -> None:
    page.goto(f"{url}/accounts/login/")
    page.get_by_label("Name or e-mail address").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


def test_a_guest_signs_up_in_a_match_and_goes_on_playing(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url, rounds=1)
    player.click_through(page, turns=2)
    table = page.url
    page.get_by_label("Settings").click()
    page.get_by_role("link", name="Create an account").click()
    expect(page.get_by_text("Your seat and the match that you play stay yours.")).to_be_visible()
    fill_in(page, "Bo")
    page.get_by_role("button", name="Create the account").click()
    expect(page).to_have_url(table)
    expect(page.locator("#table")).to_have_attribute("data-status", "connected")
    player.click_through(page)
    assert MatchEvent.objects.filter(by="seat").count() == 8
    assert MatchSeat.objects.get(player=Player.objects.get()).name == "Bo" and not Player.objects.get().is_guest


def test_signing_up_in_another_tab_leaves_the_table_open(page: Page, live_site: LiveSite) -> None:
    player.start(page, live_site.url, rounds=1)
    player.click_through(page, turns=2)
    tab = page.context.new_page()
    tab.goto(f"{live_site.url}/accounts/signup/")
    fill_in(tab, "Bo")
    tab.get_by_role("button", name="Create the account").click()
    expect(tab.get_by_label("Account of Bo")).to_be_visible()
    page.bring_to_front()
    page.wait_for_timeout(3000)  # the session of before is looked at once a second
    expect(page.locator("#table")).to_have_attribute("data-status", "connected")
    player.click_through(page)
    assert MatchEvent.objects.filter(by="seat").count() == 8


def test_a_second_device_takes_the_seat_over(page: Page, browser: Browser, live_site: LiveSite) -> None:
    account("Ana")
    sign_in(page, live_site.url, "ana")
    player.start(page, live_site.url, rounds=1)
    player.click_through(page, turns=2)
    phone = browser.new_page(viewport=PHONE)  # type: ignore[arg-type]
    sign_in(phone, live_site.url, "ana@play.example")
    phone.get_by_role("button", name="Back to the table").click()
    expect(phone.locator("#table")).to_have_attribute("data-status", "connected")
    expect(page.get_by_text("taken over on another device")).to_be_visible(timeout=8000)
    player.click_through(phone)
    assert MatchEvent.objects.filter(by="seat").count() == 8
    phone.close()


def test_signing_out_ends_the_table_in_the_other_tab(page: Page, live_site: LiveSite) -> None:
    account("Ana")
    sign_in(page, live_site.url, "ana")
    player.start(page, live_site.url, rounds=1)
    player.wait_for_question(page)
    tab = page.context.new_page()
    tab.goto(live_site.url)
    tab.get_by_label("Account of Ana").click()
    tab.get_by_role("button", name="Sign out").click()
    expect(tab.get_by_role("link", name="Sign in")).to_be_visible()
    page.bring_to_front()
    expect(page.get_by_text("Your session has ended.")).to_be_visible(timeout=8000)
    assert Seat.objects.filter(player__isnull=False).exists(), "away, not forfeited"


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.soak), "dark"])
def test_every_page_is_sound_on_a_phone_and_wide(page: Page, live_site: LiveSite, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    found: dict[str, Any] = {}

    def look(name: str) -> None:
        for size in (PHONE, {"width": 1440, "height": 900}):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            result = Axe().run(page)
            serious = [v["id"] for v in result.response["violations"] if v["impact"] in {"serious", "critical"}]
            if serious:
                found[f"{name} {size['width']}"] = serious
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[f"{name} {size['width']} wide"] = True

    for path in ("login/", "signup/", "password/reset/", "password/reset/done/", "confirm-email/", "inactive/"):
        page.goto(f"{live_site.url}/accounts/{path}")
        look(path)
    page.goto(f"{live_site.url}/accounts/signup/")
    fill_in(page, "Admin")
    page.get_by_role("button", name="Create the account").click()
    error = page.locator("#id_username_error")
    expect(error).to_have_text("That name is reserved. Please choose another.")
    assert "id_username_error" in (page.get_by_label("Name").get_attribute("aria-describedby") or "")
    look("signup refused")
    wilhelmina = account("Wilhelmina Of Orange")
    EmailAddress.objects.create(user=wilhelmina, email="new@play.example")
    sign_in(page, live_site.url, "wilhelmina of orange")
    page.get_by_label("Account of Wilhelmina Of Orange").click()
    expect(page.get_by_role("link", name="Your account")).to_be_visible()
    look("menu")
    for path in ("", "email/", "password/change/", "2fa/", "delete/", "logout/", "reauthenticate/"):
        page.goto(f"{live_site.url}/accounts/{path}")
        look(path or "account")
    page.goto(f"{live_site.url}/accounts/2fa/totp/activate/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button").first.click()
    expect(page.locator("#authenticator_secret")).to_be_visible()
    look("second step")
    assert found == {}


# By how much the page is wider than its window, and the settings or the link past the header stand out of it.
STRAY = """(size) => {
  document.documentElement.style.fontSize = size;
  const inside = document.body.clientWidth;
  const settings = document.querySelector('summary[aria-label="Settings"]').getBoundingClientRect();
  return [
    document.documentElement.scrollWidth - inside, settings.right - inside, -settings.left,
    document.querySelector(".skip").getBoundingClientRect().bottom,
  ].map((number) => Math.max(0, number));
}"""


def test_nothing_sticks_out_at_any_width_whatever_the_name_the_balance_and_the_letters(
    page: Page, live_site: LiveSite
) -> None:
    account("Wwwwwwwwwwwwwwwwwwww")
    sign_in(page, live_site.url, "wwwwwwwwwwwwwwwwwwww")
    page.goto(f"{live_site.url}/lobby/")
    expect(page.locator("#lobby")).to_have_attribute("data-live", "yes")
    found = {}
    for name, coins in (("Wwwwwwwwwwwwwwwwwwww", "5000"), ("Wwwwwwwwwwwwwwwwwwww", "123456789"), ("Bo", "123456789")):
        page.evaluate("(name) => { document.querySelector('.account-name').textContent = name }", name)
        page.evaluate("(coins) => { document.querySelector('.purse-coins').textContent = coins }", coins)
        for width in range(320, 1101, 20):
            page.set_viewport_size({"width": width, "height": 740})
            for size in ("100%", "200%") if width % 60 == 20 else ("100%",):
                stray = page.evaluate(STRAY, size)
                if any(stray):
                    found[name, coins, width, size] = stray
    assert found == {}
