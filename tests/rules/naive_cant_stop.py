"""A slow, literal second implementation of Can't Stop's advances, from the rules page alone."""

from __future__ import annotations

from itertools import permutations

LENGTHS = {2: 3, 3: 5, 4: 7, 5: 9, 6: 11, 7: 13, 8: 11, 9: 9, 10: 7, 11: 5, 12: 3}


def advances(
    dice: tuple[int, ...], markers: dict[int, int], runners: dict[int, int], won: set[int]
) -> set[tuple[int, ...]]:
    """Return every advance, by trying all orders of the dice as two pairs."""

    def usable(column: int, placed: dict[int, int]) -> bool:
        if column in won:
            return False
        if column in placed:
            return placed[column] < LENGTHS[column]
        return len(placed) < 3

    def moved(column: int, placed: dict[int, int]) -> dict[int, int]:
        return {**placed, column: placed.get(column, markers.get(column, 0)) + 1}

    found: set[tuple[int, ...]] = set()
    for a, b, c, d in permutations(dice):
        first, second = a + b, c + d
        if usable(first, runners) and usable(second, moved(first, runners)):
            found.add(tuple(sorted((first, second))))
        elif usable(first, runners):
            # The first pair leaves no runner for the other.
            found.add((first,))
        elif usable(second, runners):
            found.add((second,))
    return found


def hasty(choices: set[tuple[int, ...]], runners: dict[int, int]) -> set[tuple[int, ...]]:
    """Keep the choices that place the most new runners, and of these the ones that use the most runners."""
    if not choices:
        return set()
    most_new = max(len(set(columns) - set(runners)) for columns in choices)
    newest = {columns for columns in choices if len(set(columns) - set(runners)) == most_new}
    most_used = max(len(set(columns)) for columns in newest)
    return {columns for columns in newest if len(set(columns)) == most_used}
