"""Shared code and shared tests name no game: a new game adds its own files, an entry in `games.proto` and entry points.

Only code counts; docstrings and comments may use a game as an example. A test may play a game as an example as well,
but one that runs over all games takes them from the catalogue.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollbook.rules.catalogue import current

ROOT = Path(__file__).parents[2]
GAMES = list(current())
NAMED = re.compile("|".join(f"{game}|{game.title().replace('_', '')}" for game in GAMES))
OWN = re.compile(rf"(^|/|_)({'|'.join(GAMES)})(/|\.|_|$)")
"""Files of one game: its name is that of a folder, or part of the module's."""

MANY = 4
"""A list that names this many games was probably meant to have all of them."""

LISTING = {
    "tests/clients/bots/test_strategies.py": "examples of strategies, each with the margin by which it wins",
    "tests/clients/terminal/persons.py": "the games that persons know how to play by their keys",
    "tests/clients/terminal/pictures.py": "screens of some games",
    "tests/replays/games/snapshots.py": "boards of some games; each game has a page besides",
    "tests/replays/games/reading_back.py": "reads the words of each game; a test compares it with the catalogue",
    "tests/match/codec/test_notation.py": "examples of lines, spelled out",
    "tests/match/test_check.py": "examples of changed dice",
    "tests/match/test_dice.py": "the vectors of the dice, written down for good",
    "tests/tidy/test_games.py": "names to find, as examples",
    "tests/sim/tables.py": "which games the simulated people open",
}
"""Tests with such a list, and the reason why a new game need not be in it."""


def shared(*roots: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules below these folders that belong to no game, with their paths."""
    for root in roots:
        for file in sorted((ROOT / root).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            if "rollbook/v1/" not in path and not OWN.search(path):
                yield path, ast.parse(file.read_text(encoding="utf-8"))


def words(tree: ast.AST) -> Iterator[str]:
    """Yield every name and every string except docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    told = {
        id(node.value)
        for parent in ast.walk(tree)
        if isinstance(parent, documented)
        for node in parent.body
        if isinstance(node, ast.Expr)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(str() as text) if id(node) not in told:
                yield text
            case ast.Name(name) | ast.Attribute(attr=name) | ast.keyword(arg=str() as name):
                yield name
            case ast.alias(name):
                yield name
            case ast.ImportFrom(str() as name):
                yield name


def games_in(tree: ast.AST) -> set[str]:
    """Return the named games."""
    found = {name for word in words(tree) for name in NAMED.findall(word)}
    return {game for game in GAMES if {game, game.title().replace("_", "")} & found}


def test_no_shared_module_names_a_game() -> None:
    """Differences between games are in the game, its presentation or its playbook."""
    assert set() == {path for path, tree in shared("service", "replays", "clients") if games_in(tree)}


def test_no_shared_test_lists_the_games() -> None:
    """A list would lack the next game: facts about a game for shared tests are in `tests/games/GAME.py`."""
    listing = {
        path
        for path, tree in shared("tests")
        for node in ast.walk(tree)
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict) and len(games_in(node)) >= MANY
    }
    assert listing == LISTING.keys()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 'cant_stop'", {"cant_stop"}),
        ("from rollbook.rules.raffzahn import Roll", {"raffzahn"}),
        ("from rollbook.rules import wuerfelzoo as zoo", {"wuerfelzoo"}),
        ("f(allie_gator=1).AllieGatorView", {"allie_gator"}),
        ('def f() -> None:\n    """Like cant_stop."""\n    # raffzahn', set()),
    ],
)
def test_names_are_found_where_they_do_something(source: str, expected: set[str]) -> None:
    """Names count in code, not in docstrings."""
    assert expected == games_in(ast.parse(source))
