"""Finds the module `tests/games/GAME.py`: facts about a game for shared tests.

- `material(state)` returns what never changes in a match, and asserts that each piece is in one place.
- `set_up(setup)` returns the state of a position in `replays/perft/GAME.toml`.
- `compare_page(page)` asserts that the tables of `replays/games/GAME.md` have the material of the rules.
- `SEATS`, `BOUNDS`, `COUNTS` and `ASCENDING` are the bounds in the comments of `GAME.proto`: for a match of that many
  seats the values of fields, the lengths of lists, and lists that ascend (by a field of their messages, or by value).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

RULES: Final = Path(__file__).parents[2] / "service" / "rollbook" / "rules"
OWN_GAMES: Final = {path.parent.name for path in RULES.glob("*/__init__.py")}
"""The games of this distribution."""


@cache
def own_tests(game: str) -> ModuleType:
    """Return the module of a game of this distribution."""
    return import_module(f"tests.games.{game}")
