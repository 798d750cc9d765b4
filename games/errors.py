"""What matches refuse beside the engine's own refusals, each with a code; the message quotes the offending input."""

from games.engine.errors import shown


class GameError(Exception):
    """A refusal; nothing was changed."""

    code = "refused"


class NoSuchMatch(GameError):
    code = "no_match"

    def __init__(self, match_id: int) -> None:
        super().__init__(f"there is no match {match_id}")


class MatchClosed(GameError):
    """The match is finished or abandoned."""

    code = "closed"

    def __init__(self, match_id: int) -> None:
        super().__init__(f"match {match_id} is over")


class ActionReused(GameError):
    """The same action id came with something else than the first time."""

    code = "action_reused"

    def __init__(self, action_id: str) -> None:
        super().__init__(f"action {shown(action_id)} was used for something else")


class BadActionId(GameError):
    """Action ids are 1 to 64 characters."""

    code = "malformed"

    def __init__(self, action_id: str) -> None:
        super().__init__(f"{shown(action_id)} is no action id")


class Conflict(GameError):
    """Somebody else wrote to the match since it was read."""

    code = "conflict"

    def __init__(self, match_id: int, version: int) -> None:
        super().__init__(f"match {match_id} is no longer at version {version}")
