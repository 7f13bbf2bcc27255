"""Places from first to last; equal scores share one (1, 2, 2, 4)."""

from collections.abc import Sequence
from typing import TypeAlias

Score: TypeAlias = int | tuple[int, ...]


def places(scores: Sequence[Score]) -> tuple[int, ...]:
    """The place of every seat, the highest score first.

    >>> places([7, 9, 7, 1])
    (2, 1, 2, 4)
    """
    best_first = sorted(scores, reverse=True)
    return tuple(best_first.index(score) + 1 for score in scores)
