"""Gold in real Chromium: a paid table from its form to the last coin, the price first, the balance in all tabs."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import BrowserContext, Page, expect

from players.models import Player
from rooms import closing
from rooms.models import Room, Seat
from tests.browser import player
from tests.rooms.gold import nothing_is_lost, paid, rich
from tests.rooms.house import played
from tests.rooms.test_me_socket import session_of
from tests.support.site import LiveSite
from wallet import selectors as wallet
from wallet.models import Kind, Transaction

PHONE = {"width": 360, "height": 740}
SignIn = Callable[..., Page]
# Every text that the balance and its news have had.
WATCH = """() => {
  const watch = (place, texts) => new MutationObserver(() => texts.push(place.textContent)).observe(place, {
    childList: true, subtree: true,
  });
  watch(document.querySelector("[data-purse-news]"), (window.said = []));
  watch(document.querySelector(".purse-coins"), (window.shown = []));
}"""


@pytest.fixture
def sign_in(new_context: Callable[..., BrowserContext], live_site: LiveSite, watched: Callable[[Page], None]) -> SignIn:
    """A registered player's page, of a browser context of its own, all of whose pages are watched."""

    def make(name: str, coins: int = 5000, **context: Any) -> Page:
        context.setdefault("viewport", {"width": 1280, "height": 800})
        fresh = new_context(**context)
        fresh.on("page", watched)
        session = session_of(rich(name, coins))
        fresh.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_site.url}])
        return fresh.new_page()

    return make


def coins_in(page: Page) -> Any:
    return page.locator(".purse-coins")


def open_paid(page: Page, url: str, fee: int, *, visibility: str = "private") -> str:
    """Open a paid table from the lobby's form; its code."""
    page.goto(f"{url}/lobby/")
    page.click(".create > summary")
    page.check(f'input[name="visibility"][value="{visibility}"]')
    page.fill('.create input[name="rounds"]', "1")
    page.fill('.create input[name="fee"]', str(fee))
    page.click('form[action="/rooms/"] button[type=submit]')
    player.at_table(page)
    return page.locator(".room-code").inner_text().replace("-", "")


def join_paid(page: Page, url: str, code: str, fee: int) -> None:
    """Type the code, read the price, pay it."""
    page.goto(f"{url}/lobby/")
    page.fill('input[name="code"]', code)
    page.click('form[action="/join/"] button[type=submit]')
    expect(page.locator("h1")).to_have_text(f"A seat here costs {fee} gold")
    page.get_by_role("button", name=f"Pay {fee} gold and sit down").click()
    player.at_table(page)


def serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [one["id"] for one in found if one["impact"] in {"serious", "critical"}]


def test_a_paid_match_from_the_form_to_the_last_coin(sign_in: SignIn, live_site: LiveSite) -> None:
    url = live_site.url
    ana, ben = sign_in("Ana"), sign_in("Ben", viewport=PHONE, has_touch=True, is_mobile=True)
    tab = ana.context.new_page()
    tab.goto(f"{url}/rules/")
    expect(coins_in(tab)).to_have_text("5000")
    ana.bring_to_front()  # a tab behind another one draws a frame a second
    code = open_paid(ana, url, 101)
    expect(coins_in(tab)).to_have_text("4899", timeout=2000)
    expect(ana.locator(".room .pot b")).to_have_text("101")
    assert serious(ana) == []
    join_paid(ben, url, code, 101)
    expect(ana.locator(".room .pot b")).to_have_text("202")
    expect(ana.locator(".room-facts")).to_contain_text("142 for the first, 60 for the second")
    expect(coins_in(ben)).to_have_text("4899")
    player.fill_and_start(ana)
    expect(ana.locator(".stage .pot b")).to_have_text("202")
    ana.click(".top [data-action=leave]")
    expect(ana.locator("#ask-text")).to_contain_text("Your fee of 101 gold is not given back.")
    ana.click("[data-action=stay]")
    player.play_together([ana, ben])
    first, second = 142, 60
    for page in (ana, ben):
        sheet = page.locator(".coin-sheet")
        expect(sheet).to_contain_text("2 players paid 101 each")
        expect(sheet).to_contain_text(f"the rest: 202 − {second} = {first}")
        expect(sheet).to_contain_text(f"three tenths: 202 × 3 / 10 = {second}, rounded down")
        expect(sheet).to_contain_text("Bots win no gold")
        expect(page.locator("[data-action=rematch]")).to_have_text("Rematch for 101 gold")
        won = int(re.sub(r"\D", "", sheet.locator(".share[data-you] .share-coins").inner_text()))
        expect(coins_in(page)).to_have_text(str(4899 + won), timeout=2000)
        assert serious(page) == []
    total = int(coins_in(ana).inner_text())
    expect(coins_in(tab)).to_have_text(str(total))
    tab.goto(f"{url}/wallet/")
    expect(tab.locator(".wallet-balance strong")).to_have_text(str(total))
    expect(tab.locator(".statement tbody tr")).to_have_count(3)
    expect(tab.locator(".statement tbody tr td:last-child").first).to_have_text(str(total))
    tab.locator(".statement .about").first.click()
    expect(tab.locator(".coins-of-match")).to_contain_text("2 × 101 = 202 gold")
    assert serious(tab) == []
    assert sorted(
        wallet.balance(seat)
        for seat in Transaction.objects.filter(kind=Kind.FEE).values_list("postings__source__owner", flat=True)
    ) == [4899 + second, 4899 + first]
    nothing_is_lost()


