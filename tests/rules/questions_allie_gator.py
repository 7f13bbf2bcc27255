"""Short helpers that query a state of Allie Gator."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from rollbook.rules.allie_gator import GAME
from rollbook.rules.allie_gator.moves import Snap
from rollbook.rules.allie_gator.state import State
from rollbook.rules.allie_gator.view import View
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.refusals import RefusedByRules
from tests.rules.positions_allie_gator import (
    Position,
    after,
)

MATCHES = [(seats, seed) for seats in GAME.seats for seed in range(4)]
PLAIN = (43, 44, 45, 46, 47)
"""The hand of a seat that is not involved in a test."""


def refusal(state: State, move: Any) -> RefusedByRules:
    """Return the refusal of a move, and assert that the state is unchanged."""
    untouched = GAME.copy(state)
    with pytest.raises(RefusedByRules) as caught:
        GAME.play(state, move)
    assert untouched == state
    assert str(caught.value)
    return caught.value


def seen_by(state: State, perspective: Perspective) -> View:
    """Return the table from a perspective."""
    view = GAME.view(state, perspective)
    assert isinstance(view, View)
    return view


def judged(state: State) -> View:
    """Return the table from a judge's perspective."""
    return seen_by(state, Watcher.JUDGE)


def table(*, hands: list[tuple[int, ...]], **rest: Any) -> State:
    """Return a position with these hands."""
    return Position(hands=hands, **rest).state()


def last_snap(penalties: list[tuple[int, ...]], **rest: Any) -> State:
    """Return the state after seat 0 ended the round by a snap.

    Seat 0 gets number card 70 besides these penalty cards.
    """
    position = Position(hands=[()] * len(penalties), stock=(), targets=((70,), (69,)), penalties=penalties, **rest)
    return after(position.state(), Snap())


def hidden_shuffled(state: State, perspective: Perspective, random: Random) -> State:
    """Return an equal state for this perspective, with all hidden cards dealt again."""
    other = GAME.copy(state)
    hidden = [hand for seat, hand in enumerate(other.hands) if seat != perspective] + [other.stock]
    pool = [card for heap in hidden for card in heap]
    random.shuffle(pool)
    for heap in hidden:
        heap[:] = sorted(pool.pop() for _ in heap)
    return other
