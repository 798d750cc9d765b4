"""Names that people may be shown by: readable, in one alphabet, and nobody else's."""

import re
import unicodedata

from django.db.models import Q
from django.utils.translation import gettext as _

from players import former_names
from players.errors import NameRefused
from players.lookalikes import SIGNS, keys, look, script, without_marks
from players.models import Player

__all__ = ["MAX_CHARACTERS", "MIN_CHARACTERS", "NameRefused", "checked", "keys", "login_name"]

MIN_CHARACTERS, MAX_CHARACTERS = 2, 20
LONGEST_TYPED = 200  # NFKC may make one character into eighteen
_SAME_SIGN = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2010": "-"})
# NFKC takes these vowels of Thai and Lao apart, and fonts draw the parts wrongly.
_VOWELS_OF_TWO = (("\u0e4d\u0e32", "\u0e33"), ("\u0ecd\u0eb2", "\u0eb3"))
# Letters that belong to no alphabet, and yet to names: the Hawaiian ʻokina, the long vowel of Japanese.
_COMMON_LETTERS = "\u02bb\u30fc"
# Letters and marks of which nothing is seen (Default_Ignorable_Code_Point).
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_ALLOWED = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Mn", "Mc"})
# Alphabets that are written together (UTS 39, "highly restrictive").
_TOGETHER = (
    {"LATIN", "HAN", "HIRAGANA", "KATAKANA"},
    {"LATIN", "HAN", "BOPOMOFO"},
    {"LATIN", "HAN", "HANGUL"},
)

# Words of the house: refused as a whole name, and as a word of a longer one.
_HOUSE_WORDS = (
    "admin", "admins", "administrator", "administration", "mod", "mods", "moderator", "moderation", "support", "staff",
    "dominopoker", "sysadmin", "superuser", "webmaster", "helpdesk", "админ", "адмін", "администратор",
    "адміністратор", "модератор", "поддержка",
    "official", "system", "dealer", "house", "bank", "banker", "cashier", "security", "service", "payout", "payouts",
    "refund", "refunds", "operator", "team", "customer", "care", "gamemaster",
)  # fmt: skip
# These are refused wherever they stand in a name: nobody is called so.
_HOUSE_ANYWHERE = ("administrator", "moderator", "dominopoker")
# Refused as a whole name only: Joe Root and Kanye West are welcome.
_HOUSE_NAMES = (
    "root", "croupier", "bot", "robot", "computer", "host", "server", "owner",
    "guest", "former player", "deleted player", "deleted", "player", "nobody", "anonymous", "everyone", "null", "none",
    "undefined", "domino poker official", "domino poker team",
    # what bots are called
    "west", "north", "east", "south", "birch", "cedar", "maple", "willow",
)  # fmt: skip
_DIGITS_BEHIND = re.compile(rf"[\d {re.escape(SIGNS)}]+$")
_DIGITS_AS_LETTERS = str.maketrans("34578", "eastb")  # 0 and 1 look like o and l anyway


def checked(name: str, *, player: Player | None = None) -> str:
    """The name as it will be shown: NFKC, without blanks around it, one blank between words.

    Allowed are letters, digits and marks of one alphabet, blanks and - _ . ' between them; 2 to 20 visible characters.
    Raises NameRefused for all else, for words of the house and what looks like them, and for a name that looks like
    the shown name or the user name of a registered player other than `player` (of staff also with digits behind), or
    like one that somebody else gave up within NAME_KEPT_DAYS."""
    # Long texts are refused before anything is done with them.
    if len(name) > LONGEST_TYPED:
        raise NameRefused("too_long")
    # What is invisible is refused where it stands: NFKC would make an innocent blank of some.
    _refuse_unseen(name)
    name = unicodedata.normalize("NFKC", name.translate(_SAME_SIGN))
    for taken_apart, vowel in _VOWELS_OF_TWO:
        name = name.replace(taken_apart, vowel)
    name = " ".join(name.translate(_SAME_SIGN).split())
    _refuse_unseen(name)
    _refuse_characters(name)
    _refuse_marks(name)
    _refuse_length(name)
    if unicodedata.category(name[0])[0] not in "LN":
        raise NameRefused("start")
    _refuse_mixture(name)
    if _is_reserved(name):
        raise NameRefused("reserved")
    if _is_taken(name, player) or _is_of_staff(name, player) or former_names.is_kept(name, player):
        raise NameRefused("taken")
    return name


