"""Each game's package has the same modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollbook.rules.catalogue import rulesets

ROOT = Path(__file__).parents[2]
RULES = ROOT / "service" / "rollbook" / "rules"
GAMES = sorted(path.parent.name for path in RULES.glob("*/__init__.py"))
LONGEST_MODULE = 400


def test_every_game_has_a_package() -> None:
    """A folder has the game's name in notation."""
    assert {game.name for game in rulesets()} == set(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_the_same_table_of_contents(game: str) -> None:
    """A reader finds a rule by folder and file name, in a file of moderate length."""
    modules = {path.stem: path for path in (RULES / game).glob("*.py")}
    assert {"__init__", "moves", "state", "play", "view"} <= set(modules)
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules.items()}
    assert {} == {name: length for name, length in lengths.items() if length > LONGEST_MODULE}
