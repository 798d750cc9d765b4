"""Who someone is: registered players and guests are rows of one table."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _


class Player(AbstractUser):
    """A person. A guest has no password and no address; registering fills in the same row."""

    is_guest = models.BooleanField(default=False)
    # What others see. Not unique: who someone is, is the row's number.
    shown_name = models.CharField(_("shown name"), max_length=40, blank=True, default="")
    # Moved on by playing (`services.touch`): guests who stay away are forgotten.
    last_seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("username"), name="username_is_unique_in_any_case"),
            models.CheckConstraint(condition=~models.Q(shown_name=""), name="player_is_shown_by_some_name"),
        ]
        indexes = [
            models.Index(fields=["last_seen_at"], condition=models.Q(is_guest=True), name="guest_last_seen"),
        ]

    def __str__(self) -> str:
        return self.shown_name

    def save(self, *args: object, **kwargs: object) -> None:
        """A player without a name to be shown is shown by the user name."""
        if not self.shown_name:
            self.shown_name = self.username[:40]
        super().save(*args, **kwargs)  # type: ignore[arg-type]
