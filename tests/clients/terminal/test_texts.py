"""Both languages have the same texts, and every key in the code has a text."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from rollbook_clients import terminal
from rollbook_clients.terminal.screens.dialogues import WIDE
from rollbook_clients.terminal.texts import TEXTS, language_of_this_person, words_in
from rollbook_clients.terminal.texts.english import ENGLISH
from rollbook_clients.terminal.texts.german import GERMAN
from rollbook_replays.games.words import SHARED

SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for path in Path(str(terminal.__file__)).parent.rglob("*.py")
    if path.parent.name != "texts"
).replace("'", '"')


def facts_of(text: str) -> set[str]:
    """The names in braces of a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_keys_in_the_same_order() -> None:
    """A missing sentence would end the program in the middle of a match."""
    assert list(ENGLISH) == list(GERMAN)


@pytest.mark.parametrize("key", ENGLISH)
def test_a_text_has_the_same_facts_in_both_languages(key: str) -> None:
    """A fact that only one language uses is lost or fails in the other."""
    assert facts_of(ENGLISH[key]) == facts_of(GERMAN[key])
    assert ENGLISH[key].strip()
    assert GERMAN[key].strip()


@pytest.mark.parametrize("key", [key for key in ENGLISH if key.startswith("help.")])
def test_no_line_of_a_help_wraps(key: str) -> None:
    """The help is laid out in columns, which a wrapped line would break."""
    assert [] == [line for texts in TEXTS.values() for line in texts[key].splitlines() if len(line) > WIDE]


def test_every_key_that_is_named_has_a_text() -> None:
    """Keys are plain strings, so only a test finds a mistyped one."""
    named = set(re.findall(r'words\(\s*"([a-z_0-9.]+)"', SOURCES))
    counted = set(re.findall(r'words\.count\(\s*"([a-z_0-9.]+)"', SOURCES))
    assert len(named) > 30
    assert set() == named - set(ENGLISH) - set(SHARED["en"])
    assert set() == {key for key in counted if not {f"{key}.one", f"{key}.many"} <= set(ENGLISH)}


def test_no_text_is_there_for_nothing() -> None:
    """The sources name every key, or the beginning of its family."""
    families = set(re.findall(r'f?"([a-z_]+(?:\.[a-z_]+)*\.)\{', SOURCES))
    kinds = re.findall(r'f"\{\w+\}((?:\.[a-z]+)+)"', SOURCES)
    unused = [
        key
        for key in ENGLISH
        if f'"{key}"' not in SOURCES
        and f'"{key.rpartition(".")[0]}"' not in SOURCES
        and not any(key.startswith(family) for family in families)
        and not any(key.endswith(kind) for kind in kinds)
    ]
    assert [] == unused


@pytest.mark.parametrize(
    ("locale", "language"),
    [("de_DE.UTF-8", "de"), ("de_CH", "de"), ("en_GB.UTF-8", "en"), ("fr_FR.UTF-8", "en"), ("C", "en")],
)
def test_the_language_is_that_of_the_locale(monkeypatch: pytest.MonkeyPatch, locale: str, language: str) -> None:
    """The locale selects the language; other locales get English."""
    for variable in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LANG", locale)
    assert language == language_of_this_person()


def test_an_unknown_language_is_english() -> None:
    """The terminal uses English for an unknown language."""
    assert "en" == words_in("tlh").language
    assert {"en", "de"} == set(TEXTS)
