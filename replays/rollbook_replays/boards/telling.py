"""What every game has to say about itself, so that it can be told and drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rollbook_replays.text import Pen

Names: TypeAlias = Sequence[str]


def at_turn(state: Any) -> int:
    """The seat whose turn it is."""
    seat: int = state.seat
    return seat


@dataclass(frozen=True, slots=True)
class Telling:
    """What a game's moves and tables look like to a reader."""

    happened: Callable[[Any, Names, Pen], str]
    """What chance gave, as a sentence without its subject."""
    chosen: Callable[[Any, Names, Any], str]
    """What a seat chose in this state, as a sentence whose subject stands before it."""
    board: Callable[[Any, Names, Pen], Iterator[str]]
    """The table as a view has it, in lines of at most 80 columns."""
    thrower: Callable[[Any], int] = at_turn
    """Whose throw is awaited in this state."""
    turn_lost: str = ""
    """What it means that the turn passes on with a throw; nothing where that is how turns end."""
