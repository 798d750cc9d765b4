"""What people, networks and cheats do to a room's sockets: away and back, floods, strange frames, frozen readers."""

from rooms.models import Room, Seat
from tests.support.site import LiveSite
from tests.support.visitor import Visitor


def test_who_changes_seats_sees_the_own_hand_alone(live_site: LiveSite) -> None:
    """The socket was opened in another seat than the one that is dealt to."""
    ana, ben = Visitor(live_site.url), Visitor(live_site.url)
    code = ana.open_room()
    one = ana.sit(code)
    assert one.do("move", seat=2)["t"] == "ack"
    ben.join(code)
    two = ben.sit(code)  # in the first seat, where Ana's socket was opened
    assert one.do("fill", level="medium")["t"] == "ack" and one.do("start")["t"] == "ack"
    ana_sees = one.seen(lambda update: update["view"] is not None)
    ben_sees = two.seen(lambda update: update["view"] is not None)
    assert (ana_sees["room"]["you"], ben_sees["room"]["you"]) == (2, 0)
    assert (ana_sees["view"]["seat"], ben_sees["view"]["seat"]) == (2, 0)
    assert not set(ana_sees["view"]["hand"]) & set(ben_sees["view"]["hand"])
    assert [seat["name"] for seat in ana_sees["room"]["seats"]][2] == Seat.objects.get(number=2).name
    prompt = one.asked()
    assert prompt is not None and one.act(prompt)["t"] == "ack"
    assert Room.objects.get().status == "playing"
