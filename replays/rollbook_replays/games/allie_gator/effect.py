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
    Steal,
    Stolen,
    Target,
)
from rollbook_replays.games.allie_gator.story import highlight
from rollbook_replays.games.presentation import Effect, Moment

KINDS: Final = dict.fromkeys((Target, Drawn, Stolen), "draw") | dict.fromkeys(
    (Number, Raise, Reverse, Gift, Steal), "place"
)


def effect(move: Choice | Outcome, moment: Moment) -> Effect:
    """Cards that are drawn, played or stolen, and a snap."""
    return Effect(highlight(move, moment) or KINDS.get(type(move), ""), moment.seat)
