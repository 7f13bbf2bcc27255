"""Can't Stop, told: a throw after which another seat is on turn was a bust."""

from __future__ import annotations

from collections.abc import Iterator

from rollbook.rules.cant_stop import Choice, Outcome, Roll, Rolled, Stop
from rollbook.rules.chance import FirstSeat
from rollbook_replays.games.presentation import Moment, Told, line
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import STRONG


def story(move: Choice | Outcome, moment: Moment, seating: Seating) -> Iterator[Told]:
    """What was thrown, and what the seat did with it."""
    seat, words = moment.seat, seating.words
    if isinstance(move, FirstSeat):
        yield line(move.seat, "told.first_seat", seating)
    elif isinstance(move, Rolled):
        yield line(seat, "told.throws", seating, dice=" ".join(map(str, move.dice)))
        if moment.after is not None and moment.after.seat != seat:
            yield line(seat, "told.bust", seating, style=STRONG)
    elif isinstance(move, Roll):
        yield Told(line(seat, "told.rolls_on", seating).text, is_implied=True)
    elif isinstance(move, Stop):
        yield line(seat, "told.stops", seating)
    elif len(set(move.columns)) < len(move.columns):
        yield line(seat, "told.two_steps", seating, column=move.columns[0])
    else:
        yield line(seat, "told.advances", seating, columns=words.both(move.columns))
