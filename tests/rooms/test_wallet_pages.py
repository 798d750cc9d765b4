"""The wallet: the balance on every page, the statement with its filters, and its file."""

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.utils import timezone

from players.models import Player
from rooms import closing, seating
from tests.rooms import stage
from tests.rooms.gold import begun, has, paid, rich
from tests.rooms.pages import client_of, text
from wallet import selectors as wallet
from wallet import services as coins

pytestmark = pytest.mark.django_db(transaction=True)


def test_guests_and_visitors_are_told_how_to_get_a_wallet(client: Client) -> None:
    for one in (client, client_of(stage.person("Guest"))):
        answer = one.get("/wallet/")
        assert answer.status_code == 200 and "Gold is for registered players" in text(answer)
        assert one.get("/wallet/statement.csv")["Location"] == "/wallet/"
        assert "data-purse" not in text(one.get("/lobby/")) and "balance.js" not in text(one.get("/"))
    assert Player.objects.count() == 1


def test_every_page_shows_the_balance() -> None:
    ana = rich("Ana")
    client = client_of(ana)
    room = paid(300, ana)
    for path in ("/", "/lobby/", "/rules/", "/wallet/", f"/rooms/{room.pk}/", "/nowhere/"):
        answer = client.get(path, follow=True)
        assert 'data-purse="4700"' in text(answer) and "js/balance.js" in text(answer), path


def statement(client: Client, query: str = "") -> list[list[str]]:
    page = text(client.get(f"/wallet/{query}"))
    rows = re.findall(r"<tr>\s*<td><time.*?</tr>", page, re.DOTALL)
    return [[" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in row.split("</td>")[1:4]] for row in rows]


def test_the_statement_runs_and_links_to_matches_and_rooms() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    first = begun(paid(300, ana, ben))
    closing.leave(first.pk, ben.pk)
    stage.play_to_the_end(first)
    room = paid(200, ana)
    client = client_of(ana)
    match = stage.match_of(first)
    assert statement(client) == [
        ["entry fee room of 200 gold", "−200", "5100"],
        [f"winnings match {match}", "+600", "5300"],
        [f"entry fee match {match}", "−300", "4700"],
        ["welcome bonus for signing up", "+5000", "5000"],
    ]
    page = text(client.get("/wallet/"))
    assert f'href="/matches/{match}/"' in page and f'href="/tables/{room.code}/"' in page
    closing.leave(room.pk, ana.pk)
    page = text(client.get("/wallet/"))
    assert room.code not in page and statement(client)[0][0] == "fee paid back room of 200 gold"


def test_a_fee_that_the_house_keeps_is_explained() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    room = paid(300, ana, ben)
    closing.leave(room.pk, ben.pk)
    seating.sit(ben, room.pk, agreed_fee=300)
    stage.arrive(room, ben)
    begun(room)
    for player in (ana, ben):
        closing.leave(room.pk, player.pk)
    match = stage.match_of(room)
    assert [about for about, *_coins in statement(client_of(ben))][1:3] == [
        "fee paid back room of 300 gold", "entry fee room of 300 gold",
    ]  # fmt: skip
    for player in (ana, ben):
        about = f"entry fee match {match}, which nobody finished: the pot went to the house"
        assert statement(client_of(player))[0] == [about, "−300", "4700"]
    assert wallet.held("house:abandoned") == 600


def test_a_line_leads_nowhere_that_its_reader_may_not_go() -> None:
    ana, ben = rich("Ana"), rich("Ben")
    running = begun(paid(300, ana, ben, visibility="private"))
    match = stage.match_of(running)
    page = text(client_of(ana).get("/wallet/"))
    assert f"/matches/{match}/" not in page and f'href="/tables/{running.code}/"' in page
    closing.leave(running.pk, ben.pk)
    page = text(client_of(ben).get("/wallet/"))
    assert running.code not in page and f"/rooms/{running.pk}/" not in page and "room of 300 gold" in page


def test_the_filters_and_pages_of_the_statement() -> None:
    ana = rich("Ana")
    for number in range(1, 61):
        with transaction.atomic():
            coins.reward(number, ana.pk, 1, timezone.now())
    client = client_of(ana)
    assert len(statement(client)) == 50 and len(statement(client, "?page=2")) == 11
    assert len(statement(client, "?kind=reward&page=2")) == 10 and len(statement(client, "?kind=welcome")) == 1
    assert statement(client, "?kind=fee") == [] and "No line fits the filter" in text(client.get("/wallet/?kind=fee"))
    assert 'href="?kind=reward&amp;page=2"' in text(client.get("/wallet/?kind=reward"))
    today, tomorrow = timezone.now().date(), timezone.now().date() + timedelta(days=1)
    assert len(statement(client, f"?since={today}&until={today}&kind=welcome")) == 1
    assert statement(client, f"?since={tomorrow}") == []
    for page in ("0", "-1", "99", "x", "٢", "9" * 50):
        assert client.get("/wallet/", {"page": page}).status_code == 200


@pytest.mark.parametrize(
    "query", ["since=yesterday", "until=2026-13-01", "since=9999999-01-01", "kind=hand", "kind=%00"]
)
def test_a_filter_that_is_none_is_answered_beside_it(query: str) -> None:
    client = client_of(rich("Ana"))
    answer = client.get(f"/wallet/?{query}")
    assert answer.status_code == 400 and 'id="filter-error"' in text(answer)
    assert client.get(f"/wallet/statement.csv?{query}").status_code == 400


@pytest.mark.parametrize("query", ["until=9999-12-31", "since=0001-01-01", "since=9999-12-31"])
def test_the_ends_of_time_are_days_too(query: str) -> None:
    assert client_of(rich("Ana")).get(f"/wallet/?{query}").status_code == 200


def rows_of(answer: Any) -> list[list[str]]:
    async def read() -> bytes:
        return b"".join([chunk async for chunk in answer.streaming_content])

    body = async_to_sync(read)().decode()
    assert body.startswith("\ufeff")
    return list(csv.reader(io.StringIO(body.removeprefix("\ufeff"))))


def test_the_file_holds_what_the_page_shows_and_comes_five_times_an_hour() -> None:
    cache.clear()
    ana, ben = rich("Ana"), rich("Ben")
    room = begun(paid(300, ana, ben))
    closing.leave(room.pk, ben.pk)
    stage.play_to_the_end(room)
    client = client_of(ana)
    rows = rows_of(client.get("/wallet/statement.csv"))
    assert [row[2:5] for row in rows[1:]] == [
        ["welcome bonus", "5000", "5000"], ["entry fee", "-300", "4700"], ["winnings", "600", "5300"],
    ]  # fmt: skip
    assert [row[2] for row in rows_of(client.get("/wallet/statement.csv?kind=fee"))] == ["kind", "entry fee"]
    for _i in range(3):
        assert client.get("/wallet/statement.csv").status_code == 200
    answer = client.get("/wallet/statement.csv")
    assert answer.status_code == 429 and "5 files within an hour" in text(answer)
    assert client_of(ben).get("/wallet/statement.csv").status_code == 200


def test_the_wallet_adds_up() -> None:
    ana = rich("Ana")
    room = paid(300, ana)
    closing.leave(room.pk, ana.pk)
    lines = wallet.statement(ana.pk).lines
    assert [line.balance for line in lines] == [5000, 4700, 5000] and has(ana) == [5000]