def test_a_paid_rematch_asks_once_more_and_charges_once(sign_in: SignIn, live_site: LiveSite) -> None:
    ana = sign_in("Ana", viewport=PHONE, has_touch=True, is_mobile=True)
    open_paid(ana, live_site.url, 101)
    expect(ana.locator(".room .pot")).to_contain_text("all for the first")
    expect(ana.locator(".room .felt-note")).to_contain_text("101 gold a seat")
    player.fill_and_start(ana)
    expect(ana.locator(".stage .pot-fee")).to_have_text("101 each")
    expect(ana.locator(".stage .pot-coins")).to_be_in_viewport()
    player.play_together([ana])
    expect(ana.locator(".coin-sheet")).to_contain_text("You paid 101 and won 101: as much as before.")
    expect(ana.locator(".rematch-line")).to_contain_text("Its fee of 101 gold is paid anew.")
    table = ana.url
    ana.click("[data-action=rematch]")
    expect(ana.locator("dialog.ask")).to_contain_text("its fee of 101 gold is paid anew")
    expect(ana.locator("dialog.ask")).to_contain_text("You have 5000 gold; 4899 would be left.")
    expect(ana.locator("dialog.ask [data-action=stay]")).to_be_focused()
    ana.keyboard.press("Escape")
    expect(ana.locator("dialog.ask")).to_have_count(0)
    expect(coins_in(ana)).to_have_text("5000")
    ana.evaluate("document.querySelector('[data-purse]').dataset.purse = '100'")
    ana.click("[data-action=rematch]")
    expect(ana.locator("dialog.ask")).to_contain_text("You have 100 gold, which is not enough.")
    expect(ana.locator("dialog.ask [data-action=confirm-rematch]")).to_have_count(0)
    ana.click("[data-action=stay]")
    ana.evaluate("document.querySelector('[data-purse]').dataset.purse = '5000'")
    ana.click("[data-action=rematch]")
    ana.click("[data-action=confirm-rematch]")
    ana.wait_for_url(lambda url: url != table)
    player.at_table(ana)
    expect(coins_in(ana)).to_have_text("4899")
    assert Transaction.objects.filter(kind=Kind.FEE).count() == 2
    nothing_is_lost()


def test_back_and_reload_after_opening_a_paid_table_pay_once(sign_in: SignIn, live_site: LiveSite) -> None:
    """B24."""
    ana = sign_in("Ana")
    code = open_paid(ana, live_site.url, 5000)
    table = ana.url
    expect(coins_in(ana)).to_have_text("0")
    ana.reload()
    player.at_table(ana)
    ana.go_back()
    expect(ana.locator(".own")).to_be_visible()
    ana.go_forward()
    player.at_table(ana)
    other = ana.context.new_page()
    other.goto(table)
    player.at_table(other)
    # The form that was sent, once more: by a page that had stayed behind.
    token = ana.context.request.get(f"{live_site.url}/").text().split('csrfmiddlewaretoken" value="')[1].split('"')[0]
    form: dict[str, Any] = {
        "csrfmiddlewaretoken": token,
        "game": "domino_poker",
        "visibility": "private",
        "rounds": "1",
        "fee": "5000",
    }
    for _i in range(3):
        ana.context.request.post(f"{live_site.url}/rooms/", form=form, headers={"Referer": f"{live_site.url}/lobby/"})
    assert Room.objects.count() == Seat.objects.count() == 1 and code in table
    assert Transaction.objects.filter(kind=Kind.FEE).count() == 1
    ana.click("[data-action=leave-room]")
    expect(ana.locator("#ask-text")).to_contain_text("Your fee of 5000 gold comes back to you.")
    ana.click("[data-action=confirm-leave]")
    expect(ana).to_have_url(f"{live_site.url}/lobby/")
    expect(coins_in(ana)).to_have_text("5000", timeout=2000)


