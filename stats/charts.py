"""The two charts as SVG that may stand in a page: pygal's drawing without its style, script and chance."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from games.templatetags.numbers import with_minus
from stats.selectors import Played

__all__ = ["bids_against_tricks", "scores"]

WIDTH = 480
# What pygal writes besides the drawing; tooltips need its script, and their layer has the one inline style.
_DROPPED = {"defs", "desc", "title"}


def bids_against_tricks(matrix: Sequence[Sequence[int]]) -> SafeString:
    """A dot for each pair of bid (down) and tricks taken (across), as large as it was frequent; exact ones on the
    diagonal."""
    import pygal

    chart = pygal.Dot(_config(height=460))
    chart.x_labels = [str(tricks) for tricks in range(len(matrix[0]))]
    chart.x_title, chart.y_title = _("Tricks taken"), _("Bid")
    for bid, row in enumerate(matrix):
        chart.add(str(bid), [count**0.5 for count in row])  # so that the area says how many
    root = chart.render_tree()
    for bid, series in enumerate(_all(root, "series")[: len(matrix)]):
        for tricks, dot in enumerate(list(series.iter("circle"))):
            dot.set("class", "dot " + ("exact" if tricks == bid else "over" if tricks > bid else "under"))
            if float(dot.get("r", "0")) <= 0:
                dot.set("class", "dot none")
    return _written(root, _("Rounds by bid and tricks taken: the larger the dot, the more rounds."))


def scores(line: Sequence[Played]) -> SafeString:
    """The points a round of one match after another."""
    import pygal

    chart = pygal.Line(_config(height=300))
    chart.value_formatter = lambda value: with_minus(f"{value:.6g}")
    chart.x_title, chart.y_title = _("Matches, the newest on the right"), _("Points a round")
    chart.add("", [one.points_a_round for one in line])
    chart.x_labels = [str(number) for number in range(1, len(line) + 1)]
    chart.show_x_labels = False
    return _written(chart.render_tree(), _("Points a round, match by match."))


def _config(height: int) -> Any:
    import pygal
    from pygal.style import Style

    return pygal.Config(
        width=WIDTH,
        height=height,
        margin=8,
        spacing=8,
        js=[],
        css=[],
        classes=["chart-picture"],
        explicit_size=False,
        disable_xml_declaration=True,
        no_prefix=True,
        show_legend=False,
        dots_size=4,
        max_scale=6,
        # Only for the room that texts take; how they look is said in stats.css.
        style=Style(font_family="sans-serif", label_font_size=15, major_label_font_size=15, title_font_size=15),
    )


def _all(root: Any, name: str) -> list[Any]:
    return [node for node in root.iter("g") if name in (node.get("class") or "").split()]


def _written(root: Any, label: str) -> SafeString:
    _prune(root)
    root.set("role", "img")
    root.set("aria-label", label)
    root.attrib.pop("id", None)
    text = ET.tostring(root, encoding="unicode")
    return mark_safe(text)  # noqa: S308  made of numbers and our own words, escaped by ElementTree


def _prune(node: Any) -> None:
    for child in list(node):
        wanted = (
            isinstance(child.tag, str) and child.tag not in _DROPPED and "tooltip-overlay" not in child.get("class", "")
        )
        empty = child.tag == "circle" and child.get("class", "").endswith("none")
        if not wanted or empty:
            node.remove(child)
        else:
            _prune(child)
