"""Who someone is: registered players and guests are rows of one table."""

from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _

from players.lookalikes import keys


class Player(AbstractUser):
    """A person. A guest has no password and no address; registering fills in the same row."""

    SHOWN_NAME_LENGTH = 40

    is_guest = models.BooleanField(default=False)
    # What others see. Not unique: who someone is, is the row's number.
    shown_name = models.CharField(_("shown name"), max_length=SHOWN_NAME_LENGTH, blank=True, default="")
    # What the two names look like (`lookalikes.keys`). No two registered players are shown by names that look alike;
    # a name of signs alone has no key.
    name_key = models.TextField(editable=False, default="")
    username_key = models.TextField(editable=False, default="")
    # Moved on by playing (`services.touch`): guests who stay away are forgotten.
    last_seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("username"), name="username_is_unique_in_any_case"),
            models.UniqueConstraint(
                fields=["name_key"],
                condition=models.Q(is_guest=False) & ~models.Q(name_key=""),
                name="no_registered_player_looks_like_another",
            ),
            models.CheckConstraint(condition=~models.Q(shown_name=""), name="player_is_shown_by_some_name"),
        ]
        indexes = [
            models.Index(fields=["last_seen_at"], condition=models.Q(is_guest=True), name="guest_last_seen"),
            models.Index(fields=["username_key"], condition=models.Q(is_guest=False), name="registered_username_key"),
        ]

    def __str__(self) -> str:
        return self.shown_name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """A player without a name to be shown is shown by the user name. What names look like is kept with them."""
        if not self.shown_name:
            self.shown_name = self.username[: self.SHOWN_NAME_LENGTH]
        self.name_key, self.username_key = key_of(self.shown_name), key_of(self.username)
        fields = kwargs.get("update_fields")
        if fields is not None and {"shown_name", "username"} & set(fields):
            kwargs["update_fields"] = {*fields, "name_key", "username_key"}
        super().save(*args, **kwargs)


def key_of(name: str) -> str:
    """What this name looks like; names that look alike have the same key."""
    return keys(name)[0]
