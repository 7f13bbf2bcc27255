"""The presentation of each game, found by name in the entry points `rollbook.presentations`."""

from functools import cache
from importlib.metadata import entry_points
from typing import Final

from rollbook_replays.games.plain import PLAIN
from rollbook_replays.games.presentation import Presentation

GROUP: Final = "rollbook.presentations"


@cache
def presentation(game: str) -> Presentation:
    """The presentation of the game with this name; `PLAIN` if no entry point has one."""
    for point in entry_points(group=GROUP, name=game):
        found: Presentation = point.load()
        return found
    return PLAIN
