"""Matches as a list of the admin: nothing of what is hidden in them, and no event."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from games.models import Match
from players.read_only import ReadOnlyAdmin


@admin.register(Match)
class MatchAdmin(ReadOnlyAdmin):
    """Find a match by its number or by the name of a seat."""

    permission = "see_matches"
    page = "staff_match"
    list_display = ("id", "game", "status", "created_at", "finished_at")
    list_filter = ("game", "status")
    lookups = frozenset({"game", "game__exact", "status__exact"})
    search_fields = ("=id", "seats__name")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Match]":
        return super().get_queryset(request).defer("secret", "outcome", "commitments", "options")
