"""Functions are called by verbs: few have a participle alone as their name, which says nothing about what they do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import rollbook.match.events
from tests.tidy.test_names import ROOT, modules

MOST: Final = 20
"""How many functions of the product may have a participle as their name."""

WORDS: Final = """
    begun bent bound broken brought built bought caught chosen dealt done drawn driven eaten fallen felt fled fought
    found frozen forgotten given gone gotten grown heard held hidden hung kept known laid led left lent lost made meant
    met paid ridden risen rung said seen sent shown shut slept sold spent spoken stolen stood stuck sung sunk sworn
    swept taken taught thought thrown told undone understood withdrawn won worn woven wound written
"""
"""Participles that do not end in -ed. `read`, `run`, `put`, `set` and `cut` are verbs as well, and may stay."""

IRREGULAR: Final = frozenset(WORDS.split())
VERBS: Final = frozenset({"embed", "exceed", "feed", "heed", "need", "proceed", "seed", "speed", "succeed"})
"""Words in -ed that are no participles."""

FOLD: Final = Path("service/rollbook/match/fold.py")
"""Its handlers are named after their events."""


def is_participle(name: str) -> bool:
    """Whether a name is one word, a participle.

    >>> [is_participle(name) for name in ("shown", "_listed", "list_players", "read", "seed")]
    [True, True, False, False, False]
    """
    word = name.strip("_")
    return word in IRREGULAR or (word.endswith("ed") and "_" not in word and word not in VERBS)


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is read like a field."""
    return any(ast.unparse(by).endswith(("property", ".setter")) for by in function.decorator_list)


def handles_event(module: Path, name: str) -> bool:
    """Whether a function is the fold's handler of the event of this name."""
    return module == FOLD and hasattr(rollbook.match.events, name.strip("_").capitalize())


def participles() -> Iterator[str]:
    """The functions and methods that have a participle as their name, with their modules."""
    for module in modules():
        for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_property(node):
                continue
            if is_participle(node.name) and not handles_event(module, node.name):
                yield f"{module}: {node.name}"


def test_few_functions_are_called_by_a_participle_alone() -> None:
    """A verb tells what a function does: `render` or `list_players` rather than `shown` or `listed`."""
    found = list(participles())
    assert len(found) <= MOST, found


def test_the_words_are_recognised() -> None:
    """Otherwise the count would always be small."""
    names = ("shown", "_listed", "written", "list_players", "read", "seed", "_show")
    assert ["shown", "_listed", "written"] == [name for name in names if is_participle(name)]
    assert handles_event(FOLD, "_started")
    assert not handles_event(FOLD, "_known")
