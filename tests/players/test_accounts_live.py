"""Open sockets and the accounts behind them (B35): whatever ends a session or a right reaches the table in seconds."""

import contextlib
import re
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from websockets.exceptions import ConnectionClosed

from games.models import MatchSeat
from players import services
from players.models import Player
from rooms import closing
from rooms.models import Room, Seat
from tests.players.accounts import PASSWORD, account
from tests.support.site import LiveSite
from tests.support.visitor import TableSocket, Visitor

SOON_SECONDS = 4.0


class Person(Visitor):
    """Somebody with an account, by a browser of one's own."""

    def sign_in(self, name: str, password: str = PASSWORD, **more: str) -> None:
        status, page = self.post("/accounts/login/", login=name, password=password, **more)
        assert status == 200 and "/accounts/login/" not in self.where, page

    def form(self, path: str, **fields: str) -> tuple[int, str]:
        """Send the form of an account page."""
        _status, page = self.get("/accounts/")
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found
        return self.post(path, csrfmiddlewaretoken=found[1], **fields)


@pytest.fixture
def ana() -> Player:
    return account()


@pytest.fixture
def person(live_site: LiveSite, ana: Player) -> Person:
    made = Person(live_site.url)
    made.sign_in("ana")
    return made


def match_socket(person: Visitor) -> TableSocket:
    """The socket of a solo match where the first question is put."""
    socket = person.sit(person.play(clock="on"))
    socket.asked()
    return socket


def change_password(person: Person, other: Person) -> None:
    new = "a quite other one 9"
    other.form("/accounts/password/change/", oldpassword=PASSWORD, password1=new, password2=new)


def delete(other: Person) -> None:
    stake = closing.stake(*Room.objects.values_list("code", "status").get())
    other.form("/accounts/delete/", password=PASSWORD, give_up="on", stake=stake)


ENDS: dict[str, Callable[[Person, Person], object]] = {
    "signed out": lambda person, _other: person.post("/accounts/logout/"),
    "another password": change_password,
    "signed out from elsewhere": lambda _person, other: other.form("/accounts/sessions/end/"),
    "banned": lambda _person, _other: services.ban(Player.objects.get(), None, "Rude", timezone.now() + timedelta(1)),
    "account closed": lambda _person, other: delete(other),
}


@pytest.mark.parametrize("what", ENDS)
def test_the_table_hears_of_it_in_seconds(person: Person, live_site: LiveSite, what: str) -> None:
    other = Person(live_site.url)
    other.sign_in("ana")
    socket = match_socket(person)
    began = time.monotonic()
    ENDS[what](person, other)
    did = time.monotonic()
    assert socket.closed() == 4403
    assert time.monotonic() - did < SOON_SECONDS, f"{time.monotonic() - began:.1f} s"
    if what in {"banned", "account closed"}:
        for _i in range(40):
            if not Seat.objects.filter(player__isnull=False).exists():
                break
            time.sleep(0.1)
        assert not Seat.objects.filter(player__isnull=False).exists()
    else:
        assert Seat.objects.filter(player__isnull=False).exists(), "only away: the seat is kept"


def test_a_banned_seat_does_nothing_more(person: Person, ana: Player) -> None:
    socket = match_socket(person)
    prompt = socket.asked()
    assert prompt is not None
    services.ban(ana, None, "Rude")
    with contextlib.suppress(ConnectionClosed):
        socket.send({"t": "act", "id": "late", "step": prompt["step"], "do": prompt["choices"][0]["do"]})
    assert socket.closed() == 4403
    assert not any('"late"' in text and '"ack"' in text for text in socket.received)
    assert "may not play" in socket.received[-1]


def test_another_name_is_seen_by_everybody_at_the_table(person: Person, live_site: LiveSite, ana: Player) -> None:
    code = person.open_room()
    guest = Visitor(live_site.url)
    assert guest.join(code, name="Bo") == code
    socket = guest.sit(code)
    socket.seen(lambda update: "Ana" in str(update))
    person.form("/accounts/name/", name="Anouk")
    socket.seen(lambda update: "Anouk" in str(update) and "'Ana'" not in str(update))


def test_a_guest_signs_up_in_a_match_and_goes_on(live_site: LiveSite) -> None:
    guest = Visitor(live_site.url)
    code = guest.play(clock="on")
    socket = guest.sit(code)
    prompt = socket.asked()
    assert prompt is not None and socket.act(prompt)["t"] == "ack"
    status, page = guest.post("/accounts/signup/", username="Bo", email="bo@play.example", password1=PASSWORD)
    assert status == 200, page
    assert socket.closed() == 4403
    again = guest.sit(code)
    again.play_out()
    player = Player.objects.get()
    assert not player.is_guest and MatchSeat.objects.get(player=player).name == "Bo"


def test_the_account_on_a_second_device_takes_the_seat_over(person: Person, live_site: LiveSite) -> None:
    code = person.play(clock="on")
    socket = person.sit(code)
    socket.asked()
    phone = Person(live_site.url)
    phone.sign_in("ana")
    phone.post(f"/tables/{code}/return/")
    again = phone.sit(code)
    assert socket.closed() == 4409
    prompt = again.asked()
    assert prompt is not None and again.act(prompt)["t"] == "ack"
