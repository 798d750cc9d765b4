"""What the engine refuses, each with a code; the message quotes the offending input."""


def shown(text: object) -> str:
    """Somebody's input for a message: quoted, control characters visible, at most 60 characters."""
    return repr(text)[:60]


class EngineError(Exception):
    """The base; nothing was changed."""

    code = "refused"


class Malformed(EngineError):
    """The text is no action, tile or event."""

    code = "malformed"


class NoQuestion(EngineError):
    """This seat is asked nothing now."""

    code = "not_your_turn"


class Stale(EngineError):
    """The answer is for a question that is already answered."""

    code = "stale"


class Illegal(EngineError):
    """The rules do not offer this choice."""

    code = "illegal"


class BadOptions(EngineError):
    """A game cannot be made from these options."""

    code = "bad_options"
