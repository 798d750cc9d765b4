"""Names, passwords and sessions of accounts."""

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from players import services
from players.models import Player
from players.selectors import stamp_of
from rooms import selectors, tasks
from tests.players.accounts import (
    PASSWORD,
    account,
    browser,
    seat_of,
    session_key,
    sign_in,
    signed_in,
    text,
    whose,
)
from tests.rooms import stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


def test_a_change_of_name_is_seen_at_the_table_and_at_the_sign_in() -> None:
    ana = account()
    client = signed_in(ana)
    client.post("/rooms/", {"game": "domino_poker", "visibility": "public", "rounds": "1"})
    room = seat_of(ana).room
    version = room.version
    assert client.post("/accounts/name/", {"name": " Anouk "}).status_code == 302
    assert seat_of(ana).name == "Anouk" and stage.refreshed(room).version > version
    assert "Ana" not in text(client.get("/lobby/"))
    assert sign_in(browser(), "Anouk").status_code == 302 and sign_in(browser(), "Ana").status_code == 200
    refused = client.post("/accounts/name/", {"name": "Moderator"})
    assert refused.status_code == 400 and "reserved" in text(refused)


def test_another_password_ends_the_other_sessions_and_their_sockets() -> None:
    ana = account()
    here, there = signed_in(ana), signed_in(ana)
    socket = selectors.Identity(ana.pk, session_key(there), stamp_of(ana))
    # Even a session that nobody has listed.
    UserSession.objects.all().delete()
    new = "a quite other one 9"
    answer = here.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new})
    assert answer.status_code == 302
    assert selectors.ended_identities({socket})[0] == {socket}, "before any page looks at that session"
    assert whose(here) == ana and whose(there) is None
    fresh = Player.objects.get(pk=ana.pk)
    own = selectors.Identity(ana.pk, session_key(here), stamp_of(fresh))
    assert selectors.ended_identities({own}) == (set(), set())


def test_the_account_page_lists_sessions_and_ends_the_others() -> None:
    ana = account()
    here, there = signed_in(ana), browser("Other Browser/2")
    sign_in(there, "ana")
    page = text(here.get("/accounts/"))
    assert "Other Browser/2" in page and page.count("this one") == 1
    here.post("/accounts/sessions/end/")
    assert whose(there) is None and whose(here) == ana
    assert UserSession.objects.count() == 1
    here.post("/accounts/logout/")
    assert services.forget_ended_sessions() == 1 and not UserSession.objects.exists()


def test_sessions_that_nobody_listed_end_as_well() -> None:
    """Django gives a session another key by itself: after a new secret key, and in code that is not ours."""
    ana = account()
    here, there = signed_in(ana), signed_in(ana)
    session = there.session
    session.cycle_key()
    there.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    socket = selectors.Identity(ana.pk, session_key(there), stamp_of(ana))
    assert whose(there) == ana and selectors.ended_identities({socket})[0] == set()
    here.post("/accounts/sessions/end/")
    assert selectors.ended_identities({socket})[0] == {socket}, "its sockets too"
    assert whose(there) is None and whose(here) == ana
    own = selectors.Identity(ana.pk, session_key(here), stamp_of(Player.objects.get(pk=ana.pk)))
    assert selectors.ended_identities({own})[0] == set()
    services.end_sessions(ana.pk)
    assert whose(here) is None


def test_a_row_read_before_brings_no_session_back() -> None:
    ana = account()
    there = signed_in(ana)
    before = Player.objects.get(pk=ana.pk)
    kept = there.session.session_key
    UserSession.objects.all().delete()
    services.end_sessions(ana.pk)
    before.first_name = "Ana"
    with pytest.raises(TypeError):
        before.save()
    before.save(update_fields=["first_name"])
    assert Player.objects.get(pk=ana.pk).first_name == "Ana"
    assert whose(there) is None, kept


def test_a_session_with_another_key_is_listed_again() -> None:
    ana = account()
    here = signed_in(ana)
    session = here.session
    session.cycle_key()
    here.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    assert text(here.get("/accounts/")).count("this one") == 1
    assert [one.session_key for one in UserSession.objects.all()] == [session.session_key]


def test_sessions_whose_time_is_over_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = signed_in(account()), browser()
    there.get("/accounts/login/")
    for number in range(5):
        Session.objects.create(session_key=f"old{number}", session_data="", expire_date=timezone.now())
    alive = set(Session.objects.exclude(session_key__startswith="old").values_list("pk", flat=True))
    monkeypatch.setattr(services, "EXPIRED_AT_ONCE", 3)
    assert tasks.forget_ended_sessions() == 3 and tasks.forget_ended_sessions() == 2
    assert set(Session.objects.values_list("pk", flat=True)) == alive and whose(here) is not None
