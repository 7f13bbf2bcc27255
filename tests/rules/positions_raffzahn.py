"""States of Raffzahn for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rollbook.rules.chance import FirstSeat
from rollbook.rules.raffzahn import GAME
from rollbook.rules.raffzahn.moves import TILES, Rolled, list_tiles, mask
from rollbook.rules.raffzahn.state import State, list_owned

Tiles = Mapping[int, Iterable[int]]


def position(
    *,
    seats: int = 3,
    edition: str = "revised",
    announce: bool = False,
    seat: int = 0,
    middle: Iterable[int] | None = None,
    open_tiles: Tiles | None = None,
    safe_tiles: Tiles | None = None,
    out: Iterable[int] = (),
    throws: int = 0,
    dice: tuple[str, ...] = ("10", "1", "1"),
    rerolled: tuple[int, ...] = (0, 1, 2),
    announced: int | None = None,
) -> State:
    """Return a state before a throw of the seat.

    Open and safe tiles are given by seat. Other tiles lie in the middle, or out of the game if the middle is given.
    After some throws `dice` lie on the table, of which `rerolled` are about to be thrown again.
    """
    state = GAME.start({"edition": edition, "announce": announce}, seats)
    GAME.play(state, FirstSeat(seat))
    for owner, tiles in (open_tiles or {}).items():
        state.open_tiles[owner] = mask(tuple(tiles))
    for owner, tiles in (safe_tiles or {}).items():
        state.safe_tiles[owner] = mask(tuple(tiles))
    elsewhere = mask(tuple(out)) | sum(state.open_tiles) | sum(state.safe_tiles)
    state.middle = (mask(TILES) & ~elsewhere) if middle is None else mask(tuple(middle))
    if throws:
        state.throws = throws
        state.dice = dice
        state.rerolled = rerolled
        state.announced = announced
    return state


def after_throw(number: int, *faces: str, on: State) -> State:
    """The state after these faces came up in the first, second or third throw of the turn."""
    state = GAME.copy(on)
    state.throws = number - 1
    state.dice = faces if number > 1 else ()
    GAME.play(state, Rolled(faces))
    return state


def middle_of(state: State) -> set[int]:
    """The tiles in the middle."""
    return set(list_tiles(state.middle))


def open_of(state: State, seat: int) -> set[int]:
    """The tiles that lie face up in front of a seat."""
    return set(list_tiles(state.open_tiles[seat]))


def safe_of(state: State, seat: int) -> set[int]:
    """The tiles that lie face down in front of a seat."""
    return set(list_tiles(state.safe_tiles[seat]))


def owned_by(state: State, seat: int) -> set[int]:
    """All tiles of a seat."""
    return set(list_owned(state, seat))


def out_of(state: State) -> set[int]:
    """The tiles that have left the game."""
    gone = set(TILES) - middle_of(state)
    for seat in range(len(state.open_tiles)):
        gone -= owned_by(state, seat)
    return gone
