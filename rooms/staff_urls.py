"""The addresses of staff's own pages, below /admin/house/."""

from django.urls import path

from rooms import staff_views as views

urlpatterns = [
    path("players/<row:player_id>/", views.player_page, name="staff_player"),
    path("players/<row:player_id>/ban/", views.ban, name="staff_ban"),
    path("players/<row:player_id>/unban/", views.unban, name="staff_unban"),
    path("players/<row:player_id>/note/", views.note, name="staff_note"),
    path("players/<row:player_id>/sessions/end/", views.end_sessions, name="staff_end_sessions"),
    path("players/<row:player_id>/role/", views.appoint, name="staff_appoint"),
    path("players/<row:player_id>/correction/", views.ask, name="staff_ask"),
    path("ledger/", views.ledger, name="staff_ledger"),
    path("ledger.csv", views.ledger_csv, name="staff_ledger_csv"),
    path("transactions/<row:number>/", views.transaction_page, name="staff_transaction"),
    path("rooms/<row:room_id>/", views.room_page, name="staff_room"),
    path("corrections/", views.corrections_page, name="staff_corrections"),
    path("corrections/<row:number>/approve/", views.decide, {"answer": "approve"}, name="staff_approve"),
    path("corrections/<row:number>/decline/", views.decide, {"answer": "decline"}, name="staff_decline"),
    path("matches/<row:match_id>/", views.match_page, name="staff_match"),
    path("matches/<row:match_id>/verify/", views.match_verify, name="staff_verify"),
    path("flags/", views.flags_page, name="staff_flags"),
]
