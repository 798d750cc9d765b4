"""Several people in real Chromium: whole matches, the waiting room, watching, leaving."""

import json
import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from games.models import MatchEvent, MatchSeat
from rooms.models import Room, Seat
from tests.browser import player
from tests.browser.player import PHONE, Arrive, own_seat, pair, room_number, shifts
from tests.support.site import LiveSite

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


@pytest.mark.soak
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


@pytest.mark.soak
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
    expect(host.locator("#qr")).to_be_hidden()
    host.click("[data-action=qr]")
    expect(host.locator("[data-action=qr]")).to_have_attribute("aria-expanded", "true")
    host.locator("#qr").evaluate("(picture) => picture.decode()")
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
    starts_at = Room.objects.values_list("starts_at", flat=True)[0]
    assert starts_at is not None
    before = (starts_at - timezone.now()).total_seconds()
    shown = int(host.locator(".countdown").inner_text())
    after = (starts_at - timezone.now()).total_seconds()
    assert after - 0.5 <= shown <= before + 1.5  # whole seconds, rounded up, as they were in between
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


# -- in the match --------------------------------------------------------------------------------------------------


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
    player.to_the_result(host)
    assert MatchSeat.objects.get(number=int(seat)).forfeited


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
