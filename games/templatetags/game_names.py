"""How games are called on pages."""

from django import template

from games.engine import registry

register = template.Library()


@register.filter
def game_name(key: str) -> str:
    """The game's name for people; the key of one that is not known any more."""
    return registry.title(key) if key in registry.KEYS else key
