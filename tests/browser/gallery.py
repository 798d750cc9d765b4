"""Pictures of the pages around the table, one family at a time: accounts, gold, statistics, staff.

Each state is opened once and taken at every size and in both themes, enlarged to 200 % and from right to left. What a
picture hides is said in words: pages that spill over the edge, targets that a thumb misses, headings out of order, and
what axe finds.

Needs Django to be set up, on the database of the site that is visited."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from allauth.account.models import EmailAddress
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import timezone
from playwright.sync_api import Browser, Page

from games.models import Match
from players import staff
from players.models import Player
from rooms import accounts, closing
from rooms.models import Room
from stats import services as stats
from tests.browser import player
from tests.players.accounts import PASSWORD, account
from tests.players.test_accounts_staff import code
from tests.rooms import stage
from tests.rooms.gold import begun, paid, rich
from tests.rooms.house import played
from tests.rooms.test_me_socket import session_of
from tests.stats import people
from wallet import corrections
from wallet import selectors as wallet
from wallet import services as coins

SIZES = {"phone": (360, 740), "tablet": (820, 1180), "desktop": (1440, 900)}
SCHEMES = ("light", "dark")
LONG = "Maximilian Featherst"
FAULTS = r"""() => {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const limit = root.clientWidth;
    const out = [...document.querySelectorAll("body *")].find((one) => {
      const box = one.getBoundingClientRect();
      const kept = one.closest(".wide, .hidden-text, .skip, .results");
      return box.width && (box.right > limit + 1 || box.left < -1) && !kept;
    });
    found.push(`spills ${root.scrollWidth - limit} px: ${out ? out.outerHTML.slice(0, 90) : "?"}`);
  }
  const inText = "p:not(.ways) > a:not([class]), li > a:not([class])";
  for (const one of document.querySelectorAll("main :is(a, button, summary, select, input, textarea)")) {
    if (!one.checkVisibility() || one.matches(`[type=hidden], .hidden-text *, #changelist *, ${inText}`)) continue;
    const hit = one.matches("[type=checkbox], [type=radio]") ? one.closest("label") ?? one : one;
    const height = Math.round(hit.getBoundingClientRect().height);
    if (height < 44) found.push(`small ${height} px: ${one.outerHTML.slice(0, 80).replace(/\s+/g, " ")}`);
  }
  let last = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4")) {
    if (!one.checkVisibility()) continue;
    const level = Number(one.tagName[1]);
    if (level > last + 1) found.push(`heading ${last} to ${level}: ${one.textContent.trim().slice(0, 40)}`);
    last = level;
  }
  return [...new Set(found)];
}"""


class Gallery:
    """A browser that visits the site as several people, and the folder of what it saw."""

    def __init__(self, browser: Browser, url: str, folder: Path) -> None:
        self.browser, self.url, self.folder = browser, url, folder
        folder.mkdir(parents=True, exist_ok=True)

    def visitor(self, who: Player | None = None) -> Page:
        """A page of a browser of its own, signed in as this person."""
        context = self.browser.new_context(viewport={"width": 1440, "height": 900})
        if who is not None:
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session_of(who), "url": self.url}])
        return context.new_page()

    def go(self, page: Page, path: str, state: str) -> None:
        """Open this path and take it."""
        page.goto(self.url + path)
        self.take(page, state)

    def show(self, page: Page, template: str, state: str) -> None:
        """Take a page that nothing but an accident brings about."""
        request = RequestFactory().get("/")
        request.user = Player()
        html = render_to_string(template, {"user": None}, request)
        address = f"{self.url}/shown/{template}"
        page.route(address, lambda route: route.fulfill(body=html, content_type="text/html"))
        self.go(page, f"/shown/{template}", state)

    def take(self, page: Page, state: str) -> None:
        """This page at every size and in both themes, at 200 % and from right to left."""
        for name, (width, height) in SIZES.items():
            for scheme in SCHEMES:
                self._shoot(page, state, name, (width, height), scheme)
        self._shoot(page, state, "zoom", (720, 450), "light")
        page.evaluate("document.documentElement.dir = 'rtl'")
        self._shoot(page, state, "rtl", SIZES["phone"], "light")
        self._shoot(page, state, "rtl", SIZES["desktop"], "dark")
        page.evaluate("document.documentElement.dir = 'ltr'")

    def _shoot(self, page: Page, state: str, name: str, size: tuple[int, int], scheme: Any) -> None:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.wait_for_timeout(60)
        page.screenshot(path=self.folder / f"{state}-{name}-{scheme}.png", full_page=True)
        faults = page.evaluate(FAULTS) if scheme == "light" else []
        if name == "phone":
            faults += [
                f"{scheme}: {one['id']}: {one['nodes'][0]['html'][:90]}"
                for one in Axe().run(page).response["violations"]
                if one["impact"] in {"serious", "critical"}
            ]
        for fault in faults:
            print(f"{state} {name}: {fault}", flush=True)


# -- accounts ----------------------------------------------------------------------------------------------------


def of_accounts(gallery: Gallery) -> None:
    """Signing up and in, the account with all that can be changed, and the pages of errors."""
    visitor = gallery.visitor()
    for path in ("login", "signup", "password/reset", "password/reset/done", "confirm-email", "inactive"):
        gallery.go(visitor, f"/accounts/{path}/", path.replace("/", "-"))
    gallery.go(visitor, "/accounts/password/reset/key/1-nothing/", "reset-key-bad")
    visitor.goto(f"{gallery.url}/accounts/signup/")
    sign_up(visitor, "Admin", "seven")
    gallery.take(visitor, "signup-refused")
    visitor.goto(f"{gallery.url}/accounts/login/")
    sign_in(visitor, "nobody", "nothing at all")
    gallery.take(visitor, "login-refused")
    ends = timezone.now() + timedelta(days=3)
    accounts.ban(account("Bad Bertram"), None, "Three accounts that passed gold to each other", ends)
    sign_in(visitor, "bad bertram", PASSWORD)
    gallery.take(visitor, "login-banned")
    for template in ("400", "403", "403_csrf", "404", "429", "500", "503"):
        gallery.show(visitor, f"{template}.html", f"error-{template}")
    _of_guests(gallery)
    _of_the_account(gallery)


def _of_guests(gallery: Gallery) -> None:
    guest = gallery.visitor()
    player.start(guest, gallery.url)
    for path in ("login", "signup"):
        gallery.go(guest, f"/accounts/{path}/", f"{path}-guest")


def _of_the_account(gallery: Gallery) -> None:
    owner = account("Wilhelmina Of Orange")
    page = gallery.visitor()
    page.goto(f"{gallery.url}/accounts/login/")
    sign_in(page, "wilhelmina of orange", PASSWORD)
    page.click(".account-menu > summary")
    gallery.take(page, "menu")
    gallery.go(page, "/accounts/", "account")
    page.fill("#id_name", "Moderator")
    page.get_by_role("button", name="Change the name").click()
    gallery.take(page, "account-name-refused")
    page.fill("#id_name", "Wilhelmina")
    page.get_by_role("button", name="Change the name").click()
    gallery.take(page, "account-renamed")
    for path in ("reauthenticate", "email", "password/change", "2fa", "delete", "logout"):
        gallery.go(page, f"/accounts/{path}/", path.replace("/", "-"))
    EmailAddress.objects.create(user=owner, email="a.rather.long.address.of.somebody@players.domino.example")
    gallery.go(page, "/accounts/email/", "email-pending")
    page.goto(f"{gallery.url}/accounts/2fa/totp/activate/")
    if page.locator("#id_password").count():
        page.fill("#id_password", PASSWORD)
        page.get_by_role("main").get_by_role("button").first.click()
    gallery.take(page, "second-step-new")
    page.fill("#id_code", code(page.locator("#authenticator_secret").input_value()))
    page.get_by_role("button", name="Use this app").click()
    gallery.take(page, "second-step-codes-new")
    for path in ("", "recovery-codes/", "recovery-codes/generate/", "totp/deactivate/"):
        gallery.go(page, f"/accounts/2fa/{path}", "second-step-" + (path.replace("/", "-").strip("-") or "on"))
    player.start(page, gallery.url)
    gallery.go(page, "/accounts/delete/", "delete-in-a-match")
    fresh = gallery.visitor()
    fresh.goto(f"{gallery.url}/accounts/login/")
    sign_in(fresh, "wilhelmina", PASSWORD)
    gallery.take(fresh, "second-step-asked")


def sign_in(page: Page, name: str, password: str) -> None:
    """Send the sign-in form."""
    page.fill("#id_login", name)
    page.fill("#id_password", password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_load_state()


def sign_up(page: Page, name: str, password: str) -> None:
    """Send the sign-up form."""
    page.fill("#id_username", name)
    page.fill("#id_email", f"{name.lower()}@play.example")
    page.fill("#id_password1", password)
    page.get_by_role("button", name="Create the account").click()
    page.wait_for_load_state()


# -- gold --------------------------------------------------------------------------------------------------------


def of_gold(gallery: Gallery) -> None:
    """From the price to the last coin: lobby, price, refusals, waiting room, wallet, results."""
    ana, ben, cara, poor = rich("Ana"), rich(LONG), rich("Cara"), rich("Poor Pia", 100)
    newcomer, guest = rich("Newcomer"), gallery.visitor()
    gallery.go(guest, "/wallet/", "wallet-visitor")
    gallery.go(guest, "/lobby/", "lobby-empty")
    pot, alone = played(ana, ben, fee=301), begun(paid(120, ana, ben))
    closing.leave(alone.pk, ben.pk)
    stage.play_to_the_end(alone)
    solo = _rewarded(cara)
    for room, who, state in ((pot, ana, "match-paid"), (alone, ana, "match-alone"), (solo, cara, "match-solo")):
        gallery.go(gallery.visitor(who), f"/matches/{stage.match_of(stage.refreshed(room))}/", state)
    for one in (ana, ben, cara):
        Player.objects.filter(pk=one.pk).update(last_seen_at=timezone.now())
    host, visitor = gallery.visitor(ana), gallery.visitor(cara)
    gallery.go(visitor, "/", "home-rewards")
    rooms = [paid(fee, rich(name)) for fee, name in ((2500, "Olga"), (50, "Wwwwwwwwwwwwwwwwwwww"))]
    stage.waiting(stage.person("Gus"), stage.person("Tilda"))
    room_code = _open_paid(host, gallery.url, 300)
    gallery.take(host, "room-host")
    gallery.go(host, "/", "home-own-room")
    gallery.go(host, "/lobby/", "lobby-own-room")
    gallery.go(visitor, "/lobby/", "lobby-paid")
    visitor.click(".create > summary")
    gallery.take(visitor, "lobby-create")
    gallery.go(visitor, "/lobby/?fee=free&game=none", "lobby-filtered")
    gallery.go(visitor, f"/rooms/{rooms[0].pk}/", "room-visitor")
    _by_code(visitor, gallery.url, room_code)
    gallery.take(visitor, "price")
    for page, state in ((gallery.visitor(poor), "price-poor"), (guest, "price-guest")):
        page.goto(f"{gallery.url}/lobby/")
        page.locator(f"#room-{rooms[0].pk} [data-sit]").click()
        page.locator("#price-error").wait_for()
        gallery.take(page, state)
    _by_code(guest, gallery.url, room_code)
    gallery.take(guest, "lobby-refused")
    _by_code(host, gallery.url, "AAAABBBB")
    gallery.take(host, "lobby-bad-code")
    host.goto(f"{gallery.url}/")
    host.click(".other summary")
    host.locator("main .other button[type=submit]").click()
    gallery.take(host, "busy")
    gallery.go(guest, f"/join/{room_code}/", "join")
    for query, state in (("", ""), ("?kind=correction", "-nothing"), ("?since=never", "-refused")):
        gallery.go(gallery.visitor(ana), f"/wallet/{query}", f"wallet{state}")
    gallery.go(gallery.visitor(newcomer), "/wallet/", "wallet-new")


def _rewarded(who: Player) -> Room:
    """A solo match that this player ended among the first two, or the tenth that brought nothing."""
    for _try in range(10):
        room = stage.begun(who)
        stage.play_out(room)
        if wallet.reward_of(stage.match_of(room)):
            break
    return room


def _open_paid(page: Page, url: str, fee: int) -> str:
    page.goto(f"{url}/lobby/")
    page.click(".create > summary")
    page.fill('.create input[name="rounds"]', "1")
    page.fill('.create input[name="fee"]', str(fee))
    page.click('form[action="/rooms/"] button[type=submit]')
    player.at_table(page)
    return page.locator(".room-code").inner_text().replace("-", "")


def _by_code(page: Page, url: str, room_code: str) -> None:
    page.goto(f"{url}/join/{room_code}/")
    page.get_by_role("main").get_by_role("button", name="Sit down").click()
    page.wait_for_load_state()


# -- statistics --------------------------------------------------------------------------------------------------


def of_statistics(gallery: Gallery) -> None:
    """One's own figures and those of others, and the leaderboard, with and without matches."""
    visitor = gallery.visitor()
    gallery.go(visitor, "/leaderboard/", "leaderboard-empty")
    gallery.go(visitor, "/stats/", "hint-visitor")
    crowd = people.four("Ana", "Bo", LONG, "Dara", "Eli", "Wwwwwwwwwwwwwwwwwwww")
    people.season(crowd, 30, end=timezone.now(), rounds=4)
    stats.rate_new()
    newcomer, own = people.person("Newcomer"), gallery.visitor(crowd[0])
    gallery.go(own, "/stats/", "stats")
    own.evaluate("document.querySelectorAll('.chart details').forEach((one) => { one.open = true })")
    gallery.take(own, "stats-tables")
    gallery.go(own, f"/players/{crowd[2].pk}/?period=7d", "stats-of-another")
    gallery.go(own, "/leaderboard/", "leaderboard")
    gallery.go(own, "/leaderboard/?sort=exact&period=7d", "leaderboard-exact")
    own.goto(f"{gallery.url}/matches/{Match.objects.filter(seats__player=crowd[0]).latest('pk').pk}/")
    gallery.take(own, "match")
    fresh = gallery.visitor(newcomer)
    gallery.go(fresh, "/stats/", "stats-empty")
    gallery.go(fresh, "/leaderboard/", "leaderboard-newcomer")
    gallery.go(gallery.visitor(people.person("Gus", guest=True)), "/stats/", "hint-guest")


