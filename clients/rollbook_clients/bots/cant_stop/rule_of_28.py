"""`rule_of_28`: plays Can't Stop by Michael Keller's Rule of 28.

Every column has a progress value, from 1 in the middle to 6 at the edges. A turn is counted in these values for each
step of the runners, the first step of a runner twice. Once all three runners are placed, the count rises for columns
that combine badly and falls for columns that combine well. At 28 the turn ends.

The rule decides when to stop. The pairing is chosen by the move values that James Glenn and Christian Aloi publish with
it ("A Generalized Heuristic for Can't Stop"), which reverse the progress values: a step counts 6 in the middle and 1 at
the edges, and every newly placed runner costs 6.

Both leave some cases open, which are decided here. While a runner is unplaced, the turn goes on, as almost every throw
can be used. A stop that wins the match is made at once. A turn also ends when all three runners are on number fields,
as no throw could be used. Of equal pairings the first in the order of the rules is taken. If the rules forbid to stop,
the turn goes on.
"""

from collections.abc import Mapping
from typing import Final, cast

from rollbook.rules import cant_stop
from rollbook.rules.cant_stop.moves import LENGTHS, RUNNERS, Advance, Choice, Roll, Stop
from rollbook.rules.cant_stop.view import View
from rollbook.rules.game import Choices
from rollbook_clients.bots.bot import Seat, must_play

ENOUGH: Final = 28
PROGRESS: Final = {column: 1 + abs(7 - column) for column in LENGTHS}
ALL_ODD: Final = 2
ALL_EVEN: Final = -2
ALL_ON_ONE_SIDE: Final = 4
MIDDLE: Final = 7

MOVE: Final = {column: 7 - progress for column, progress in PROGRESS.items()}
NEW_RUNNER: Final = 6


def count(steps: Mapping[int, int]) -> int:
    """The count of a turn in which the runners have made these steps, by column.

    >>> count({7: 2}), count({6: 1, 8: 3}), count({2: 1, 7: 1, 8: 1})
    (3, 12, 18)
    """
    counted = sum(PROGRESS[column] * (1 + made) for column, made in steps.items())
    if len(steps) < RUNNERS:
        return counted
    if all(column % 2 for column in steps):
        counted += ALL_ODD
    elif not any(column % 2 for column in steps):
        counted += ALL_EVEN
    if max(steps) <= MIDDLE or min(steps) >= MIDDLE:
        counted += ALL_ON_ONE_SIDE
    return counted


def move_value(advance: Advance, steps: Mapping[int, int]) -> int:
    """The value of an advance if runners are already in these columns.

    >>> move_value(Advance((6, 8)), {6: 1}), move_value(Advance((2, 2)), {6: 1})
    (4, -4)
    """
    placed = sum(column not in steps for column in set(advance.columns))
    return sum(MOVE[column] for column in advance.columns) - NEW_RUNNER * placed


class RuleOf28:
    """Counts the turn, and stops at 28."""

    def __init__(self, seat: Seat) -> None:
        must_play(seat, cant_stop.GAME, "rule_of_28")
        self._seat = seat.number
        self._columns_to_win = cast("int", seat.options["columns_to_win"])

    def choose(self, view: View, legal: Choices[Choice], /) -> Choice:
        """Return a pairing of the dice, or Roll or Stop."""
        steps = {column.number: column.runner - column.markers[self._seat] for column in view.columns if column.runner}
        if view.dice:
            advances = [choice for choice in legal if isinstance(choice, Advance)]
            return max(advances, key=lambda advance: move_value(advance, steps))
        stop = Stop()
        return stop if stop in legal and self._is_enough(view, steps) else Roll()

    def _is_enough(self, view: View, steps: Mapping[int, int]) -> bool:
        reached = sum(column.runner == column.length for column in view.columns)
        won = sum(column.winner == self._seat for column in view.columns)
        if reached and won + reached >= self._columns_to_win:
            return True
        return len(steps) == RUNNERS and (reached == RUNNERS or count(steps) >= ENOUGH)
