"""Matches, who sat in them, and the append-only log of what happened."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Match(models.Model):
    """One match. `version` is the number of its events; secret and commitments never change (by the database)."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        PLAYING = "playing", _("playing")
        FINISHED = "finished", _("finished")
        ABANDONED = "abandoned", _("abandoned")

    game = models.CharField(max_length=20)
    rules_version = models.PositiveSmallIntegerField()
    options = models.JSONField()
    secret = models.BinaryField()
    # The seal of every round's key, in hex, from the first round on.
    commitments = models.JSONField()
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    version = models.PositiveIntegerField(default=0)
    outcome = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "matches"
        constraints = [
            models.CheckConstraint(
                condition=Q(status="waiting", version=0) | (~Q(status="waiting") & ~Q(status="playing", version=0)),
                name="match_begins_with_its_first_event",
            ),
            models.CheckConstraint(
                condition=Q(status="finished", outcome__isnull=False)
                | (~Q(status="finished") & Q(outcome__isnull=True)),
                name="finished_match_has_outcome",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["waiting", "playing"], finished_at__isnull=True)
                | Q(status__in=["finished", "abandoned"], finished_at__isnull=False),
                name="ended_match_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"match {self.pk} ({self.status})"


class MatchSeat(models.Model):
    """Who sat where, under which name. The name outlives the player's row."""

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="seats")
    number = models.PositiveSmallIntegerField()
    player = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="match_seats"
    )
    name = models.CharField(max_length=40)
    bot_level = models.CharField(max_length=10, blank=True, default="")
    # Whether the player was registered when the match was opened: a guest who registers later was none.
    registered = models.BooleanField(default=False)
    forfeited = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "number"], name="one_seat_a_number"),
            models.CheckConstraint(condition=Q(player__isnull=True) | Q(bot_level=""), name="no_player_is_a_bot"),
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of match {self.match_id}"


class MatchEvent(models.Model):
    """One line of the log; only `history` reads and writes it, nobody changes it.

    An answer's event carries who gave it (`by`, `seat`), to which question (`step`), in which words (`answer`);
    the events that followed of themselves carry none of it."""

    class By(models.TextChoices):
        SEAT = "seat", _("the player")
        BOT = "bot", _("a bot")
        IDLE = "idle", _("the table for an idle player")
        TABLE = "table", _("the table")

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()
    tag = models.CharField(max_length=40)
    body = models.TextField()
    at = models.DateTimeField()
    by = models.CharField(max_length=5, choices=By)
    seat = models.PositiveSmallIntegerField(null=True)
    step = models.CharField(max_length=40, blank=True, default="")
    answer = models.CharField(max_length=80, blank=True, default="")
    action_id = models.CharField(max_length=64, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "number"], name="one_event_a_number"),
            models.UniqueConstraint(
                fields=["match", "seat", "action_id"],
                condition=Q(action_id__isnull=False),
                name="one_event_an_action",
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="events_count_from_one"),
            models.CheckConstraint(
                condition=Q(answer="", step="", seat__isnull=True, action_id__isnull=True, by="table")
                | (~Q(answer="") & Q(seat__isnull=False)),
                name="answer_says_whose",
            ),
        ]

    def __str__(self) -> str:
        return f"event {self.number} of match {self.match_id}"
