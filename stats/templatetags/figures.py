"""How figures are written: shares in percent, averages with one digit, and a dash where there is nothing."""

from django import template
from django.utils.formats import number_format

from games.templatetags.numbers import points, with_minus

register = template.Library()
DASH = "–"


@register.filter
def percent(share: float | None) -> str:
    """A share of 1 in whole percent."""
    return DASH if share is None else f"{number_format(round(share * 100))}%"


@register.filter
def average(value: float | None) -> str:
    """An average with one digit after the point."""
    return DASH if value is None else with_minus(number_format(round(value, 1) + 0, 1))  # + 0: no minus before a zero


@register.filter
def dash(value: int | None) -> str:
    """A whole number."""
    return DASH if value is None else points(value)
