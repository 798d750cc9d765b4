"""One mailbox is one mailbox, however its address is written."""

import pytest

from players import keys, services
from players.mailboxes import mailbox
from players.models import UsedAddress, normal_address


@pytest.mark.parametrize(
    ("written", "one"),
    [
        ("ana@play.example", "ana@play.example"),
        (" ANA@Play.Example. ", "ana@play.example"),
        ("ana+1@play.example", "ana@play.example"),
        ("ana+a+b@play.example", "ana@play.example"),
        ('"ana+1"@play.example', "ana@play.example"),
        ("an.a@play.example", "an.a@play.example"),
        ("a.n.a+x@gmail.com", "ana@gmail.com"),
        ("ana@GoogleMail.com", "ana@gmail.com"),
        ("ana@münchen.example", "ana@xn--mnchen-3ya.example"),
        ("ana@XN--MNCHEN-3YA.example", "ana@xn--mnchen-3ya.example"),
        ("+ana@play.example", "+ana@play.example"),
        ("...@gmail.com", "...@gmail.com"),
        ("ana@..", "ana@"),
        (f"ana@{'a' * 70}.example", f"ana@{'a' * 70}.example"),
        ("ana", "@ana"),
    ],
)
def test_all_ways_to_write_an_address_are_one(written: str, one: str) -> None:
    assert mailbox(written) == one
    assert mailbox(one) == one


@pytest.mark.django_db
def test_a_mailbox_has_its_bonus_once() -> None:
    assert services.first_use_of("ana.b@gmail.com")
    for written in ("ana.b@gmail.com", "anab@gmail.com", "a.n.a.b+2@googlemail.com", "ANAB+x@Gmail.com"):
        assert not services.first_use_of(written)
    assert services.first_use_of("anab@play.example")
    assert not services.first_use_of("anab+1@play.example")


@pytest.mark.django_db
def test_addresses_that_were_used_as_they_are_written_stay_used() -> None:
    digest = keys.digests("players.used-address", normal_address("ana+1@play.example"))[0]
    UsedAddress.objects.create(digest=digest)
    assert not services.first_use_of("ana+1@play.example")
