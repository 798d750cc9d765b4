"""The sentences that people read when a socket refuses or closes."""

from django.utils.translation import gettext as _


def refusal(code: str) -> str:
    """One short sentence for an engine's refusal."""
    sentences = {
        "malformed": _("That was not understood."),
        "not_your_turn": _("It is not your turn."),
        "stale": _("That turn is already over."),
        "illegal": _("That is not allowed now."),
        "action_reused": _("That was already answered."),
    }
    return sentences.get(code, _("That is not possible now."))


def close(code: int) -> str:
    """One short sentence for a close code (docs/wire.md)."""
    sentences = {
        4000: _("The server is restarting. You will be reconnected."),
        4002: _("The connection went quiet."),
        4008: _("The connection is too slow."),
        4029: _("Too many connections. Wait a moment."),
        4400: _("The page sent something that was not understood. Reload it."),
        4401: _("Sign in or start a game first."),
        4403: _("Your session has ended."),
        4404: _("There is no such room, or it is not yours."),
        4409: _("This seat was taken over on another device."),
    }
    return sentences[code]
