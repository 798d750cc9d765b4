"""Who wins no reward for a solo place that is rewarded else, and what the pages say of it."""

from collections import Counter
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from games import selectors as game_selectors
from games.models import MatchEvent
from players.models import Player
from players.selectors import may_own_gold
from rooms import money, playing
from rooms.models import Room, Seat
from tests.players.accounts import account, browser, sign_up
from tests.rooms import stage
from tests.rooms.gold import has, nothing_is_lost, rich
from tests.rooms.pages import client_of, words
from wallet.models import Account, Transaction

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def every_place_is_rewarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rooms.money.REWARDED_PLACES", 4)


def absent(player: Player, *, back_at: str = "") -> Room:
    """A match that times out until the table plays by itself; the player is back at the step `back_at`, if any."""
    room = stage.begun(player, clocked=True)
    for _i in range(400):
        if stage.refreshed(room).status != Room.Status.PLAYING:
            return room
        (prompt,) = stage.prompts(room)
        own = stage.human(room)
        if back_at and prompt.step.startswith(back_at) and prompt.seat == own.number and own.auto_play:
            playing.take_control(room.pk, own.pk)
            stage.to_human(room)
            stage.answer(room, stage.first_choice(room))
            continue
        stage.pass_time(room, 20)
        playing.ring(room.pk)
    raise AssertionError("the match did not end")


def said(room: Room) -> Any:
    return stage.frame_of(room, 0)["room"]["money"]


def page_of(player: Player, room: Room) -> str:
    return words(client_of(player).get(f"/matches/{stage.match_of(room)}/"))


def test_a_match_that_nobody_played_pays_nothing_and_says_why() -> None:
    ana = rich("Ana")
    room = absent(ana)
    assert has(ana) == [5000] and not Transaction.objects.filter(kind="reward").exists()
    why = "No reward: the table played most of your turns."
    assert said(room) == {"reward": 0, "offered": 0, "worth": 50, "left": 3000, "why": why}
    page = page_of(ana, room)
    assert why in page and "Reward for this place" not in page
    nothing_is_lost()


def test_who_comes_back_for_the_last_tile_has_not_played() -> None:
    ana = rich("Ana")
    room = absent(ana, back_at="r1.t7")
    assert MatchEvent.objects.filter(by="seat").count() == 1
    assert has(ana) == [5000] and said(room)["why"] == "No reward: the table played most of your turns."


@pytest.mark.parametrize("own", [3, 4, 7])
def test_half_of_the_answers_is_enough(own: int) -> None:
    """A bid and seven tiles; the player goes away after the first `own` of them."""
    ana = rich("Ana")
    room = stage.begun(ana, clocked=True)
    for number in range(own):
        stage.to_human(room)
        stage.answer(room, stage.first_choice(room), action_id=f"own-{number}")
    while stage.refreshed(room).status == Room.Status.PLAYING:
        stage.pass_time(room, 20)
        playing.ring(room.pk)
    answers = Counter(MatchEvent.objects.filter(seat=0).exclude(answer="").values_list("by", flat=True))
    assert answers == {"seat": own, "idle": 8 - own}
    assert has(ana) == [5050 if own >= 4 else 5000]
    assert ("most of your turns" in page_of(ana, room)) == ("most of your turns" in said(room)["why"]) == (own < 4)


def test_who_played_as_a_guest_reads_of_no_reward_after_signing_up() -> None:
    client = browser()
    client.post("/play/", {"rounds": "1", "level": "medium"})
    room = Room.objects.get()
    stage.play_out(room)
    sign_up(client, "Ana")
    assert not Player.objects.get().is_guest and money.of_solo(stage.match_of(room)) is None
    assert "reward" not in words(client.get(f"/matches/{stage.match_of(room)}/")).lower()


def test_a_place_that_wins_nothing_needs_no_excuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rooms.money.REWARDED_PLACES", 0)
    ana = rich("Ana")
    assert said(absent(ana))["why"] == ""


@pytest.mark.parametrize("verification", ["mandatory", "none"])
@pytest.mark.parametrize("confirmed", [True, False])
def test_gold_is_for_confirmed_addresses_where_those_must_be(settings: Any, verification: str, confirmed: bool) -> None:
    settings.EMAIL_VERIFICATION = verification
    ana = account("Ana", confirmed=confirmed)
    room = stage.begun(ana)
    stage.play_out(room)
    wins = confirmed or verification == "none"
    assert may_own_gold(ana.pk) == wins
    assert Account.objects.filter(owner_id=ana.pk).exists() == wins
    assert Transaction.objects.filter(kind="reward").count() == int(wins)
    why = "" if wins else "No reward: confirm your e-mail address to win gold."
    assert said(room)["why"] == why and why in page_of(ana, room)
    for path in ("/", "/wallet/"):
        page = words(client_of(ana).get(path))
        assert ("Confirm your e-mail address to win gold." in page) != wins
        assert ("left to win" in page or "you can still win" in page) == wins
    assert not Seat.objects.filter(player=ana).exists()


def test_who_confirms_the_address_wins_from_then_on(settings: Any) -> None:
    settings.EMAIL_VERIFICATION = "mandatory"
    ana = account("Ana", confirmed=False)
    first = stage.begun(ana)
    stage.play_out(first)
    EmailAddress.objects.update(verified=True)
    second = stage.begun(ana)
    stage.play_out(second)
    assert has(ana) == [50]
    assert "confirm your e-mail" in said(first)["why"], "what was, stays true"
    assert game_selectors.is_finished(stage.match_of(second)) and said(second)["why"] == ""
