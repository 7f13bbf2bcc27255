"""`rule_of_28`: Can't Stop by Michael Keller's Rule of 28.

Every column has a progress value, from 1 in the middle to 6 at the edges. What the runners have gained in a turn is
counted in these values, the first step of a runner twice; once all three runners stand, columns that go badly together
count for more, and such that go well together for less. At 28 the turn ends.

The rule says when to stop. Which pairing to take is decided by the move values that James Glenn and Christian Aloi
publish with it ("A Generalized Heuristic for Can't Stop"), the progress values turned round: a step counts 6 in the
middle and 1 at the edges, and every runner that is newly placed costs 6.

What both leave open, and what is done here: a turn in which a runner is off the board goes on, for then almost every
throw can be used. A stop that wins the match is made at once. A turn ends, too, once all three runners stand on number
fields, for no throw could be used. Of pairings that are worth the same the first is taken as the rules order them.
Where the rules forbid to stop, the turn goes on.
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
    """What a turn counts in which the runners have made so many steps, by their columns.

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
    """What it is worth to advance like this where runners stand in these columns.

    >>> move_value(Advance((6, 8)), {6: 1}), move_value(Advance((2, 2)), {6: 1})
    (4, -4)
    """
    placed = sum(column not in steps for column in set(advance.columns))
    return sum(MOVE[column] for column in advance.columns) - NEW_RUNNER * placed


class RuleOf28:
    """Counts, and stops at 28."""

    def __init__(self, seat: Seat) -> None:
        must_play(seat, cant_stop.GAME, "rule_of_28")
        self._seat = seat.number
        self._columns_to_win = cast("int", seat.options["columns_to_win"])

    def choose(self, view: View, legal: Choices[Choice], /) -> Choice:
        """Pair the dice, or roll, or stop."""
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
