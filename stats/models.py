"""What the matches of four registered people were: rows for match, player and round. Facts, not counters."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class MatchFact(models.Model):
    """One match that counts. `rated` turns true once its players' ratings are worked out (`rating`)."""

    match = models.OneToOneField("games.Match", on_delete=models.PROTECT, related_name="+")
    game = models.CharField(max_length=20)
    finished_at = models.DateTimeField()
    rounds = models.PositiveSmallIntegerField()
    rated = models.BooleanField(default=False)

    class Meta:
        indexes = [
            models.Index(fields=["game", "finished_at", "match"], name="match_facts_in_order"),
            models.Index(
                fields=["game", "finished_at", "match"], condition=Q(rated=False), name="match_facts_not_rated"
            ),
        ]

    def __str__(self) -> str:
        return f"facts of match {self.match_id}"


class PlayerFact(models.Model):
    """What one match was to one player. `match`, `game` and `finished_at` are the fact's own, repeated here so that a
    leaderboard of all time reads one index and joins nothing.

    `place` and `score` are the seat's in the match's own result; `rounds`, `points`, `exact`, `over` and `under` are of
    the rounds that the player played, not of a bot's after a forfeit."""

    fact = models.ForeignKey(MatchFact, on_delete=models.CASCADE, related_name="players")
    player = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    match = models.ForeignKey("games.Match", on_delete=models.PROTECT, related_name="+", db_index=False)
    game = models.CharField(max_length=20)
    finished_at = models.DateTimeField()
    seat = models.PositiveSmallIntegerField()
    place = models.PositiveSmallIntegerField()
    score = models.IntegerField()
    forfeited = models.BooleanField()
    rounds = models.PositiveSmallIntegerField()
    points = models.IntegerField()
    exact = models.PositiveSmallIntegerField()
    over = models.PositiveSmallIntegerField()
    under = models.PositiveSmallIntegerField()
    mu_before = models.FloatField(null=True)
    sigma_before = models.FloatField(null=True)
    mu = models.FloatField(null=True)
    sigma = models.FloatField(null=True)
    # What people see of mu and sigma after this match (`skill.shown`).
    rating = models.IntegerField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["player", "game", "-finished_at", "-match"],
                include=["rating"],
                name="player_facts_newest_first",
            ),
            models.Index(fields=["game", "finished_at"], name="player_facts_by_time"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["fact", "seat"], name="one_fact_a_seat"),
            models.UniqueConstraint(fields=["player", "fact"], name="one_fact_a_player"),
            models.CheckConstraint(condition=Q(place__gte=1, place__lte=4), name="one_of_four_places"),
            models.CheckConstraint(
                condition=Q(rounds=F("exact") + F("over") + F("under")), name="each_round_is_exact_over_or_under"
            ),
            models.CheckConstraint(
                condition=Q(
                    mu_before__isnull=True,
                    sigma_before__isnull=True,
                    mu__isnull=True,
                    sigma__isnull=True,
                    rating__isnull=True,
                )
                | Q(
                    mu_before__isnull=False,
                    sigma_before__isnull=False,
                    mu__isnull=False,
                    sigma__isnull=False,
                    rating__isnull=False,
                ),
                name="rated_wholly_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"seat {self.seat} of {self.fact_id}"


class RoundFact(models.Model):
    """One round that the player played: what was bid, what was taken, what it scored."""

    player_fact = models.ForeignKey(PlayerFact, on_delete=models.CASCADE, related_name="round_facts")
    round = models.PositiveSmallIntegerField()
    bid = models.PositiveSmallIntegerField()
    tricks = models.PositiveSmallIntegerField()
    score = models.SmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["player_fact", "round"], name="one_fact_a_round"),
            models.CheckConstraint(condition=Q(bid__lte=7, tricks__lte=7), name="no_more_than_seven"),
        ]

    def __str__(self) -> str:
        return f"round {self.round} of {self.player_fact_id}"
