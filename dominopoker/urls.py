"""All addresses of the site."""

from django.urls import include, path, register_converter
from django.views.i18n import JavaScriptCatalog

from rooms import views
from rooms.codes import CodeConverter

register_converter(CodeConverter, "code")

urlpatterns = [
    path("", views.home, name="home"),
    path("play/", views.play, name="play"),
    path("tables/<code:code>/", views.table, name="table"),
    path("tables/<code:code>/return/", views.table_return, name="table_return"),
    path("tables/<code:code>/leave/", views.table_leave, name="table_leave"),
    path("rules/", views.rules, name="rules"),
    path("matches/", include("games.urls")),
    path("healthz", views.healthz, name="healthz"),
    path("jsi18n/", JavaScriptCatalog.as_view(), name="jsi18n"),
]
