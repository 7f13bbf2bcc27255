"""Facts about Raffzahn for shared tests; `material.py` explains each part."""

from __future__ import annotations

from typing import Any

from rollbook.rules.raffzahn import moves, throws
from tests.replays.game_pages import faces_of, numbers, spread, table
from tests.rules import positions_raffzahn

TILE = range(1, 41)

SEATS = 4

BOUNDS = {
    "RaffzahnChoice.Roll.dice": range(3),
    "RaffzahnChoice.Surrender.tiles": TILE,
    "RaffzahnChoice.Take.tile": TILE,
    "RaffzahnOutcome.Roll.dice": [*range(1, 6), 10, 20, 30, 31, 32],
    "RaffzahnView.announced": TILE,
    "RaffzahnView.dice": [*range(1, 6), 10, 20, 30, 31, 32],
    "RaffzahnView.middle": TILE,
    "RaffzahnView.throws": range(4),
}

COUNTS = {
    "RaffzahnLegalChoices.choices": range(1, 10_000),
    "RaffzahnOutcome.Roll.dice": [3],
    "RaffzahnView.dice": [0, 3],
}

ASCENDING = {
    "RaffzahnChoice.Roll.dice": None,
    "RaffzahnChoice.Surrender.tiles": None,
    "RaffzahnView.Row.open_tiles": None,
    "RaffzahnView.Row.safe_tiles": None,
    "RaffzahnView.middle": None,
    "RaffzahnView.out": None,
}


def material(state: Any) -> object:
    """Return the forty tiles, each in one place; those in none of the sets are out of the game."""
    places = [state.middle, *state.open_tiles, *state.safe_tiles]
    in_play = [tile for tile in range(1, 41) for place in places if place >> tile & 1]
    assert sorted(set(in_play)) == in_play
    assert sum(place.bit_count() for place in places) == len(in_play)
    return 40


def set_up(setup: dict[str, Any]) -> Any:
    """Return the state of a position in the perft file."""
    thrown = setup.pop("thrown", None)
    number = setup.pop("throw", 1)
    state = positions_raffzahn.position(**setup)
    return positions_raffzahn.after_throw(number, *thrown, on=state) if thrown else state


def compare_page(page: str) -> None:
    """Compare the tables of the page with the material of the rules."""
    dice = table(page, "die", "0")
    assert list(moves.DICE) == [faces_of(row) for row in dice]
    assert ["0", "1", "2"] == [row["die"] for row in dice]
    teeth = {tile: int(row["teeth"]) for row in table(page, "tiles", "teeth") for tile in spread(row["tiles"])}
    assert teeth == moves.TEETH
    assert numbers(page) == {
        "most throws of a turn": moves.THROWS,
        "open tiles before one may be laid safe": moves.OPEN_TILES_BEFORE_SAFE,
        "teeth that a miss costs": moves.TEETH_FOR_A_MISS,
        "stars of a small star throw": moves.SMALL_STAR_THROW,
        "stars of a great star throw": moves.GREAT_STAR_THROW,
    }
    results = [
        throws.HIT[1],
        throws.SMALL_STARS[1],
        throws.GREAT_STARS[1],
        *[throws.OPTIONAL_STARS[1]] * 2,
        throws.MISS,
    ]
    leaves = [
        tuple("yes" if may else "no" for may in (result.tile is not None, result.may_roll, result.may_pass))
        for result in results
    ]
    rows = table(page, "result", "tile on offer")
    assert leaves == [(row["take"], row["roll"], row["pass"]) for row in rows]
    fulfils = ["yes" if result.fulfils else "no" for result in results[:-1]]
    assert [*fulfils, ""] == [row["taking it fulfils an announcement"] for row in rows]
