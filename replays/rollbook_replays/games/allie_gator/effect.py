"""What a move of Allie Gator does to a table that moves and sounds."""

from typing import Final

from rollbook.rules.allie_gator.moves import (
    Choice,
    Drawn,
    Gift,
    Number,
    Outcome,
    Raise,
    Reverse,
    Snap,
    Steal,
    Stolen,
    Target,
)
from rollbook_replays.games.presentation import Effect, Moment

KINDS: Final = dict.fromkeys((Target, Drawn, Stolen), "draw") | dict.fromkeys((Number, Raise, Reverse, Gift), "place")


def effect(move: Choice | Outcome, moment: Moment) -> Effect:
    """Cards that are drawn, played or stolen, and a snap."""
    if isinstance(move, Snap):
        return Effect("snap", moment.seat)
    if isinstance(move, Steal):
        return Effect("place" if move.target is None else "steal", moment.seat)
    return Effect(KINDS.get(type(move), ""), moment.seat)
