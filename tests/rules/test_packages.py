"""How a game lies in the tree: the same table of contents for each, and one door."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from rollbook.rules.catalogue import rulesets

ROOT = Path(__file__).parents[2]
RULES = ROOT / "service" / "rollbook" / "rules"
GAMES = sorted(path.parent.name for path in RULES.glob("*/__init__.py"))
LONGEST_MODULE = 400


@cache
def imported(path: Path) -> set[str]:
    """The full names of everything that a file imports, and of the modules it imports from."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def test_every_game_has_a_package() -> None:
    """A folder is named as notation names its game, so that whoever knows the one finds the other."""
    assert {game.name for game in rulesets()} == set(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_the_same_table_of_contents(game: str) -> None:
    """A newcomer finds a rule by folder and file name alone, and in a file that can be read in one go."""
    modules = {path.stem: path for path in (RULES / game).glob("*.py")}
    assert {"__init__", "moves", "state", "play", "view"} <= set(modules)
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules.items()}
    assert {} == {name: length for name, length in lengths.items() if length > LONGEST_MODULE}


@pytest.mark.parametrize("game", GAMES)
def test_nobody_outside_imports_a_module_of_a_game(game: str) -> None:
    """What others use stands in the package, so a game may arrange its modules as it likes."""
    inside = {f"rollbook.rules.{game}.{path.stem}" for path in (RULES / game).glob("*.py")}
    paths = [path for root in ("service", "replays", "clients", "tests") for path in (ROOT / root).rglob("*.py")]
    others = [path for path in paths if RULES / game not in path.parents]
    assert [] == [str(path) for path in others if inside & imported(path)]
