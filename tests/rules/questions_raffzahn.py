"""Short helpers that query a state of Raffzahn."""

from __future__ import annotations

import pytest

from rollbook.rules.raffzahn import GAME
from rollbook.rules.raffzahn.moves import Choice, Outcome, Surrender, Take
from rollbook.rules.raffzahn.state import State
from rollbook.rules.refusals import RefusedByRules

WILLI, ANNA, TOM = 0, 1, 2
HUGE = 10**5000
TILES_WITH_COUNTABLE_SUBSETS = 12

both_editions = pytest.mark.parametrize("edition", ["original", "revised"])


def after(state: State, *moves: Choice | Outcome) -> State:
    """The state after the moves."""
    return GAME.fold(state, moves)


def kinds(state: State) -> set[str]:
    """Return the legal kinds of choice."""
    return {type(choice).__name__.lower() for choice in GAME.legal(state)}


def tiles_to_take(state: State) -> set[int]:
    """The tiles that `take` may name."""
    return {choice.tile for choice in GAME.legal(state) if isinstance(choice, Take)}


def surrenders(state: State) -> list[tuple[int, ...]]:
    """The legal surrenders in their order."""
    return [choice.tiles for choice in GAME.legal(state) if isinstance(choice, Surrender)]


def refusal(state: State, move: object) -> RefusedByRules:
    """Return the refusal of the move, and assert that the state is unchanged."""
    before = GAME.copy(state)
    with pytest.raises(RefusedByRules) as refused:
        GAME.play(state, move)  # type: ignore[arg-type]  # any value that a stranger can send
    assert before == state
    return refused.value
