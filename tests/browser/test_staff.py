"""A moderator's walk in real Chromium: from a player to the last coin of a pot, and a correction by two people."""

import csv
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from players import staff
from players.models import StaffAct
from tests.players.test_accounts_staff import code
from tests.rooms import stage
from tests.rooms.gold import rich
from tests.rooms.house import played
from tests.support.site import LiveSite
from wallet import selectors as wallet
from wallet.models import Posting

PASSWORD = "seven dry dominoes"
pytestmark = pytest.mark.usefixtures("no_page_errors")


def sign_in(page: Page, url: str, name: str, role: str) -> None:
    """Make this member of staff, and sign in with password and one-time code."""
    _player, secret, _codes = staff.make_staff(name, role, PASSWORD)
    page.goto(f"{url}/admin/")
    page.get_by_label("Name or e-mail address").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.get_by_label("Authenticator code").or_(page.locator("#id_code")).first.fill(code(secret))
    page.get_by_role("main").get_by_role("button").first.click()
    expect(page.get_by_role("navigation", name="Pages of the house")).to_be_visible()


def house(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Pages of the house").get_by_role("link", name=name).click()


def sound(page: Page, name: str) -> None:
    """No serious fault of accessibility on our own pages, and nothing that hangs over the edge."""
    result = Axe().run(page)
    serious = [v["id"] for v in result.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert serious == [], (name, [v["nodes"][0]["html"] for v in result.response["violations"]])
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), name


def test_a_moderators_walk_to_the_last_coin(page: Page, browser: Browser, live_site: LiveSite, tmp_path: Path) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = played(ana, ben, fee=301)
    match = stage.match_of(room)
    sign_in(page, live_site.url, "Mo Watson", "moderator")

    # A player.
    house(page, "Players")
    page.locator("#searchbar").fill("Ana")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Ana", exact=True).click()
    expect(page.get_by_role("heading", name="Ana", exact=True)).to_be_visible()
    sound(page, "player")

    # Her match, in words, and checked.
    page.get_by_role("link", name=str(match), exact=True).click()
    expect(page.get_by_text("The match ends:")).to_be_visible()
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("Verified: every deal")).to_be_visible()
    sound(page, "match")

    # The pot, to the coin: 602 is 422 and 180.
    page.get_by_role("link", name=f"The gold of room {room.pk}").click()
    expect(page.get_by_text("The pot was 602.")).to_be_visible()
    expect(page.get_by_text("rounded down: 180; the first gets the rest: 422.")).to_be_visible()
    expect(page.get_by_text("All of this agrees with the ledger.")).to_be_visible()
    sound(page, "room")
    page.get_by_role("link", name="The same postings in the ledger").click()
    expect(page.get_by_text("4 postings")).to_be_visible()
    sound(page, "ledger")

    # The search as a file.
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as CSV").click()
    file = tmp_path / "ledger.csv"
    download.value.save_as(file)
    rows = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))
    assert sorted(int(row["coins"]) for row in rows) == [180, 301, 301, 422]

    # A correction, asked for by one ...
    page.goto(f"{live_site.url}/admin/house/players/{ana.pk}/")
    before = wallet.balance(ana.pk)
    page.get_by_label("Gold (below 0: taken)").fill("25")
    page.locator("#ask_reason").fill("A fault of ours cost her a trick")
    page.get_by_role("button", name="Ask for the correction").click()
    expect(page.get_by_text("waits for a second person.").first).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    assert wallet.balance(ana.pk) == before
    sound(page, "corrections")
    house(page, "Signals to look at")
    sound(page, "flags")

    # ... approved by another.
    other = browser.new_context().new_page()
    sign_in(other, live_site.url, "Sue Grey", "senior")
    house(other, "Corrections")
    expect(other.get_by_text("A fault of ours cost her a trick")).to_be_visible()
    other.get_by_role("button", name="Approve correction").click()
    expect(other.get_by_text("Approved: the gold has moved.")).to_be_visible()
    assert wallet.balance(ana.pk) == before + 25 and sum(wallet.totals().values()) == 0
    assert Posting.objects.filter(kind="correction", amount=25).count() == 1
    house(other, "What staff did")
    expect(other.get_by_role("cell", name="asked for a correction")).to_be_visible()
    acts = list(StaffAct.objects.exclude(act="appoint").order_by("pk").values_list("act", flat=True))
    assert acts == [
        "search", "search", "look", "match", "verify", "money", "ledger", "export", "look", "ask", "corrections",
        "flags", "corrections", "approve", "corrections", "log",
    ]  # fmt: skip
    other.context.close()
