"""What the tests of accounts stand on: browsers with cookies, and people with an account."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.test import Client

from players.models import Player
from rooms.models import Seat

PASSWORD = "seven dry dominoes"
AGENT = "Mozilla/5.0 (X11; Linux x86_64) Test/1.0"


def browser(agent: str = AGENT) -> Client:
    return Client(headers={"User-Agent": agent})


def account(name: str = "Ana", *, confirmed: bool = True, **more: Any) -> Player:
    """Somebody with an account, the address name@play.example and the password PASSWORD."""
    login = name.casefold()
    player = Player(username=login, shown_name=name, email=f"{login.replace(' ', '.')}@play.example", **more)
    player.set_password(PASSWORD)
    player.save()
    EmailAddress.objects.create(user=player, email=player.email, verified=confirmed, primary=True)
    return player


def sign_in(client: Client, login: str, password: str = PASSWORD, **more: str) -> Any:
    return client.post("/accounts/login/", {"login": login, "password": password, **more})


def signed_in(player: Player) -> Client:
    """A browser of this player."""
    client = browser()
    answer = sign_in(client, player.username)
    assert answer.status_code == 302, answer.content.decode()
    return client


def sign_up(client: Client, name: str, address: str = "", password: str = PASSWORD, **more: str) -> Any:
    address = address or f"{name.casefold().replace(' ', '.')}@play.example"
    return client.post("/accounts/signup/", {"username": name, "email": address, "password1": password, **more})


def whose(client: Client) -> Player | None:
    """The player of this browser, as pages see it."""
    user = client.get("/").wsgi_request.user
    return user if isinstance(user, Player) else None


def session_key(client: Client) -> str:
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def text(answer: HttpResponseBase) -> str:
    assert isinstance(answer, HttpResponse)
    return answer.content.decode()


def second_step(player: Player) -> None:
    TOTP.activate(player, generate_totp_secret())
    RecoveryCodes.activate(player)


def guest(client: Client, name: str = "Bo") -> Player:
    """A guest of this browser who has opened a public room and waits there."""
    client.post("/rooms/", {"game": "domino_poker", "visibility": "public", "rounds": "1", "name": name})
    player = whose(client)
    assert player is not None and player.is_guest
    return player


def seat_of(player: Player) -> Seat:
    """Where this player sits."""
    return Seat.objects.get(player=player)
