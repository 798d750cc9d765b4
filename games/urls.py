"""The addresses of a match, below /matches/; its first page is `rooms.views.match`, which adds the coins."""

from django.urls import path, register_converter
from django.urls.converters import IntConverter

from games import views


class RowNumber(IntConverter):
    """A number that can be a row's: 1 to 18 digits, so that the database is never asked for what it can't hold."""

    regex = "[0-9]{1,18}"


register_converter(RowNumber, "row")

urlpatterns = [
    path("<row:match_id>/rounds/<row:number>/", views.match_round, name="match_round"),
    path("<row:match_id>/export.json", views.match_export, name="match_export"),
]
