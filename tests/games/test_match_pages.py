"""The pages of a match: for those who sat in it, and not before they may know."""

import json

import pytest
from django.db import transaction
from django.test import Client

from games import history, record, selectors, services
from games.engine import deals
from games.models import MatchSeat
from games.templatetags.numbers import points
from players.models import Player
from tests.games import matches

pytestmark = pytest.mark.django_db(transaction=True)


def page_of(player: Player | None) -> Client:
    client = Client()
    if player is not None:
        client.force_login(player, backend="players.backends.NameOrAddress")
    return client


@pytest.fixture
def ana() -> Player:
    return matches.person("Ana")


def addresses(match_id: int) -> list[str]:
    return [f"/matches/{match_id}/", f"/matches/{match_id}/rounds/1/", f"/matches/{match_id}/export.json"]


def test_who_sat_in_it_sees_result_round_and_export(ana: Player) -> None:
    match_id = matches.begun(ana).match_id
    matches.played_out(match_id)
    for address in addresses(match_id):
        assert page_of(ana).get(address).status_code == 200


def test_strangers_bots_and_visitors_find_nothing(ana: Player) -> None:
    match_id = matches.begun(ana).match_id
    matches.played_out(match_id)
    bo = matches.person("Bo")
    own = matches.begun(bo).match_id
    matches.played_out(own)
    for address in addresses(match_id):
        nowhere = address.replace(str(match_id), "987654321")
        for client in (page_of(bo), page_of(None)):
            refused, unknown = client.get(address), client.get(nowhere)
            assert refused.status_code == unknown.status_code == 404
            assert refused.content == unknown.content


def test_only_get_is_answered(ana: Player) -> None:
    match_id = matches.begun(ana).match_id
    matches.played_out(match_id)
    for address in addresses(match_id):
        assert page_of(ana).post(address).status_code == 405


def test_a_running_match_shows_neither_result_nor_export(ana: Player) -> None:
    match_id = matches.begun(ana, rounds=2).match_id
    for address in addresses(match_id):
        assert page_of(ana).get(address).status_code == 404


def test_a_round_opens_when_it_is_scored_and_no_later_one_does(ana: Player) -> None:
    match_id = matches.begun(ana, rounds=3).match_id
    client = page_of(ana)

    def open_rounds() -> list[int]:
        return [n for n in range(6) if client.get(f"/matches/{match_id}/rounds/{n}/").status_code == 200]

    scored = 0
    while True:
        assert open_rounds() == list(range(1, scored + 1))
        step = matches.answer(match_id)
        scored += sum(type(event).__name__ == "RoundScored" for _n, event in step.events)
        if scored == 2:
            break
    assert open_rounds() == [1, 2]
    with transaction.atomic():
        services.abandon(match_id)
    assert open_rounds() == [1, 2]
    assert client.get(f"/matches/{match_id}/export.json").status_code == 404
    assert client.get(f"/matches/{match_id}/").status_code == 404


def test_an_open_round_gives_away_nothing_of_the_next(ana: Player) -> None:
    match_id = matches.begun(ana, rounds=2).match_id
    while selectors.round_now(history.load(match_id)) == 1:
        matches.answer(match_id)
    loaded = history.load(match_id)
    text = page_of(ana).get(f"/matches/{match_id}/rounds/1/").content.decode()
    assert loaded.secret.hex() not in text
    source = (loaded.secret, loaded.key, match_id)
    assert deals.round_key(*source, 1).hex() in text
    for number in (2, 3):
        assert deals.round_key(*source, number).hex() not in text
        assert deals.round_salt(*source, number).hex() not in text
    check = selectors.revealed_round(match_id, 1)
    assert check is not None and check["round"] == 1


