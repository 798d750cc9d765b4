"""The page of a player: what each role sees of a person, and what may be done to an account."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from players import staff as team
from players.models import Ban, Player
from rooms import closing
from tests.players.accounts import account, browser, sign_in, text, whose
from tests.rooms.gold import begun, paid, rich
from tests.rooms.house import HOUSE, acts, ask, browser_of, member, staff
from tests.rooms.stage import at_once
from wallet import services as coins
from wallet.models import Correction

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


def test_addresses_and_sessions_are_for_those_who_may_see_them() -> None:
    ana = account("Ana")
    sign_in(browser(), "ana")
    cleo = account("Cleo")
    sign_in(browser(), "cleo")
    little, much = (text(staff(role).get(f"{HOUSE}/players/{ana.pk}/")) for role in ("support", "moderator"))
    assert "ana@play.example" not in little and "a…@play.example" in little and "127.0.0.1" not in little
    assert "ana@play.example" in much and "127.0.0.1" in much and f"{HOUSE}/players/{cleo.pk}/" in much
    support, moderator = staff("support", "Sue"), staff("moderator", "Mo")
    assert "Ana" not in text(support.get("/admin/players/player/?q=ana@play.example"))
    assert "Ana" in text(moderator.get("/admin/players/player/?q=ana@play.example"))
    assert "Ana" in text(support.get(f"/admin/players/player/?q={ana.pk}"))


def test_guests_are_linked_to_the_account_of_their_browser_and_to_those_of_their_network() -> None:
    one, other, far = browser(), browser("Other/1.0"), browser()
    for client, address in ((one, "127.0.0.1"), (other, "127.0.0.1"), (far, "192.0.2.7")):
        client.post("/play/", {"rounds": 1, "level": "medium"}, REMOTE_ADDR=address)
    guest, next_door, far_away = (whose(client) for client in (one, other, far))
    assert guest is not None and guest.is_guest and next_door is not None and far_away is not None
    ana = account("Ana")
    closing.give_up_running(guest.pk)
    assert sign_in(one, "ana").status_code == 302
    page = text(staff("moderator").get(f"{HOUSE}/players/{ana.pk}/"))
    linked = page.partition("Linked guests")[2].partition("</ul>")[0]
    lines = {line.partition("(")[2].partition(")")[0]: line for line in linked.split("<li>")[1:]}
    assert lines.keys() == {str(guest.pk), str(next_door.pk)}
    assert "signed in to the account later" in lines[str(guest.pk)]
    assert "the same network" in lines[str(next_door.pk)]
    assert "Linked guests" not in text(staff("support", "Sue").get(f"{HOUSE}/players/{ana.pk}/"))


def test_a_ban_needs_a_reason_forfeits_and_ends_by_itself_or_by_hand() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    client = staff("moderator")
    page = f"{HOUSE}/players/{ben.pk}/"
    assert client.post(f"{page}ban/", {"reason": " "}).status_code == 400
    assert not Ban.objects.exists()
    assert client.post(f"{page}ban/", {"reason": "rude", "days": "2"}).status_code == 302
    ban = Ban.objects.get()
    assert ban.reason == "rude" and ban.until is not None and ban.until - timezone.now() < timedelta(days=2)
    assert not Player.objects.get(pk=ben.pk).is_active and not room.seats.filter(player=ben).exists()
    assert "rude" in text(client.get(page))
    assert client.post(f"{page}unban/", {"reason": "said sorry"}).status_code == 302
    assert Player.objects.get(pk=ben.pk).is_active


def test_nobody_acts_on_their_own_account_and_moderators_on_no_staff() -> None:
    mo, sue, boss = member("moderator", "Mo"), member("senior", "Sue"), member("admin", "Boss")
    client = browser_of(mo)
    for action in ("ban/", "sessions/end/", "unban/"):
        for whom in (mo, sue):
            answer = client.post(f"{HOUSE}/players/{whom.pk}/{action}", {"reason": "x"})
            assert answer.status_code == 400 and "account" in text(answer)
    assert not Ban.objects.exists() and acts(by=mo) == ["refused", "look"] * 6
    admin = browser_of(boss)
    assert admin.post(f"{HOUSE}/players/{boss.pk}/role/", {"role": "", "reason": "x"}).status_code == 400
    assert admin.post(f"{HOUSE}/players/{boss.pk}/ban/", {"reason": "x"}).status_code == 400
    assert admin.post(f"{HOUSE}/players/{mo.pk}/role/", {"role": "senior", "reason": "good"}).status_code == 302
    assert list(mo.groups.values_list("name", flat=True)) == ["senior"]
    assert admin.post(f"{HOUSE}/players/{mo.pk}/role/", {"role": "", "reason": "left"}).status_code == 302
    assert not Player.objects.get(pk=mo.pk).is_staff and not mo.groups.exists()
    assert client.get("/admin/", follow=False).status_code == 302, "its sessions are over"


@pytest.mark.parametrize("role", ["", "support"])
def test_of_two_who_take_each_others_role_one_comes_first(role: str) -> None:
    one, other = member("admin", "One"), member("admin", "Other")

    pairs = [(one, other), (other, one)]
    results = at_once([partial(team.appoint, theirs, role, mine, "left") for mine, theirs in pairs])
    assert sorted(map(str, results)) == ["None", "no admin"]
    assert Player.objects.filter(groups__name="admin").count() == 1


def test_sessions_are_ended_by_staff() -> None:
    ana = account("Ana")
    here = browser()
    sign_in(here, "ana")
    assert here.get("/accounts/").status_code == 200
    staff("moderator").post(f"{HOUSE}/players/{ana.pk}/sessions/end/", {"reason": "lost phone"})
    assert here.get("/accounts/").status_code == 302


def test_nobody_notes_or_asks_on_the_own_account_and_only_admins_on_those_of_staff() -> None:
    mo, sue = member("moderator", "Mo"), member("senior", "Sue")
    with transaction.atomic():
        coins.welcome(mo.pk)
        coins.welcome(sue.pk)
    client = browser_of(mo)
    for player, words in ((mo, "Nobody acts on their own account."), (sue, "Only admins act")):
        noted = client.post(f"{HOUSE}/players/{player.pk}/note/", {"reason": "a fine fellow"})
        for answer in (noted, ask(client, player)):
            assert answer.status_code == 400 and words in text(answer)
    assert not Correction.objects.exists() and not {"note", "ask"} & set(acts())
    assert acts(by=mo) == ["refused", "look"] * 4
    boss = staff("admin")
    assert boss.post(f"{HOUSE}/players/{mo.pk}/note/", {"reason": "fine"}).status_code == 302
    assert ask(boss, sue).status_code == 302
