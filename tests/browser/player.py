"""A person at the page: plays what the page offers, by mouse or by keys."""

from playwright.sync_api import Page, expect

END_SECONDS = 90


def start(page: Page, url: str, rounds: int = 2) -> None:
    """From the start page to a table with one click."""
    page.goto(url)
    page.fill("input[name=rounds]", str(rounds))
    page.click('form[action="/play/"] button[type=submit]')
    expect(page.locator("#table")).to_have_attribute("data-status", "connected")


def wait_for_question(page: Page) -> None:
    """Until the page asks: a bid, a tile, or the close of a summary."""
    page.wait_for_selector(
        '[data-bid]:visible, [data-hand-tile][data-playable="true"], [data-sheet]:visible', timeout=END_SECONDS * 1000
    )


def over(page: Page) -> bool:
    return page.locator('[data-sheet="final"]:visible').count() > 0


def click_through(page: Page, turns: int = 1000) -> None:
    """Play by clicking until the final page, or this many turns."""
    while turns and not over(page):
        wait_for_question(page)
        for selector in (
            '[data-action="continue"]:visible',
            "[data-declare]:visible",
            '[data-bid="2"]:visible:not([aria-disabled="true"])',
            '[data-hand-tile][data-playable="true"]:not([aria-disabled="true"])',
        ):
            found = page.locator(selector)
            if found.count():
                found.first.click(timeout=5000)
                turns -= 1
                break
        page.wait_for_timeout(60)


def key_through(page: Page) -> None:
    """Play by keys alone until the final page."""
    while not over(page):
        wait_for_question(page)
        if page.locator('[data-sheet="round"]:visible').count():
            page.keyboard.press("Enter")
        elif page.locator("[data-declare]:visible").count():
            page.keyboard.press("Tab")
            number = page.locator("[data-declare]").first.get_attribute("data-declare") or ""
            page.keyboard.press(number)
        elif page.locator("[data-bid]:visible").count():
            page.keyboard.press("1")
        else:
            place = page.evaluate(
                """() => [...document.querySelectorAll("[data-hand-tile]")]
                    .findIndex((tile) => tile.dataset.playable === "true") + 1"""
            )
            if place:
                page.keyboard.press(str(place))
                page.keyboard.press("Enter")
        page.wait_for_timeout(80)
