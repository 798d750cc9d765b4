"""Which names look alike: Unicode's skeletons (UTS 39) made blind to case, and which alphabets a name is written in."""

import functools
import unicodedata

from confusable_homoglyphs import categories
from confusable_homoglyphs.confusables import confusables_data

__all__ = ["SIGNS", "keys", "look", "script", "skeleton", "without_marks"]

# The signs that names may have: these, and those that Catalan, Japanese and Tibetan names need.
SIGNS = "-_.'\u00b7\u30fb\u0f0b"

# The data wraps letters that are written from right to left in this mark.
_LEFT_TO_RIGHT = "\u200e"
_UNSEEN_IN_KEYS = dict.fromkeys(map(ord, " " + SIGNS))
_PHONETIC = (range(0x250, 0x2B0), range(0x1D00, 0x1D80), range(0xA720, 0xA800))


@functools.cache
def _prototypes() -> dict[int, str]:
    """Each character that looks like another, and what it is read as.

    The data lists every pair both ways. Its classes are stars: many characters around the one they are all read as,
    which alone may be several characters. Where there are just two, either will do as the one."""
    near: dict[str, set[str]] = {}
    for text, alike in confusables_data.items():
        others = near.setdefault(text.replace(_LEFT_TO_RIGHT, ""), set())
        others.update(other["c"].replace(_LEFT_TO_RIGHT, "") for other in alike)
    read_as: dict[int, str] = {}
    for text, others in near.items():
        if len(text) != 1 or len(others) != 1:
            continue
        (other,) = others
        if len(other) == 1 and len(near.get(other, ())) == 1 and text < other:
            continue
        read_as[ord(text)] = other
    return read_as


def skeleton(text: str) -> str:
    """Two texts that look alike have the same skeleton (UTS 39, section 4). It is for comparing, not for showing."""
    text = unicodedata.normalize("NFD", text).translate(_prototypes())
    return unicodedata.normalize("NFD", text)


@functools.cache
def _small_capitals() -> dict[int, str]:
    """The small capitals of phonetic writing, which Unicode's data sets apart from the letters: ᴀ, ʙ, ᴄ."""
    prefix = "LATIN LETTER SMALL CAPITAL "
    named = {code: unicodedata.name(chr(code), "") for block in _PHONETIC for code in block}
    return {
        code: name[-1].lower()
        for code, name in named.items()
        if name.startswith(prefix) and len(name) == len(prefix) + 1
    }


def look(text: str) -> str:
    """The skeleton in lower case, without blanks and signs; i and l, 1 and I are one, and so are ʙ and b."""
    text = text.translate(_UNSEEN_IN_KEYS)
    for _i in range(3):  # a capital's small letter may have a skeleton of its own (M, m, rn)
        text = skeleton(text.translate(_small_capitals())).translate(_small_capitals()).casefold()
    return text.replace("i", "l")


def without_marks(text: str) -> str:
    """The text without accents and other marks (of a text in NFD, as skeletons are)."""
    return "".join(char for char in text if not unicodedata.category(char).startswith("M"))


def keys(name: str) -> tuple[str, ...]:
    """What this name is compared by: the first is its own key, and one or two more say whom else it looks like.

    A key is the same in all cases and normal forms of a name. Letters of another alphabet may look Latin as capitals
    only (Cyrillic ВОВ, BOB) or as small letters only (Greek νον, vov): a name that looks Latin in one case gets the
    key of that Latin name."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    small, capital = look(folded), look(folded.upper())
    latin = [key for key in (small, capital) if key and without_marks(key).isascii()]
    return tuple(dict.fromkeys([*latin, small]))


def script(char: str) -> str:
    """The alphabet of a character, by its name in Unicode; COMMON and INHERITED belong to all."""
    return str(categories.alias(char))
