"""The tables where people play: a room, its seats, who is connected, and the heartbeat of the service."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from rooms.codes import new_watch_key

SEATS = 4  # Domino Poker's; the only game that is played here
# Who has just opened a table is on the way to its page: only then is an unconnected person away.
ARRIVAL_SECONDS = 5


class Room(models.Model):
    """One table. Its row is the lock of all that happens at it, and `due_at` its only timer."""

    class Visibility(models.TextChoices):
        PUBLIC = "public", _("public")
        PRIVATE = "private", _("private")
        SOLO = "solo", _("solo")

    class Unrewarded(models.TextChoices):
        AUTO_PLAY = "auto_play", _("auto-play")
        UNCONFIRMED = "unconfirmed", _("address not confirmed")

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        STARTING = "starting", _("starting")
        PLAYING = "playing", _("playing")
        FINISHED = "finished", _("finished")
        DESTROYED = "destroyed", _("closed")

    code = models.CharField(max_length=8, unique=True)
    # Opens a private table to watchers; occupants may pass it on while `watchable` is set.
    watch_key = models.CharField(max_length=22, null=True, unique=True, default=new_watch_key)
    watchable = models.BooleanField(default=False)
    # Coins that each person pays on taking a seat; 0 in a free room.
    fee = models.BigIntegerField(default=0)
    game = models.CharField(max_length=20)
    visibility = models.CharField(max_length=8, choices=Visibility)
    # Seconds a human has for an answer; NULL at a solo table without a clock.
    turn_seconds = models.FloatField(null=True)
    options = models.JSONField(default=dict)
    host = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    match = models.OneToOneField("games.Match", null=True, on_delete=models.PROTECT, related_name="+")
    # Why a solo match paid nothing for a place that is rewarded else; "" when that was not so.
    unrewarded = models.CharField(max_length=12, choices=Unrewarded, blank=True, default="", db_default="")
    # Players whom the host has sent away: they don't get in again, whichever way they come.
    removed = models.JSONField(default=list)
    # Where those go on who want to play again, once the first of them has said so.
    rematch = models.OneToOneField("self", null=True, on_delete=models.SET_NULL, related_name="+")
    # The finished table that this one is a rematch of; NULL at almost all, which then need not look for it.
    follows = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    starts_at = models.DateTimeField(null=True)
    # When the question of the moment opens (a future time while the table pauses), and whether it has been opened.
    opened_at = models.DateTimeField(null=True)
    is_open = models.BooleanField(default=False)
    deadline_at = models.DateTimeField(null=True)
    away_since = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(code__regex=r"^[0-9A-HJKMNP-TV-Z]{8}$"), name="room_code_is_crockford"),
            models.CheckConstraint(
                condition=Q(status__in=["waiting", "destroyed"]) | Q(match__isnull=False), name="started_has_match"
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["starting", "playing", "finished"])
                | Q(due_at__isnull=False)
                | Q(status="playing"),
                name="someone_will_ring",
            ),
            models.CheckConstraint(
                condition=Q(deadline_at__isnull=True) | Q(deadline_at__gte=F("opened_at")),
                name="deadline_after_opening",
            ),
            models.CheckConstraint(
                condition=Q(fee=0) | (Q(fee__gt=0) & ~Q(visibility="solo")), name="only_shared_rooms_cost"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="room_due"),
            models.Index(
                fields=["created_at"], condition=Q(status="waiting", visibility="public"), name="room_in_the_lobby"
            ),
        ]

    def __str__(self) -> str:
        return f"room {self.pk} ({self.status})"


class Seat(models.Model):
    """One sitting: leaving deletes it, sitting again makes a new one."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    player = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )  # unique: one table at a time, by the database
    name = models.CharField(max_length=40)
    bot_level = models.CharField(max_length=10, blank=True, default="")
    token_hash = models.CharField(max_length=64, blank=True, default="")
    # Which device holds the seat: moved on by a take-over, which ends the sockets of the device before.
    holder = models.PositiveIntegerField(default=1)
    forfeited = models.BooleanField(default=False)
    # Coins that this sitting has paid in, also when a bot plays it since a forfeit.
    paid = models.BigIntegerField(default=0)
    missed = models.PositiveSmallIntegerField(default=0)
    auto_play = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["room", "number"], name="one_occupant_a_seat"),
            models.CheckConstraint(
                condition=Q(player__isnull=False, bot_level="") | (Q(player__isnull=True) & ~Q(bot_level="")),
                name="seat_is_person_or_bot",
            ),
            models.CheckConstraint(condition=Q(missed__lte=3), name="missed_at_most_three"),
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of room {self.room_id}"


class Connection(models.Model):
    """Presence with a lease: one row a socket, void when not seen for three heartbeats."""

    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, related_name="connections")
    channel = models.CharField(max_length=64, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"connection {self.pk} at seat {self.seat_id}"


class Watcher(models.Model):
    """A socket that only looks on, with a lease as connections have one; they are counted, and bounded, by room and by
    the address that they come from (`players.address.limit_key`)."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="watchers")
    channel = models.CharField(max_length=64, unique=True)
    address = models.CharField(max_length=50, default="unknown", db_default="unknown")
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"watcher {self.pk} of room {self.room_id}"


class Pulse(models.Model):
    """When each process that can ring rooms was last alive; a gap over all of them is an outage."""

    process = models.CharField(max_length=80, primary_key=True)
    at = models.DateTimeField()
    # Open lobby pages of this process.
    viewers = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["-at"], name="pulse_newest")]

    def __str__(self) -> str:
        return f"{self.process} at {self.at}"
