"""Facts about Can't Stop for shared tests; `material.py` explains each part."""

from __future__ import annotations

from typing import Any

from rollbook.rules import cant_stop
from rollbook.rules.cant_stop import moves
from rollbook.rules.cant_stop.state import NOBODY
from tests.replays.game_pages import numbers, table
from tests.rules import positions_cant_stop

COLUMN = range(2, 13)

SEATS = 3

BOUNDS = {
    "CantStopChoice.Advance.columns": COLUMN,
    "CantStopOutcome.Roll.dice": range(1, 7),
    "CantStopView.Column.length": range(3, 14),
    "CantStopView.Column.markers": range(14),
    "CantStopView.Column.number": COLUMN,
    "CantStopView.Column.runner": range(14),
    "CantStopView.dice": range(1, 7),
}

COUNTS = {
    "CantStopChoice.Advance.columns": [1, 2],
    "CantStopLegalChoices.choices": range(1, 10_000),
    "CantStopOutcome.Roll.dice": [4],
    "CantStopView.columns": [11],
    "CantStopView.dice": [0, 4],
}

ASCENDING = {
    "CantStopChoice.Advance.columns": None,
    "CantStopView.columns": "number",
}


def material(state: Any) -> object:
    """Return the eleven columns, each with possible markers and winner."""
    for column, length in moves.LENGTHS.items():
        heights = [markers[column] for markers in state.markers]
        assert all(0 <= height <= length for height in [*heights, state.reached[column]])
        winner = state.winners[column]
        assert (winner == NOBODY) == (length not in heights)
        if winner != NOBODY:
            assert [length if seat == winner else 0 for seat in range(len(heights))] == heights
    return len(moves.LENGTHS)


def set_up(setup: dict[str, Any]) -> Any:
    """Return the state of a position in the perft file."""
    going_on = setup.pop("going_on", False)
    dice = setup.pop("dice", None)
    state = positions_cant_stop.position(**setup)
    if dice:
        return cant_stop.GAME.apply(state, moves.Rolled(tuple(dice)))
    return positions_cant_stop.choosing_to_go_on(state) if going_on else state


def compare_page(page: str) -> None:
    """Compare the tables of the page with the material of the rules."""
    assert {int(row["column"]): int(row["fields"]) for row in table(page, "column")} == moves.LENGTHS
    (dice,) = {len(dice) for dice in moves.ROLLED}
    faces = len(moves.FACES)
    assert numbers(page) == {"dice": dice, "faces of a die": faces, "runners": moves.RUNNERS}
    assert f"the faces {', '.join(map(str, moves.FACES))} in this order" in page
