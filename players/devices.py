"""What a browser calls itself, in words that its owner recognises."""

from django.utils.translation import gettext as _

__all__ = ["device", "kind", "words"]

# The first that is found counts: most browsers claim to be some of those further down as well.
_BROWSERS = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
)  # fmt: skip
_SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip


def kind(user_agent: str) -> str:
    """What there are few of, to be kept: "Firefox/Linux"; "" for what calls itself otherwise than browsers do."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{browser}/{system}" if browser and system else ""


def words(kind: str) -> str:
    """The kind of a browser, as people say it."""
    browser, _between, system = kind.partition("/")
    return _("%(browser)s on %(system)s") % {"browser": browser, "system": system} if kind else _("Another browser")


def device(user_agent: str) -> str:
    """Firefox on Linux; for others the beginning of what they say."""
    found = kind(user_agent)
    return words(found) if found else user_agent[:60] or _("A browser without a name")
