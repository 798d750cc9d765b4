"""Trouble on the way, in real Chromium: missed turns, sleep, wrong clocks, bad networks, double clicks, Back."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, WebSocketRoute, expect

from games import selectors
from games.history import load
from games.models import MatchEvent, MatchSeat
from rooms.models import Room, Seat
from tests.browser import player
from tests.browser.player import Arrive, own_seat, pair
from tests.support.site import LiveSite


def test_missed_turns_are_seen_by_all_and_taken_back(arrive: Arrive, other_site: Any) -> None:
    site = other_site(TURN_SECONDS="1")
    host, other = pair(arrive, site.url)
    player.fill_and_start(host)
    plate = '.stage .plate[data-seat="1"]'
    player.play_together([host], until=lambda: host.locator(f"{plate}[data-auto]").count() > 0)
    expect(host.locator(f"{plate} .misses i[data-on]")).to_have_count(3)
    expect(host.locator(f"{plate} .plate-role")).to_have_text("auto-play")
    other.click("[data-action=resume]")
    expect(host.locator(f"{plate}[data-auto]")).to_have_count(0)
    expect(host.locator(f"{plate} .misses")).to_be_hidden()


def test_an_answer_that_was_on_its_way_too_long_is_said_to_be_late(arrive: Arrive, other_site: Any) -> None:
    site = other_site(TURN_SECONDS="1.5")
    host = arrive()
    slow: list[Callable[[], None]] = []

    def carry(page_side: WebSocketRoute) -> None:
        server = page_side.connect_to_server()

        def up(message: str | bytes) -> None:
            if '"act"' in str(message):
                slow.append(lambda: server.send(message))
            else:
                server.send(message)

        page_side.on_message(up)

    host.route_web_socket(re.compile("/ws/tables/"), carry)
    player.open_table(host, site.url, name="Anna")
    player.fill_and_start(host)
    host.locator('[data-bid="3"]:visible').click(timeout=20_000)
    host.locator("[data-bid]:visible").first.wait_for(state="detached", timeout=10_000)
    for send in slow:
        send()
    expect(host.locator("#live")).to_contain_text("Too late")
    assert MatchEvent.objects.get(tag="BidMade", seat=0).by == "idle"


def seconds_shown(page: Page) -> float:
    """What the ring of the seat in turn shows of a turn of ten seconds."""
    share: str = page.locator(".stage .plate[data-turn][data-clocked]").evaluate(
        "(plate) => plate.style.getPropertyValue('--left')", timeout=2000
    )
    return float(share) * 10


def seconds_left() -> float:
    deadline = Room.objects.get(status="playing").deadline_at
    assert deadline is not None
    return (deadline - timezone.now()).total_seconds()


class Sleep:
    """A page that does nothing while messages wait for it, as on a locked phone. Chromium freezes only the pages of a
    hidden window, and without a screen no window is ever hidden: so the debugger halts the page's thread instead."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._device = page.context.new_cdp_session(page)
        self._device.send("Debugger.enable")
        self._device.send("Debugger.pause")

    def wake(self, *, told: bool) -> None:
        """Go on; told: with the event that browsers send to a page which they had frozen."""
        self._device.send("Debugger.resume")
        self._device.send("Debugger.disable")
        if told:
            self._page.evaluate("document.dispatchEvent(new Event('resume'))")


@pytest.mark.clock
@pytest.mark.parametrize("told", [pytest.param(True, marks=pytest.mark.soak), False])
def test_a_page_that_slept_shows_the_true_clock(arrive: Arrive, live_site: LiveSite, told: bool) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    player.wait_for_turn(host, [other], "[data-bid], [data-hand-tile][data-playable=true]")
    # The question of the one who sleeps opens while it sleeps, so what waits for it tells the time of then.
    sleep = Sleep(other)
    turn = Room.objects.get(status="playing").opened_at
    player.play_together([host], until=lambda: seat_in_turn() == 1 and Room.objects.get().opened_at != turn)
    host.wait_for_timeout(4500)
    sleep.wake(told=told)
    other.wait_for_timeout(1900)
    player.at_table(other)
    assert abs(seconds_shown(other) - seconds_left()) < 0.5
    player.play_together([host, other])
    assert not MatchEvent.objects.filter(by="idle").exists()


def test_the_line_that_tells_of_trouble_cuts_through_no_plate(arrive: Arrive, live_site: LiveSite) -> None:
    page = arrive(viewport=player.PHONE)
    player.start(page, live_site.url)
    page.locator("[data-bid]:visible").first.wait_for()
    page.context.set_offline(True)
    expect(page.locator(".banner")).to_contain_text("your seat is kept")
    line, plate = (page.locator(what).bounding_box() for what in (".banner", '.stage .plate[data-side="north"]'))
    assert line is not None and plate is not None
    assert line["y"] + line["height"] <= plate["y"]


