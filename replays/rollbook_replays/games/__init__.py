"""How each game is shown: a value a game, found by name in the entry points `rollbook.presentations`."""

from functools import cache
from importlib.metadata import entry_points
from typing import Final

from rollbook_replays.games.plain import PLAIN
from rollbook_replays.games.presentation import Presentation

GROUP: Final = "rollbook.presentations"


@cache
def presentation(game: str) -> Presentation:
    """How the game of this name is shown; plainly, if nobody has said how."""
    for point in entry_points(group=GROUP, name=game):
        found: Presentation = point.load()
        return found
    return PLAIN
