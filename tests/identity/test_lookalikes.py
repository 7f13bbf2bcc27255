"""Which names are refused because they look like a bot's, and that real names are accepted."""

# ruff: noqa: RUF001, E501 - names as people write them

from __future__ import annotations

import pytest

from rollbook.identity.names import ReservedNames, is_name_at_table, name_at_table, plain_name, player_name
from rollbook.identity.refusals import NameReason, NameRefused
from rollbook.identity.skeletons import look_alike
from rollbook.server.access.house_bots import NAMES

RULES = ReservedNames(NAMES)

PLAIN = "abcdefghijklmnopqrstuvwxyz"
STYLES = {
    "mathematical": [chr(0x1D41A + number) for number in range(26)],
    "fullwidth": [chr(0xFF41 + number) for number in range(26)],
    "circled": [chr(0x24D0 + number) for number in range(26)],
    "double-struck": [chr(0x1D552 + number) for number in range(26)],
    "flags": [chr(0x1F1E6 + number) for number in range(26)],
    "white on black": [chr(0x1F170 + number) for number in range(26)],
    "squared": [chr(0x1F130 + number) for number in range(26)],
    "cyrillic": list("абсԁеғԍһіјкӏмпорԛгѕтцѵшхуz"),
    "greek": list("αβϲdεϝgηιϳκlμηορqгςτυνωχγz"),
    "small capitals": list("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘqʀꜱᴛᴜᴠᴡxʏᴢ"),
    "digits": list("a6cd3fgh1jk1mn0pqr57uvwxyz"),
    "signs": list("@bcdefgh!jklmn○pqr$tuvwxyz"),
    "strokes": list("ⱥƀȼđɇfǥħɨɉkłmnøpqɍstʉvwxyz"),
}


def lookalikes(name: str) -> list[str]:
    """Twenty names that look like this one."""
    lower = name.lower()
    drawn = ["".join(letters[PLAIN.index(letter)] for letter in lower) for letters in STYLES.values()]
    spaced = [name.upper(), " ".join(name), ".".join(name), f"«{name}»", f"{name}!", f"_{lower}_"]
    return [*drawn, *spaced, "".join(f"{letter}\u0301" for letter in name)]


@pytest.mark.parametrize("bot", NAMES)
def test_no_person_can_be_taken_for_a_bot(bot: str) -> None:
    """The name and 20 lookalikes are refused, and the refusal names the bot."""
    assert 20 == len(lookalikes(bot))
    for name in (bot, *lookalikes(bot)):
        with pytest.raises(NameRefused) as refused:
            player_name(name, reserved=RULES)
        assert (NameReason.RESERVED_NAME, True) == (refused.value.reason, repr(bot) in refused.value.why), ascii(name)


