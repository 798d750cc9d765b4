"""The socket of a registered player's pages: tells the balance, says pings only, ends with the session."""

from django.conf import settings
from django.utils.translation import gettext as _

from players import selectors as player_selectors
from rooms import frames, hub, presence, purses, threads
from rooms.selectors import Identity
from rooms.sockets import Refuse, Socket, handshake_allowed
from wallet import selectors as wallet


class MeConsumer(Socket):
    """One open page of one player."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = Identity(0, "", "")
        self.coins: int | None = None  # to be told

    async def enter(self) -> None:
        self.identity, coins = await threads.run(_admit, self.cookies.get(settings.SESSION_COOKIE_NAME, ""))
        if hub.get().draining:
            raise Refuse(4000)
        if not purses.get().join(self, coins):
            raise Refuse(4029)

    def take(self, frame: frames.Frame, _arrived: float) -> None:
        if isinstance(frame, frames.Ping):
            self.say(frames.pong(0))
        else:
            self.refuse("watching", _("That message was not understood."))

    def show(self, coins: int) -> None:
        """The balance is this now; one that was not yet sent is dropped."""
        self.coins = coins
        self.wake.set()

    async def tell(self) -> None:
        if self.coins is not None and self.closing is None:
            coins, self.coins = self.coins, None
            await self.send_text(frames.balance(coins))
        await super().tell()

    def leave(self) -> None:
        purses.get().leave(self)


def _admit(session_key: str) -> tuple[Identity, int]:
    """The registered player of a session, and what the player has. Raises Refuse."""
    player = presence.player_in_session(session_key)
    if player is None or player.is_guest:
        raise Refuse(4401)
    # Counted by player, as pages are: a house full of players shares an address.
    if not handshake_allowed(f"me:{player.pk}"):
        raise Refuse(4029)
    identity = Identity(player.pk, session_key, player_selectors.stamp_of(player))
    return identity, wallet.balance(player.pk)
