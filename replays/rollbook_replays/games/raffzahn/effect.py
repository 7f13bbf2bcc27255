"""What a move of Raffzahn does to a table that moves and sounds."""

from typing import Any, Final

from rollbook.rules.raffzahn.moves import ROTTEN, Choice, Outcome, Rolled, Surrender, Take
from rollbook_replays.games.presentation import Effect, Moment
from rollbook_replays.games.raffzahn.story import highlight

KINDS: Final = {Rolled: "throw", Take: "take", Surrender: "place"}


def effect(move: Choice | Outcome, moment: Moment) -> Effect:
    """A throw, a tile that is taken or stolen, a rotten tooth, or a miss."""
    seat, before, after = moment.seat, moment.before, moment.after
    usual = Effect(KINDS.get(type(move), ""), seat)
    if before is None or after is None:
        return usual
    if isinstance(move, Rolled) and (after.seat != seat or _tiles(before, seat) != _tiles(after, seat)):
        return Effect("rotten" if ROTTEN in move.dice else "bust", seat, dice=move.dice)
    return Effect("steal", seat) if highlight(move, moment) == "steal" else usual


def _tiles(view: Any, seat: int) -> tuple[Any, ...]:
    return (view.rows[seat].open_tiles, view.rows[seat].safe_tiles)