# -- staff -------------------------------------------------------------------------------------------------------


def of_staff(gallery: Gallery) -> None:
    """The pages of the house, as an admin sees them; and the refusal that support meets."""
    ana, ben = account("Ana"), account(LONG)
    for one in (ana, ben):
        with transaction.atomic():
            coins.welcome(one.pk)
    room = played(ana, ben, fee=700)
    for _again in range(3):
        left = begun(paid(600, ana, ben))
        closing.leave(left.pk, ben.pk)
        stage.play_to_the_end(left)
    match = stage.match_of(room)
    moderator, senior = _member("Mo Watson", "moderator"), _member("Sue Grey", "senior")
    admin, support = _member("Olga Stern", "admin"), _member("Sam", "support")
    asked = corrections.request(ana.pk, 25, "A fault of ours cost her a trick", moderator.pk)
    corrections.approve(asked.pk, senior.pk)
    corrections.request(ben.pk, -300, "Gold that was passed on purpose, match after match", moderator.pk)
    accounts.ban(ben, moderator, "Passed gold on purpose", None)
    page = gallery.visitor(admin)
    page.goto(f"{gallery.url}/admin/house/players/{ben.pk}/")
    page.fill("#note_reason", "Wrote to us on Monday, and was told the rule.")
    page.get_by_role("button", name="Add the note").click()
    house = "/admin/house"
    for path, state in (
        ("/admin/", "index"),
        ("/admin/players/player/", "players"),
        ("/admin/players/player/?q=Ana", "players-found"),
        (f"{house}/players/{ben.pk}/", "player"),
        (f"{house}/players/{stage.person('Gus').pk}/", "player-guest"),
        ("/admin/rooms/room/", "rooms"),
        (f"{house}/rooms/{room.pk}/", "room"),
        ("/admin/games/match/", "matches"),
        (f"{house}/matches/{match}/", "match"),
        (f"{house}/ledger/", "ledger"),
        (f"{house}/ledger/?player={ana.pk}", "ledger-found"),
        (f"{house}/ledger/?since=never", "ledger-refused"),
        (f"{house}/ledger/?room=999", "ledger-nothing"),
        (f"{house}/corrections/", "corrections"),
        (f"{house}/flags/", "flags"),
        ("/admin/players/staffact/", "record"),
    ):
        gallery.go(page, path, state)
    page.goto(f"{gallery.url}{house}/matches/{match}/")
    page.get_by_role("button", name="Verify").click()
    gallery.take(page, "match-verified")
    gallery.go(gallery.visitor(support), f"{house}/flags/", "refused")


def _member(name: str, role: str) -> Player:
    return staff.make_staff(name, role, PASSWORD)[0]


FAMILIES: dict[str, Callable[[Gallery], Any]] = {
    "accounts": of_accounts,
    "gold": of_gold,
    "stats": of_statistics,
    "staff": of_staff,
}