REAL = """
Anna Schmidt|Jürgen Groß|Zoë d'Arc|Łukasz Żółć|Nguyễn Thị Minh Khai|José María|Søren Ågård|Müge Çelik|İpek Işık|O’Neill
Jean-Luc Picard|Émilie|Siobhán|François|Björk|Þór Jónsson|Ţuţu|Botond|Robota|Talbot|Duong|Youssef|Unosson|Tristan
Ida|Lily|Ian|Otto|Dr. Maier|Tom 2|Mia_99|x1|Ole & Ida|Guest|Player One|Ada Lovelace|Renée|Dunja|Duke|Yolanda
Иван|Анна Каренина|Ольга|Татьяна|Юрий Гагарин|Щукин|Зоя|Олексій Їжак|Ђорђе|Љиљана|Ўладзімір|Наталія|Бота|Дуня|Ёлка|Ксения
Νίκος|Ελένη|Γιώργος Παπαδόπουλος|Σοφία|Θεόδωρος|Ψυχή|Ἀλέξανδρος|Άννα|Μαρία|Χρήστος
محمد|فاطمة الزهراء|عبد الرحمن|أحمد|مُحَمَّدٌ|زهرا|نمی‌شود|علی‌رضا|گلناز|خدیجہ|یوسف|هدى|ئاوات|نۇرگۈل|ژاله|پریسا
דוד בן־גוריון|שָׂרָה|משה|רחל|יִצְחָק|חיים|נועה|אורי|יעל|טל
सचिन तेंदुलकर|प्रियंका|क्‍षमा|श्रीकृष्ण|ज्ञानेश्वर|अमिताभ बच्चन|ऋषि|मीरा|चन्द्रशेखर वेंकटरमन|लक्ष्मी|गीता|विराट
রবীন্দ্রনাথ ঠাকুর|শেখ হাসিনা|সৌরভ|অমর্ত্য সেন|সত্যজিৎ|প্রিয়াঙ্কা|মৌসুমী|ঋতুপর্ণা|নজরুল|বাঁধন
தமிழ்ச்செல்வன்|வெங்கடேஸ்வரன்|மீனாட்சி|இளையராஜா|விஜய்|ஸ்ரீதேவி|கமல்|அப்துல் கலாம்|சூர்யா|நித்யா
മോഹന്‍ലാല്‍|മമ്മൂട്ടി|ശ്രീനിവാസൻ|ലക്ഷ്മി|കൃഷ്ണ|ജോസഫ്|അമ്മു|സുരേഷ്|രാജൻ|വിനീത്
สมชาย ใจดี|สมศักดิ์ วงศ์สวัสดิ์|ปู่|กิ่งแก้ว|ณัฐวุฒิ|ศิริพร|พิมพ์ชนก|ธนากร|ชัยวัฒน์|น้ำผึ้ง
အောင်ဆန်းစုကြည်|မျှော်|သန်းရွှေ|ခင်|နေဝင်း|မြင့်မြင့်|စိုးမိုး|ဇော်ဇော်
李小龍|王偉|张伟|陈美玲|歐陽娜娜|司马迁|渡邉󠄁|葛󠄀城|劉德華|周杰倫|林志玲|姚明
山田太郎|さくら|ガンダム|はなこ|タロウ|ゆうき|田中・花子|ポール|みゆき|鈴木一朗
김철수|이영희|박지성|홍길동|최유나|정우|한소희|아이유|손흥민|봉준호
გიორგი|ნინო|თამარ|Հայկ|Անահիտ|Արամ Խաչատրյան|ሀይሌ ገብረሥላሴ|አበበ|ቲሩነሽ|សុខ|ស្រីនាង|ສົມພອນ|ස්‍රී|බණ්ඩාර
👩‍🚀 Mia|🏳️‍🌈|Leo 🦁|❤️ Eva|7️⃣|👍🏽|Kai ☕|🙂‍↔️
"""


def test_real_names_of_many_scripts_are_accepted() -> None:
    """More than 200 names in more than 12 scripts, some with joiners, many marks or variation selectors."""
    names = REAL.strip().replace("\n", "|").split("|")
    assert len(set(names)) > 200
    refused = {}
    for name in names:
        try:
            player_name(name, reserved=RULES)
        except NameRefused as why:
            refused[name] = str(why)
    assert {} == refused


def test_names_that_look_alike_get_a_number_at_a_table() -> None:
    """The number is in brackets, which no person can choose, and as small as possible."""
    assert ("Tom", "Tom (2)") == (name_at_table("Tom", ["", "Anna"]), name_at_table("Tom", ["Anna", "Tom"]))
    assert "T0M (2)" == name_at_table("T0M", ["Tom"])
    assert "Tom (3)" == name_at_table("Tom", ["Tom (2)", "Тоm"])
    assert "Tom" == name_at_table("Tom", ["Tom (2)"])
    longest = "m" * 40
    assert f"{'m' * 36} (2)" == name_at_table(longest, [longest])
    assert is_name_at_table(f"{'m' * 36} (2)", longest)
    assert (True, False) == (is_name_at_table("Tom (2)", "Tom"), is_name_at_table("Tom (2)", "Tim"))
    assert ("Tom", "Tom 2") == (plain_name("Tom (2)"), plain_name("Tom 2"))


def test_names_that_differ_do_not_get_a_number() -> None:
    """Numbers and letters of a script tell names apart, although their skeletons are short."""
    pairs = [
        ("Guest 6", "Guest 8"),
        ("राम", "रमा"),
        ("Ida", "Ada"),
        ("王偉", "张伟"),
        ("😀", "😎"),
        ("김철수", "김철호"),
    ]
    assert [] == [pair for pair in pairs if look_alike(*pair)]