def seat_in_turn() -> int:
    """The seat that is asked now, as the page of somebody who looks at the database would say; -1 when nobody is."""
    last = MatchEvent.objects.order_by("-number").values_list("body", flat=True)[0]
    room = Room.objects.get(status="playing")
    if not room.is_open:
        return -1
    assert room.match_id is not None and last is not None
    loaded = load(room.match_id)
    return next((prompt.seat for prompt in selectors.prompts(loaded)), -1)


def test_a_page_asleep_past_the_heartbeat_is_back_within_two_seconds(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    player.wait_for_turn(host, [other], "[data-bid]")
    sleep = Sleep(other)
    plate = '.stage .plate[data-seat="1"]'
    player.play_together([host], until=lambda: host.locator(f"{plate}[data-away]").count() > 0)
    sleep.wake(told=True)
    expect(other.locator("#table")).to_have_attribute("data-status", "connected", timeout=2000)
    expect(host.locator(f"{plate}[data-away]")).to_have_count(0, timeout=2000)


SKEWED = """
(() => {
  const Real = Date;
  let skew = %d;
  window.jump = (ms) => { skew += ms; };
  window.Date = class extends Real {
    constructor(...given) { given.length ? super(...given) : super(Real.now() + skew); }
    static now() { return Real.now() + skew; }
  };
})();
"""


@pytest.mark.clock
@pytest.mark.parametrize("skew", [300_000, pytest.param(-300_000, marks=pytest.mark.soak)])
def test_a_wrong_device_clock_changes_nothing(arrive: Arrive, live_site: LiveSite, skew: int) -> None:
    host, other = pair(arrive, live_site.url, timezone_id="Asia/Jakarta")
    other.add_init_script(SKEWED % skew)
    other.reload()
    player.at_table(other)
    player.fill_and_start(host)
    player.wait_for_turn(other, [host], "[data-bid], [data-hand-tile][data-playable=true]")
    assert abs(other.evaluate("Date.now()") / 1000 - timezone.now().timestamp() - skew / 1000) < 5
    assert abs(seconds_shown(other) - seconds_left()) < 0.5
    other.evaluate(f"window.jump({-2 * skew})")
    other.wait_for_timeout(2500)
    assert abs(seconds_shown(other) - seconds_left()) < 0.5
    player.play_together([host, other])
    assert not MatchEvent.objects.filter(by="idle").exists()


def test_back_is_no_forfeit(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    host.go_back()
    host.go_forward()
    player.at_table(host)
    assert Room.objects.count() == 1
    player.fill_and_start(host)
    player.wait_for_turn(host, [other], "[data-bid]")
    seat = own_seat(host)
    host.go_back()
    expect(host.locator("form[action*='/return/'] button")).to_be_visible()
    assert Seat.objects.get(number=int(seat)).player_id is not None
    host.locator("form[action*='/return/'] button").first.click()
    player.at_table(host)
    assert own_seat(host) == seat
    player.to_the_result(host, other)
    assert not MatchSeat.objects.filter(forfeited=True).exists()


def test_double_clicks_are_one_action(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    host.locator("[data-action=bot]").first.dblclick()
    expect(host.locator(".chair[data-empty]")).to_have_count(1)
    host.locator("[data-action=fill]").dblclick()
    expect(host.locator(".chair[data-empty]")).to_have_count(0)
    host.locator("[data-action=start]").dblclick()
    player.wait_for_turn(host, [other], "[data-bid]")
    host.evaluate("""() => { for (const bid of ["3", "4"]) document.querySelector(`[data-bid="${bid}"]`).click(); }""")
    host.keyboard.press("5")
    player.wait_for_turn(host, [other], "[data-hand-tile][data-playable=true]")
    host.evaluate("""() => { for (const tile of document.querySelectorAll('[data-playable="true"]')) tile.click(); }""")
    player.play_together([host, other])
    assert list(MatchEvent.objects.filter(tag="BidMade", seat=0).values_list("answer", flat=True)) == ["bid 3"]
    assert MatchEvent.objects.filter(by="seat", seat=0).count() == 8


def test_a_network_that_comes_and_goes_ten_times_keeps_the_seat(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    player.wait_for_turn(host, [other], "[data-bid]")
    seat, plate = own_seat(other), '.stage .plate[data-seat="1"]'
    for _i in range(10):
        other.context.set_offline(True)
        other.wait_for_timeout(250)
        other.context.set_offline(False)
        other.wait_for_timeout(250)
        player.answer(host)
        player.answer(other)
    player.at_table(other)
    assert own_seat(other) == seat
    expect(host.locator(f"{plate}[data-away]")).to_have_count(0, timeout=10_000)
    player.play_together([host, other])
    assert not MatchSeat.objects.filter(forfeited=True).exists()
