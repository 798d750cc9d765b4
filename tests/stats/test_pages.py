"""The pages of statistics: for owner, other, guest and visitor; without matches, with few, with many."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from dominopoker.local.place import CHECKOUT
from players.models import Player
from stats import selectors
from stats import services as stats
from stats.models import MatchFact
from tests.stats import people
from tests.stats.people import NOON

pytestmark = pytest.mark.django_db(transaction=True)

PERIODS = ("all", "month", "30d", "7d")
ZERO = ((0, 0, 0, 0), (2, 2, 2, 1))
MIXED = ((2, 7, 0, 0), (2, 5, 0, 0))
PAGES = ("/stats/", "/players/{id}/", "/leaderboard/")


@pytest.fixture
def four() -> list[Player]:
    return people.four()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "STATS_MIN_MATCHES", 1)


def page(address: str, viewer: Player | None = None) -> str:
    answer = people.visit(viewer).get(address)
    assert answer.status_code == 200, address
    return str(answer.content.decode())


def figures(player: Player, period: str = "all") -> selectors.Figures:
    return selectors.figures(player.pk, "domino_poker", period, timezone.now())


def names(period: str = "all", sort: str = "rating", at: int = 1) -> list[str]:
    board = selectors.leaderboard("domino_poker", period, sort, at, timezone.now())
    return [line.name for line in board.lines]


# -- who sees what -----------------------------------------------------------------------------------------------


def test_a_new_player_sees_dashes_and_no_error(four: list[Player]) -> None:
    for period in PERIODS:
        for viewer in (four[0], four[1], None):
            text = page(f"/players/{four[0].pk}/?period={period}", viewer)
            assert text.count("<dd>–</dd>") == 4 and "<dd>0</dd>" in text and "<svg xmlns" not in text
        assert "No match of yours counts here yet." in page(f"/stats/?period={period}", four[0])


def test_an_empty_leaderboard_says_so(four: list[Player]) -> None:
    for period in PERIODS:
        for sort in selectors.SORTS:
            text = page(f"/leaderboard/?period={period}&sort={sort}&page=3", four[0])
            assert "Nobody is on it yet." in text and "You have 0 of 5 matches here." in text


def test_visitors_and_guests_are_told_what_counts(four: list[Player]) -> None:
    assert "You play as a guest" in page("/stats/", people.person("Gus", guest=True))
    assert "You play as a guest" not in page("/stats/")


def test_guests_the_banned_and_nobody_have_no_page_and_all_look_alike(four: list[Player]) -> None:
    people.written(four, [MIXED])
    Player.objects.filter(pk=four[3].pk).update(is_active=False)
    gus = people.person("Gus", guest=True)
    answers = [people.visit().get(f"/players/{number}/") for number in (gus.pk, four[3].pk, 987654321)]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize("path", ["0/", "-1/", "x/", "9999999999999999999/", "1e3/"])
def test_strange_numbers_are_not_found(path: str) -> None:
    assert people.visit().get(f"/players/{path}").status_code == 404


def test_only_reading_is_answered(four: list[Player]) -> None:
    for address in PAGES:
        assert people.visit(four[0]).post(address.format(id=four[0].pk)).status_code == 405
        assert people.visit(four[0]).head(address.format(id=four[0].pk)).status_code == 200


def test_strange_choices_are_the_first_ones(four: list[Player], few: None) -> None:
    people.written(four, [MIXED], at=NOON)
    plain = page("/leaderboard/")
    for query in (
        "period=x",
        "sort=name",
        "game=qiuqiu",
        "page=-1",
        "page=1e9",
        "page=²",
        "page=99",
        "page=" + "9" * 99,
    ):
        assert page(f"/leaderboard/?{query}") == plain
    assert page(f"/players/{four[0].pk}/?period=%00") == page(f"/players/{four[0].pk}/")


def test_only_the_owner_gets_links_to_the_matches(four: list[Player]) -> None:
    match_id = people.written(four, [MIXED])
    link = f'href="/matches/{match_id}/"'
    assert link in page(f"/players/{four[0].pk}/", four[0]) and link in page("/stats/", four[0])
    assert link not in page(f"/players/{four[0].pk}/", four[1]) + page(f"/players/{four[0].pk}/")


def test_pages_tell_nothing_but_the_shown_name(four: list[Player], few: None) -> None:
    Player.objects.filter(pk=four[0].pk).update(
        username="secret-login", email="ana@private.example", first_name="Anastasia", last_name="Private"
    )
    people.written(four, [MIXED])
    for viewer in (four[0], four[1], None):
        for address in ("/leaderboard/", f"/players/{four[0].pk}/"):
            assert not re.search("secret-login|private|Anastasia", page(address, viewer), re.IGNORECASE)


def test_a_name_is_written_as_text(four: list[Player], few: None) -> None:
    Player.objects.filter(pk=four[0].pk).update(shown_name="<b>Ana</b>")
    people.written(four, [MIXED])
    for address in ("/leaderboard/", f"/players/{four[0].pk}/"):
        text = page(address)
        assert "<b>Ana" not in text and "&lt;b&gt;Ana" in text


# -- figures -----------------------------------------------------------------------------------------------------


def test_four_bids_of_zero_in_a_match_of_one_round(four: list[Player], few: None) -> None:
    people.played(four, 1, bid=0)
    stats.rate_new()
    for player in four:
        found = figures(player)
        assert (found.nil.of, found.exact.count + found.over.count, found.under.count) == (1, 1, 0)
        assert found.seven.share is None and found.nil.count == found.exact.count
        page(f"/players/{player.pk}/")
    assert len(names()) == 4


def test_nothing_but_zeros(four: list[Player], few: None) -> None:
    """Four exact bids of zero: nobody can deal that, and nothing divides by it."""
    people.written(four, [((0, 0, 0, 0), (0, 0, 0, 0))])
    for player in four:
        found = figures(player)
        assert (found.points_a_round, found.average_score) == (0, 0) and found.exact.share == 1
        assert found.nil.count == found.nil.of == 1
        assert "<svg xmlns" in page(f"/players/{player.pk}/")
    for sort in selectors.SORTS:
        assert names(sort=sort) == ["Ana", "Bo", "Cem", "Dara"]


def test_who_left_before_the_first_score_has_a_page(four: list[Player], few: None) -> None:
    people.written(four, [MIXED], leaves={0: 1, 1: 1, 2: 1, 3: 1})
    stats.rate_new()
    for player in four:
        found = figures(player)
        assert (found.matches, found.left.count, found.rounds, found.points_a_round) == (1, 1, 0, None)
        page(f"/players/{player.pk}/")
    for sort in selectors.SORTS:
        assert names(sort=sort) == ["Ana", "Bo", "Cem", "Dara"]
        page(f"/leaderboard/?sort={sort}")


def test_figures_say_what_was_played(four: list[Player]) -> None:
    ana, bo = four[0], four[1]
    people.written(four, [MIXED, ((0, 7, 1, 3), (0, 7, 0, 0))], at=NOON)
    people.written(four, [((3, 1, 1, 1), (4, 1, 1, 1))], at=NOON + timedelta(hours=1))
    found = figures(ana)
    assert (found.matches, found.rounds) == (2, 3)
    assert (found.exact.count, found.over.count, found.under.count) == (2, 1, 0)
    assert (found.nil.count, found.nil.of) == (1, 1)
    assert found.average_score == (30 + 20) / 2 and found.points_a_round == 50 / 3
    cells = {(bid, took): n for bid, row in enumerate(found.matrix) for took, n in enumerate(row) if n}
    assert cells == {(2, 2): 1, (0, 0): 1, (3, 4): 1}
    assert [one.score for one in found.line] == [30, 20]
    theirs = figures(bo)
    assert (theirs.seven.count, theirs.seven.of) == (1, 2) and theirs.under.count == 1
    assert [part.count for part in theirs.places] == [1, 1, 0, 0]
    assert [part.share for part in theirs.places] == [0.5, 0.5, 0, 0]


def test_a_forfeited_match_counts_as_left_and_not_as_a_place(four: list[Player]) -> None:
    people.written(four, [((3, 2, 1, 0), (3, 2, 1, 1)), ((7, 0, 0, 0), (7, 0, 0, 0))], leaves={0: 2})
    found = figures(four[0])
    assert (found.left.count, sum(part.count for part in found.places)) == (1, 0)
    assert found.average_score is None and found.points_a_round == 45
    assert figures(four[1]).places[1].count == 1, "the others' places are the screen's"


def test_periods_hold_what_ended_in_them(four: list[Player]) -> None:
    now = timezone.now()
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for at in (now, now - timedelta(days=8), now - timedelta(days=31), month, month - timedelta(seconds=1)):
        people.written(four, [MIXED], at=at)
    for period in PERIODS:
        start = selectors.since(period, now)
        facts = MatchFact.objects.all() if start is None else MatchFact.objects.filter(finished_at__gte=start)
        assert selectors.figures(four[0].pk, "domino_poker", period, now).matches == facts.count()
    assert selectors.since("month", now) == month and selectors.since("all", now) is None
    assert selectors.since("7d", now) == now - timedelta(days=7)
    assert figures(four[0]).matches == 5 and figures(four[0], "7d").matches < 5


def test_the_rating_is_todays_in_every_period(four: list[Player]) -> None:
    people.written(four, [MIXED], at=NOON - timedelta(days=400))
    stats.rate_new()
    today = figures(four[0]).rating
    assert today is not None and figures(four[0], "7d").rating == today and figures(four[0], "7d").matches == 0


# -- leaderboards ------------------------------------------------------------------------------------------------


def test_a_minimum_of_matches_in_the_period(four: list[Player]) -> None:
    now = timezone.now()
    for number in range(settings.STATS_MIN_MATCHES):
        assert names() == []
        people.written(four, [MIXED], at=now - timedelta(days=10 if number else 0))
    assert len(names()) == 4 and names("7d") == [] and len(names("30d")) == 4
    assert "You have 1 of 5 matches here." in page("/leaderboard/?period=7d", four[0])
    assert "You have" not in page("/leaderboard/", four[0])


def test_each_measure_sorts_best_first(few: None) -> None:
    crowd = people.four("Ana", "Bo", "Cem", "Dara", "Eli", "Fay", "Gil")
    people.season(crowd, 25, rounds=3)
    stats.rate_new()
    for sort in selectors.SORTS:
        board = selectors.leaderboard("domino_poker", "all", sort, 1, timezone.now())
        of = {"rating": "rating", "score": "points_a_round", "exact": "exact"}[sort]
        values = [getattr(line, of) for line in board.lines]
        assert values == sorted(values, reverse=True) and len(values) == 7
        assert [line.position for line in board.lines] == list(range(1, 8))
        for line in board.lines:
            found = selectors.figures(line.player_id, "domino_poker", "all", timezone.now())
            assert (line.matches, line.wins) == (found.matches, found.places[0].count)
            assert (line.rating, line.points_a_round, line.exact) == (
                found.rating, found.points_a_round, found.exact.share,
            )  # fmt: skip


def test_equals_stand_by_name_and_stay_there(few: None) -> None:
    crowd = people.four("Dara", "Ana", "Cem", "Bo")
    people.written(crowd, [((0, 0, 0, 0), (0, 0, 0, 0))])
    for sort in selectors.SORTS:
        assert [names(sort=sort) for _i in range(3)] == [["Ana", "Bo", "Cem", "Dara"]] * 3


def test_of_equals_the_better_rated_then_the_one_with_more_matches(few: None) -> None:
    crowd = people.four("Ana", "Bo", "Cem", "Dara", "Eli")
    zero = ((0, 0, 0, 0), (0, 0, 0, 0))
    people.written(crowd[:4], [zero])
    people.written(crowd[1:], [zero], at=NOON + timedelta(hours=1))
    assert names(sort="score") == ["Bo", "Cem", "Dara", "Ana", "Eli"]
    stats.rate_new()
    order = sorted(crowd, key=lambda one: -(figures(one).rating or 0))
    assert names(sort="score") == names() == [one.shown_name for one in order]


def test_those_who_are_gone_or_banned_leave_no_gap(four: list[Player], few: None) -> None:
    people.written(four, [MIXED])
    stats.rate_new()
    best = names()[0]
    Player.objects.filter(shown_name=best).update(is_active=False)
    board = selectors.leaderboard("domino_poker", "all", "rating", 1, timezone.now())
    assert best not in [line.name for line in board.lines]
    assert [line.position for line in board.lines] == [1, 2, 3] and board.players == 3


def test_pages_hold_everybody_once(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "PAGE_LENGTH", 5)
    crowd = people.four(*(f"Name {letter}" for letter in "ABCDEFGHJKLM"))
    for number in range(0, 12, 4):
        people.written(crowd[number : number + 4], [((0, 0, 0, 0), (0, 0, 0, 0))])
    found = [name for at in (1, 2, 3) for name in names(at=at)]
    assert found == [one.shown_name for one in crowd]
    text = page("/leaderboard/?page=2&sort=exact&period=all")
    assert "Page 2 of 3" in text and "page=1" in text and "page=3" in text and "sort=exact" in text


def test_one_own_line_is_marked(four: list[Player], few: None) -> None:
    people.written(four, [MIXED])
    assert page("/leaderboard/", four[0]).count("data-own") == 1
    assert "data-own" not in page("/leaderboard/")


# -- the same pages after a rebuild --------------------------------------------------------------------------------


def all_pages(crowd: list[Player]) -> Iterator[bytes]:
    """Every page, but for the form's token, which is another one each time."""
    client = people.visit(crowd[0])
    paths = [f"/leaderboard/?period={period}&sort={sort}" for period in ("all", "7d") for sort in selectors.SORTS]
    paths += [f"/players/{one.pk}/?period={period}" for period in ("all", "7d") for one in crowd]
    for path in [*paths, "/stats/"]:
        yield re.sub(rb'name="csrfmiddlewaretoken" value="[^"]+"', b"", client.get(path).content)


