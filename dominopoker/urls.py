"""All addresses of the site."""

from django.urls import include, path, register_converter
from django.views.i18n import JavaScriptCatalog

from rooms import lobby_views, views
from rooms.codes import CodeConverter, RoomIdConverter, WatchKeyConverter

register_converter(CodeConverter, "code")
register_converter(RoomIdConverter, "room_id")
register_converter(WatchKeyConverter, "watch_key")

urlpatterns = [
    path("", views.home, name="home"),
    path("play/", views.play, name="play"),
    path("tables/<code:code>/", views.table, name="table"),
    path("tables/<code:code>/return/", views.table_return, name="table_return"),
    path("tables/<code:code>/leave/", views.table_leave, name="table_leave"),
    path("tables/<code:code>/rematch/", views.table_rematch, name="table_rematch"),
    path("tables/<code:code>/qr.svg", views.table_qr, name="table_qr"),
    path("rooms/<room_id:room_id>/", views.room, name="room"),
    path("watch/<watch_key:key>/", views.watch, name="watch"),
    path("lobby/", lobby_views.lobby_page, name="lobby"),
    path("rooms/", lobby_views.room_create, name="room_create"),
    path("rooms/<room_id:room_id>/sit/", lobby_views.room_sit, name="room_sit"),
    path("join/", lobby_views.join, name="join"),
    path("join/<str:text>/", lobby_views.join_link, name="join_link"),
    path("quick/", lobby_views.quick_play, name="quick_play"),
    path("rules/", views.rules, name="rules"),
    path("matches/", include("games.urls")),
    path("", include("stats.urls")),
    path("healthz", views.healthz, name="healthz"),
    path("jsi18n/", JavaScriptCatalog.as_view(), name="jsi18n"),
]