def login_name(name: str) -> str:
    """The form of a name that people sign in by: blind to case, to blanks around it and to the way it was typed. No
    name is longer than LONGEST_TYPED; what follows is not looked at."""
    name = unicodedata.normalize("NFKC", name[:LONGEST_TYPED].translate(_SAME_SIGN)).casefold()
    return " ".join(unicodedata.normalize("NFKC", name).split())


def _refuse_unseen(name: str) -> None:
    for char in name:
        # Control, format (joiners, bidi), private, surrogate and unassigned; a blank that is none of these may stand.
        if (unicodedata.category(char).startswith("C") and char not in "\t\n\r") or _UNSEEN.match(char):
            raise NameRefused("invisible")


def _refuse_characters(name: str) -> None:
    for char in name:
        category = unicodedata.category(char)
        # A modifier letter of no alphabet is a sign that passes for a letter.
        sign = category == "Lm" and script(char) == "COMMON" and char not in _COMMON_LETTERS
        if char not in " " + SIGNS and (sign or category not in _ALLOWED):
            raise NameRefused("character", _("A name cannot have this character: %(character)s") % {"character": char})


def _refuse_length(name: str) -> None:
    visible = sum(not unicodedata.category(char).startswith("M") for char in name)
    if visible < MIN_CHARACTERS:
        raise NameRefused("too_short")
    # The second is the column's length: letters with marks take more than one place.
    if visible > MAX_CHARACTERS or len(name) > Player.SHOWN_NAME_LENGTH:
        raise NameRefused("too_long")


def _refuse_marks(name: str) -> None:
    """At most three marks on a letter, none twice, and none on a blank or a sign."""
    marks: list[str] = []
    letter = " "
    for char in unicodedata.normalize("NFD", name):
        if not unicodedata.category(char).startswith("M"):
            marks, letter = [], char
        elif letter in " " + SIGNS or len(marks) == 3 or char in marks:
            raise NameRefused("marks")
        else:
            marks.append(char)


def _refuse_mixture(name: str) -> None:
    scripts = {script(char) for char in name} - {"COMMON", "INHERITED"}
    together = len(scripts) <= 1 or any(scripts <= some for some in _TOGETHER)
    zeros = {ord(char) - unicodedata.decimal(char) for char in name if unicodedata.category(char) == "Nd"}
    if not together or len(zeros) > 1:
        raise NameRefused("mixed")


def _looks(text: str) -> set[str]:
    """What a text reads as, without its accents, and with digits read as letters."""
    read: set[str] = set()
    for form in (text, text.strip("0123456789 " + SIGNS), text.translate(_DIGITS_AS_LETTERS)):
        read.update(without_marks(key) for key in keys(form))
    return read - {""}


_RESERVED_WORDS = frozenset(look(word) for word in _HOUSE_WORDS)
_RESERVED_ANYWHERE = tuple(look(word) for word in _HOUSE_ANYWHERE)
_RESERVED_NAMES = _RESERVED_WORDS | {look(name) for name in _HOUSE_NAMES}
_ADMIN = look("admin")


def _is_reserved(name: str) -> bool:
    whole = _looks(name)
    words = set().union(*(_looks(word) for word in re.split(f"[{re.escape(SIGNS)} ]+", name)))
    return (
        not whole.isdisjoint(_RESERVED_NAMES)
        or not words.isdisjoint(_RESERVED_WORDS)
        or any(word in key for key in whole for word in _RESERVED_ANYWHERE)
        or any(key.startswith(_ADMIN) or key.endswith(_ADMIN) for key in whole | words)
    )


def _is_taken(name: str, player: Player | None) -> bool:
    alike = keys(name)
    others = Player.objects.filter(Q(name_key__in=alike) | Q(username_key__in=alike), is_guest=False)
    return (others.exclude(pk=player.pk) if player is not None else others).exists()


def _is_of_staff(name: str, player: Player | None) -> bool:
    """Whether the name is one of staff with digits behind it."""
    bare = _DIGITS_BEHIND.sub("", name)
    if bare in {"", name}:
        return False
    alike = keys(bare)
    others = Player.objects.filter(Q(name_key__in=alike) | Q(username_key__in=alike), is_guest=False, is_staff=True)
    return (others.exclude(pk=player.pk) if player is not None else others).exists()
