"""Rooms as a list of the admin, without the codes that open private ones."""

from django.contrib import admin

from players.read_only import ReadOnlyAdmin
from rooms.models import Room


@admin.register(Room)
class RoomAdmin(ReadOnlyAdmin):
    """Find a room by its number."""

    permission = "see_ledger"
    page = "staff_room"
    list_display = ("id", "game", "visibility", "status", "fee", "created_at", "match_id")
    list_filter = ("status", "visibility")
    lookups = frozenset({"status__exact", "visibility__exact"})
    search_fields = ("=id",)
    ordering = ("-id",)
