"""The addresses of staff's own pages, below /admin/house/."""

from django.urls import path

from rooms import staff_gold_views as gold
from rooms import staff_match_views as matches
from rooms import staff_player_views as players

urlpatterns = [
    path("players/<row:player_id>/", players.player_page, name="staff_player"),
    path("players/<row:player_id>/ban/", players.ban, name="staff_ban"),
    path("players/<row:player_id>/unban/", players.unban, name="staff_unban"),
    path("players/<row:player_id>/note/", players.note, name="staff_note"),
    path("players/<row:player_id>/sessions/end/", players.end_sessions, name="staff_end_sessions"),
    path("players/<row:player_id>/role/", players.appoint, name="staff_appoint"),
    path("players/<row:player_id>/correction/", players.ask, name="staff_ask"),
    path("ledger/", gold.ledger, name="staff_ledger"),
    path("ledger.csv", gold.ledger_csv, name="staff_ledger_csv"),
    path("transactions/<row:number>/", gold.transaction_page, name="staff_transaction"),
    path("rooms/<row:room_id>/", gold.room_page, name="staff_room"),
    path("corrections/", gold.corrections_page, name="staff_corrections"),
    path("corrections/<row:number>/approve/", gold.decide, {"answer": "approve"}, name="staff_approve"),
    path("corrections/<row:number>/decline/", gold.decide, {"answer": "decline"}, name="staff_decline"),
    path("matches/<row:match_id>/", matches.match_page, name="staff_match"),
    path("matches/<row:match_id>/verify/", matches.match_verify, name="staff_verify"),
    path("flags/", matches.flags_page, name="staff_flags"),
]
