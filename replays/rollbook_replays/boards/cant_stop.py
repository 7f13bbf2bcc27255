"""Can't Stop, told and drawn: the mountain with markers and runners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from rollbook.rules.cant_stop import Choice, Column, Outcome, Roll, State, Stop, View
from rollbook.rules.chance import FirstSeat
from rollbook_replays.boards.telling import Names, Telling
from rollbook_replays.text import FAINT, HEADING, Pen, boxes, centred, listed, name_width, padded, seat_style

PIPS: Final = {
    1: ("     ", "  ●  ", "     "),
    2: ("●    ", "     ", "    ●"),
    3: ("●    ", "  ●  ", "    ●"),
    4: ("●   ●", "     ", "●   ●"),
    5: ("●   ●", "  ●  ", "●   ●"),
    6: ("●   ●", "●   ●", "●   ●"),
}
DICE: Final = dict(enumerate("⚀⚁⚂⚃⚄⚅", start=1))
RUNNER: Final = "▲"
CELL: Final = 6


def happened(outcome: Outcome, names: Names, _pen: Pen) -> str:
    """Four dice as they lie, or who starts."""
    if isinstance(outcome, FirstSeat):
        return f"{names[outcome.seat]} starts"
    return f"{' '.join(DICE[die] for die in outcome.dice)}  {' '.join(map(str, outcome.dice))}"


def chosen(choice: Choice, _names: Names, _state: State) -> str:
    """What the seat dares."""
    if isinstance(choice, Roll):
        return "throws again"
    if isinstance(choice, Stop):
        return "stops"
    steps = Counter(choice.columns)
    return f"advances in {listed([f'{column} (two steps)' if steps[column] > 1 else column for column in steps])}"


def board(view: View, names: Names, pen: Pen) -> Iterator[str]:
    """Columns side by side, their number fields on top; a seat's marker is its number."""
    for height in range(max(column.length for column in view.columns), 0, -1):
        yield "".join(_field(column, height, view.seat, pen) for column in view.columns).rstrip()
    yield pen("".join(centred(str(column.number), CELL) for column in view.columns).rstrip(), HEADING)
    yield ""
    yield pen(f"○ number field   {RUNNER} runner   0 to {len(names) - 1} the markers of the seats", FAINT)
    yield ""
    columns = name_width(names)
    for seat, name in enumerate(names):
        won = [column.number for column in view.columns if column.winner == seat]
        what = f"has won {listed(won)}" if won else "has won no column"
        yield f"  {seat}  {pen(padded(name, columns), seat_style(seat))}  place {view.places[seat]}, {what}"
    if view.dice:
        yield ""
        yield from boxes([PIPS[die] for die in view.dice])


def _field(column: Column, height: int, seat: int | None, pen: Pen) -> str:
    if height > column.length:
        return " " * CELL
    if column.winner is not None:
        text = str(column.winner) if height == column.length else "│"
        return pen(centred(text, CELL), seat_style(column.winner))
    here = [number for number, marker in enumerate(column.markers) if marker == height]
    if not here and column.runner != height:
        return pen(centred("○" if height == column.length else "·", CELL), FAINT)
    drawn = "".join(pen(str(number), seat_style(number)) for number in here)
    if column.runner == height:
        drawn += pen(RUNNER, FAINT if seat is None else seat_style(seat))
    wide = len(here) + (column.runner == height)
    left = (CELL - wide) // 2
    return " " * left + drawn + " " * (CELL - wide - left)


TELLING: Final = Telling(happened, chosen, board, turn_lost="nothing fits: the runners are lost")
