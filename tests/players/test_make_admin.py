"""The command that makes staff: a new person who can sign in at once, or an account that there is already."""

from typing import Any

import pytest
from django.contrib.auth.management.commands import changepassword
from django.core.management import CommandError, call_command

from players import services as players
from players.models import Player, StaffAct
from players.staff import role_of
from tests.players.accounts import PASSWORD, account, browser, second_step, sign_in, signed_in, whose
from tests.rooms import stage
from tests.rooms.house import acts, browser_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


def test_make_admin_prints_what_lets_the_person_in_once(capsys: Any) -> None:
    call_command("make_admin", "Olga", "--role", "senior")
    printed = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines() if ": " in line)
    client = browser()
    assert sign_in(client, "Olga", printed["Password"]).headers["Location"] == "/accounts/2fa/authenticate/"
    assert client.get("/admin/").status_code == 302
    client.post("/accounts/2fa/authenticate/", {"code": printed["One-time code of this moment"]})
    assert client.get("/admin/").status_code == 200 and client.get("/admin/players/staffact/").status_code == 200
    olga = Player.objects.get(username="olga")
    assert not olga.is_superuser and printed["Role"] == "senior" and printed["Password"] not in olga.password
    assert acts(player=olga.pk) == ["appoint"] and StaffAct.objects.filter(by=None).count() == 1
    other = browser()
    sign_in(other, "Olga", printed["Password"])
    other.post("/accounts/2fa/authenticate/", {"code": printed["Recovery codes, each once"].split()[0]})
    assert other.get("/admin/").status_code == 200
    with pytest.raises(CommandError, match=r"taken.*--existing"):
        call_command("make_admin", "Olga")
    with pytest.raises(CommandError) as refused:
        call_command("make_admin", "0lga")  # looks like her, and is nobody's
    assert "taken" in str(refused.value) and "--existing" not in str(refused.value)


def test_make_admin_asks_for_an_address_where_addresses_are_confirmed(settings: Any) -> None:
    settings.EMAIL_VERIFICATION = "mandatory"
    with pytest.raises(CommandError, match="--address"):
        call_command("make_admin", "Olga")
    call_command("make_admin", "Olga", "--address", "olga@play.example")
    assert Player.objects.get().emailaddress_set.get().verified  # type: ignore[attr-defined]


def test_make_admin_gives_the_role_to_an_account_that_there_is(capsys: Any) -> None:
    ana = account("Ana")
    here = signed_in(ana)
    before = Player.objects.get(pk=ana.pk).password
    call_command("make_admin", " ANA", "--role", "senior", "--existing")
    printed = capsys.readouterr().out
    assert "Role: senior" in printed and "Still needed: a second step" in printed and PASSWORD not in printed
    now = Player.objects.get(pk=ana.pk)
    assert now.password == before and now.is_staff and not now.is_superuser and role_of(now) == "senior"
    (act,) = StaffAct.objects.all()
    assert (act.by, act.act, act.player, act.subject) == (None, "appoint", ana.pk, "senior")
    assert whose(here) is None, "its sessions are over"
    client = signed_in(ana)
    assert client.get("/admin/").headers["Location"] == "/accounts/2fa/totp/activate/"
    second_step(ana)
    call_command("make_admin", "Ana", "--existing")
    assert "Still needed: nothing" in capsys.readouterr().out and role_of(Player.objects.get(pk=ana.pk)) == "admin"
    assert browser_of(Player.objects.get(pk=ana.pk)).get("/admin/players/staffact/").status_code == 200


def test_make_admin_says_what_stands_against_an_account(settings: Any, capsys: Any) -> None:
    ana, gus = account("Ana", confirmed=False), stage.person("Gus")
    for name in ("Nobody", "Gus", str(ana.pk), str(gus.pk), ""):
        with pytest.raises(CommandError, match="no account of that name"):
            call_command("make_admin", name, "--existing")
    with pytest.raises(CommandError, match="takes none"):
        call_command("make_admin", "Ana", "--existing", "--address", "olga@play.example")
    players.ban(ana, None, "Rude")
    with pytest.raises(CommandError, match="banned or closed"):
        call_command("make_admin", "Ana", "--existing")
    assert not Player.objects.filter(is_staff=True).exists() and acts() == []
    players.unban(ana, None)
    settings.EMAIL_VERIFICATION = "mandatory"
    call_command("make_admin", "Ana", "--existing")
    assert "Still needed: a confirmed address and a second step" in capsys.readouterr().out


def test_djangos_command_sets_a_password_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    ana = account("Ana")
    hashed = Player.set_password

    def meanwhile(self: Player, password: str | None) -> None:
        hashed(self, password)
        players.ban(ana, None, "Rude")

    monkeypatch.setattr(changepassword.Command, "_get_pass", lambda *_more, **_named: "a quite other one 9")
    monkeypatch.setattr(Player, "set_password", meanwhile)
    call_command("changepassword", "ana")
    row = Player.objects.get(pk=ana.pk)
    assert row.check_password("a quite other one 9") and not row.is_active and row.session_salt
