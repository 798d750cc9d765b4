"""The socket of a lobby page: needs no identity, says pings only, is brought from what it shows to what there is."""

from urllib.parse import parse_qs

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import gettext as _

from rooms import frames, hub, lobby, threads
from rooms.sockets import Refuse, Socket, handshake_allowed


class LobbyConsumer(Socket):
    """One open lobby page."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: int | None = None
        self.wanted = False
        self.language = settings.LANGUAGE_CODE

    async def enter(self) -> None:
        self.language = self._language()
        if not await threads.run(handshake_allowed, f"lobby:{self.address}"):
            raise Refuse(4029)
        if hub.get().draining:
            raise Refuse(4000)
        feed = lobby.get()
        state = parse_qs(self.scope["query_string"].decode("latin-1")).get("state", [""])[0]
        self.shown = feed.number_of(state)
        feed.join(self)
        if feed.number > feed.oldest:  # else the first look wakes us
            self.wake_up()

    def _language(self) -> str:
        """The language that pages speak to this visitor."""
        request = HttpRequest()
        request.COOKIES = self.cookies
        request.META["HTTP_ACCEPT_LANGUAGE"] = self.header(b"accept-language")
        return translation.get_language_from_request(request)

    def take(self, frame: frames.Frame, _arrived: float) -> None:
        if isinstance(frame, frames.Ping):
            self.say(frames.pong(self.shown or 0))
        elif isinstance(frame, frames.Sync):  # the page found a gap
            self.shown = None
            self.wake_up()
        else:
            self.refuse("watching", _("That message was not understood."))

    def wake_up(self) -> None:
        """There is something new."""
        self.wanted = True
        self.wake.set()

    async def tell(self) -> None:
        if self.wanted and self.closing is None:
            self.wanted = False
            self.shown, text = await lobby.get().text(self.shown, self.language)
            await self.send_text(text)
        await super().tell()

    def leave(self) -> None:
        lobby.get().leave(self)
