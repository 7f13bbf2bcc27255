"""Prose uses the words of the trade: at most two words of a private dialect in a thousand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

import pytest

from tests.tidy import prose
from tests.tidy.prose import Line
from tests.tidy.test_names import is_of_a_game, modules

MOST_PER_1000: Final = 2
"""Most dialect words in 1,000 words; a shorter text may have as many."""

DIALECT: Final = {
    "a person or thing without a name": (
        *("anybody", "everybody", "no one", "nobody", "nothing else", "somebody", "those who"),
        *("whatever", "whatsoever", "wherever", "whichever", "whoever", "whomever", "whosoever"),
    ),
    "a program that speaks": (
        *("hear", "heard", "hearing", "hears", "retell", "retells", "retold"),
        *("said", "say", "saying", "says", "speak", "speaking", "speaks", "spoke", "spoken"),
        *("tell", "telling", "tells", "told", "untold"),
    ),
    "an old word": (
        *("afresh", "anew", "as ever", "by whose", "hence", "henceforth", "in vain", "of late", "thus", "whence"),
        *("thereby", "therein", "thereof", "therewith", "whereby", "wherein", "whereof", "whose eyes"),
    ),
    "being there": (
        *("as it is", "as they have to be", "it has to be", "that is there", "what follows"),
        *("what is there", "what there is", "which is there"),
    ),
    "data with a posture": ("laid", "lain", "lay", "lie", "lies", "lying", "stand", "stands", "stood"),
}
"""Words that hide who does what, by kind. The list may only grow."""

FEWEST: Final = 68
"""The length of the list; raise it together with the list."""

POSTURE: Final = "data with a posture"
ON_A_TABLE: Final = re.compile(r"(^|/)(rules|games|boards?|reasons)(/|\.|_)")
"""Files about dice and tiles, which do lie and stand on a table."""

USER_FACING: Final = {"texts", "reasons", "commands"}
"""Folders and modules whose string literals users read."""

OTHER_LANGUAGE: Final = "german"

PLACES_OF_DOCUMENTS: Final = ("README.md", ".github", "service", "replays", "clients", "tests")
EXCEPTED: Final = re.compile(r"(^|/)(RESULTS|CHANGELOG)\.md$|^replays/games/")
"""Documents that are records of the past, or rules of games in the words of their rulebooks."""

_PATTERNS: Final = {
    kind: re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])", re.IGNORECASE) for kind, words in DIALECT.items()
}


def dialect(line: Line) -> list[str]:
    """Return the dialect words of a line, in lower case."""
    text = prose.without_code(line.text)
    is_on_a_table = ON_A_TABLE.search(line.path.as_posix()) or is_of_a_game(line.path.with_suffix(""))
    kinds = _PATTERNS.keys() - ({POSTURE} if is_on_a_table else set())
    return [word.lower() for kind in kinds for word in _PATTERNS[kind].findall(text)]


def too_many(lines: Iterable[Line]) -> list[str]:
    """Return the dialect words with file and line if they exceed the limit; else nothing."""
    words, found = 0, []
    for line in lines:
        words += line.words
        found += [f"{line.path}:{line.number}: {word}" for word in dialect(line)]
    return found if len(found) * 1000 > MOST_PER_1000 * max(words, 1000) else []


def packages() -> dict[str, list[Path]]:
    """Return the modules of every package of the product, by the package below its distribution."""
    found: dict[str, list[Path]] = {}
    for module in modules():
        found.setdefault("/".join(module.parts[:3][: len(module.parts) - 1]), []).append(module)
    return found


def documents() -> dict[str, list[Path]]:
    """Return every document alone, and all documents of a folder together."""
    found: dict[str, list[Path]] = {}
    for place in PLACES_OF_DOCUMENTS:
        for path in [Path(place)] if place.endswith(".md") else prose.files(place, ".md"):
            if not EXCEPTED.search(path.as_posix()):
                found[str(path)] = [path]
                found.setdefault(f"{path.parent}/*.md", []).append(path)
    return found


def of_modules(paths: Iterable[Path]) -> Iterator[Line]:
    """Yield the docstrings and comments of modules."""
    return chain.from_iterable(chain(prose.docstrings(path), prose.comments(path)) for path in paths)


@pytest.mark.parametrize("package", packages())
def test_docstrings_and_comments_of_a_package_are_plain(package: str) -> None:
    """The games' modules count too, but their dice may lie."""
    assert [] == too_many(of_modules(packages()[package]))


@pytest.mark.parametrize("document", documents())
def test_a_document_is_plain(document: str) -> None:
    """A document alone, and all documents of a folder together."""
    assert [] == too_many(chain.from_iterable(map(prose.document, documents()[document])))


@pytest.mark.parametrize("distribution", ["service", "replays", "clients"])
def test_sentences_for_users_are_plain(distribution: str) -> None:
    """String literals of texts, reasons of refusals and commands; German has no such words."""
    paths = [path for path in modules() if path.parts[0] == distribution and path.stem != OTHER_LANGUAGE]
    read = [path for path in paths if USER_FACING & {*path.parent.parts, path.stem}]
    assert [] == too_many(chain.from_iterable(map(prose.literals, read)))


def test_comments_of_the_protos_are_plain() -> None:
    """They are the contract, which authors of other clients read."""
    assert [] == too_many(chain.from_iterable(map(prose.proto_comments, prose.files("proto", ".proto"))))


def test_docstrings_and_comments_of_the_tests_are_plain() -> None:
    """The limit holds for all folders of tests together."""
    assert [] == too_many(of_modules(prose.files("tests", ".py")))


def test_the_list_of_words_only_grows() -> None:
    """A word that is taken out of the list fails here."""
    words = [word for kind in DIALECT.values() for word in kind]
    assert len(words) == len(set(words)) >= FEWEST


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("Whoever asks is told what `tell` says.", "a.py", ["whoever", "told", "says"]),
        ("No one lies where what there is stands.", "a.py", ["no one", "lies", "what there is", "stands"]),
        ("Dice lie there; nobody lays them.", "service/rollbook/rules/cant_stop/play.py", ["nobody"]),
        ("A heartbeat, an outlay, hearsay-free standings, `nobody`.", "a.py", []),
    ],
)
def test_dialect_words_are_found_as_whole_words_outside_code(text: str, path: str, words: list[str]) -> None:
    """Names in backticks are code; dice of games may lie."""
    assert sorted(words) == sorted(dialect(Line(Path(path), 1, text)))


def test_a_text_below_1000_words_may_have_two_dialect_words() -> None:
    """Three fail, with file, line and word."""
    line = Line(Path("a.py"), 7, "nobody")
    assert [] == too_many([line, line])
    assert ["a.py:7: nobody"] * 3 == too_many([line, line, line])
    assert [] == too_many([line, line, line, Line(Path("a.py"), 8, "word " * 1500)])
