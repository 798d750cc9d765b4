"""What the tests of matches stand on: a match of one person and three bots, played by taking first choices."""

from typing import Any

from django.db import transaction

from games import history, selectors, services
from games.engine.errors import EngineError
from games.history import Loaded
from games.services import SeatSpec, Step
from players.models import Player

NAMES = ("West", "North", "East")


def person(name: str) -> Player:
    return Player.objects.create(username=name.lower(), shown_name=name, is_guest=True)


def opened(player: Player | None = None, rounds: int = 1) -> Loaded:
    player = player or person("Ana")
    seats = [SeatSpec(player.pk, player.shown_name), *(SeatSpec(None, name, "medium") for name in NAMES)]
    with transaction.atomic():
        return services.open_match("domino_poker", {"rounds": rounds}, seats)


def begun(player: Player | None = None, rounds: int = 1) -> Loaded:
    loaded = opened(player, rounds)
    with transaction.atomic():
        return services.begin(loaded.match_id).loaded


def answer(match_id: int, action_id: str | None = None, text: str | None = None) -> Step:
    """The seat that is asked gives its first choice (or `text`)."""
    (prompt,) = selectors.prompts(history.load(match_id))
    with transaction.atomic():
        by: Any = "seat" if prompt.seat == 0 else "bot"
        return services.act(match_id, prompt.seat, prompt.step, text or str(prompt.choices[0]), by, action_id)


def answers(match_id: int, count: int) -> Step:
    for _i in range(count):
        step = answer(match_id)
    return step


def played_out(match_id: int) -> Step:
    while True:
        step = answer(match_id)
        if step.outcome is not None:
            return step


def refused(match_id: int, seat: int, step: str, text: str) -> str:
    """The code of the engine's refusal."""
    try:
        with transaction.atomic():
            services.act(match_id, seat, step, text, "seat")
    except EngineError as error:
        return error.code
    raise AssertionError(f"{text} was accepted")
