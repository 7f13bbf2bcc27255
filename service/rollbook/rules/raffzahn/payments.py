"""What a miss costs a seat of Raffzahn, and which tiles may pay for it."""

from itertools import combinations

from rollbook.rules.raffzahn.moves import TEETH_FOR_A_MISS, TILES, no_such_tile
from rollbook.rules.raffzahn.state import State, list_owned, worth
from rollbook.rules.refusals import Illegal, Invalid, Reason


def payments(state: State) -> list[tuple[int, ...]]:
    """All sets of the seat's tiles that a miss can be paid with, none with a tile to spare, in sorted order.

    A tile that pays alone goes alone; the others make three teeth in twos or, with one tooth each, in threes.
    """
    enough: list[tuple[int, ...]] = []
    small = []
    for tile in list_owned(state, state.seat):
        if state.ruleset.teeth[tile] >= TEETH_FOR_A_MISS:
            enough.append((tile,))
        else:
            small.append(tile)
    for count in (2, 3):
        for tiles in combinations(small, count):
            least = min(state.ruleset.teeth[tile] for tile in tiles)
            if worth(state, tiles) - least < TEETH_FOR_A_MISS <= worth(state, tiles):
                enough.append(tiles)
    return sorted(enough)


def check_payment(state: State, tiles: tuple[int, ...]) -> None:
    """Refuse tiles worth less than three teeth, and unneeded tiles ("Fehlwurf", "Fehltreffer"; ruling)."""
    _check_tiles(tiles)
    mine = list_owned(state, state.seat)
    for tile in tiles:
        if tile not in mine:
            raise Illegal(Reason.TILE_NOT_OWNED, f"tile {tile} is not owned by seat {state.seat}", tile=tile)
    teeth = worth(state, tiles)
    if teeth < TEETH_FOR_A_MISS:
        raise Illegal(
            Reason.TOO_FEW_TEETH,
            f"a miss costs at least {TEETH_FOR_A_MISS} teeth, and tiles {list(tiles)} have {teeth}",
            tiles=tiles,
            teeth=teeth,
        )
    for tile in tiles:
        if teeth - state.ruleset.teeth[tile] >= TEETH_FOR_A_MISS:
            raise Illegal(
                Reason.TILE_NOT_NEEDED,
                f"tiles {list(tiles)} have {TEETH_FOR_A_MISS} teeth also without tile {tile}",
                tile=tile,
                tiles=tiles,
            )


def _check_tiles(tiles: tuple[int, ...]) -> None:
    """Refuse tiles that are not a non-empty set, or that are more than a miss can cost."""
    if not tiles:
        raise Invalid(Reason.NOTHING_NAMED, "surrender names no tile")
    if len(tiles) > TEETH_FOR_A_MISS:
        raise Invalid(
            Reason.TOO_MANY_NAMED,
            f"surrender names {len(tiles)} tiles; no more than {TEETH_FOR_A_MISS} are ever needed",
        )
    for tile in tiles:
        if tile not in TILES:
            raise no_such_tile(tile)
    if len(set(tiles)) < len(tiles):
        raise Invalid(Reason.NAMED_TWICE, "surrender names a tile twice")
