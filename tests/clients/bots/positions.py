"""Positions of random matches in which a seat has to choose."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from rollbook.rules.chance import Throw
from rollbook.rules.game import Over, ToChoose
from rollbook_clients.bots.bot import Seat
from tests.rules.cases import Case

MOST_MOVES = 4_000
"""Longer matches are cut here, because their positions repeat."""


def positions(case: Case, seed: int) -> Iterator[tuple[Any, int]]:
    """Yield every state of a random match in which a seat has to choose, with the seat; do not change the state."""
    rng = random.Random(seed)
    game = case.game
    state = game.start(case.options, case.seats)
    for _ in range(MOST_MOVES):
        awaited = game.awaited(state)
        if isinstance(awaited, Over):
            return
        if isinstance(awaited, ToChoose):
            yield state, awaited.seat
            careful = rng.random() < 0.5
            move = game.caretaker(state) if careful else game.legal(state).sample(rng.randrange)
        elif isinstance(awaited, Throw):
            move = game.outcome(state, tuple(rng.choice(faces) for faces in awaited.dice))
        else:
            move = game.outcome(state, tuple(rng.sample(awaited.items, awaited.count)))
        game.play(state, move)


def some_positions(case: Case, seed: int, count: int) -> list[tuple[Any, int]]:
    """Return `count` positions, sampled from the whole match."""
    rng = random.Random(seed)
    kept: list[tuple[Any, int]] = []
    for number, (state, seat) in enumerate(positions(case, seed)):
        if len(kept) < count:
            kept.append((case.game.copy(state), seat))
        elif (place := rng.randrange(number + 1)) < count:
            kept[place] = (case.game.copy(state), seat)
    return kept


def seat_of(case: Case, number: int, seed: int = 0) -> Seat:
    """Return a seat at the table of this case."""
    return Seat(case.game, case.options, case.seats, number, seed)
