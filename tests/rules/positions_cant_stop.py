"""States of Can't Stop for tests."""

from __future__ import annotations

from collections.abc import Mapping

from rollbook.rules.cant_stop import GAME
from rollbook.rules.cant_stop.moves import LENGTHS
from rollbook.rules.cant_stop.state import GO_ON, NOBODY, State
from rollbook.rules.chance import FirstSeat
from rollbook.rules.options import OptionValue


def position(
    *,
    seats: int = 2,
    options: Mapping[str, OptionValue] | None = None,
    seat: int = 0,
    markers: Mapping[int, Mapping[int, int]] | None = None,
    won: Mapping[int, int] | None = None,
    runners: Mapping[int, int] | None = None,
) -> State:
    """Return a state before a throw of the seat, with markers by seat and column, winners and runners by column."""
    state = GAME.start(options or {}, seats)
    for owner, heights in (markers or {}).items():
        for column, height in heights.items():
            state.markers[owner][column] = height
    for column, winner in (won or {}).items():
        state.winners[column] = winner
        state.won |= 1 << column
        for owner in range(seats):
            state.markers[owner][column] = LENGTHS[column] if owner == winner else 0
    GAME.play(state, FirstSeat(seat))
    for column, height in (runners or {}).items():
        state.reached[column] = height
        state.runners |= 1 << column
        if height == LENGTHS[column]:
            state.closed |= 1 << column
    return state


def choosing_to_go_on(state: State) -> State:
    """Return the same state just after an advance."""
    state.stage = GO_ON
    return state


def runners_of(state: State) -> dict[int, int]:
    """The runners by column."""
    return {column: state.reached[column] for column in LENGTHS if state.runners >> column & 1}


def markers_of(state: State, seat: int) -> dict[int, int]:
    """The markers of a seat by column."""
    return {column: state.markers[seat][column] for column in LENGTHS if state.markers[seat][column]}


def won_columns(state: State) -> set[int]:
    """Return the columns that are won."""
    return {column for column in LENGTHS if state.winners[column] != NOBODY}
