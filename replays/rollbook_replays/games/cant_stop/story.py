"""The narration of Can't Stop; a throw was a bust if another seat is on turn after it."""

from collections.abc import Iterator

from rollbook.rules.cant_stop.moves import Choice, Outcome, Roll, Rolled, Stop
from rollbook.rules.cant_stop.view import View
from rollbook.rules.chance import FirstSeat
from rollbook_replays.games.presentation import Moment, Sentence, loss, sentence
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.text import STRONG


def story(move: Choice | Outcome, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    """The throw, or the choice of the seat."""
    seat, words = moment.seat, seating.words
    if isinstance(move, FirstSeat):
        yield sentence(move.seat, "told.first_seat", seating)
    elif isinstance(move, Rolled):
        yield sentence(seat, "told.throws", seating, dice=" ".join(map(str, move.dice)))
        if moment.after is not None and moment.after.seat != seat:
            yield loss(seat, "told.bust", seating, style=STRONG)
    elif isinstance(move, Roll):
        yield sentence(seat, "told.rolls_on", seating, is_implied=True)
    elif isinstance(move, Stop):
        yield sentence(seat, "told.stops", seating)
    elif len(set(move.columns)) < len(move.columns):
        yield sentence(seat, "told.two_steps", seating, column=move.columns[0])
    else:
        yield sentence(seat, "told.advances", seating, columns=words.both(move.columns))


def highlight(move: Choice | Outcome, moment: Moment) -> str:
    """A bust, or a column that is won."""
    if isinstance(move, Rolled) and moment.after.seat != moment.seat:
        return "bust"
    columns = zip(moment.before.columns, moment.after.columns, strict=True)
    return "won" if isinstance(move, Stop) and any(old.winner != new.winner for old, new in columns) else ""


def score(view: View, seat: int, words: Words) -> str:
    """The columns that a seat has won."""
    return words.count("column", sum(column.winner == seat for column in view.columns))
