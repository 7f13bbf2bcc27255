"""Raffzahn: material and view meet the contract of all games."""

from __future__ import annotations

from dataclasses import replace

from rollbook.rules.game import Watcher
from rollbook.rules.raffzahn import GAME
from rollbook.rules.raffzahn.moves import TILES, Rolled, Surrender
from rollbook.rules.raffzahn.view import View
from rollbook.rules.refusals import Reason
from tests.rules.positions_raffzahn import (
    after_throw,
    owned_by,
    position,
)
from tests.rules.questions_raffzahn import (
    ANNA,
    TOM,
    WILLI,
    after,
    refusal,
    surrenders,
)

# Contract


def test_the_components_are_the_material_of_the_header() -> None:
    """Names and order are what a log carries."""
    assert {
        "yellow": ["10", "20", "30", "star", "star", "rotten"],
        "blue": ["1", "2", "3", "4", "5", "star"],
        "teeth": [1] * 5 + [2] * 6 + [3] * 6 + [4] * 6 + [5] * 6 + [6] * 6 + [7] * 5,
    } == GAME.components


def test_the_view_shows_everything_to_everybody() -> None:
    """All tiles are public, and each is in exactly one place."""
    start = position(
        announce=True,
        open_tiles={WILLI: [3], TOM: [40]},
        safe_tiles={TOM: [38]},
        out=[7],
        throws=1,
        rerolled=(1, 2),
        announced=15,
    )
    shown = GAME.view(after(start, Rolled(("10", "5", "star"))), Watcher.PUBLIC)
    assert isinstance(shown, View)
    assert (WILLI, ("10", "5", "star"), 2, 15, (7,)) == (
        shown.seat,
        shown.dice,
        shown.throws,
        shown.announced,
        shown.out,
    )
    assert [((3,), (), 1), ((), (), 0), ((40,), (38,), 14)] == [
        (row.open_tiles, row.safe_tiles, row.teeth) for row in shown.rows
    ]
    assert (tuple(tile for tile in TILES if tile not in {3, 7, 38, 40}), (2, 3, 1)) == (shown.middle, shown.places)
    assert shown == GAME.view(after(start, Rolled(("10", "5", "star"))), TOM)


def test_before_the_start_it_is_nobodys_turn() -> None:
    """The starting seat is not drawn yet."""
    shown = GAME.view(GAME.start({}, 3), Watcher.JUDGE)
    assert isinstance(shown, View)
    assert (None, tuple(TILES)) == (shown.seat, shown.middle)


def test_other_teeth_can_be_played_with() -> None:
    """Teeth are data: with one tooth on every tile all surrenders have three tiles, and places follow."""
    state = position(open_tiles={WILLI: [20, 40], ANNA: [1, 2, 3]}, safe_tiles={WILLI: [30, 31]}, out=[25])
    state.ruleset = replace(state.ruleset, teeth=dict.fromkeys(TILES, 1))
    assert (1, 2, 3) == GAME.places(state)
    state = after_throw(3, "20", "5", "star", on=state)
    assert [(20, 30, 31), (20, 30, 40), (20, 31, 40), (30, 31, 40)] == surrenders(state)
    assert Surrender((20, 30, 31)) == GAME.caretaker(state)
    assert Reason.TOO_FEW_TEETH == refusal(state, Surrender((40,))).reason
    assert {40} == owned_by(after(state, Surrender((20, 30, 31))), WILLI)


def test_a_surrender_among_forty_tiles_of_one_tooth_is_still_listed() -> None:
    """In the worst case there is a set for every three of forty tiles."""
    state = position(middle=[], safe_tiles={WILLI: range(1, 40)}, out=[40])
    state.ruleset = replace(state.ruleset, teeth=dict.fromkeys(TILES, 1))
    state = after_throw(3, "30", "5", "5", on=state)
    assert 39 * 38 * 37 // 6 == len(surrenders(state))