def test_a_rebuild_gives_the_same_pages_byte_for_byte() -> None:
    crowd = people.four("Ana", "Bo", "Cem", "Dara", "Eli", "Fay")
    people.season(crowd, 20, rounds=4, end=timezone.now())
    people.written([*crowd[:3], people.person("Gus", guest=True)], [MIXED])
    people.written([*crowd[:3], None], [MIXED])
    stats.rate_new()
    before = list(all_pages(crowd))
    assert stats.rebuild() == (22, 20)
    assert list(all_pages(crowd)) == before
    MatchFact.objects.all().delete()
    assert list(all_pages(crowd)) != before
    stats.rebuild()
    assert list(all_pages(crowd)) == before


# -- what a browser is told ----------------------------------------------------------------------------------------


class _Forbidden(HTMLParser):
    """What a strict Content-Security-Policy would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        bad = [name for name in given if name == "style" or name.startswith("on")]
        if bad or tag == "style" or (tag == "script" and "src" not in given):
            self.found.append(f"{tag} {bad}")


def test_nothing_inline_and_each_chart_has_its_name_and_table(four: list[Player]) -> None:
    people.season(four, 3, rounds=3)
    text = page(f"/players/{four[0].pk}/")
    parser = _Forbidden()
    parser.feed(text)
    assert parser.found == []
    assert len(re.findall(r'<svg [^>]*role="img" aria-label="[^"]{10,}"', text)) == 2
    assert len(re.findall(r"(?s)</svg>(?:(?!</figure>).)*<details>(?:(?!</figure>).)*<caption>", text)) == 2
    assert "pygal" not in text and "Kozea" not in text


def test_the_drawings_have_the_classes_that_the_style_sheet_names(four: list[Player]) -> None:
    people.season(four, 4, rounds=5)
    text = "".join(page(f"/players/{player.pk}/") for player in four)
    drawn = {
        name
        for svg in re.findall(r"(?s)<svg xmlns.*?</svg>", text)
        for c in re.findall('class="([^"]*)"', svg)
        for name in c.split()
    }
    sheet = (Path(CHECKOUT) / "static/css/stats.css").read_text()
    for line in sheet.splitlines():
        if line.startswith(".chart-picture"):
            named = set(re.findall(r"\.([a-z-]+)", line.split("{")[0]))
            assert named <= drawn, named - drawn
