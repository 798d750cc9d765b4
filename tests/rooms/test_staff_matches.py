"""Matches as staff see them, with nothing hidden of a running one, and signals to look at."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from games import transcript
from games.models import Match, MatchEvent
from players.models import Ban, Player
from rooms import closing
from rooms.models import Room
from tests.players.accounts import text
from tests.rooms import stage
from tests.rooms.gold import begun, paid, rich
from tests.rooms.house import HOUSE, acts, browser_of, member, played, staff
from wallet import selectors as wallet
from wallet import services as coins

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


def test_nothing_hidden_of_a_running_match_is_shown_anywhere() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    match = Match.objects.get(pk=stage.match_of(room))
    dealt = MatchEvent.objects.get(match=match, tag="Dealt")
    tiles = set(re.findall(r'"(\d-\d)"', dealt.body))
    assert len(tiles) == 28
    client = staff("admin")
    pages = [
        f"{HOUSE}/matches/{match.pk}/", f"{HOUSE}/rooms/{room.pk}/", f"{HOUSE}/players/{ana.pk}/",
        "/admin/games/match/", f"/admin/games/match/?q={match.pk}", f"/admin/games/match/{match.pk}/change/",
        "/admin/rooms/room/", "/admin/players/staffact/", "/admin/",
    ]  # fmt: skip
    for page in pages:
        shown = text(client.get(page, follow=True))
        body = shown.split("<main", 1)[1].split("</main>")[0]
        assert not [tile for tile in tiles if re.search(rf"(?<![\d-]){tile}(?![\d-])", body)], page
        assert bytes(match.secret).hex() not in shown and "Dealt" not in shown and "hands" not in shown, page
    assert "still being played" in text(client.get(f"{HOUSE}/matches/{match.pk}/"))
    assert client.post(f"{HOUSE}/matches/{match.pk}/verify/").status_code == 403
    with pytest.raises(transcript.StillRunning):
        transcript.lines(match.pk)
    assert client.get(f"/admin/games/match/{match.pk}/history/").status_code == 403


def test_a_match_that_is_over_is_told_in_words_and_verified() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = played(ana, ben)
    client = staff("support")
    page = text(client.get(f"{HOUSE}/matches/{room.match_id}/"))
    assert page.count(" bids ") == 4 and page.count(" takes trick ") == 7 and "Round 1 is dealt, by" in page
    assert page.count(" plays ") == 21 and page.count(" leads ") == 7 and "The match ends:" in page
    assert f"{HOUSE}/rooms/{room.pk}/" in page
    assert bytes(Match.objects.get(pk=stage.match_of(room)).secret).hex() not in page
    assert "Verified:" in text(client.post(f"{HOUSE}/matches/{room.match_id}/verify/"))
    Match.objects.filter(pk=stage.match_of(room)).update(outcome={"order": []})
    assert "not what its secret" in text(client.post(f"{HOUSE}/matches/{room.match_id}/verify/"))


def test_the_hands_of_a_round_that_was_never_scored_stay_covered() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    closing.leave(room.pk, ana.pk)
    closing.leave(room.pk, ben.pk)
    page = text(staff("support").get(f"{HOUSE}/matches/{room.match_id}/"))
    assert "Round 1 is dealt" in page and not re.search(r"dealt, by [^<]*: ", page)


def test_staff_cannot_open_a_match_they_sit_in() -> None:
    mo = member("admin", "Mo")
    with transaction.atomic():
        coins.welcome(mo.pk)
    room = begun(paid(300, mo, rich("Ben")))
    client = browser_of(mo)
    for _over in range(2):
        assert client.get(f"{HOUSE}/matches/{room.match_id}/").status_code == 403
        assert client.post(f"{HOUSE}/matches/{room.match_id}/verify/").status_code == 403
        stage.play_to_the_end(room)
    assert acts(by=mo) == ["refused"] * 4
    assert staff("support").get(f"{HOUSE}/matches/{room.match_id}/").status_code == 200


# -- signals -----------------------------------------------------------------------------------------------------


def signs(client: Client) -> dict[str, str]:
    page = text(client.get(f"{HOUSE}/flags/"))
    rows = re.findall(r'<tr data-sign="(\w+)">(.*?)</tr>', page, re.DOTALL)
    return {sign: re.sub(r"<[^>]+>", " ", row) for sign, row in rows}


def loser_and_winner(room: Room) -> tuple[Player, Player]:
    """Of a room of two: who got less of the pot, and who more."""
    lines = [line for line in wallet.room_sheet(room.pk).lines if line.kind == "payout"]
    numbers = [int(line.destination.split(":")[1]) for line in sorted(lines, key=lambda line: line.amount)]
    return Player.objects.get(pk=numbers[0]), Player.objects.get(pk=numbers[1])


def test_signals_show_what_was_moved_and_only_from_the_thresholds_on(settings: Any) -> None:
    client = staff("moderator")
    ana, ben = rich("Ana"), rich("Ben")
    loser, winner = loser_and_winner(played(ana, ben, fee=1000))
    assert signs(client) == {}
    # Of 1000 paid in each, 2000 x 3 // 10 came back to the second: 700 of the loser's fee went to the winner.
    settings.FLAG_COINS = 701
    assert "one_way" not in signs(client)
    settings.FLAG_COINS = 700
    found = signs(client)
    assert (
        loser.shown_name in found["one_way"]
        and winner.shown_name in found["one_way"]
        and "700 of 700" in found["one_way"]
    )
    settings.FLAG_PAIR_MATCHES = 1
    pair = signs(client)["pair"]
    assert "1 matches together" in pair and ("700 went one way, 300" in pair or "300 went one way, 700" in pair)
    settings.FLAG_YOUNG_ACCOUNTS = 1
    assert "fed" in signs(client)
    Player.objects.update(date_joined=timezone.now() - timedelta(days=settings.FLAG_YOUNG_DAYS + 1))
    assert "fed" not in signs(client)
    assert Ban.objects.count() == 0, "a flag does nothing by itself"


def test_an_account_fed_by_three_young_ones_is_flagged_with_their_names(settings: Any) -> None:
    settings.FLAG_COINS = 300
    fed = rich("Greta")
    for name in ("Ana", "Ben", "Cleo"):
        other = rich(name)
        room = begun(paid(500, fed, other))
        closing.leave(room.pk, other.pk)
        stage.play_to_the_end(room)
    found = signs(staff("moderator"))["fed"]
    assert "Greta" in found and "Ana" in found and "Cleo" in found and "1500 of 1500" in found


def test_a_quick_forfeit_of_a_large_pot_is_flagged(settings: Any) -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(600, ana, ben))
    closing.leave(room.pk, ben.pk)
    stage.play_to_the_end(room)
    client = staff("moderator")
    found = signs(client)["forfeit"]
    assert "Ben" in found and "1200" in found and str(room.match_id) in found
    settings.FLAG_POT_COINS = 1201
    assert "forfeit" not in signs(client)
    settings.FLAG_POT_COINS, settings.FLAG_FORFEIT_SECONDS = 1200, -1
    assert "forfeit" not in signs(client)
