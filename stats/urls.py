"""The addresses of statistics."""

from django.urls import path, register_converter

from games.urls import RowNumber
from stats import views

register_converter(RowNumber, "player_number")

urlpatterns = [
    path("stats/", views.own, name="stats"),
    path("players/<player_number:player_id>/", views.player, name="player"),
    path("leaderboard/", views.leaderboard, name="leaderboard"),
]
