"""Pictures of every page and state at three sizes and in both themes, and the one of the README.

`make screenshots` writes docs/img/table.png and, below .local/screenshots/, all the others to be looked at;
`python -m tests.browser.screenshots --only gold` takes one family, each into a folder of its own."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import player
from tests.support import chromium
from tests.support.services import clone, make_template, new_services
from tests.support.site import SHORT, LiveSite

ROOT = Path(__file__).parents[2]
# The pace of the product: a picture between two hurried moves would show neither.
PACE = {"BOT_PACE_SECONDS": "0.8", "TRICK_PAUSE_SECONDS": "1", "ROUND_PAUSE_SECONDS": "6", "COUNTDOWN_SECONDS": "7"}
SIZES = {"phone": (360, 740), "tablet": (820, 1180), "desktop": (1440, 900)}


def settle(page: Page) -> None:
    """Let motion end: a picture of a moving tile shows nothing."""
    page.wait_for_timeout(600)


def walk(browser: Browser, url: str, folder: Path, name: str, scheme: str) -> None:
    """Visit everything in one size and theme."""
    width, height = SIZES[name]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()

    def shoot(state: str) -> None:
        settle(page)
        page.screenshot(path=folder / f"{state}-{name}-{scheme}.png")

    page.goto(url)
    shoot("home")
    page.goto(url + "/rules/")
    shoot("rules")
    player.start(page, url, rounds=1)
    player.wait_for_question(page)
    shoot("bidding")
    seen = set()
    while not player.over(page):
        player.wait_for_question(page)
        state = ""
        if page.locator('[data-sheet="round"]:visible').count():
            state = "round"
        elif page.locator("[data-declare]:visible").count():
            state = "declaring"
        elif page.locator('[data-playable="true"]').count() and page.locator(".slot [data-tile], .slot svg").count():
            state = "trick"
        if state and state not in seen:
            seen.add(state)
            shoot(state)
            if (name, scheme, state) == ("desktop", "dark", "trick"):
                page.screenshot(path=ROOT / "docs" / "img" / "table.png")
        player.click_through(page, turns=1)
    shoot("final")
    match = page.locator('[data-action="review"]')
    if match.count():
        page.goto(url + (match.first.get_attribute("href") or "/"))
        shoot("match")
        page.goto(page.url + "rounds/1/")
        shoot("check")
    context.close()


def walk_room(browser: Browser, url: str, folder: Path, name: str, scheme: str) -> None:
    """A table among people, from its waiting room to the rematch, in one size and theme."""
    width, height = SIZES[name]

    def arrive() -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
        return context.new_page()

    def shoot(page: Page, state: str) -> None:
        settle(page)
        page.screenshot(path=folder / f"{state}-{name}-{scheme}.png")

    host, guest, away, visitor = (arrive() for _i in range(4))
    code = player.open_table(host, url, name="Anna")
    shoot(host, "room-new")
    visitor.goto(f"{url}/lobby/")
    shoot(visitor, "lobby")
    visitor.goto(f"{url}/join/{code}/")
    shoot(visitor, "join")
    player.join_by_code(guest, url, code, name="Maximilian Featherst")
    host.locator("[data-action=watching]").check()
    visitor.goto(url + "/lobby/")
    visitor.click(".row-name a")
    player.at_table(visitor)
    shoot(visitor, "room-visitor")
    player.join_by_code(away, url, code, name="Carla")
    away.context.set_offline(True)
    host.locator(".chair[data-away]").wait_for()
    shoot(host, "room-host")
    shoot(guest, "room-guest")
    host.click("[data-action=remove] >> nth=0")
    shoot(host, "room-remove")
    host.click("[data-action=stay]")
    player.fill_and_start(host)
    shoot(host, "countdown")
    player.play_together([host], until=lambda: host.locator(".stage .plate[data-auto]").count() > 1)
    shoot(host, "auto-play")
    shoot(guest, "auto-play-own")
    shoot(visitor, "watching")
    guest.click("[data-action=resume]")
    for speaker, words in ((host, "thinking"), (guest, "applause")):
        speaker.click("[data-action=talk]")
        if speaker is host:
            shoot(host, "talk")
        speaker.click(f"[data-say={words}]")
    guest.locator(".bubble").first.wait_for()
    guest.screenshot(path=folder / f"bubbles-{name}-{scheme}.png")
    guest.click(".top [data-action=leave]")
    shoot(guest, "forfeit")
    guest.click("[data-action=stay]")
    player.play_together([host, guest])
    host.click("[data-action=talk]")
    shoot(host, "final-talk")
    host.click("[data-say=good_game]")
    guest.locator(".places .bubble").wait_for()
    guest.screenshot(path=folder / f"final-bubble-{name}-{scheme}.png")
    guest.click("[data-action=rematch]")
    host.locator(".rematch-line").filter(has_text="wants").wait_for()
    shoot(host, "final-room")
    player.at_table(guest)
    shoot(guest, "rematch-expected")
    host.click("[data-action=rematch]")
    player.at_table(host)
    shoot(host, "rematch")
    for page in (host, guest, away, visitor):
        page.context.close()


FAMILIES = ("table", "accounts", "gold", "stats", "staff")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=FAMILIES, action="append", help="take this family alone (may be given again)")
    families = parser.parse_args().only or FAMILIES
    for family in families:
        if len(families) > 1:  # the settings of a process name one database
            subprocess.run([sys.executable, "-m", "tests.browser.screenshots", "--only", family], cwd=ROOT, check=True)
            continue
        began, folder = time.monotonic(), ROOT / ".local" / "screenshots" / family
        take(family, folder)
        print(f"{family}: {time.monotonic() - began:.0f} s, pictures in {folder}", flush=True)


def take(family: str, folder: Path) -> None:
    """Visit what belongs to this family, on servers and a site of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (ROOT / "docs" / "img").mkdir(exist_ok=True)
    servers = new_services()
    try:
        servers.start()
        make_template(servers)
        clone(servers, "dominopoker")
        addresses = {**servers.environment(), "CHANNEL_PREFIX": "pictures", "SECRET_KEY": "pictures-only"}
        log = Path(tempfile.mkdtemp()) / "site.log"
        site = LiveSite(servers, {**addresses, **PACE}, log, private=True)
        try:
            site.start()
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=chromium.path(), args=chromium.arguments())
                if family == "table":
                    for name in SIZES:
                        for scheme in ("light", "dark"):
                            walk(browser, site.url, folder, name, scheme)
                            walk_room(browser, site.url, folder, name, scheme)
                else:
                    # Playwright keeps an event loop on this thread, where Django would refuse queries.
                    os.environ.update({**SHORT, **addresses, "DJANGO_ALLOW_ASYNC_UNSAFE": "true", "LOG_LEVEL": "ERROR"})
                    _visit(family, browser, site.url, folder)
                browser.close()
        finally:
            site.stop()
    finally:
        servers.remove()


def _visit(family: str, browser: Browser, url: str, folder: Path) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "dominopoker.settings"
    import django

    django.setup()
    from tests.browser import gallery

    gallery.FAMILIES[family](gallery.Gallery(browser, url, folder))


if __name__ == "__main__":
    main()
