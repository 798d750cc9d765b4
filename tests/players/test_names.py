"""Names: honest ones of every alphabet pass; the house's words, what looks like them, and unreadable ones do not."""

import unicodedata
from functools import partial

import pytest
from django.db import IntegrityError

from players.errors import NameRefused
from players.lookalikes import keys, skeleton
from players.models import Player
from players.names import checked
from tests.rooms.stage import at_once

HONEST = [
    "Ana", "José", "Zoë", "Ægir", "Łukasz", "Ştefan", "Nguyễn Văn A", "O'Brien", "Jean-Luc", "J.R. Tolkien",
    "Ọláyínká",
    "Žygimantė́", "ʻOkina Kai", "Gal·la", "Ana_99", "4x4", "xX_Ana_Xx", "Bo",
    "გიორგი", "ნინო ბერიძე", "عبد الرحمن", "مُحَمَّد", "فاطمة", "شهربانو", "สมชาย", "น้ำฝน", "กิตติ์",
    "ນ້ຳ ແກ້ວ", "पंकज", "कृष्णा",
    "श्रीनिवास", "অনিতা", "முருகன்", "សុខា", "မောင်", "ሰላም", "བསྟན་འཛིན", "Հայկ", "שרה", "李小龙", "王伟",
    "さくら", "タロー",
    "山田 太郎", "マイケル・Ｊ", "Mike 太郎", "김민수", "Γιώργος", "Νίκη", "Ρένα", "Владимир", "Вова",
    "Андрей", "Оксана", "Ёлка",
    "Joe Root", "Kanye West", "Badminton Fan", "Stafford", "Supporter", "Robot Rock", "Dominik", "Modesta",
    "Guestina", "Housewife", "Banksy", "Caren", "Teamo", "Operetta", "Oleg Bankov",
]  # fmt: skip
RESERVED = [
    "xXmoderatorXx",
    "Admin", "ADMIN", " admin", "admin ", "adm1n", "ADM1N", "4dmin", "Admin2", "2 admin", "ad-min",
    "a d m i n", "a.d.m.i.n", "Ádmín",
    "ａｄｍｉｎ", "𝓐𝓭𝓶𝓲𝓷", "ⓐⓓⓜⓘⓝ", "ꓮꓓꓟꓲꓠ", "ᴀᴅᴍɪɴ", "adrnin", "Admln", "Админ", "АДМІН", "superadmin",
    "AdminAna", "Admin Ana",
    "The Moderator", "moderator99", "M0derator", "Support", "5upp0rt", "Support Team", "Staff", "5taff",
    "System", "r00t",
    "ROOT", "Dominopoker", "D0m1n0p0ker", "Domino Poker", "dominopoker fan", "Dealer", "Bot", "b0t", "Bot 3",
    "ВОТ", "West",
    "Official Olga", "System Message", "Domino Team", "Dealer Olga", "The House", "House Bank", "Banker", "Cashier 7",
    "Security", "Poker Service", "Payouts", "Payout Olga", "Refund Desk", "Refunds", "Operator", "Customer Care",
    "Te4m", "Game Master", "Help Desk", "0fficial", "Care",
    "n0rth", "Maple", "Guest", "Guest 1234", "GUEST-1", "Former player", "former  player", "Former_Player",
]  # fmt: skip
INVISIBLE = {
    "zero-width joiner": "ad\u200dam",
    "zero-width non-joiner": "ad\u200cam",
    "zero-width space": "ad\u200bam",
    "byte order mark": "\ufeffadam",
    "soft hyphen": "ad\u00adam",
    "right-to-left override": "\u202emada",
    "right-to-left mark": "adam\u200f",
    "isolate": "ad\u2066am",
    "NUL": "ad\x00am",
    "escape": "ad\x1bam",
    "private use": "ad\ue000am",
    "unassigned": "ad\u0378am",
    "noncharacter": "ad\uffffam",
    "lone surrogate": "ad\ud800am",
    "combining joiner": "ad\u034fam",
    "variation selector": "ad\ufe0fam",
    "tag": "ad\U000e0061am",
    "Hangul filler": "ad\u3164am",
    "halfwidth filler": "\uffa0\uffa0",
    "Khmer vowel inherent": "\u179f\u17b4\u17bb",
}
CHARACTERS = {
    "<b>x</b>": "<", "=HYPERLINK()": "=", "+1 Ana": "+", "@ana": "@", "Ana & Bo": "&", 'An"a': '"',
    "Ana; DROP": ";", "a/b": "/",
    "🎲🎲": "🎲", "Ana 🎲": "🎲", "👨👩": "👨", "Ana ½": "⁄", "Ana\u2800": "\u2800",
    "a\u20dda": "\u20dd", "Wow ˈx": "ˈ",
}  # fmt: skip
REFUSED = {
    "กั้" * 14: "too_long", "a\u0301\u0302\u0303\u0304b": "marks", "محمد 1\u0662": "mixed",
    "": "too_short", "   ": "too_short", "a": "too_short", "李": "too_short", "x" * 21: "too_long",
    "Ана" * 7: "too_long",
    "x" * 100_000: "too_long", "ﷺﷺ": "too_long", "สิ" * 20 + "สิ": "too_long", "-cmd": "start",
    "_Ana": "start", "...": "start",
    "e" + "\u0301\u0302\u0303\u0304" * 10: "marks", "ab\u0301\u0301": "marks", "\u0301ab": "marks",
    "ab \u0301c": "marks",
    "ab-\u0301": "marks", "Аna": "mixed", "Pаypal": "mixed", "Gοοd": "mixed", "Anaგ": "mixed",
    "Ana 1\u0661": "mixed", "аdmіn": "mixed",
}  # fmt: skip
ALIKE = [
    ("νικη", "NIKH"),
    ("Ana", "ANA"), ("Ana", "ana"), ("Ana", " a n a "), ("Ana", "A-n_a"), ("José", "JOSÉ"),
    ("José", "Jose\u0301"), ("Bill", "BiII"),
    ("Bill", "B1ll"), ("Olga", "0lga"), ("Marta", "rnarta"), ("Straße", "STRASSE"), ("ВОВ", "BOB"),
    ("вов", "Bob"), ("вов", "ВОВ"),
    ("scope", "ѕсоре"), ("Вова", "ВОВА"), ("Anna", "Αnna"), ("გიორგი", "ᲒᲘᲝᲠᲒᲘ"), ("Ana", "Ａｎａ"),
    ("bob", "ʙoʙ"), ("ЈОЕ", "joe"),
]  # fmt: skip
APART = [
    ("Ana", "Anna"), ("Hans", "Vans"), ("Jose", "José"), ("Mia", "Mira"), ("李小龙", "李大龙"),
    ("さくら", "さから"), ("Вова", "Вера"),
    ("محمد", "محمود"), ("Lena", "Lana"), ("Ana1", "Ana2"),
]  # fmt: skip


