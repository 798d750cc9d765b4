"""Transactions as a list of the admin; the search over them is a page of its own (rooms.staff_gold_views)."""

from django.contrib import admin

from players.read_only import ReadOnlyAdmin
from wallet.models import Transaction


@admin.register(Transaction)
class TransactionAdmin(ReadOnlyAdmin):
    """The newest bookings, each with its postings a click away."""

    permission = "see_ledger"
    page = "staff_transaction"
    list_display = ("id", "reference", "kind", "by", "memo", "at")
    list_filter = ("kind",)
    lookups = frozenset({"kind__exact"})
    search_fields = ("reference",)
    list_select_related = ("by",)
    ordering = ("-id",)
