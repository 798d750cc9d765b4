"""The lobby in real Chromium: tables come, fill and go on every open page; each way to a seat; phones, keys, axe."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from players.models import Player
from rooms import closing, hosting, seating
from rooms.models import Room, Seat
from tests.rooms import crowd, stage
from tests.support.site import LiveSite

SOON_MS = 2000
PHONE = {"width": 360, "height": 740}
TABLE = re.compile(r"/tables/[0-9A-Z]{8}/$")
Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, live_site: LiveSite, watched: Callable[[Page], None]) -> Iterator[Visit]:
    """Opens a page of the site as a new person, watched: `visit("/lobby/")`."""
    contexts = []

    def open_page(path: str = "/lobby/", **context: Any) -> Page:
        contexts.append(browser.new_context(**context))
        page = contexts[-1].new_page()
        watched(page)
        page.goto(live_site.url + path)
        if path.startswith("/lobby/") and context.get("java_script_enabled", True):
            expect(page.locator("#lobby")).to_have_attribute("data-live", "yes")
        return page

    yield open_page
    for context in contexts:
        context.close()


def row(page: Page, room: Room) -> Any:
    return page.locator(f"#room-{room.pk}")


def test_a_table_appears_fills_and_vanishes_on_two_pages(visit: Visit) -> None:
    pages = [visit(), visit()]
    ana = stage.person("Ana")
    room = stage.waiting(ana)
    for page in pages:
        expect(row(page, room)).to_contain_text("Ana’s room", timeout=SOON_MS)
        expect(page.locator('[data-empty="none"]')).to_be_hidden()
    seating.sit(stage.person("Bo"), room.pk)
    for page in pages:
        expect(row(page, room)).to_contain_text("2 of 4 seats taken", timeout=SOON_MS)
    hosting.fill_bots(room.pk, ana.pk, "medium")
    for page in pages:
        expect(row(page, room).locator("[data-sit]")).to_have_count(0, timeout=SOON_MS)
    closing.leave(room.pk, ana.pk)
    hosting.delete(room.pk, Room.objects.get(pk=room.pk).host_id or 0)
    for page in pages:
        expect(row(page, room)).to_have_count(0, timeout=SOON_MS)
        expect(page.locator('[data-empty="none"]')).to_be_visible()


def test_open_a_table_and_sit_down_at_it_from_another_page(visit: Visit) -> None:
    host, guest = visit(), visit()
    host.fill("#name", "Zoë")
    host.click("text=Open a room")
    host.fill("#rounds", "3")
    host.click("text=Open the room")
    expect(host).to_have_url(TABLE)
    room = Room.objects.get()
    assert room.options == {"rounds": 3} and Seat.objects.get().name == "Zoë"
    guest.fill("#name", "Mia")
    guest.click(f"#room-{room.pk} [data-sit]", timeout=SOON_MS)
    expect(guest).to_have_url(TABLE)
    assert dict(Seat.objects.values_list("number", "name")) == {0: "Zoë", 1: "Mia"}


def test_the_own_room_stays_a_way_back_while_its_row_changes(visit: Visit) -> None:
    host = visit()
    host.click("text=Open a room")
    host.click("text=Open the room")
    expect(host).to_have_url(TABLE)
    room = Room.objects.get()
    host.goto(host.url.split("/tables/")[0] + "/lobby/")
    expect(row(host, room)).to_contain_text("Your room")
    seating.sit(stage.person("Bo"), room.pk)
    expect(row(host, room)).to_contain_text("2 of 4 seats taken", timeout=SOON_MS)
    expect(row(host, room).locator(".row-name")).to_have_text("Your room")
    expect(row(host, room).locator("[data-sit]")).to_have_count(0)
    hosting.fill_bots(room.pk, room.host_id or 0, "medium")
    expect(row(host, room)).to_contain_text("4 of 4 seats taken", timeout=SOON_MS)
    row(host, room).locator("[data-return]").click()
    expect(host).to_have_url(re.compile(f"/tables/{room.code}/$"))


def test_a_row_that_changes_under_a_press_does_not_swallow_the_click(visit: Visit) -> None:
    ana = stage.person("Ana")
    room = stage.waiting(ana)
    guest = visit()
    button = guest.locator(f"#room-{room.pk} [data-sit]")
    button.hover()
    guest.mouse.down()
    hosting.put_bot(room.pk, ana.pk, 3, "medium")
    guest.wait_for_timeout(SOON_MS)
    guest.mouse.up()
    expect(guest).to_have_url(TABLE)


def test_a_double_click_opens_one_table(visit: Visit) -> None:
    page = visit()
    page.click("text=Open a room")
    page.dblclick("text=Open the room")
    expect(page).to_have_url(TABLE)
    assert Room.objects.count() == 1
    page.go_back()
    page.reload()
    expect(page.locator("#own-title")).to_be_visible()
    page.click("text=Back to the room")
    expect(page).to_have_url(TABLE)


def test_join_by_a_code_typed_in_lower_case_with_dashes(visit: Visit) -> None:
    room = stage.waiting(stage.person("Ana"), visibility="private")
    page = visit()
    page.fill("#name", "Mia")
    page.fill("#code", f"{room.code[:4]}-{room.code[4:]}".lower())
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/tables/{room.code}/$"))
    assert Seat.objects.get(number=1).name == "Mia"


def test_a_wrong_code_is_answered_beside_the_field_and_the_list_stays_live(visit: Visit) -> None:
    page = visit()
    page.fill("#code", "zzzz-zzzz")
    page.click('form[action="/join/"] button')
    expect(page.locator("#join-error")).to_contain_text("There is no open seat with this code.")
    expect(page.locator("#code")).to_have_value("zzzz-zzzz")
    expect(page.locator("#code")).to_be_focused()
    room = stage.waiting(stage.person("Ana"))
    expect(row(page, room)).to_be_visible(timeout=SOON_MS + 1000)


def test_the_link_leads_to_the_table(visit: Visit) -> None:
    room = stage.waiting(stage.person("Ana"), visibility="private")
    page = visit(f"/join/{room.code.lower()}/", viewport=PHONE)
    expect(page.locator(".code-shown")).to_contain_text(f"{room.code[:4]}-{room.code[4:]}")
    page.fill("#name", "Mia")
    page.click("text=Sit down")
    expect(page).to_have_url(re.compile(f"/tables/{room.code}/$"))


def test_quick_play_brings_two_people_together(visit: Visit) -> None:
    one, two = visit(), visit()
    one.click("#who button")
    expect(one).to_have_url(TABLE)
    room = Room.objects.get()
    expect(row(two, room)).to_be_visible(timeout=SOON_MS)
    expect(row(two, room)).not_to_contain_text("away")
    two.click("#who button")
    expect(two).to_have_url(one.url)


def test_the_busy_page_leads_back_or_on(visit: Visit) -> None:
    other = stage.waiting(stage.person("Ana"))
    page = visit()
    page.click("text=Open a room")
    page.click("text=Open the room")
    expect(page).to_have_url(TABLE)
    own = page.url
    page.goto(page.url.split("/tables/")[0] + "/lobby/")
    page.click(f"#room-{other.pk} [data-sit]")
    expect(page.locator("h1")).to_have_text("You have a seat already")
    page.click("text=Go back to it")
    expect(page).to_have_url(own)
    page.goto(page.url.split("/tables/")[0] + "/lobby/")
    page.click(f"#room-{other.pk} [data-sit]")
    page.click("text=Leave it and sit down there")
    expect(page).to_have_url(re.compile(f"/tables/{other.code}/$"))


def test_all_of_it_works_without_scripts(visit: Visit) -> None:
    room = stage.waiting(stage.person("Ana"))
    page = visit("/lobby/?fee=paid", java_script_enabled=False)
    expect(row(page, room)).to_be_hidden()
    page.check('input[name="fee"][value=""]', force=True)
    page.click("text=Show >> nth=0")
    page.fill("#name", "Mia")
    page.click(f"#room-{room.pk} [data-sit]")
    expect(page).to_have_url(re.compile(f"/tables/{room.code}/$"))
    assert Seat.objects.get(number=1).name == "Mia"
    second = visit("/lobby/", java_script_enabled=False)
    second.click("summary:has-text('Open a room')")
    second.fill("#create-name", "Noa")
    second.click("text=Open the room")
    expect(second).to_have_url(TABLE)
    assert Player.objects.filter(shown_name="Noa").exists()


def test_the_filter_is_kept_in_the_address_and_rules_what_comes(visit: Visit) -> None:
    room = stage.waiting(stage.person("Ana"))
    page = visit()
    page.check('input[name="fee"][value="paid"]', force=True)
    expect(row(page, room)).to_be_hidden()
    assert page.url.endswith("/lobby/?fee=paid")
    expect(page.locator('[data-empty="filter"]')).to_be_visible()
    new = stage.waiting(stage.person("Bo"))
    expect(row(page, new)).to_have_count(1, timeout=SOON_MS)
    expect(row(page, new)).to_be_hidden()
    page.reload()
    expect(row(page, room)).to_be_hidden()
    page.click("[data-show-all]")
    expect(row(page, room)).to_be_visible()
    assert page.url.endswith("/lobby/")


def test_what_is_in_focus_stays_there_while_tables_come_and_go(visit: Visit) -> None:
    rooms = crowd.waiting(20)
    page = visit()
    middle = rooms[10]
    button = row(page, middle).locator("[data-sit]")
    button.focus()
    page.mouse.move(5, 5)
    top = "(id) => document.getElementById(id).getBoundingClientRect().top"
    before = page.evaluate(top, f"room-{middle.pk}")
    fuller = stage.waiting(stage.person("Ana"), stage.person("Bo"))  # first in the list
    expect(row(page, fuller)).to_be_visible(timeout=SOON_MS)
    assert abs(page.evaluate(top, f"room-{middle.pk}") - before) < 2
    expect(button).to_be_focused()
    Seat.objects.filter(room=middle).update(name="Renamed")
    Room.objects.filter(pk=middle.pk).update(version=99)
    expect(row(page, middle)).to_contain_text("Renamed", timeout=SOON_MS)
    expect(button).to_be_focused()
    Room.objects.filter(pk=middle.pk).update(status="destroyed")
    expect(row(page, middle)).to_have_count(0, timeout=SOON_MS)
    assert page.evaluate("document.activeElement.closest('.table-row') !== null")


def test_rows_stand_in_the_order_of_the_server(visit: Visit) -> None:
    page = visit()
    lonely = crowd.waiting(5)
    expect(row(page, lonely[-1])).to_be_visible(timeout=SOON_MS)
    ana, bo, cem = (stage.person(name) for name in ("Ana", "Bo", "Cem"))
    pair = stage.waiting(ana, bo)
    expect(row(page, pair)).to_be_visible(timeout=SOON_MS)
    gone = stage.waiting(cem)
    expect(row(page, gone)).to_be_visible(timeout=SOON_MS)
    stage.go_away(gone, cem)
    order = "() => [...document.querySelectorAll('.table-row')].map((row) => row.id)"
    expect(row(page, gone)).to_have_attribute("data-away", "", timeout=8000)
    live = page.evaluate(order)
    page.reload()
    assert live == page.evaluate(order) and live[0] == f"room-{pair.pk}" and live[-1] == f"room-{gone.pk}"


def test_the_page_comes_back_by_itself_and_says_so_quietly(visit: Visit, live_site: LiveSite) -> None:
    page = visit()
    live_site.kill()
    expect(page.locator("[data-connection]")).to_have_text("Reconnecting", timeout=6000)
    live_site.start()
    expect(page.locator("#lobby")).to_have_attribute("data-live", "yes", timeout=12000)
    expect(page.locator("[data-connection]")).to_have_text("")
    room = stage.waiting(stage.person("Ana"))
    expect(row(page, room)).to_be_visible(timeout=SOON_MS)


def test_ages_grow_by_the_page_s_own_clock(visit: Visit) -> None:
    room = stage.waiting(stage.person("Ana"))
    page = visit("/rules/")
    page.clock.install()
    page.goto(page.url.replace("/rules/", "/lobby/"))
    expect(row(page, room).locator("[data-age]")).to_have_text("new")
    page.clock.fast_forward(130_000)
    expect(row(page, room).locator("[data-age]")).to_have_text("2 min")


def spills(page: Page) -> bool:
    """Whether something reaches over the side of the page, or of its place in the header."""
    return bool(
        page.evaluate(
            """() => [document.documentElement, document.querySelector(".brand")]
                .some((one) => one.scrollWidth > one.clientWidth)"""
        )
    )


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.soak), "dark"])
@pytest.mark.parametrize(
    "size",
    [PHONE, pytest.param({"width": 820, "height": 1180}, marks=pytest.mark.soak), {"width": 1440, "height": 900}],
)
def test_it_fits_every_screen_and_axe_finds_nothing_serious(visit: Visit, scheme: str, size: Any) -> None:
    context: Any = {"viewport": size, "color_scheme": scheme}
    found: dict[str, Any] = {}

    def look(page: Page, name: str) -> None:
        page.wait_for_timeout(300)
        result = Axe().run(page).response["violations"]
        serious = [
            (v["id"], [n["target"] for n in v["nodes"]][:2]) for v in result if v["impact"] in {"serious", "critical"}
        ]
        small = page.evaluate(
            """() => [...document.querySelectorAll("button, summary, input:not([type=hidden]), select, a")]
                .filter((one) => one.checkVisibility() && !one.closest("footer, .skip") && !one.matches(".skip"))
                .filter((one) => one.getBoundingClientRect().height < 43.5).map((one) => one.outerHTML.slice(0, 90))"""
        )
        wide = spills(page)
        if size == PHONE:
            page.set_viewport_size({"width": 320, "height": 640})  # a page at 400 % of zoom
            wide = wide or spills(page)
            page.set_viewport_size(size)
        if serious or small or wide:
            found[name] = (serious, small, wide)

    look(visit("/lobby/", **context), "empty")
    look(visit("/join/K7Q2M9XA/", **context), "link")
    rooms = crowd.waiting(20)
    Seat.objects.filter(room=rooms[0]).update(name="Bartholomew-Alexande")
    full = visit("/lobby/", **context)
    full.click("text=Open a room")
    look(full, "full")
    full.fill("#rounds", "7")
    full.fill("#name", "admin")
    full.click("text=Open the room")
    expect(full.locator("#name-error")).to_be_visible()
    look(full, "error")
    expect(full.locator("#rounds")).to_be_visible()
    full.fill("#name", "")
    full.click("#who button")
    expect(full).to_have_url(TABLE)
    full.goto(full.url.split("/tables/")[0] + "/lobby/")
    look(full, "seated")
    full.click("[data-sit] >> nth=-1")
    expect(full.locator("h1")).to_have_text("You have a seat already")
    look(full, "busy")
    assert not found, found
