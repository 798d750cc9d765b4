"""How a room looks to everybody: sizes, long names, both directions of writing, and what axe says."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from rooms.models import Seat
from tests.browser import player
from tests.browser.player import PHONE, Arrive, pair, room_number, shifts
from tests.support.site import LiveSite

DESKTOP = {"width": 1440, "height": 900}
# In every run the smallest and the widest; those between in the long one.
BETWEEN = [{"width": 820, "height": 1180}, {"width": 720, "height": 450}]
SIZES = [PHONE, DESKTOP, *(pytest.param(size, marks=pytest.mark.soak) for size in BETWEEN)]
LONGEST = "Alexandra-Konstantina Papadopoulou W"
BOX = """() => {
  const felt = [...document.querySelectorAll(".felt")].find((one) => one.checkVisibility()).getBoundingClientRect();
  return [felt.x, felt.y, felt.width, felt.height].map(Math.round);
}"""
# Names that are cut off, and what stands out at the sides of the page.
CUT = """() => {
  const all = document.querySelectorAll(".plate-name, .place-name, .sum-name");
  const names = [...all].filter((one) => one.checkVisibility());
  const cut = names.filter((one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1);
  const wide = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
  return [...cut.map((one) => one.textContent), ...wide];
}"""
# Tiles in the trick that lie under a plate, by more than a shadow.
COVERED = """() => {
  const boxes = (what) => [...document.querySelectorAll(what)].map((one) => one.getBoundingClientRect());
  return boxes(".stage .laid").filter((tile) => boxes(".stage .plate").some((plate) =>
    Math.min(tile.right, plate.right) - Math.max(tile.left, plate.left) > 6 &&
    Math.min(tile.bottom, plate.bottom) - Math.max(tile.top, plate.top) > 6)).length;
}"""


# Pips of a led tile under its mark.
HIDDEN_PIPS = """() => [...document.querySelectorAll(".stage .led")].flatMap((mark) => {
  const over = mark.getBoundingClientRect();
  return [...mark.parentElement.querySelectorAll("circle")].filter((pip) => {
    const box = pip.getBoundingClientRect();
    return box.top < over.bottom && box.bottom > over.top && box.left < over.right && box.right > over.left;
  });
}).length"""
# What of the running trick, the own plate and the hand lies under the last trick.
UNDER_LAST = """() => {
  const panel = document.querySelector(".last-panel").getBoundingClientRect();
  const trick = ".stage .laid, .stage .request, .stage .plate[data-side=south]";
  const shown = document.querySelectorAll(`${trick}, .hand-tile, .strip-message`);
  return [...shown].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.top < panel.bottom && box.bottom > panel.top && box.left < panel.right && box.right > panel.left;
  }).map((one) => one.className);
}"""
# Words of the table that do not fit where they stand.
SPILLED = """() => [...document.querySelectorAll(".strip-message, .round-line, .note-title, .plate-count, .bid")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0
    || one.scrollHeight > one.clientHeight + 2 && one.clientHeight > 0).map((one) => one.className)"""
# Keeps every moment in which the scores told other tricks than the plates.
COMPARE = """() => {
  window.ahead = [];
  const told = (seat) => document.querySelectorAll(".score-table .current td")[seat]?.textContent;
  new MutationObserver(() => {
    for (const plate of document.querySelectorAll(".stage .plate[data-seat]")) {
      const count = plate.querySelector(".plate-count [dir]")?.textContent.replaceAll(" ", "");
      const score = told(Number(plate.dataset.seat));
      if (count !== undefined && score !== undefined && score !== count) window.ahead.push(`${score} before ${count}`);
    }
  }).observe(document.querySelector("#table"), { childList: true, subtree: true, characterData: true });
}"""
# Where the buttons of an invitation stand with the widest and the narrowest letters of a code.
WITH_LETTERS = """(letters) => {
  document.querySelector(".room-code").textContent = letters;
  const boxes = [...document.querySelectorAll(".link-row .button")].map((one) => one.getBoundingClientRect());
  return boxes.map((box) => [box.x, box.y, box.width, box.height].map(Math.round).join(" "));
}"""


def uncovered(page: Page) -> bool:
    """Whether no tile lies under a plate once those that fly, which come from one, have landed."""
    for _look in range(20):
        if page.evaluate(COVERED) == 0:
            return True
        page.wait_for_timeout(100)
    return False


@pytest.mark.parametrize("size", [PHONE, {"width": 820, "height": 1180}, {"width": 740, "height": 360}], ids=str)
def test_scores_open_over_the_table_where_there_is_no_room_beside_it(
    arrive: Arrive, live_site: LiveSite, size: dict[str, int]
) -> None:
    page = arrive(viewport=size)
    player.start(page, live_site.url)
    page.locator("[data-bid]:visible").first.wait_for()
    page.click("#scores-button")
    expect(page.locator("#scores")).to_be_in_viewport(ratio=0.95)
    box = page.locator("#scores").bounding_box()
    assert box is not None and box["height"] > size["height"] * 0.7
    page.keyboard.press("Escape")
    expect(page.locator("#scores")).to_be_hidden()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["width"]))
def test_the_felt_stays_in_its_place_from_the_waiting_room_to_the_match(
    arrive: Arrive, live_site: LiveSite, size: dict[str, int]
) -> None:
    host = arrive(viewport=size)
    player.open_table(host, live_site.url, name="Anna")
    waiting = host.evaluate(BOX)
    player.fill_and_start(host)
    host.locator(".stage .felt").wait_for()
    assert host.evaluate(BOX) == waiting
    host.locator("[data-bid]:visible").first.wait_for()
    assert host.evaluate(BOX) == waiting
    assert shifts(host) == []


def test_the_felt_of_those_who_watch_stays_in_its_place_too(arrive: Arrive, live_site: LiveSite) -> None:
    host, visitor = arrive(), arrive(viewport=DESKTOP)
    player.open_table(host, live_site.url, name="Anna")
    visitor.goto(f"{live_site.url}/lobby/")
    visitor.click(".row-name a")
    player.at_table(visitor)
    expect(visitor.locator("[data-action=sit-first]")).to_be_in_viewport(ratio=1)
    waiting = visitor.evaluate(BOX)
    player.fill_and_start(host)
    visitor.locator(".stage .felt").wait_for()
    assert visitor.evaluate(BOX) == waiting
    visitor.locator(".stage .plate[data-turn]").wait_for()
    assert visitor.evaluate(BOX) == waiting and shifts(visitor) == []


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["width"]))
def test_long_names_are_read_in_full_and_cover_nothing(
    arrive: Arrive, live_site: LiveSite, size: dict[str, int]
) -> None:
    host = arrive(viewport=size)
    player.open_table(host, live_site.url, name="Anna")
    host.click("[data-action=fill]")
    expect(host.locator(".chair[data-empty]")).to_have_count(0)
    for number, name in enumerate(["Maximilian Featherst", LONGEST, "Wilhelmina Featherstonehaugh"], 1):
        Seat.objects.filter(number=number).update(name=name)
    host.locator("[data-action=watching]").click()  # a new version for everybody, with these names
    expect(host.locator(".chair").filter(has_text=LONGEST)).to_be_visible()
    assert host.evaluate(CUT) == []
    player.fill_and_start(host)
    host.click('[data-bid="2"]:visible')
    host.locator("[data-hand-tile][data-playable=true]").first.wait_for()
    assert host.evaluate(CUT) == []
    assert uncovered(host) and shifts(host) == []
    player.to_the_result(host)
    assert host.evaluate(CUT) == []


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=lambda size: str(size["width"]))
def test_the_invitation_stands_still_whatever_the_letters_and_its_picture_is_seen_whole(
    arrive: Arrive, live_site: LiveSite, size: dict[str, int]
) -> None:
    host = arrive(viewport=size)
    player.open_table(host, live_site.url, name="Anna")
    wide, narrow = (host.evaluate(WITH_LETTERS, letters) for letters in ("WWWW-WWWW", "1111-1111"))
    assert wide == narrow and len(wide) >= 3
    host.click("[data-action=qr]")
    picture = host.locator("#qr")
    expect(picture).to_be_in_viewport(ratio=1)
    box, start = picture.bounding_box(), host.locator(".room-start").bounding_box()
    assert box is not None and start is not None
    assert box["y"] + box["height"] <= start["y"] or box["x"] >= start["x"] + start["width"]


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=lambda size: str(size["width"]))
def test_the_mark_of_the_led_tile_covers_no_pip_and_no_plate_covers_a_tile_on_its_way(
    arrive: Arrive, live_site: LiveSite, size: dict[str, int]
) -> None:
    page = arrive(viewport=size)
    player.start(page, live_site.url, rounds=1)
    seen = 0
    while seen < 3:
        player.click_through(page, turns=1)
        if page.locator(".stage .led").count():
            seen += 1
            assert page.evaluate(HIDDEN_PIPS) == 0
    depth = "(what) => Number(getComputedStyle(document.querySelector(what)).zIndex)"
    assert page.evaluate(depth, ".stage .cross") > page.evaluate(depth, ".stage .plate")


def test_the_last_trick_covers_nothing_of_the_one_that_runs(arrive: Arrive, live_site: LiveSite) -> None:
    page = arrive(viewport=PHONE)
    player.start(page, live_site.url, rounds=1)
    running = page.locator('[data-hand-tile][data-playable="true"]')
    while not (page.locator(".last-button:enabled").count() and running.count()):
        player.click_through(page, turns=1)
        player.wait_for_question(page)
    page.click("[data-action=last-trick]")
    expect(page.locator(".last-panel .small-tile")).to_have_count(4)
    assert page.evaluate(UNDER_LAST) == []
    page.keyboard.press("Escape")
    expect(page.locator(".last-panel")).to_be_hidden()


def test_scores_tell_no_trick_before_its_tiles_have_landed(arrive: Arrive, live_site: LiveSite) -> None:
    page = arrive(viewport=DESKTOP)
    player.start(page, live_site.url, rounds=1)
    page.locator("[data-bid]:visible").first.wait_for()
    page.evaluate(COMPARE)
    player.click_through(page)
    assert page.evaluate("window.ahead") == []


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=lambda size: str(size["width"]))
def test_letters_of_twice_the_size_fit_the_table(arrive: Arrive, live_site: LiveSite, size: dict[str, int]) -> None:
    page = arrive(viewport=size)
    player.start(page, live_site.url, rounds=1)
    page.locator("[data-bid]:visible").first.wait_for()
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate(SPILLED) == []
    page.click('[data-bid="2"]:visible')
    page.locator("[data-hand-tile][data-playable=true]").first.wait_for()
    assert page.evaluate(SPILLED) == [] and uncovered(page)


@pytest.mark.parametrize("direction", [pytest.param("ltr", marks=pytest.mark.soak), "rtl"])
def test_at_twice_the_size_and_from_right_to_left_everything_is_at_hand(
    arrive: Arrive, live_site: LiveSite, direction: str
) -> None:
    host = arrive(viewport={"width": 640, "height": 400})
    host.add_init_script(
        f"document.addEventListener('DOMContentLoaded', () => {{ document.documentElement.dir = '{direction}'; }})"
    )
    player.open_table(host, live_site.url, name="Anna")
    expect(host.locator("[data-action=start]")).to_be_in_viewport(ratio=1)
    player.fill_and_start(host)
    host.locator("[data-bid]:visible").first.wait_for()
    for bid in host.locator("[data-bid]").all():
        expect(bid).to_be_in_viewport(ratio=1)
    host.click('[data-bid="2"]:visible')
    host.locator("[data-hand-tile][data-playable=true]").first.wait_for()
    lefts = [(tile.bounding_box() or {"x": 0})["x"] for tile in host.locator("[data-hand-tile]").all()]
    assert len(lefts) == 7 and lefts == sorted(lefts)  # the hand lies alike in every writing direction
    for tile in host.locator("[data-hand-tile]").all():
        expect(tile).to_be_in_viewport(ratio=0.95)
    assert host.evaluate(CUT) == []
    assert uncovered(host)
    player.play_together([host], until=lambda: host.locator("[data-sheet]:visible").count() > 0)
    expect(host.locator("[data-sheet]:visible .button.primary")).to_be_in_viewport(ratio=1)
    player.to_the_result(host)
    expect(host.locator("[data-action=rematch]")).to_be_in_viewport(ratio=1)
    assert host.evaluate("document.documentElement.scrollWidth <= innerWidth")
    score = host.evaluate("import('/static/js/words.js').then((words) => words.points(-5))")
    assert score == ("\u200e\u22125" if direction == "rtl" else "\u22125")  # the sign stays before its number


# -- what axe says --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.soak), "dark"])
def test_nothing_serious_is_found_by_axe_in_a_room(arrive: Arrive, live_site: LiveSite, scheme: str) -> None:
    host, other = pair(arrive, live_site.url, viewport=PHONE, color_scheme=scheme)
    visitor = arrive(color_scheme=scheme)
    found = {}

    def look(name: str, page: Page) -> None:
        page.wait_for_timeout(400)
        result = Axe().run(page)
        serious = [v["id"] for v in result.response["violations"] if v["impact"] in {"serious", "critical"}]
        if serious:
            found[name] = serious

    visitor.goto(f"{live_site.url}/rooms/{room_number()}/")
    player.at_table(visitor)
    look("visitor", visitor)
    host.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    look("host", host)
    look("guest", other)
    player.fill_and_start(host)
    player.wait_for_turn(other, [host], "[data-bid]")
    other.click("[data-action=talk]")
    look("talk", other)
    other.click("[data-action=talk]")
    player.to_the_result(host, other)
    look("final", other)
    assert found == {}
