"""People at the page: they find a table and play what the page offers, by mouse or by keys."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Error, Page, expect

END_SECONDS = 90
PHONE = {"width": 360, "height": 740}
Arrive = Callable[..., Page]


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


# -- people among people -------------------------------------------------------------------------------------------


def at_table(page: Page) -> Page:
    """Wait until the live page of a table is connected."""
    expect(page.locator("#table")).to_have_attribute("data-status", "connected", timeout=10_000)
    return page


def open_table(page: Page, url: str, *, name: str, visibility: str = "public", rounds: int = 1) -> str:
    """Open a table from the lobby's form; the code that its page shows to those who sit there."""
    page.goto(f"{url}/lobby/")
    page.fill("[data-name]:visible", name)
    page.click(".create > summary")
    page.check(f'input[name="visibility"][value="{visibility}"]')
    page.fill('.create input[name="rounds"]', str(rounds))
    page.click('form[action="/rooms/"] button[type=submit]')
    at_table(page)
    return page.locator(".room-code").inner_text().replace("-", "")


def sit_in_lobby(page: Page, url: str, *, name: str) -> Page:
    """Take a seat at the first table of the lobby."""
    page.goto(f"{url}/lobby/")
    page.fill("[data-name]:visible", name)
    page.locator("[data-sit]").first.click()
    return at_table(page)


def join_by_code(page: Page, url: str, code: str, *, name: str) -> Page:
    """Type a code as people do, in small letters and with a dash."""
    page.goto(f"{url}/lobby/")
    page.fill("[data-name]:visible", name)
    page.fill('input[name="code"]', f"{code[:4]}-{code[4:]}".lower())
    page.click('form[action="/join/"] button[type=submit]')
    return at_table(page)


def fill_and_start(host: Page) -> None:
    """The host fills the empty seats with bots, if there are any, and starts."""
    if host.locator(".chair[data-empty]").count():
        host.click("[data-action=fill]")
        expect(host.locator(".chair[data-empty]")).to_have_count(0)
    host.click("[data-action=start]")
    expect(host.locator("#table")).not_to_have_attribute("data-room", "waiting")


# What a page offers right now, the most urgent first; a sheet of a finished round is put away.
OFFERED = """() => {
  for (const selector of ['[data-action="continue"]', '[data-declare]', '[data-bid="2"]',
                          '[data-hand-tile][data-playable="true"]']) {
    const found = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());
    if (found && found.getAttribute("aria-disabled") !== "true") return selector;
  }
  return "";
}"""


def answer(page: Page) -> bool:
    """Click what the page offers, if it offers anything; never waits."""
    selector = page.evaluate(OFFERED)
    if selector:
        with contextlib.suppress(Error):  # the table went on between the look and the click
            page.locator(f"{selector} >> visible=true").first.click(timeout=1500)
    return bool(selector)


def play_together(pages: list[Page], *, until: Callable[[], bool] | None = None) -> None:
    """Play for everybody in turn until each has the final page before them, or until something else is true."""
    ends = time.monotonic() + END_SECONDS
    while time.monotonic() < ends:
        if until() if until is not None else all(over(page) for page in pages):
            return
        answered = [answer(page) for page in pages]
        if not any(answered):
            pages[0].wait_for_timeout(40)  # keeps the browser's messages coming
    raise AssertionError("the match did not end in time")


def wait_for_turn(mine: Page, others: list[Page], selector: str) -> None:
    """Let the others play until this page is asked, i.e. shows something of this kind; nothing of it is answered."""
    play_together(others, until=lambda: bool(mine.locator(f"{selector} >> visible=true").count()))


def to_the_result(*pages: Page) -> None:
    """The table plays for everybody, so that a test of what follows need not click through a match; then each page is
    loaded anew and shows the result."""
    from rooms import clock, playing
    from rooms.models import Room, Seat

    room = Room.objects.latest("pk")
    running = Room.objects.filter(pk=room.pk, status__in=[Room.Status.STARTING, Room.Status.PLAYING])
    Seat.objects.filter(room=room, player__isnull=False).update(auto_play=True)
    ends = time.monotonic() + END_SECONDS
    while running.exists():
        assert time.monotonic() < ends, "the match did not end in time"
        running.filter(status=Room.Status.PLAYING).update(due_at=clock.now())
        playing.ring(room.pk)
        pages[0].wait_for_timeout(20)  # keeps the browser's messages coming
    for page in pages:
        page.reload()  # else it would show tile by tile what it has missed
        page.locator("[data-sheet]:visible").first.wait_for()
    play_together(list(pages))  # the sheet of the last round may have to be put away first


# -- what there is to see --------------------------------------------------------------------------------------------


def shifts(page: Page) -> list[Any]:
    found: list[Any] = page.evaluate("window.shifts")
    return found


def room_number() -> int:
    from rooms.models import Room

    return Room.objects.get(status="waiting").pk


def pair(arrive: Arrive, url: str, **options: Any) -> tuple[Page, Page]:
    """A host and one other person at a public table, still waiting."""
    host, other = arrive(), arrive(**options)
    code = open_table(host, url, name="Anna")
    join_by_code(other, url, code, name="Bruno")
    expect(host.locator(".chair[data-empty]")).to_have_count(2)
    return host, other


def own_seat(page: Page) -> str:
    return page.locator('.stage .plate[data-side="south"]').get_attribute("data-seat") or ""
