"""Class names are unique in the distribution, and modules are named after their content."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rollbook.rules.catalogue import current

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final = ("service/rollbook", "replays/rollbook_replays", "clients/rollbook_clients")
GENERATED: Final = "v1"

GERUNDS: Final[dict[str, str]] = {
    "recording": "a recording is what it makes: a simulated match as a replay",
    "match_listing": "a listing is a page of matches",
    "forgetting": "the room of what `rollbook forget` does",
}
"""Modules that may end in -ing, and why."""


def modules() -> Iterator[Path]:
    """Yield every hand-written module, as a path below the repository."""
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            if GENERATED not in path.parts:
                yield path.relative_to(ROOT)


def is_of_a_game(module: Path) -> bool:
    """Whether a module belongs to one game; every game has its own State, View and Ruleset."""
    return any(part.startswith(game) for part in module.parts for game in current())


def test_a_class_name_stands_once_outside_the_modules_of_the_games() -> None:
    """A search for a class finds one. Private classes count too, because an underscore does not help a search."""
    places: dict[str, list[Path]] = {}
    for module in modules():
        if not is_of_a_game(module):
            for node in ast.parse((ROOT / module).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(module)
    assert {} == {name: list(map(str, found)) for name, found in places.items() if len(found) > 1}


def test_modules_are_called_what_they_hold() -> None:
    """A gerund names an activity, not the content of a module."""
    named = set(modules()) | {parent for module in modules() for parent in module.parents}
    gerunds = {str(path) for path in named if path.stem.endswith("ing") and path.stem not in GERUNDS}
    assert set() == gerunds


def test_every_exception_is_needed() -> None:
    """Every exception is the name of an existing module."""
    assert GERUNDS.keys() == GERUNDS.keys() & {path.stem for module in modules() for path in (module, *module.parents)}