def test_a_row_of_the_lobby_names_its_price_and_takes_it(sign_in: SignIn, live_site: LiveSite) -> None:
    ana, ben, poor = sign_in("Ana"), sign_in("Ben"), sign_in("Poor", 100)
    poor.goto(f"{live_site.url}/lobby/")
    ben.goto(f"{live_site.url}/lobby/")
    open_paid(ana, live_site.url, 300, visibility="public")
    row = ben.locator(".table-row")
    expect(row).to_contain_text("With you the pot is 600: 420 for the first, 180 for the second.")
    ben.check('.filter input[value="free"]')
    expect(row).to_be_hidden()
    ben.check('.filter input[value="paid"]')
    expect(row).to_be_visible()
    assert serious(ben) == []
    poor.locator("[data-sit]").click()
    expect(poor.locator("#price-error")).to_have_text("A seat here costs 300 gold, and you have 100.")
    assert serious(poor) == []
    ben.locator("[data-sit]").click()
    player.at_table(ben)
    expect(coins_in(ben)).to_have_text("4700")
    expect(ana.locator(".room .pot b")).to_have_text("600")


def test_the_balance_is_said_once_a_change_and_stands_still_for_those_who_want_it(
    sign_in: SignIn, live_site: LiveSite
) -> None:
    ana = sign_in("Ana", reduced_motion="reduce")
    tab = ana.context.new_page()
    tab.goto(f"{live_site.url}/wallet/")
    tab.evaluate(WATCH)
    open_paid(ana, live_site.url, 300)
    expect(coins_in(tab)).to_have_text("4700", timeout=3000)
    expect(tab.locator(".wallet-balance strong")).to_have_text("4700")
    assert tab.evaluate("window.said") == ["Your gold: 4700."]
    assert tab.evaluate("window.shown") == ["4700"]


@pytest.mark.parametrize(
    "size",
    [PHONE, pytest.param({"width": 820, "height": 1180}, marks=pytest.mark.soak), {"width": 1440, "height": 900}],
)
@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.soak), "dark"])
def test_pages_of_gold_spill_nowhere_and_are_clean(
    sign_in: SignIn, live_site: LiveSite, size: Any, scheme: Any
) -> None:
    ana = sign_in("Ana", viewport=size, color_scheme=scheme)
    wide = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
    for path in ("/wallet/", "/wallet/?kind=fee", "/wallet/?since=never", "/lobby/", "/"):
        ana.goto(live_site.url + path)
        assert not ana.evaluate(wide), path
        assert serious(ana) == [], path
    open_paid(ana, live_site.url, 300)
    assert not ana.evaluate(wide)
    assert serious(ana) == []


def test_a_seat_that_cannot_be_paid_says_so_in_the_lobby(sign_in: SignIn, live_site: LiveSite) -> None:
    dear, fair = paid(2500, rich("Olga")), paid(100, rich("Ben"))
    page = sign_in("Poor", 100)
    poor = Player.objects.get(username="poor")
    own = paid(60, poor)
    page.goto(f"{live_site.url}/lobby/")
    seat = page.locator(f"#room-{dear.pk} [data-sit]")
    expect(seat).to_have_accessible_name(re.compile(r"^Sit for 2500 gold .* You have 40$"))
    expect(seat).to_have_css("border-style", "dashed")
    expect(page.locator(f"#room-{fair.pk} [data-sit] .poor")).to_have_count(0)  # 40, and 60 that come back
    closing.leave(own.pk, poor.pk)
    expect(seat).to_contain_text("You have 100")
    late = paid(101, rich("Late"))
    expect(page.locator(f"#room-{late.pk} .row-name")).to_have_text("Late’s room")
    page.reload()
    expect(page.locator(f"#room-{late.pk} [data-sit]")).to_contain_text("You have 100")
    expect(page.locator(f"#room-{fair.pk} [data-sit] .poor")).to_have_count(0)
    assert serious(page) == []


def test_the_rounds_of_a_match_keep_their_lines_whatever_the_names(sign_in: SignIn, live_site: LiveSite) -> None:
    page = sign_in("Wwwwwwwwwwwwwwwwwwww")
    room = played(Player.objects.get(), rich("Mmmmmmmmmm Mmmmmmmmm"))
    page.goto(f"{live_site.url}/matches/{room.match_id}/")
    for width in (360, 560, 820, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        lines = page.locator(".col-name").evaluate_all(
            "(names) => names.map((one) => "
            "[one.textContent, one.scrollHeight / parseFloat(getComputedStyle(one).lineHeight)])"
        )
        assert [round(lines) for name, lines in lines if len(name) < 10] == [1, 1], (width, lines)
        heights = page.locator(".rounds-table .score").evaluate_all("(cells) => cells.map((one) => one.offsetHeight)")
        assert len(set(heights)) == 1, (width, heights)
        assert page.evaluate("document.documentElement.scrollWidth <= document.body.clientWidth"), width
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    box = page.get_by_role("link", name="Check").bounding_box()
    assert box is not None and box["height"] >= 44
    page.get_by_role("link", name="Check").click()
    expect(page.locator('[data-check][data-fits="true"]')).to_have_count(3)
    expect(page.locator(".deal .tile-brass")).to_have_count(8)  # trumps and aces are marked as at the table
    expect(page.locator(".deal .tile-star")).to_have_count(6)
