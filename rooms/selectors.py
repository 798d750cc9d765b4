"""Questions about rooms that change nothing."""

from django.contrib.sessions.models import Session

from games import history
from games import selectors as game_selectors
from players import selectors as player_selectors
from rooms import clock
from rooms.models import Room, Seat


def versions(room_ids: list[int]) -> dict[int, int]:
    """The newest version of each of these rooms."""
    if not room_ids:
        return {}
    return dict(Room.objects.filter(pk__in=room_ids).values_list("pk", "version"))


def ended_identities(players: set[int], sessions: set[str]) -> tuple[set[int], set[str]]:
    """Those of these players who may no longer act, and those of these sessions that are over."""
    if not players:
        return set(), set()
    active = player_selectors.active(players)
    alive = set(
        Session.objects.filter(session_key__in=sessions, expire_date__gt=clock.now()).values_list(
            "session_key", flat=True
        )
    )
    return players - active, sessions - alive


def running_table(player_id: int | None) -> dict[str, object] | None:
    """The table where the player sits now, for the offer to go back: code, game, status, visibility, round, rounds."""
    if player_id is None:
        return None
    seat = Seat.objects.filter(player_id=player_id).select_related("room").first()
    if seat is None:
        return None
    room = seat.room
    loaded = history.load(room.match_id) if room.match_id is not None else None
    return {
        "code": room.code,
        "game": room.game,
        "status": room.status,
        "visibility": room.visibility,
        "round": (game_selectors.round_now(loaded) if loaded else None) or 1,
        "rounds": room.options.get("rounds"),
    }


def room_by_code(code: str) -> Room | None:
    return Room.objects.filter(code=code).first()


def code_of(room_id: int) -> str | None:
    return Room.objects.filter(pk=room_id).values_list("code", flat=True).first()
