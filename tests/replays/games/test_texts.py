"""The texts of each game: equal keys in both languages, and a text for every key in the code."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import chain
from pathlib import Path
from string import Formatter

import pytest

from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import current
from rollbook.rules.chance import Draw, Throw
from rollbook_clients.terminal.texts import TEXTS as TERMINAL
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import differing, option_name, option_value
from rollbook_replays.games.words import SHARED, Texts, Words

TABLES: dict[str, Texts] = {"shared": SHARED} | {game: presentation(game).texts for game in current()}
CALLED = re.compile(
    r'''(?:words(?:\.count)?|sentence)\((?:\s*seat, |\s*move\.seat, |\s*moment\.seat, )?\s*f?"([a-z_0-9.{}]+)"'''
)


def facts_of(text: str) -> set[str]:
    """Return the names in braces of a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def sources(table: str) -> str:
    """Return the source code that uses these texts."""
    module = import_module(f"rollbook_replays.games.{table}" if table in current() else "rollbook_replays.games")
    folder = Path(str(module.__file__)).parent
    files = sorted(
        folder.glob("*.py") if table in current() else chain(folder.glob("*.py"), folder.parent.glob("*.py"))
    )
    text = "\n".join(file.read_text(encoding="utf-8") for file in files if file.stem not in {"texts", "words"})
    return text.replace("'", '"')


@pytest.mark.parametrize("table", TABLES)
def test_both_languages_have_the_same_keys_in_the_same_order_with_the_same_facts(table: str) -> None:
    """A missing sentence or fact would end a program in the middle of a match."""
    assert ["en", "de"] == list(TABLES[table])
    english, german = TABLES[table].values()
    assert list(english) == list(german)
    for key, text in english.items():
        assert facts_of(text) == facts_of(german[key]), key
        assert text.strip()
        assert german[key].strip()


@pytest.mark.parametrize("game", current())
def test_no_game_says_with_a_key_what_others_say_with_it(game: str) -> None:
    """The texts of a game are merged with the shared ones and the terminal's, and must not replace any."""
    assert set() == set(TABLES[game]["en"]) & (set(SHARED["en"]) | set(TERMINAL["en"]))


@pytest.mark.parametrize("table", TABLES)
def test_every_key_that_is_named_has_a_text(table: str) -> None:
    """Keys are plain strings, so only a test finds a mistyped one."""
    known = {*TABLES[table]["en"], *SHARED["en"]}
    named = {key for key in CALLED.findall(sources(table)) if "{" not in key}
    assert named
    assert set() == {key for key in named if key not in known and f"{key}.one" not in known}


OF_CLIENTS = {"help", "short", "switch", "task"}
"""Families of keys that only clients name."""


@pytest.mark.parametrize("table", TABLES)
def test_no_text_is_there_for_nothing(table: str) -> None:
    """The sources name every key, or the beginning of its family."""
    found = sources(table) + (sources("shared") if table != "shared" else "".join(map(sources, current())))
    families = set(re.findall(r'f"([a-z_]+\.(?:[a-z_]+\.)*)\{', found))
    endings = re.findall(r'f"\{\w+\}((?:\.[a-z]+)+)"', found)
    unused = [
        key
        for key in TABLES[table]["en"]
        if f'"{key}"' not in found
        and f'"{key.rpartition(".")[0]}"' not in found
        and not any(key.startswith(family) for family in families)
        and not any(key.endswith(ending) for ending in endings)
        and key.partition(".")[0] not in OF_CLIENTS
    ]
    assert [] == unused


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_every_option_and_every_value_has_words_and_help_is_there(game: str, language: str) -> None:
    """A player who opens a match reads words, not names of fields."""
    words = Words(language, presentation(game).texts)
    rules = current()[game]
    usual = {option.name: option.default for option in rules.options}
    assert [] == differing(rules, usual, words)
    for option in rules.options:
        assert option_name(option, words) == words(f"option.{option.name}")
        other = option.values[-1]
        if isinstance(other, str):
            assert {words(f"option.{option.name}.{value}") for value in option.values} == {
                option_value(option, value, words) for value in option.values
            }
        (said,) = differing(rules, {**usual, option.name: other}, words)
        assert said != f"{option.name} {other}"
        assert isinstance(other, bool | str) or str(other) in said
    assert len(words("help").split()) > 30


@pytest.mark.parametrize("game", current())
def test_what_chance_does_next_is_said_in_words_of_the_game(game: str) -> None:
    """The text does not use names from the code."""
    rules = current()[game]
    played = Simulation(rules, rules.settle({}, rules.seats[-1]), rules.seats[-1], seed=1, number=0)
    chances = {
        played.match.awaited.name
        for _ in played.events()
        if played.match.started and isinstance(played.match.awaited, Throw | Draw)
    }
    assert len(chances) > 1
    for language in SHARED:
        words = Words(language, presentation(game).texts)
        assert len(chances) == len({words(f"awaited.{chance}") for chance in chances})


def test_an_unknown_language_is_english() -> None:
    """English replaces a missing language, also in a game without its words."""
    assert "en" == Words("tlh").language
    assert "Hello" == Words("de", {"en": {"greeting": "Hello"}})("greeting")
