"""The exact probability that the next throw of Can't Stop is usable."""

from functools import cache
from itertools import product
from typing import Final

from rollbook.rules.cant_stop.moves import RUNNERS
from rollbook.rules.cant_stop.view import View

THROWS: Final = 6**4


def chance(view: View, advance: tuple[int, ...] = ()) -> float:
    """The probability that the next throw is usable, after the steps in `advance`.

    The variants do not change it: `hasty` only narrows the choices of a usable throw, and `free_fields` only forbids
    stopping.
    """
    return usable_throws(usable_columns(view, advance)) / THROWS


def usable_columns(view: View, advance: tuple[int, ...] = ()) -> frozenset[int]:
    """The columns in which a runner could be placed or moved after the steps in `advance`."""
    reached = {column.number: column.runner for column in view.columns}
    for step in advance:
        column = view.columns[step - view.columns[0].number]
        reached[step] = (reached[step] or column.markers[view.seat or 0]) + 1
    free = RUNNERS - sum(height > 0 for height in reached.values())
    return frozenset(
        column.number
        for column in view.columns
        if column.winner is None and reached[column.number] < column.length and (reached[column.number] > 0 or free > 0)
    )


@cache
def usable_throws(columns: frozenset[int]) -> int:
    """The number of throws, of all 1296 with four dice, in which the sum of some pair is one of these columns.

    >>> usable_throws(frozenset({6, 7, 8})), usable_throws(frozenset({2, 3, 12}))
    (1192, 568)
    """
    return sum(
        bool(columns & {a + b, c + d, a + c, b + d, a + d, b + c}) for a, b, c, d in product(range(1, 7), repeat=4)
    )


def percent(part: float) -> str:
    """A probability in whole percent; only a certain event has 100, and only an impossible one has 0.

    >>> percent(1.0), percent(0.998), percent(0.438), percent(0.001), percent(0.0)
    ('100', '99', '44', '1', '0')
    """
    return str(round(part * 100)) if part in {0.0, 1.0} else str(min(max(round(part * 100), 1), 99))
