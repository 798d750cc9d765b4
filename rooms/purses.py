"""The live balances of a process: while somebody is connected, one task asks each second and tells what has moved."""

import asyncio
from typing import TYPE_CHECKING, Protocol

from django.conf import settings

from rooms import threads
from rooms.rhythm import again_and_again

if TYPE_CHECKING:
    from rooms.selectors import Identity

# Open pages of one player in this process.
PAGES_A_PLAYER = 24

_feed: "Feed | None" = None


class Page(Protocol):
    """An open page of a registered player."""

    identity: "Identity"

    def show(self, coins: int) -> None: ...

    def end(self, code: int) -> None: ...


class Feed:
    """Who is connected here, and what each of them has."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.pages: dict[int, set[Page]] = {}
        self.coins: dict[int, int] = {}
        self.looking: asyncio.Task[None] | None = None

    def join(self, page: Page, coins: int) -> bool:
        """A page is open and shows so many coins; the first one starts the looking. False when there are too many."""
        from rooms import hub

        mine = self.pages.setdefault(page.identity.player_id, set())
        if len(mine) >= PAGES_A_PLAYER:
            return False
        mine.add(page)
        self.coins.setdefault(page.identity.player_id, coins)
        page.show(self.coins[page.identity.player_id])
        if self.looking is None:
            self.looking = hub.get().spawn(self._look_each_second())
        return True

    def leave(self, page: Page) -> None:
        """A page is closed; the last one of all ends the looking."""
        mine = self.pages.get(page.identity.player_id)
        if mine is None:
            return
        mine.discard(page)
        if not mine:
            del self.pages[page.identity.player_id]
            self.coins.pop(page.identity.player_id, None)
        if not self.pages and self.looking is not None:
            self.looking.cancel()
            self.looking = None

    def _all(self) -> list[Page]:
        return [page for pages in self.pages.values() for page in pages]

    async def _look_each_second(self) -> None:
        try:
            await again_and_again(self.look, settings.LOBBY_LOOK_SECONDS, "balances not read")
        except asyncio.CancelledError:
            if asyncio.current_task() is self.looking:  # the process is told to stop
                for page in self._all():
                    page.end(4000)
            raise

    async def look(self) -> None:
        """Ask what everybody has, tell those for whom it has changed, and send away who may no longer act."""
        pages = self._all()
        found, ended = await threads.run(_read, {page.identity for page in pages})
        for page in pages:
            if page.identity in ended:
                page.end(4403)
        for player_id, coins in found.items():
            if self.coins.get(player_id) == coins or player_id not in self.pages:
                continue
            self.coins[player_id] = coins
            for page in list(self.pages[player_id]):
                page.show(coins)


def _read(identities: "set[Identity]") -> "tuple[dict[int, int], set[Identity]]":
    from rooms import selectors
    from wallet import selectors as wallet

    ended, _shut_out = selectors.ended_identities(identities)
    return wallet.balances({one.player_id for one in identities}), ended


def get() -> Feed:
    """This process's feed, on the running loop."""
    global _feed
    if _feed is None or _feed.loop is not asyncio.get_running_loop():
        _feed = Feed()
    return _feed
