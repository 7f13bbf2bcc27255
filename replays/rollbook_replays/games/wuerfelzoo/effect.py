"""What a move of Würfelzoo does to a table that moves and sounds."""

from typing import Final

from rollbook.rules.wuerfelzoo.moves import TRAP, Boar, Choice, Drawn, Fox, Outcome, Play, Rolled, Worm
from rollbook_replays.games.presentation import Effect, Moment

KINDS: Final = {Rolled: "throw", Drawn: "draw", Play: "place", Boar: "take", Fox: "take", Worm: "place"}
FEW_DICE: Final = 8
"""More dice are thrown only at the beginning of a round, where traps are nothing special."""


def effect(move: Choice | Outcome, moment: Moment) -> Effect:
    """Dice that are drawn, thrown, laid, swapped or given, and traps among the thrown ones."""
    if isinstance(move, Rolled) and TRAP in move.faces and len(move.dice) <= FEW_DICE:
        rows = () if moment.after is None else moment.after.dice
        thrower = next((seat for seat, row in enumerate(rows) if any(die.die in move.dice for die in row)), moment.seat)
        return Effect("trap", thrower, "effect.trap", count=("animal.trap", move.faces.count(TRAP)))
    return Effect(KINDS.get(type(move), ""), moment.seat)
