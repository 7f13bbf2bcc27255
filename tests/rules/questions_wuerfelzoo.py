"""Short helpers that query a state of Würfelzoo."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest

from rollbook.rules.chance import Draw, FirstSeat, Throw
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.refusals import Illegal, Invalid, Reason, RefusedByRules
from rollbook.rules.wuerfelzoo import GAME
from rollbook.rules.wuerfelzoo.moves import Choice, Drawn, Play, Rolled
from rollbook.rules.wuerfelzoo.state import State
from rollbook.rules.wuerfelzoo.turn_choices import TurnChoices
from rollbook.rules.wuerfelzoo.view import View

HUGE = 10**5000
"""Python refuses to write such a number out, so a message must not try."""


def refusal(state: State, move: object) -> RefusedByRules:
    """Return the refusal of the move, and assert that the state is unchanged."""
    before = deepcopy(state)
    with pytest.raises(RefusedByRules) as caught:
        GAME.play(state, move)  # type: ignore[arg-type]  # any value that a stranger can send
    assert before == state, f"refused, but the state has changed: {move}"
    assert str(caught.value)
    return caught.value


def illegal(state: State, move: object) -> Reason:
    """Return the reason why a readable move is refused."""
    refused = refusal(state, move)
    assert Illegal is type(refused)
    return refused.reason


def invalid(state: State, move: object) -> Reason:
    """The reason why the move cannot be read."""
    refused = refusal(state, move)
    assert Invalid is type(refused)
    return refused.reason


def seen(state: State, eyes: Perspective = Watcher.PUBLIC) -> View:
    """Return the table from a perspective."""
    view = GAME.view(state, eyes)
    assert isinstance(view, View)
    return view


def turn(state: State) -> TurnChoices:
    """Return the legal choices at the beginning of a turn."""
    choices = GAME.legal(state)
    assert isinstance(choices, TurnChoices)
    return choices


def plays(state: State) -> list[Play]:
    """Every legal play."""
    return [choice for choice in GAME.legal(state) if isinstance(choice, Play)]


def any_move(state: State, rng: random.Random) -> Choice | FirstSeat | Drawn | Rolled:
    """Return a random next move, of a seat or of chance."""
    awaited = GAME.awaited(state)
    if isinstance(awaited, Draw):
        return GAME.outcome(state, tuple(rng.sample(awaited.items, awaited.count)))
    if isinstance(awaited, Throw):
        return GAME.outcome(state, tuple(rng.choice(faces) for faces in awaited.dice))
    return GAME.legal(state).sample(rng.randrange)
