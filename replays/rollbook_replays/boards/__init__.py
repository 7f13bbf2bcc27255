"""How each game is told and drawn, a module a game."""

from __future__ import annotations

from typing import Final

from rollbook_replays.boards import allie_gator, cant_stop, raffzahn, wuerfelzoo
from rollbook_replays.boards.telling import Names, Telling

__all__ = ["TELLINGS", "Names", "Telling"]

TELLINGS: Final = {
    "allie_gator": allie_gator.TELLING,
    "cant_stop": cant_stop.TELLING,
    "raffzahn": raffzahn.TELLING,
    "wuerfelzoo": wuerfelzoo.TELLING,
}
"""How each game is told, by its name."""
