"""How numbers are written on pages; `points` in static/js/words.js does the same at the table."""

from django import template
from django.utils.formats import number_format

register = template.Library()
MINUS = "\u2212"


def with_minus(text: str) -> str:
    """A number as it was written, with a real minus sign in place of a hyphen before it."""
    return MINUS + text[1:] if text.startswith("-") else text


@register.filter
def points(number: int) -> str:
    """A whole number, below 0 with a real minus sign."""
    return with_minus(number_format(number))
