"""One paid room driven through every exit, with a crash at any statement: no coin is lost, doubled or invented."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games import selectors as game_selectors
from games import services as games
from games.engine.table import prompt_json
from games.models import Match
from players.models import Player
from rooms import closing, hosting, playing, seating
from rooms.errors import RoomError
from rooms.models import Room, Seat
from rooms.table import locked
from tests.rooms import stage
from wallet import selectors as wallet
from wallet import services as coins
from wallet.models import Posting, Resolution, Transaction

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE, FEE, PURSE, ANSWERS = 5, 101, 1_000_000, 32


class Killed(BaseException):
    """The process is gone between two statements; nothing in the product may catch that."""


def killed_after(statements: int) -> Callable[..., Any]:
    """A wrapper of statements that lets so many through and no more."""
    left = statements

    def run(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        nonlocal left
        if left == 0:
            raise Killed
        left -= 1
        return execute(sql, params, many, context)

    return run


class OneRoom:
    """A room with its people, who have coins; every click is tried, refusals included."""

    def __init__(self, people: list[Player]) -> None:
        self.people = people
        for one in people:  # a run that failed leaves them where they were
            closing.give_up_running(one.pk)
        self.before = {one.pk: wallet.balance(one.pk) for one in people}
        self.house = wallet.held("house:abandoned")
        sitting = seating.create_room(people[0], visibility="public", options={"rounds": 1}, fee=FEE)
        self.room_id = sitting.room_id
        stage.arrive(self.room, people[0])

    @property
    def room(self) -> Room:
        return Room.objects.get(pk=self.room_id)

    def print_of(self) -> Any:
        """All that a killed click must leave as it was."""
        room = Room.objects.filter(pk=self.room_id).values().get()
        seats = list(Seat.objects.filter(room_id=self.room_id).order_by("pk").values())
        match = Match.objects.filter(pk=room["match_id"] or 0).values_list("status", "version").first()
        return room, seats, match, wallet.balances([one.pk for one in self.people]), wallet.held(f"room:{self.room_id}")

    def click(self, what: str, who: int, number: int) -> None:
        room, player = self.room, self.people[who]
        host = room.host_id or 0
        match what:
            case "sit":
                seating.sit(player, room.pk, number % 4 if number else None, agreed_fee=FEE)
            case "leave":
                closing.leave(room.pk, player.pk)
            case "remove":
                seat = Seat.objects.filter(room=room, player=player).first()
                hosting.remove(room.pk, host, seat.pk if seat else 0)
            case "bot":
                hosting.put_bot(room.pk, host, number % 4, "medium")
            case "clear":
                hosting.clear_bot(room.pk, host, number % 4)
            case "fill":
                hosting.fill_bots(room.pk, host, "medium")
            case "move":
                seat = Seat.objects.filter(room=room, player=player).first()
                seating.move(room.pk, seat.pk if seat else 0, number % 4)
            case "delete":
                hosting.delete(room.pk, host)
            case "start":
                hosting.start(room.pk, host)
            case "arrive":
                if Seat.objects.filter(room=room, player=player).exists():
                    stage.arrive(room, player)
            case "go":
                stage.go_away(room, player)
            case "ring":
                playing.ring(room.pk)
            case "finish":
                self.to_the_last_answer()
                playing.ring(room.pk)

    def sleep(self, seconds: float) -> None:
        """Time passes for the room, its lifetime included."""
        stage.pass_time(self.room, seconds)
        Room.objects.filter(pk=self.room_id).update(expires_at=F("expires_at") - timedelta(seconds=seconds))

    def to_the_last_answer(self) -> None:
        """Everybody has answered but for the last tile, which the table plays when it is rung."""
        with locked(self.room_id) as table:
            if table.room.status != Room.Status.PLAYING:
                return
            while table.loaded.version < ANSWERS * 2:
                (prompt,) = game_selectors.prompts(table.loaded)
                if prompt.step.startswith("r1.t7") and len(table.loaded.state.plays) == 3:
                    break
                do = str(prompt_json(prompt)["choices"][0]["do"])
                table.take(games.act(table.loaded.match_id, prompt.seat, prompt.step, do, "bot"))
            table.ask(table.room.created_at, 0.1)
            table.save()
        Seat.objects.filter(room_id=self.room_id, player__isnull=False).update(auto_play=True)
        Room.objects.filter(pk=self.room_id).update(due_at=F("created_at"))

    def end(self) -> None:
        """Whatever was done, time brings the room to its end."""
        for _i in range(60):
            if self.room.status == Room.Status.DESTROYED:
                return
            if self.room.status == Room.Status.PLAYING:
                self.to_the_last_answer()
            self.sleep(4000)
            playing.ring(self.room_id)
        raise AssertionError(f"the room never ended: {self.room.status}")

    def audit(self) -> None:
        escrow = f"room:{self.room_id}"
        assert wallet.held(escrow) == 0
        sheet = wallet.room_sheet(self.room_id)
        assert sheet.adds_up and sheet.left == 0
        fees = Transaction.objects.filter(kind="fee", postings__destination__code=escrow)
        assert Resolution.objects.filter(fee__in=fees).count() == fees.count()
        after = wallet.balances([one.pk for one in self.people])
        moved = sum(after.values()) - sum(self.before.values())
        assert moved == self.house - wallet.held("house:abandoned")
        assert not Seat.objects.filter(player__in=self.people).exists()
        assert all(one.amount > 0 for one in Posting.objects.filter(source__code=escrow))


OFTEN = ["sit", "sit", "sit", "leave", "leave", "fill", "fill", "start", "start", "arrive", "arrive", "ring", "ring"]
SELDOM = ["remove", "bot", "clear", "move", "delete", "go", "finish"]
CLICKS = st.tuples(
    st.sampled_from(OFTEN + SELDOM),
    st.integers(0, PEOPLE - 1),
    st.integers(0, 4),
    st.sampled_from([0, 0, 0, 11, 61, 4000]),  # seconds that pass before
    st.one_of(st.none(), st.none(), st.integers(0, 25)),  # statements until the process is killed
)
AT_THE_END = st.one_of(st.none(), st.integers(0, 25))  # the same while the match of an ordinary run ends
# How far a run goes the ordinary way before it goes its own.
ORDINARY: list[tuple[str, int, int, float, int | None]] = [
    ("sit", 1, 0, 0, None),
    ("sit", 2, 0, 0, None),
    ("fill", 0, 0, 0, None),
    ("start", 0, 0, 0, None),
    ("ring", 0, 0, 11, None),
    ("leave", 1, 0, 0, None),
    ("finish", 0, 0, 0, None),
]


def one_run(people: list[Player], clicks: list[tuple[str, int, int, float, int | None]]) -> None:
    table = OneRoom(people)
    for what, who, number, seconds, dies_after in clicks:
        if seconds:
            table.sleep(seconds)
        if dies_after is not None:
            if what == "finish":
                table.to_the_last_answer()  # by itself: what is killed is the end of the match
            before = table.print_of()
            try:
                with suppress(RoomError), connection.execute_wrapper(killed_after(dies_after)):
                    table.click("ring" if what == "finish" else what, who, number)
            except Killed:
                assert table.print_of() == before, f"{what} was half done"
            continue
        with suppress(RoomError):
            table.click(what, who, number)
    table.end()
    table.audit()


@pytest.fixture
def people() -> list[Player]:
    made = []
    for name in ("Ana", "Ben", "Cleo", "Dan", "Eve"):
        made.append(Player.objects.create(username=name.lower(), shown_name=name))
        with override_settings(WELCOME_COINS=PURSE), transaction.atomic():
            coins.welcome(made[-1].pk)
    return made


def drive(people: list[Player], runs: int) -> None:
    @settings(max_examples=runs, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, len(ORDINARY)), AT_THE_END, st.lists(CLICKS, max_size=12))
    def all_runs(ordinary: int, dies_after: int | None, clicks: list[tuple[str, int, int, float, int | None]]) -> None:
        way = ORDINARY[:ordinary]
        if ordinary == len(ORDINARY):
            way[-1] = ("finish", 0, 0, 0, dies_after)
        one_run(people, [*way, *clicks])

    with override_settings(ROOMS_IN_TEN_MINUTES=10**6):
        all_runs()
    assert sum(wallet.totals().values()) == 0


def test_every_exit_of_a_paid_room_keeps_every_coin(people: list[Player]) -> None:
    drive(people, 12)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_every_exit_of_a_paid_room_keeps_every_coin_in_many_runs(people: list[Player], part: int) -> None:
    drive(people, 500)


def test_a_match_played_to_its_end_pays_whoever_forfeits(people: list[Player]) -> None:
    one_run(people, ORDINARY)
    assert Transaction.objects.filter(kind="payout").count() == 1
