"""The view of a match of Raffzahn, and the places of its seats."""

from dataclasses import dataclass

from rollbook.rules.game import Perspective
from rollbook.rules.places import places as shared_places
from rollbook.rules.raffzahn.moves import Faces, list_tiles
from rollbook.rules.raffzahn.state import FINISHED, FIRST_SEAT, State, list_owned, worth

# View


@dataclass(frozen=True, slots=True)
class Row:
    """The tiles in front of one seat, and their teeth in all."""

    open_tiles: tuple[int, ...]
    safe_tiles: tuple[int, ...]
    teeth: int


@dataclass(frozen=True, slots=True)
class View:
    """The table, the same for every viewer; nothing in this game is hidden."""

    seat: int | None
    """Whose turn it is; none before the start and after the end."""
    dice: Faces
    """The dice as they lie; none before the first throw of a turn."""
    throws: int
    """The throws made in this turn."""
    announced: int | None
    """The tile announced for the throw that is awaited or was made last."""
    middle: tuple[int, ...]
    rows: tuple[Row, ...]
    out: tuple[int, ...]
    """The tiles that have left the game."""
    places: tuple[int, ...]


def view(state: State, _perspective: Perspective) -> View:
    """Return the view, which is the same for every perspective."""
    rows = tuple(
        Row(
            list_tiles(state.open_tiles[seat]),
            list_tiles(state.safe_tiles[seat]),
            worth(state, list_owned(state, seat)),
        )
        for seat in range(len(state.open_tiles))
    )
    in_play = state.middle | sum(state.open_tiles) | sum(state.safe_tiles)
    return View(
        seat=None if state.stage in {FIRST_SEAT, FINISHED} else state.seat,
        dice=state.dice,
        throws=state.throws,
        announced=state.announced,
        middle=list_tiles(state.middle),
        rows=rows,
        out=list_tiles(~in_play),
        places=places(state),
    )


# Result


def places(state: State) -> tuple[int, ...]:
    """Return the places: by teeth, then by the highest tile; open and safe tiles count alike ("Spielende"; ruling)."""
    scores = []
    for seat in range(len(state.open_tiles)):
        tiles = list_owned(state, seat)
        scores.append((worth(state, tiles), max(tiles, default=0)))
    return shared_places(scores)
