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
    text = _("There is no such room, or it is not yours.")


class AlreadySeated(RoomError):
    """The player sits at another table; `room_code` is where."""

    code = "already_seated"
    text = _("You already sit in a room.")

    def __init__(self, room_code: str) -> None:
        super().__init__()
        self.room_code = room_code


class NotAgreed(RoomError):
    """Leaving would give up something else than what the player was asked about."""

    code = "not_agreed"
    text = _("Your table has changed since you were asked. Look again, then decide.")


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


class SeatTaken(RoomError):
    code = "seat_taken"
    text = _("Somebody was quicker: this seat is taken.")


class NoSuchSeat(RoomError):
    code = "no_seat"
    text = _("There is no such seat in this room.")


class RoomFull(RoomError):
    code = "full"
    text = _("This room is full.")


class Started(RoomError):
    code = "started"
    text = _("This room has started, or is closed.")


class KeptOut(RoomError):
    """Banned, or the account was closed, also since the click was made."""

    code = "kept_out"
    text = _("This account may not play now.")


class Removed(RoomError):
    code = "removed"
    text = _("The host of this room has sent you away. Choose another one.")


class NotEnough(RoomError):
    """The fee is more than the player has."""

    code = "insufficient_funds"

    def __init__(self, fee: int, balance: int) -> None:
        super().__init__(
            _("A seat here costs %(fee)d gold, and you have %(balance)d.") % {"fee": fee, "balance": balance}
        )


class FeeToAgree(RoomError):
    """A seat here has a price, and the player has not been shown this one."""

    code = "fee"

    def __init__(self, fee: int) -> None:
        super().__init__(_("A seat in this room costs %(fee)d gold.") % {"fee": fee})
        self.fee = fee


class GuestsCannotPay(RoomError):
    code = "register"
    text = _("Only registered players have gold. Sign up to sit down here, or choose a free room.")


class NotHost(RoomError):
    code = "not_host"
    text = _("Only the host can do that.")


class NotReady(RoomError):
    code = "not_ready"
    text = _("Four seats must be taken before the start.")


class NoSuchLevel(RoomError):
    code = "no_level"
    text = _("There is no such bot.")


class NoOpenSeat(RoomError):
    """The one answer for wrong, unknown, full and started codes."""

    code = "no_open_seat"
    text = _("There is no open seat with this code. Look at it again, or ask who gave it to you.")


class Watching(RoomError):
    code = "watching"
    text = _("You are watching: only those who sit can do that.")
