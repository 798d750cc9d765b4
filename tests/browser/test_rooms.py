"""Several people in real Chromium: whole matches, the waiting room, talk, rematch, watching, trouble on the way."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from games.models import MatchEvent, MatchSeat
from rooms.models import Room, Seat
from tests.browser import player
from tests.support.site import LiveSite

PHONE = {"width": 360, "height": 740}
Arrive = Callable[..., Page]

# Every shift of the page that no click explains; read by `shifts`.
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    const rect = (r) => [r.x, r.y, r.width, r.height].join(" ");
    const words = (s) => `${s.node?.className} from ${rect(s.previousRect)} to ${rect(s.currentRect)}`;
    window.shifts.push(entry.sources.map(words));
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture
def arrive(new_context: Callable[..., BrowserContext]) -> Iterator[Arrive]:
    """Somebody new: a page of a browser context of its own. Whatever a test does, no page may throw."""
    errors: list[str] = []

    def make(**context: Any) -> Page:
        context.setdefault("viewport", {"width": 1280, "height": 800})
        page = new_context(**context).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console",
            lambda message: errors.append(message.text) if "Content Security Policy" in message.text else None,
        )
        page.add_init_script(WATCH_SHIFTS)
        return page

    yield make
    assert errors == []


def shifts(page: Page) -> list[Any]:
    found: list[Any] = page.evaluate("window.shifts")
    return found


def room_number() -> int:
    return Room.objects.get(status="waiting").pk


def pair(arrive: Arrive, url: str, **options: Any) -> tuple[Page, Page]:
    """A host and one other person at a public table, still waiting."""
    host, other = arrive(), arrive(**options)
    code = player.open_table(host, url, name="Anna")
    player.join_by_code(other, url, code, name="Bruno")
    expect(host.locator(".chair[data-empty]")).to_have_count(2)
    return host, other


def own_seat(page: Page) -> str:
    return page.locator('.stage .plate[data-side="south"]').get_attribute("data-seat") or ""


# -- whole matches -------------------------------------------------------------------------------------------------


def test_four_people_play_a_public_table_to_the_end(arrive: Arrive, live_site: LiveSite) -> None:
    pages = [arrive(), arrive(), arrive(), arrive(viewport=PHONE, has_touch=True, is_mobile=True)]
    player.open_table(pages[0], live_site.url, name="Anna")
    for page, name in zip(pages[1:], ("Bruno", "Carla", "Dario"), strict=True):
        player.sit_in_lobby(page, live_site.url, name=name)
    player.fill_and_start(pages[0])
    player.play_together(pages)
    assert MatchEvent.objects.filter(by="seat").count() == 4 * 8
    assert MatchSeat.objects.filter(bot_level="").count() == 4
    places = {page.locator(".places li").all_inner_texts()[0] for page in pages}
    assert len(places) == 2  # the winner reads "You", the others a name
    for page in pages:
        assert shifts(page) == []


def test_four_people_play_a_private_table_to_the_end(arrive: Arrive, live_site: LiveSite) -> None:
    pages = [arrive(), arrive(viewport=PHONE, has_touch=True, is_mobile=True), arrive(), arrive()]
    code = player.open_table(pages[0], live_site.url, name="Anna", visibility="private")
    stranger = arrive()
    stranger.goto(live_site.url + "/lobby/")
    assert stranger.locator("[data-sit]").count() == 0
    for page, name in zip(pages[1:], ("Bruno", "Carla", "Dario"), strict=True):
        player.join_by_code(page, live_site.url, code, name=name)
    player.fill_and_start(pages[0])
    player.play_together(pages)
    assert MatchEvent.objects.filter(by="seat").count() == 4 * 8


def test_two_people_and_two_bots_play_to_the_end(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url, viewport=PHONE, has_touch=True, is_mobile=True)
    player.fill_and_start(host)
    player.play_together([host, other])
    assert MatchEvent.objects.filter(by="seat").count() == 2 * 8
    assert MatchEvent.objects.filter(by="bot").count() == 2 * 8
    assert shifts(host) == shifts(other) == []


# -- the waiting room ----------------------------------------------------------------------------------------------


def test_the_host_fills_clears_and_starts_only_when_all_seats_are_taken(arrive: Arrive, live_site: LiveSite) -> None:
    host = arrive()
    player.open_table(host, live_site.url, name="Anna")
    start = host.locator("[data-action=start]")
    expect(start).to_have_attribute("aria-disabled", "true")
    start.focus()
    expect(start).to_be_focused()
    expect(host.locator("#start-why")).to_have_text("Four seats must be taken before the start.")
    start.click(force=True)
    expect(host.locator('#start-why[data-tone="bad"]')).to_be_visible()
    host.locator("[data-action=bot]").first.click()
    expect(host.locator(".chair[data-empty]")).to_have_count(2)
    host.locator("[data-action=clear]").first.click()
    expect(host.locator(".chair[data-empty]")).to_have_count(3)
    host.click("[data-action=fill]")
    expect(host.locator(".chair[data-empty]")).to_have_count(0)
    expect(start).not_to_have_attribute("aria-disabled", "true")
    start.click()
    expect(host.locator(".stage .felt")).to_be_visible()
    expect(host.locator("#room")).to_be_hidden()


def test_a_guest_moves_and_sees_who_is_host_and_the_screen_reader_hears_it(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    expect(other.locator(".start-why")).to_have_text("Anna starts when four seats are taken.")
    assert other.locator("[data-action=start], [data-action=bot], [data-action=remove]").count() == 0
    expect(other.locator(".chair[data-host]")).to_contain_text("Anna")
    expect(host.locator("#live")).to_contain_text("Bruno takes seat 2.")
    other.locator("[data-action=move]").last.click()
    expect(host.locator("#live")).to_contain_text("Bruno moves to seat")
    host.click("[data-action=leave-room]")
    host.click("[data-action=confirm-leave]")
    host.wait_for_url("**/lobby/")
    expect(other.locator("#live")).to_contain_text("You are the host now.")
    expect(other.locator("[data-action=start]")).to_be_visible()
    other.click("[data-action=delete]")
    other.click("[data-action=confirm-delete]")
    expect(other.locator('[data-sheet="gone"]')).to_be_visible()
    other.click('[data-sheet="gone"] [data-action="lobby"]')
    other.wait_for_url("**/lobby/")
    assert not Seat.objects.exists()


def test_the_host_asks_before_removing_and_the_removed_one_reads_why(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    host.click("[data-action=remove]")
    host.click("[data-action=stay]")
    expect(host.locator(".chair[data-empty]")).to_have_count(2)
    host.click("[data-action=remove]")
    host.click("[data-action=confirm-remove]")
    expect(host.locator(".chair[data-empty]")).to_have_count(3)
    expect(other.locator('[data-sheet="gone"]')).to_be_visible()
    expect(other.locator('[data-sheet="gone"] [data-action="lobby"]')).to_be_focused()


def test_who_is_away_is_seen_in_the_waiting_room(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    other.context.set_offline(True)
    expect(host.locator(".chair[data-away]")).to_have_count(1, timeout=15_000)
    other.context.set_offline(False)
    expect(host.locator(".chair[data-away]")).to_have_count(0, timeout=15_000)


def test_a_visitor_chooses_a_seat_with_a_name_and_never_sees_the_code(arrive: Arrive, live_site: LiveSite) -> None:
    host, visitor = arrive(), arrive(viewport=PHONE)
    code = player.open_table(host, live_site.url, name="Anna")
    visitor.goto(f"{live_site.url}/rooms/{room_number()}/")
    player.at_table(visitor)
    assert code not in visitor.content()
    visitor.fill("#sit-name", "Vera")
    seat = visitor.locator("[data-action=sit]").last.get_attribute("value")
    visitor.locator("[data-action=sit]").last.dblclick()
    visitor.wait_for_url("**/tables/**")
    expect(host.locator(f'.chair[data-seat="{seat}"]')).to_contain_text("Vera")
    assert Seat.objects.filter(player__isnull=False).count() == 2


def test_code_and_link_can_be_passed_on(arrive: Arrive, live_site: LiveSite) -> None:
    host = arrive(permissions=["clipboard-read", "clipboard-write"])
    code = player.open_table(host, live_site.url, name="Anna", visibility="private")
    expect(host.locator(".room-code")).to_have_text(f"{code[:4]}-{code[4:]}")
    host.click("[data-action=copy-code]")
    expect(host.locator(".copied")).to_have_text("Code copied.")
    host.click("[data-action=copy-link]")
    expect(host.locator(".copied")).to_have_text("Link copied.")
    link = host.evaluate("navigator.clipboard.readText()")
    assert link == f"{live_site.url}/join/{code}/"
    host.click(".qr summary")
    host.locator(".qr img").evaluate("(picture) => picture.decode()")
    assert host.locator("[data-action=copy-watch]").count() == 0
    host.locator("[data-action=watching]").check()
    host.click("[data-action=copy-watch]")
    friend = arrive()
    friend.goto(host.evaluate("navigator.clipboard.readText()"))
    player.at_table(friend)
    expect(friend.locator(".start-why")).to_contain_text("You are watching")
    host.locator("[data-action=watching]").uncheck()
    expect(friend.locator('[data-sheet="gone"]')).to_be_visible()


def test_a_refusal_stands_beside_the_seat(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    seat = host.locator("[data-action=move]").first.evaluate("(one) => one.closest('.chair').dataset.seat")
    chair = f'.chair[data-seat="{seat}"]'
    other.context.set_offline(True)
    expect(other.locator("#table")).to_have_attribute("data-status", "reconnecting")
    other.click(f"{chair} [data-action=move]")
    expect(other.locator(f"{chair} .refusal")).to_be_visible()
    assert other.locator(".refusal:visible").count() == 1


def test_the_countdown_goes_on_over_a_reload(arrive: Arrive, other_site: Any) -> None:
    site = other_site(COUNTDOWN_SECONDS="8")
    host = arrive()
    player.open_table(host, site.url, name="Anna")
    player.fill_and_start(host)
    expect(host.locator(".countdown")).to_have_text(re.compile("[5-8]"))
    host.wait_for_timeout(2500)
    host.reload()
    player.at_table(host)
    expect(host.locator(".countdown")).to_have_text(re.compile(r"\d"))
    shown = int(host.locator(".countdown").inner_text())
    starts_at = Room.objects.values_list("starts_at", flat=True)[0]
    assert starts_at is not None and abs((starts_at - timezone.now()).total_seconds() - shown) <= 1.2
    assert shown <= 6
    assert host.locator("[data-bid], [data-hand-tile]").count() == 0
    host.locator("[data-bid]:visible").first.wait_for(timeout=20_000)


# -- watching, talk ------------------------------------------------------------------------------------------------


def test_who_watches_sees_no_hand_and_is_asked_nothing(arrive: Arrive, live_site: LiveSite) -> None:
    host, watcher = arrive(), arrive()
    frames: list[str] = []
    watcher.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(str(data))))
    player.open_table(host, live_site.url, name="Anna")
    if not host.locator("[data-action=watching]").is_checked():
        host.locator("[data-action=watching]").check()
    watcher.goto(f"{live_site.url}/rooms/{room_number()}/")
    player.at_table(watcher)
    player.fill_and_start(host)
    host.locator("[data-bid]:visible").first.wait_for()
    expect(watcher.locator(".strip-message")).to_have_text("You are watching · Anna is bidding")
    player.play_together([host, watcher])
    assert watcher.locator("[data-hand-tile], [data-bid], [data-action=rematch]:visible").count() == 0
    views = [frame["view"] for text in frames if (frame := json.loads(text))["t"] == "update" and frame["view"]]
    assert len(views) > 10 and all(view["hand"] is None and view["seat"] is None for view in views)
    watcher.click('[data-sheet="final"] [data-action="lobby"]')
    watcher.wait_for_url("**/lobby/")


def test_talk_is_heard_and_can_be_muted_for_one_person(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    for page in (host, other):
        page.locator("[data-action=talk]").wait_for()
    other.click("[data-action=talk]")
    other.click("[data-say=good_luck]")
    expect(host.locator('.bubble[data-said="good_luck"]')).to_have_text("Good luck")
    expect(host.locator("#live")).to_contain_text("Bruno: Good luck.")
    expect(other.locator("#talk")).to_be_hidden()
    host.click("[data-action=talk]")
    host.locator(".talk-people label").filter(has_text="Bruno").locator("input").check()
    expect(host.locator(".bubble")).to_have_count(0)
    host.reload()
    player.at_table(host)
    host.locator("[data-action=talk]").wait_for()
    other.click("[data-action=talk]")
    other.click("[data-say=smile]")
    expect(other.locator('.bubble[data-said="smile"]')).to_be_visible()
    host.wait_for_timeout(500)
    expect(host.locator(".bubble")).to_have_count(0)
    for _i in range(3):
        if not other.locator("#talk").is_visible():
            other.click("[data-action=talk]")
        other.click("[data-say=tea]")
        other.wait_for_timeout(150)
    expect(other.locator(".talk-note")).to_have_text("A moment: you have just said something.")


# -- after the match -----------------------------------------------------------------------------------------------


def test_a_rematch_gathers_those_who_accept_and_survives_a_reload(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    player.play_together([host, other])
    seats = {host: own_seat(host), other: own_seat(other)}
    old = other.url
    assert other.locator("[data-action=again]").count() == 0
    other.locator("[data-action=rematch]").dblclick()
    other.wait_for_url(lambda url: url != old)
    player.at_table(other)
    expect(host.locator(".rematch-line")).to_have_text("Bruno wants a rematch.")
    other.reload()
    player.at_table(other)
    expect(other.locator(f'.chair[data-you][data-seat="{seats[other]}"]')).to_be_visible()
    host.click("[data-action=rematch]")
    host.wait_for_url(lambda url: url != old)
    player.at_table(host)
    expect(host.locator(f'.chair[data-you][data-seat="{seats[host]}"]')).to_be_visible()
    assert host.url == other.url
    assert Room.objects.count() == 2
    first = other if other.locator("[data-action=start]").count() else host
    player.fill_and_start(first)
    player.play_together([host, other])
    assert MatchEvent.objects.filter(tag="MatchEnded").count() == 2


def test_the_rematch_shows_its_old_players_who_is_expected_and_strangers_nothing(
    arrive: Arrive, live_site: LiveSite
) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    player.play_together([host, other])
    seat, old = own_seat(host), other.url
    other.click("[data-action=rematch]")
    other.wait_for_url(lambda url: url != old)
    player.at_table(other)
    chair = f'.chair[data-seat="{seat}"]'
    expect(other.locator(f"{chair}[data-expected] .plate-name")).to_have_text("Anna")
    expect(other.locator(f"{chair} .plate-role")).to_contain_text("expected")
    stranger = arrive()
    stranger.goto(f"{live_site.url}/rooms/{room_number()}/")
    player.at_table(stranger)
    expect(stranger.locator(f"{chair} .plate-name")).to_have_text("Empty")
    assert "Anna" not in stranger.content()
    host.click("[data-action=rematch]")
    expect(other.locator(f"{chair}[data-expected]")).to_have_count(0)
    expect(other.locator(f"{chair} .plate-name")).to_have_text("Anna")


def test_good_game_is_said_beside_the_result(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url, viewport=PHONE)
    player.fill_and_start(host)
    player.play_together([host, other])
    seat = own_seat(other)
    other.click("[data-action=talk]")
    expect(other.locator("#talk")).to_be_in_viewport()
    other.click("[data-say=good_game]")
    expect(host.locator(f'.places [data-seat="{seat}"] .bubble')).to_have_text("Good game")
    expect(host.locator("#live")).to_contain_text("Bruno: Good game.")
    expect(other.locator("#talk")).to_be_hidden()
    expect(other.locator("[data-action=talk]")).to_be_focused()
    other.keyboard.press("Enter")
    other.keyboard.press("Escape")
    expect(other.locator("[data-action=talk]")).to_be_focused()


def test_who_was_muted_in_the_match_is_muted_beside_its_result(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    third = arrive()
    third.goto(f"{live_site.url}/rooms/{room_number()}/")
    player.at_table(third)
    third.fill("#sit-name", "Carla")
    third.click("[data-action=sit-first]")
    player.at_table(third)
    player.fill_and_start(host)
    host.click("[data-action=talk]")
    mute = host.locator(".talk-people label").filter(has_text="Bruno").locator("input")
    mute.check()
    host.keyboard.press("Escape")
    player.play_together([host, other, third])
    for page, words in ((other, "smile"), (third, "tea")):
        page.click("[data-action=talk]")
        page.click(f"[data-say={words}]")
    expect(host.locator('.places .bubble[data-said="tea"]')).to_be_visible()
    expect(host.locator('.bubble[data-said="smile"]')).to_have_count(0)
    host.click("[data-action=talk]")
    expect(mute).to_be_checked()
    mute.uncheck()
    other.click("[data-action=talk]")
    other.click("[data-say=applause]")
    expect(host.locator('.places .bubble[data-said="applause"]')).to_be_visible()


def test_the_result_stays_when_the_table_is_cleared(arrive: Arrive, other_site: Any) -> None:
    site = other_site(RESULT_SECONDS="1", worker=True)
    host, other = pair(arrive, site.url)
    player.fill_and_start(host)
    player.play_together([host, other])
    expect(host.locator(".rematch-line")).to_contain_text("The table is cleared", timeout=15_000)
    expect(host.locator("[data-action=rematch]")).to_be_hidden()
    expect(host.locator(".places li")).to_have_count(4)
    expect(host.locator(".banner")).to_be_hidden()


def test_who_leaves_a_running_match_forfeits_and_does_not_come_back(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    player.wait_for_turn(other, [host], "[data-hand-tile][data-playable=true]")
    table, seat = other.url, own_seat(other)
    other.click(".top [data-action=leave]")
    expect(other.locator("dialog.ask")).to_contain_text("Your seat goes to a bot for good")
    other.click("[data-action=stay]")
    other.click(".top [data-action=leave]")
    other.click("[data-action=confirm-leave]")
    other.wait_for_url("**/lobby/")
    expect(host.locator(f'.stage .plate[data-seat="{seat}"] .plate-role')).to_have_text("bot plays")
    expect(host.locator("#live")).to_contain_text("Bruno has left; a bot plays on.")
    other.goto(table)
    other.wait_for_url("**/lobby/")
    assert other.locator("form[action*='/return/']").count() == 0
    player.play_together([host])
    assert MatchSeat.objects.get(number=int(seat)).forfeited


# -- missed turns, sleep, clocks, networks -------------------------------------------------------------------------


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


def seat_in_turn() -> int:
    """The seat that is asked now, as the page of somebody who looks at the database would say; -1 when nobody is."""
    last = MatchEvent.objects.order_by("-number").values_list("body", flat=True)[0]
    room = Room.objects.get(status="playing")
    if not room.is_open:
        return -1
    from games import selectors
    from games.history import load

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
    player.play_together([host, other])
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


# -- how it looks to everybody -------------------------------------------------------------------------------------

SIZES = [PHONE, {"width": 820, "height": 1180}, {"width": 1440, "height": 900}, {"width": 720, "height": 450}]
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


@pytest.mark.parametrize("size", SIZES[:3], ids=lambda size: str(size["width"]))
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
    assert host.evaluate(CUT) == [] and host.evaluate(COVERED) == 0
    player.play_together([host])
    assert host.evaluate(CUT) == [] and shifts(host) == []


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
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
    assert host.evaluate(COVERED) == 0 and host.evaluate(CUT) == []
    player.play_together([host], until=lambda: host.locator("[data-sheet]:visible").count() > 0)
    expect(host.locator("[data-sheet]:visible .button.primary")).to_be_in_viewport(ratio=1)
    player.play_together([host])
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
    player.play_together([host, other])
    look("final", other)
    assert found == {}


def test_a_page_says_nothing_that_the_server_does_not_understand(arrive: Arrive, live_site: LiveSite) -> None:
    host = arrive()
    refused: list[str] = []
    host.on(
        "websocket",
        lambda socket: socket.on(
            "framereceived", lambda data: refused.append(str(data)) if '"refused"' in str(data) else None
        ),
    )
    player.open_table(host, live_site.url, name="Anna")
    for _i in range(5):
        host.reload()
        player.at_table(host)
    player.fill_and_start(host)
    player.play_together([host])
    assert refused == []