def test_the_check_of_a_round_deals_it_again(ana: Player) -> None:
    match_id = matches.begun(ana).match_id
    loaded = matches.played_out(match_id).loaded
    check = page_of(ana).get(f"/matches/{match_id}/rounds/1/").context["check"]
    key, salt = bytes.fromhex(check["key"]), bytes.fromhex(check["salt"])
    assert deals.commitment(key, salt) == check["commitment"] == loaded.commitments[0]
    deck = [tile.text for tile in deals.deck_from_key(key)]
    assert [deck[7 * seat : 7 * seat + 7] for seat in range(4)] == check["hands"]
    assert (check["match"], check["game"], check["names"]) == (
        match_id,
        "domino_poker",
        ["Ana", "West", "North", "East"],
    )
    assert set(check) == {
        "match", "game", "round", "key", "salt", "commitment", "dealer", "hands", "names", "marks",
    }  # fmt: skip
    assert {"0-0", "1-1", "1-6"} < set(check["marks"]["trumps"]), "the rules', of no hand"


def test_the_result_shows_places_totals_and_rounds(ana: Player) -> None:
    match_id = matches.begun(ana, rounds=2).match_id
    outcome = matches.played_out(match_id).outcome
    assert outcome is not None
    context = page_of(ana).get(f"/matches/{match_id}/").context
    assert (context["match"]["id"], context["match"]["rounds"]) == (match_id, 2)
    assert [player["seat"] for player in context["players"]] == list(outcome.order)
    assert [player["place"] for player in context["players"]] == [1, 2, 3, 4]
    totals = [sum(row["scores"][seat] for row in context["rounds"]) for seat in outcome.order]
    assert [player["total"] for player in context["players"]] == totals == sorted(totals, reverse=True)
    assert [row["round"] for row in context["rounds"]] == [1, 2] and len(context["decided"]) == 3


def test_who_gave_up_is_told_beside_the_name_and_not_as_a_bot(ana: Player) -> None:
    match_id = matches.begun(ana).match_id
    matches.played_out(match_id)
    assert "gave up" not in page_of(ana).get(f"/matches/{match_id}/").content.decode()
    MatchSeat.objects.filter(match_id=match_id, number=2).update(
        player=matches.person("Bo"), name="Bo", bot_level="", forfeited=True
    )
    page = page_of(ana).get(f"/matches/{match_id}/").content.decode()
    assert page.count("gave up") == 1 and page.count("Medium bot") == 2
    assert page.index("Bo</bdi>") < page.index("gave up") < page.index("place-total", page.index("Bo</bdi>"))


def test_scores_below_zero_have_a_real_minus_sign(ana: Player) -> None:
    assert [points(number) for number in (-50, -5, 0, 155)] == ["−50", "−5", "0", "155"]
    match_id = matches.begun(ana, rounds=3).match_id
    matches.played_out(match_id)
    answer = page_of(ana).get(f"/matches/{match_id}/")
    lost = [score for row in answer.context["rounds"] for score in row["scores"] if score < 0]
    page = answer.content.decode()
    assert all(f"<b>−{-score}</b>" in page for score in lost) and "<b>-" not in page
    assert 'place-total">-' not in page


def test_the_export_is_a_record_to_keep(ana: Player) -> None:
    match_id = matches.begun(ana).match_id
    matches.played_out(match_id)
    answer = page_of(ana).get(f"/matches/{match_id}/export.json")
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"] == f'attachment; filename="match-{match_id}.json"'
    assert answer["Cache-Control"] == "no-store"
    assert record.read(answer.content) == selectors.record_of(match_id)
    assert "action_id" not in json.dumps(json.loads(answer.content)["events"])


def test_names_survive_their_player(ana: Player) -> None:
    match_id = matches.begun(ana).match_id
    matches.played_out(match_id)
    bo = matches.person("Bo")
    # A second person in the same match, so that somebody is left to look.
    MatchSeat.objects.filter(match_id=match_id, number=2).update(player=bo, name="Bo", bot_level="")
    ana.delete()
    assert "Ana" in page_of(bo).get(f"/matches/{match_id}/").content.decode()


@pytest.mark.parametrize(
    "path", ["0/", "999999999999999999/", "9999999999999999999/", "-1/", "x/", "1/rounds/0/", "1e3/"]
)
def test_strange_numbers_are_not_found(ana: Player, path: str) -> None:
    assert page_of(ana).get(f"/matches/{path}").status_code == 404
