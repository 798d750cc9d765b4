"""Who someone is: registered players and guests are rows of one table."""

import unicodedata
from typing import Any

from django.conf import settings
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
    # Part of what a session is let in by: with another salt all sessions of before are over (`services.end_sessions`).
    session_salt = models.CharField(max_length=22, blank=True, default="", db_default="", editable=False)
    # When the account was given up: the row stays, without anything personal.
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("username"), name="username_is_unique_in_any_case"),
            models.UniqueConstraint(Lower("email"), condition=~models.Q(email=""), name="email_is_unique_in_any_case"),
            models.UniqueConstraint(
                fields=["name_key"],
                condition=models.Q(is_guest=False) & ~models.Q(name_key=""),
                name="no_registered_player_looks_like_another",
            ),
            models.CheckConstraint(condition=~models.Q(shown_name=""), name="player_is_shown_by_some_name"),
            models.CheckConstraint(
                condition=models.Q(closed_at__isnull=True) | models.Q(is_active=False, email=""),
                name="closed_account_is_empty",
            ),
        ]
        indexes = [
            models.Index(fields=["last_seen_at"], condition=models.Q(is_guest=True), name="guest_last_seen"),
            models.Index(fields=["username_key"], condition=models.Q(is_guest=False), name="registered_username_key"),
        ]

    def __str__(self) -> str:
        return self.shown_name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """A player without a name to be shown is shown by the user name. What names look like is kept with them, and
        addresses in one form. A player that is stored is saved with `update_fields`, else TypeError is raised: a row
        that was read before would bring back what was changed since, an account that was closed, a ban, sessions that
        ended. After `set_password` alone (Django's own command does that) the password is written."""
        self.email = normal_address(self.email)
        if not self.shown_name:
            self.shown_name = self.username[: self.SHOWN_NAME_LENGTH]
        self.name_key, self.username_key = key_of(self.shown_name), key_of(self.username)
        fields = kwargs.get("update_fields")
        if fields is not None and {"shown_name", "username"} & set(fields):
            kwargs["update_fields"] = {*fields, "name_key", "username_key"}
        elif fields is None and not self._state.adding and getattr(self, "_password", None) is not None:
            kwargs["update_fields"] = {"password"}
        elif fields is None and not self._state.adding:
            raise TypeError("Say which fields of a stored player are written: save(update_fields=...).")
        super().save(*args, **kwargs)

    def _get_session_auth_hash(self, secret: Any = None) -> str:
        """What sessions are compared by: changes with the password (Django's own), and with the salt."""
        inherited: str = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]
        return f"{inherited}.{self.session_salt}" if self.session_salt else inherited


class UsedAddress(models.Model):
    """An address that has had its welcome bonus, as a keyed digest: it outlives the account, and tells nobody which."""

    digest = models.CharField(max_length=64, primary_key=True)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.digest[:8]


class Visit(models.Model):
    """A player was here from this network with this kind of browser, last at that time. Kept for VISIT_DAYS."""

    player = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="visits")
    # An IPv4 address, or the /64 of an IPv6 one (`address.limit_key`): one household.
    network = models.CharField(max_length=50)
    # `devices.kind`: what a browser says of itself is its owner's to write, and would make a row each time.
    browser = models.CharField(max_length=40, blank=True, default="")
    # Of a guest: the account that the same browser signed in to later.
    account = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["player", "network", "browser"], name="one_row_for_a_visit")]
        indexes = [models.Index(fields=["network"], name="visit_network"), models.Index(fields=["at"], name="visit_at")]

    def __str__(self) -> str:
        return f"visit {self.pk} of player {self.player_id}"


class FormerName(models.Model):
    """A player was called so until that time. Of a closed account there is no name, only what it looked like."""

    player = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="former_names")
    name = models.CharField(max_length=Player.SHOWN_NAME_LENGTH, blank=True, default="")
    # A keyed digest of the name's key (`lookalikes.keys`).
    look = models.CharField(max_length=64, blank=True, default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["look"], name="former_name_look")]

    def __str__(self) -> str:
        return f"former name {self.pk} of player {self.player_id}"


class Ban(models.Model):
    """Somebody may not play until a time, or for good. Lifted, it stays as a record."""

    player = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="bans")
    # None: by a command, not by a person.
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(_("reason"))
    at = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(_("until"), null=True)
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["player"], condition=models.Q(lifted_at__isnull=True), name="one_ban_at_a_time"
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="ban_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"ban {self.pk} of player {self.player_id}"


class StaffAct(models.Model):
    """One look at personal data or one action by staff. The database adds rows and changes none (migration 0004).

    `by` is empty when a command did it. The player is a number alone: guests are forgotten, the record is not."""

    class Act(models.TextChoices):
        SEARCH = "search", _("saw a list of players")
        LOOK = "look", _("saw a player")
        LIST = "list", _("saw a list")
        LEDGER = "ledger", _("searched the ledger")
        EXPORT = "export", _("exported the ledger")
        MONEY = "money", _("saw the gold of a room")
        MATCH = "match", _("saw a match")
        VERIFY = "verify", _("verified a match")
        FLAGS = "flags", _("saw the flags")
        CORRECTIONS = "corrections", _("saw the corrections")
        LOG = "log", _("saw this log")
        BAN = "ban", _("banned")
        UNBAN = "unban", _("lifted a ban")
        NOTE = "note", _("noted")
        SESSIONS = "sessions", _("ended sessions")
        ASK = "ask", _("asked for a correction")
        APPROVE = "approve", _("approved a correction")
        DECLINE = "decline", _("declined a correction")
        APPOINT = "appoint", _("gave or took a role")
        REFUSED = "refused", _("was refused")

    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("who")
    )
    act = models.CharField(_("what"), max_length=12, choices=Act)
    player = models.BigIntegerField(_("whom"), null=True)
    subject = models.CharField(_("about"), max_length=500, blank=True, default="")
    reason = models.CharField(_("reason"), max_length=500, blank=True, default="")
    at = models.DateTimeField(_("when"), db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = _("act of staff"), _("acts of staff")
        default_permissions = ()
        permissions = [
            ("see_players", "May find and see players"),
            ("see_personal", "May see addresses and sessions"),
            ("see_ledger", "May search the ledger"),
            ("export_ledger", "May export the ledger"),
            ("see_matches", "May see matches that are over"),
            ("see_flags", "May see signals of chip dumping"),
            ("ban", "May ban and end bans"),
            ("note", "May write notes"),
            ("end_sessions", "May sign players out"),
            ("ask_correction", "May ask for corrections"),
            ("approve_correction", "May approve and decline corrections"),
            ("see_log", "May see what staff did"),
            ("appoint", "May give and take roles"),
        ]
        indexes = [models.Index(fields=["player", "id"], name="staff_act_player")]

    def __str__(self) -> str:
        return f"act {self.pk} ({self.act})"


def normal_address(address: str) -> str:
    """An e-mail address in the one form that is kept and looked for: compatible characters as one, small letters. No
    account has one of more than 320 characters; what follows those is not looked at."""
    return unicodedata.normalize("NFKC", address[:320]).strip().lower()


def key_of(name: str) -> str:
    """What this name looks like; names that look alike have the same key."""
    return keys(name)[0]
