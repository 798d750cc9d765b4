"""How strong a player is: openskill's Plackett-Luce for four at a table, and the one number that people see of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from openskill.models import PlackettLuce

__all__ = ["Skill", "newcomer", "rate", "shown"]

_MODEL = PlackettLuce()
# A newcomer is shown as 1000, and a point of openskill as 40: differences of tens are chance, of hundreds are not.
BASE, SCALE = 1000, 40


@dataclass(frozen=True, slots=True)
class Skill:
    """openskill's guess (`mu`) and how unsure it is (`sigma`)."""

    mu: float
    sigma: float


def newcomer() -> Skill:
    """Somebody of whom nothing is known."""
    return Skill(_MODEL.mu, _MODEL.sigma)


def shown(skill: Skill) -> int:
    """The rating that people see: what the player is worth at least (mu - 3 sigma), 1000 for a newcomer."""
    return round(BASE + SCALE * (skill.mu - 3 * skill.sigma))


def rate(before: Sequence[Skill], ranks: Sequence[int]) -> list[Skill]:
    """Everybody's skill after a match with these ranks (1 is best, equal ranks are a draw).

    The same numbers in give the same numbers out, to the last bit."""
    teams = [[_MODEL.rating(mu=skill.mu, sigma=skill.sigma)] for skill in before]
    after = _MODEL.rate(teams, ranks=[float(rank) for rank in ranks])
    return [Skill(team[0].mu, team[0].sigma) for team in after]
