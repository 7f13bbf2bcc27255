"""How likely the next throw of Can't Stop can be used, exactly."""

from functools import cache
from itertools import product
from typing import Final

from rollbook.rules.cant_stop.moves import RUNNERS
from rollbook.rules.cant_stop.view import View

THROWS: Final = 6**4


def chance(view: View, advance: tuple[int, ...] = ()) -> float:
    """The chance that the next throw can be used, after these steps if there are any.

    No variant changes it: `hasty` only narrows what a throw offers where it offers something, and `free_fields` only
    forbids to stop.
    """
    return usable_throws(usable_columns(view, advance)) / THROWS


def usable_columns(view: View, advance: tuple[int, ...] = ()) -> frozenset[int]:
    """The columns in which a runner could be placed or moved."""
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
    """How many of the 1296 throws of four dice have a pair whose sum is one of these columns.

    >>> usable_throws(frozenset({6, 7, 8})), usable_throws(frozenset({2, 3, 12}))
    (1192, 568)
    """
    return sum(
        bool(columns & {a + b, c + d, a + c, b + d, a + d, b + c}) for a, b, c, d in product(range(1, 7), repeat=4)
    )


def percent(part: float) -> str:
    """Whole numbers, but never 100 for what may fail, nor 0 for what may succeed.

    >>> percent(1.0), percent(0.998), percent(0.438), percent(0.001), percent(0.0)
    ('100', '99', '44', '1', '0')
    """
    return str(round(part * 100)) if part in {0.0, 1.0} else str(min(max(round(part * 100), 1), 99))
