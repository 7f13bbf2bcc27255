"""The view of a match of Can't Stop, and the places of its seats."""

from dataclasses import dataclass
from functools import lru_cache

from rollbook.rules.cant_stop.moves import LENGTHS
from rollbook.rules.cant_stop.state import ADVANCE, FINISHED, FIRST_SEAT, NOBODY, State
from rollbook.rules.game import Perspective
from rollbook.rules.places import places as shared_places

# View


@dataclass(frozen=True, slots=True)
class Column:
    """One column, the same for every viewer."""

    number: int
    length: int
    winner: int | None
    markers: tuple[int, ...]
    """The height of each seat's marker, 0 for none."""
    runner: int
    """The height of the runner, 0 for none."""


@dataclass(frozen=True, slots=True)
class View:
    """The board, the same for every viewer; nothing in this game is hidden."""

    seat: int | None
    """Whose turn it is; none before the start and after the end."""
    dice: tuple[int, ...]
    """The throw that an advance is awaited for, else none."""
    columns: tuple[Column, ...]
    places: tuple[int, ...]


_column = lru_cache(4_096)(Column)
"""Cache of columns, because most of them do not change between views."""


def view(state: State, _perspective: Perspective) -> View:
    """Return the view, which is the same for every perspective."""
    winners, reached, runners = state.winners, state.reached, state.runners
    markers = tuple(zip(*state.markers, strict=True))
    return View(
        seat=None if state.stage in {FIRST_SEAT, FINISHED} else state.seat,
        dice=state.dice if state.stage == ADVANCE else (),
        columns=tuple(
            [
                _column(
                    column,
                    length,
                    None if winners[column] == NOBODY else winners[column],
                    markers[column],
                    reached[column] if runners >> column & 1 else 0,
                )
                for column, length in LENGTHS.items()
            ]
        ),
        places=places(state),
    )


# Result


def places(state: State) -> tuple[int, ...]:
    """Return the places: by columns held, then by the height of markers in columns that are not won (ruling)."""
    won = [column for column in LENGTHS if state.winners[column] != NOBODY]
    return shared_places(
        [
            (state.winners.count(seat), sum(markers) - sum([markers[column] for column in won]))
            for seat, markers in enumerate(state.markers)
        ]
    )