def refusal(name: str, player: Player | None = None) -> NameRefused:
    with pytest.raises(NameRefused) as refused:
        checked(name, player=player)
    assert str(refused.value.text)
    return refused.value


def registered(username: str, shown_name: str = "") -> Player:
    return Player.objects.create(username=username, shown_name=shown_name)


pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", HONEST)
def test_honest_names_are_accepted(name: str) -> None:
    taken = checked(name)
    assert unicodedata.normalize("NFKC", taken) == unicodedata.normalize("NFKC", name)
    assert checked(taken) == taken


@pytest.mark.parametrize("name", RESERVED)
def test_words_of_the_house_are_refused(name: str) -> None:
    assert refusal(name).code == "reserved"


@pytest.mark.parametrize("name", INVISIBLE.values(), ids=INVISIBLE)
def test_what_cannot_be_seen_is_refused(name: str) -> None:
    assert refusal(name).code == "invisible"


@pytest.mark.parametrize(("name", "character"), CHARACTERS.items())
def test_other_characters_are_refused_by_name(name: str, character: str) -> None:
    refused = refusal(name)
    assert refused.code == "character" and str(refused.text).endswith(f": {character}")


@pytest.mark.parametrize(("name", "code"), REFUSED.items(), ids=lambda value: ascii(value)[:20])
def test_the_other_rules(name: str, code: str) -> None:
    assert refusal(name).code == code


def test_names_are_cleaned() -> None:
    assert checked("  Ana \u00a0 \u3000 Maria\t ") == "Ana Maria"
    assert checked("Ｍike") == "Mike" and checked("D\u2019Arcy") == "D'Arcy" and checked("Jose\u0301") == "José"
    assert checked("น้ำฝน") == "น้ำฝน"  # not taken apart


