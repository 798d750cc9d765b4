"""After a match in real Chromium: the result, talk beside it, rematches."""

from typing import Any

from playwright.sync_api import expect

from games.models import MatchEvent
from rooms.models import Room
from tests.browser import player
from tests.browser.player import PHONE, Arrive, own_seat, pair, room_number
from tests.support.site import LiveSite


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


def test_a_rematch_gathers_those_who_accept_and_survives_a_reload(arrive: Arrive, live_site: LiveSite) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    player.to_the_result(host, other)
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
    player.to_the_result(host, other)
    assert MatchEvent.objects.filter(tag="MatchEnded").count() == 2


def test_the_rematch_shows_its_old_players_who_is_expected_and_strangers_nothing(
    arrive: Arrive, live_site: LiveSite
) -> None:
    host, other = pair(arrive, live_site.url)
    player.fill_and_start(host)
    player.to_the_result(host, other)
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
    player.to_the_result(host, other)
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
    player.to_the_result(host, other, third)
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
