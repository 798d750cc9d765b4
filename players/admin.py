"""Players and the record of what staff do, as lists of the admin; what changes players are pages of their own."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from players import staff
from players.models import Player, StaffAct
from players.read_only import ReadOnlyAdmin

# Roles come by migration, and these forms would change accounts without a word in the record.
for model in (Group, EmailAddress, Authenticator, UserSession):
    if admin.site.is_registered(model):
        admin.site.unregister(model)


@admin.register(Player)
class PlayerAdmin(ReadOnlyAdmin):
    """Find a player by number or name, and by address for those who may see addresses."""

    permission = "see_players"
    act = staff.Act.SEARCH
    page = "staff_player"
    list_display = ("id", "shown_name", "is_guest", "is_active", "is_staff", "date_joined", "last_seen_at")
    list_display_links = ("id", "shown_name")
    list_filter = ("is_guest", "is_active", "is_staff")
    lookups = frozenset({"is_guest__exact", "is_active__exact", "is_staff__exact"})
    ordering = ("-id",)

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        found = ("=id", "shown_name", "username")
        return (*found, "=email") if staff.may(request.user, "see_personal") else found

    def seen(self, rows: Any) -> str:
        return " ".join(str(row.pk) for row in rows)


@admin.register(StaffAct)
class StaffActAdmin(ReadOnlyAdmin):
    """Who saw or did what, to whom, when and why."""

    permission = "see_log"
    act = staff.Act.LOG
    list_display = ("at", "by", "act", "player", "subject", "reason")
    list_display_links = None
    list_filter = ("act",)
    lookups = frozenset({"act__exact"})
    search_fields = ("=player", "by__shown_name", "=subject")
    list_select_related = ("by",)
    ordering = ("-id",)

    def seen(self, rows: Any) -> str:  # noqa: ARG002
        return ""