def test_no_name_that_passes_begins_a_formula_or_a_tag() -> None:
    for code in range(0x20, 0x3000):
        name = f"{chr(code)}ab"
        try:
            taken = checked(name)
        except NameRefused:
            continue
        assert taken[0] not in "=+-@\t\r\n'" and not set(taken) & set('<>&"=;/\\')


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_alike_share_a_key(one: str, other: str) -> None:
    assert set(keys(one)) & set(keys(other))


@pytest.mark.parametrize(("one", "other"), APART)
def test_names_that_differ_do_not(one: str, other: str) -> None:
    assert not set(keys(one)) & set(keys(other))


def test_skeletons_are_those_of_the_standard() -> None:
    """Examples of UTS 39, and that nobody's letters fall out of a key."""
    assert skeleton("ρ") == skeleton("p") == skeleton("р") and skeleton("m") == "rn" and skeleton("O") == skeleton("0")
    assert skeleton("𝔭𝒶ỿ𝕡𝕒ℓ") == skeleton("paypaI") == skeleton("paypal") != skeleton("paypai")
    assert skeleton("Å") == skeleton("A\u030a")
    for name in ("李小龙", "さくら", "타로", "สมชาย"):
        assert len(keys(name)[0]) >= len(name)


@pytest.mark.parametrize("name", ["Anna", "anna", "ANNA", "An na", "ＡＮＮＡ", "A.n.n.a"])
def test_the_name_of_a_registered_player_is_taken(name: str) -> None:
    anna = registered("login-of-a", "Anna")
    assert refusal(name).code == "taken"
    assert checked(name, player=anna)


def test_and_so_is_the_user_name() -> None:
    registered("scope77", "Somebody")
    assert refusal("Scope77").code == "taken" and refusal("scope-77").code == "taken"
    assert checked("scope78") == "scope78"


def test_another_alphabet_is_no_way_around() -> None:
    registered("bob", "Bob")
    registered("scope", "Scope")
    assert refusal("ВОВ").code == "taken" and refusal("вов").code == "taken" and refusal("ѕсоре").code == "taken"


def test_guests_may_share_names() -> None:
    Player.objects.create(username="guest-1", shown_name="Maria", is_guest=True)
    assert checked("Maria") == "Maria"
    Player.objects.create(username="guest-2", shown_name="Maria", is_guest=True)


def test_the_database_lets_one_of_two_look_alikes_register() -> None:
    names = ["Marta", "marta", "MARTA", "rnarta", "Mar ta", "M4rta", "mаrtа", "ΜARTA"] * 2
    made = at_once([partial(registered, f"u{number}", name) for number, name in enumerate(names)])
    kept = [one for one in made if isinstance(one, Player)]
    assert all(isinstance(one, IntegrityError) for one in made if not isinstance(one, Player))
    assert len({one.name_key for one in kept}) == len(kept) == Player.objects.count()
    assert sum(one.name_key == keys("Marta")[0] for one in kept) == 1


def test_registering_meets_the_same_constraint() -> None:
    registered("marta", "Marta")
    guest = Player.objects.create(username="guest-1", shown_name="MARTA", is_guest=True)
    with pytest.raises(IntegrityError, match="no_registered_player_looks_like_another"):
        Player.objects.filter(pk=guest.pk).update(is_guest=False)


def test_the_key_follows_the_name() -> None:
    marta = registered("marta", "Marta")
    marta.shown_name = "Berta"
    marta.save(update_fields=["shown_name"])
    marta.refresh_from_db()
    assert marta.name_key == keys("Berta")[0] and marta.username_key == keys("marta")[0]
    marta.save(update_fields=["last_login"])
    assert refusal("berta").code == "taken"


def test_names_of_staff_are_not_to_be_had_with_a_number(db: None) -> None:
    boss = Player.objects.create(username="olga", shown_name="Olga", is_staff=True)
    Player.objects.create(username="dora", shown_name="Dora")
    for name in ("Olga2", "Olga 7", "OLGA_99", "0lga1", "Olga ٣", "Olga-1-2"):
        assert refusal(name).code in {"taken", "mixed"}, name
    for name in ("Dora2", "Olga Dora", "Olgar2"):
        assert checked(name) == name
    assert checked("Olga2", player=boss) == "Olga2"
