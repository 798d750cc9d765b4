"""What a room may answer instead of doing what was asked: a code for programs, a sentence for people."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class RoomError(Exception):
    """A refusal; nothing was changed."""

    code = "refused"
    text: str | Promise = _("That is not possible now.")

    def __init__(self, text: str | Promise | None = None) -> None:
        super().__init__(self.code)
        if text is not None:
            self.text = text


class NoSuchRoom(RoomError):
    code = "no_room"
    text = _("There is no such table, or it is not yours.")


class AlreadySeated(RoomError):
    """The player sits at another table; `room_code` is where."""

    code = "already_seated"
    text = _("You already sit at a table.")

    def __init__(self, room_code: str) -> None:
        super().__init__()
        self.room_code = room_code


class Closed(RoomError):
    code = "closed"
    text = _("This match is over.")


class NotOpen(RoomError):
    code = "not_your_turn"
    text = _("Wait a moment: it is not your turn yet.")


class Late(RoomError):
    code = "late"
    text = _("Too late: the turn has ended.")

    def __init__(self, late_seconds: float) -> None:
        super().__init__(_("Too late: the turn ended %(seconds).1f s before.") % {"seconds": max(late_seconds, 0.1)})


class ClockUnsure(RoomError):
    code = "try_again"
    text = _("The server is catching its breath. Your move will be sent again.")


class TooMany(RoomError):
    code = "rate"
    text = _("That was too quick. Wait a little and try again.")
