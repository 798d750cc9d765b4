"""All addresses of the site, of pages and of sockets."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.http import Http404
from django.urls import include, path, re_path, register_converter
from django.utils.translation import gettext_lazy as _
from django.views.defaults import page_not_found
from django.views.generic import RedirectView
from django.views.i18n import JavaScriptCatalog

from games import urls as match_urls
from rooms import account_views, lobby_views, views, wallet_views
from rooms.codes import CodeConverter, RoomIdConverter, WatchKeyConverter
from rooms.consumers import OnlookerConsumer, TableConsumer
from rooms.lobby_consumer import LobbyConsumer
from rooms.me_consumer import MeConsumer
from rooms.sockets import NoSuchSocket

register_converter(CodeConverter, "code")
register_converter(RoomIdConverter, "room_id")
register_converter(WatchKeyConverter, "watch_key")

# Staff sign in as everybody does, with a second step: the admin's own form knows of none.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
admin.site.site_header = admin.site.site_title = _("Domino Poker: the house")
admin.site.index_title = _("What there is")
admin.site.enable_nav_sidebar = False

urlpatterns = [
    path("", views.home, name="home"),
    path("favicon.ico", views.favicon, name="favicon"),
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
    path("matches/<row:match_id>/", views.match, name="match"),
    path("matches/", include(match_urls)),
    path("wallet/", wallet_views.wallet, name="wallet"),
    path("wallet/statement.csv", wallet_views.statement_csv, name="wallet_csv"),
    path("accounts/", account_views.account, name="account"),
    path("accounts/name/", account_views.change_name, name="account_name"),
    path("accounts/sessions/end/", account_views.end_other_sessions, name="account_end_sessions"),
    path("accounts/export/", account_views.export_data, name="account_export"),
    path("accounts/delete/", account_views.delete, name="account_delete"),
    path("accounts/login/", account_views.LoginView.as_view(), name="account_login"),
    path("accounts/signup/", account_views.SignupView.as_view(), name="account_signup"),
    re_path(
        r"^accounts/confirm-email/(?P<key>[-:\w]+)/$",
        account_views.ConfirmEmailView.as_view(),
        name="account_confirm_email",
    ),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    # The admin's own page counts no wrong passwords, and tells nobody that there is a new one.
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/password_change/done/", RedirectView.as_view(pattern_name="account_change_password")),
    # Lists that change nothing choose nothing, and this page would find players by their addresses.
    path("admin/autocomplete/", page_not_found, {"exception": Http404()}),
    path("admin/house/", include("rooms.staff_urls")),
    path("admin/", admin.site.urls),
    path("", include("stats.urls")),
    path("healthz", views.healthz, name="healthz"),
    path("jsi18n/", JavaScriptCatalog.as_view(), name="jsi18n"),
]

socket_patterns = [
    path("ws/tables/<code:code>/", TableConsumer.as_asgi()),
    path("ws/rooms/<room_id:room_id>/", OnlookerConsumer.as_asgi()),
    path("ws/watch/<watch_key:key>/", OnlookerConsumer.as_asgi()),
    path("ws/lobby/", LobbyConsumer.as_asgi()),
    path("ws/me/", MeConsumer.as_asgi()),
    re_path("", NoSuchSocket.as_asgi()),
]
