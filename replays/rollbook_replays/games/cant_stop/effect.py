"""What a move of Can't Stop does to a table that moves and sounds."""

from typing import Final

from rollbook.rules.cant_stop.moves import Advance, Choice, Outcome, Rolled, Stop
from rollbook_replays.games.cant_stop.story import highlight
from rollbook_replays.games.presentation import Effect, Moment

KINDS: Final = {Rolled: "throw", Advance: "step", Stop: "place"}


def effect(move: Choice | Outcome, moment: Moment) -> Effect:
    """A throw, steps, a stop; the steps that a bust costs, or the columns that are won."""
    seat, before, after = moment.seat, moment.before, moment.after
    kind = highlight(move, moment) if before is not None and after is not None else ""
    if kind == "bust" and isinstance(move, Rolled):
        lost = sum(column.runner - column.markers[seat] for column in before.columns if column.runner)
        line, log = ("effect.bust", "told.bust.cost") if lost else ("effect.bust.bare", "")
        return Effect(kind, seat, line, log, {"dice": " ".join(map(str, move.dice))}, ("step", lost), move.dice)
    if kind == "won":
        columns = zip(before.columns, after.columns, strict=True)
        won = [str(new.number) for old, new in columns if old.winner != new.winner]
        return Effect(kind, seat, "effect.won", facts={"columns": " + ".join(won)})
    return Effect(KINDS.get(type(move), ""), seat)
