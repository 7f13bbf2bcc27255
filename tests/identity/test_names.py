"""Which names of players are accepted or refused, and that accepted names can be shown anywhere."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollbook.identity.names import LONGEST_NAME, MOST_MARKS, ReservedNames, kept_name, player_name
from rollbook.identity.refusals import NameReason, NameRefused

BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0\U0001d159"

RULES = ReservedNames(["Uno", "Club"])

REFUSED = {
    NameReason.NAME_EMPTY: ["", "\u200d\u200c", "\u0301", "\u0301\u200d"],
    NameReason.NAME_TOO_LONG: ["a" * 41, "\u00e9" * 41, "e\u0301" * 41, "a" * 10_000, "\u0958" * 21],
    NameReason.CONTROL_CHARACTER: [
        "\0",
        "An\nna",
        "Anna\t",
        "\x1b[31mAnna",
        "An\x7fna",
        "An\x85na",
        "A\u2028B",
        "A\u2029B",
    ],
    NameReason.BIDIRECTIONAL_CHARACTER: [
        f"An{character}na" for character in "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"
    ],
    NameReason.INVISIBLE_CHARACTER: [
        "An\u00adna",
        "An\u200bna",
        "\ufeffAnna",
        "An\u2060na",
        "An\U000e0041na",
        *[f"An{blank}na" for blank in BLANK],
        "\u3164",
        "An\u200dna",
        "Anna\u200c",
        "An\ufe0fna",
        "\u0645\u062d\u0645\u062f\u200d",
        "Anna\U000e0101",
        "\U0001f680\u200d",
    ],
    NameReason.TOO_MANY_MARKS: [
        "A\u0300\u0308\u0323\u0301\u0302na",
        "b\u0363\u20dd\u0364\u0365",
        "".join(f"{letter}\u0336" for letter in "Marianne.") + "a",
        "\u0363" * 4 + "Anna",
    ],
    NameReason.UNASSIGNED_CHARACTER: ["An\ue000na", "An\U00100000na", "An\ud800na", "An\uffffna", "An\u0378na"],
    NameReason.WHITE_SPACE: [
        " ",
        "  ",
        " Anna",
        "Anna ",
        "An  na",
        "An\u00a0na",
        "An\u3000na",
        "\u2003Anna",
        "An \u00a0na",
    ],
    NameReason.BRACKET: [
        "Willi (bot)",
        "Tom [2]",
        "Tom \u2475",
        "\uff08Tom\uff09",
        "\u300cTom\u300d",
        "Tom\u2774",
        "\u239bTom",
    ],
    NameReason.RESERVED_SIGN: [f"Tom {sign}" for sign in "■●▲◆★▼►✚🤖✓✔☑"],
    NameReason.RESERVED_NAME: [
        "Uno",
        "D.U.",
        "y0u",
        "adrnin",
        "R0llb00k",
        "b0t",
        "Tom-Bot",
        "Bot Anna",
        "s\u0443st\u0435m",
        "Club",
    ],
}


@pytest.mark.parametrize(
    ("reason", "text"), [(reason, text) for reason, texts in REFUSED.items() for text in texts], ids=ascii
)
def test_a_name_that_would_not_look_the_same_everywhere_is_refused_for_its_reason(
    reason: NameReason, text: str
) -> None:
    """Names are shown beside other names, on terminals and pages, and must not disturb them."""
    with pytest.raises(NameRefused) as refused:
        player_name(text, reserved=RULES)
    assert reason == refused.value.reason
    assert refused.value.why.isprintable()


def test_every_reason_to_refuse_a_name_can_be_reached() -> None:
    """A reason that is never raised is dead code."""
    assert set(NameReason) == set(REFUSED)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("Anna\n", "character 5 (U+000A) is a control character"),
        ("\u202eAnna", "character 1 (U+202E) changes the direction of the text"),
        ("e\u0301\ue000", "character 2 (U+E000) is for private use"),
        ("An\ud800", "character 3 (U+D800) is half of a surrogate pair"),
        ("An\u0378", "character 3 (U+0378) is not assigned in Unicode"),
    ],
)
def test_a_refusal_says_which_character_is_wrong_and_why(text: str, where: str) -> None:
    """Users cannot see such characters, so the message gives their place."""
    with pytest.raises(NameRefused) as refused:
        player_name(text)
    assert where == str(refused.value)
    assert f"character {refused.value.character} " in where


@pytest.mark.parametrize(
    "name",
    [
        "A",
        "7",
        "a" * LONGEST_NAME,
        "Zo\u00eb d'Arc",
        "李小龍",
        "Łukasz 2.0",
        "محمد",
        "نمی\u200cشود",
        "क्\u200dष",
        "👩\u200d🚀",
        "<b>&amp;",
        "\u1f82" * LONGEST_NAME,
        "b\u0363\u0364\u0365c\u0363",
        "\u1019\u103b\u103e\u1031\u102c\u103a\u101c\u1004\u1037\u103a",
        "\u6e21\u9089\U000e0101",
        "1\ufe0f\u20e3",
    ],
)
def test_names_of_all_scripts_are_taken_as_they_are(name: str) -> None:
    """Forty characters are allowed in every script; escaping is left to the code that shows a name."""
    assert name == player_name(name)


def test_a_name_is_counted_and_kept_composed() -> None:
    """Two encodings of the same letter are equal, and the longer one does not count as more characters."""
    assert "\u00e9" * LONGEST_NAME == player_name("e\u0301" * LONGEST_NAME)
    assert "\u1f82" * LONGEST_NAME == player_name(unicodedata.normalize("NFD", "\u1f82" * LONGEST_NAME))


@pytest.mark.parametrize("name", ["\u3164", "An\u115fna", "b" + "\u0363" * 10])
def test_a_name_that_was_accepted_before_stays_valid(name: str) -> None:
    """The old name is accepted in a token and from its owner; a new name of that kind is refused."""
    assert name == kept_name(name)
    assert name == player_name(name, name)
    with pytest.raises(NameRefused):
        player_name(name, "Anna")


@given(st.text(max_size=60) | st.text("aB \u0301\u0323\u3164\u00a0\u200d\u202e\n\ue000é", max_size=8))
def test_any_text_is_refused_or_becomes_a_name_that_keeps_all_promises(text: str) -> None:
    """An accepted name is bounded, composed and single-spaced, and stays the same when it is checked again."""
    try:
        name = player_name(text)
    except NameRefused as refused:
        assert refused.reason in NameReason
        return
    assert 1 <= len(name) <= LONGEST_NAME
    assert unicodedata.is_normalized("NFC", name)
    assert unicodedata.normalize("NFC", text) == name
    assert " ".join(name.split()) == name
    assert set() == {unicodedata.category(character) for character in name} & {"Cc", "Cn", "Co", "Cs", "Zl", "Zp"}
    assert set() == {unicodedata.bidirectional(character) for character in name} & {
        "LRE",
        "RLE",
        "LRO",
        "RLO",
        "PDF",
        "LRI",
        "RLI",
        "FSI",
        "PDI",
    }
    assert not any(blank in name for blank in BLANK)
    stacked = "".join("m" if unicodedata.category(character) in {"Mn", "Me"} else " " for character in name)
    assert max(map(len, stacked.split()), default=0) <= MOST_MARKS
    assert name == player_name(name)
    name.encode()


def test_what_unicode_calls_composable_never_shrinks_below_a_quarter() -> None:
    """Texts longer than four names are refused before they are composed, which must not refuse a valid name."""
    assert 4 == max(len(unicodedata.normalize("NFD", chr(number))) for number in range(0x110000))
