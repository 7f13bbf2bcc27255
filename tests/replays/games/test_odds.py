"""The chance to survive the next throw of Can't Stop, against the rules themselves."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from rollbook.rules.cant_stop import GAME
from rollbook.rules.cant_stop.moves import LENGTHS, ROLLED, Advance, Roll
from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Over, ToChoose
from rollbook_replays.games.cant_stop.odds import chance

SEED = int(os.environ.get("ROLLBOOK_SEED", "28"))
OPTIONS: list[dict[str, Any]] = [{}, {"hasty": True}, {"free_fields": True}]


def throws_that_can_be_used(state: Any) -> int:
    """Count the 1296 throws that leave the same seat with a choice, by the rules."""
    thrown = GAME.apply(state, Roll())
    return sum(isinstance(GAME.awaited(GAME.apply(thrown, rolled)), ToChoose) for rolled in ROLLED.values())


def near_the_top(options: dict[str, Any], drawn: random.Random) -> Any:
    """Return a match whose markers are so high that runners soon reach the top."""
    state = GAME.start(options, 3)
    for markers in state.markers:
        markers[2:] = [drawn.randrange(max(length - 3, 0), length) for length in LENGTHS.values()]
    GAME.play(state, FirstSeat(0))
    return state


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_chance_is_that_of_all_1296_throws_by_the_rules(options: dict[str, Any]) -> None:
    """Players risk a turn on this number, so it has to be exact, now and after every offered advance."""
    print(f"seed {SEED}")
    drawn = random.Random(SEED)
    state = near_the_top(options, drawn)
    compared = 0
    while compared < 12:
        awaited = GAME.awaited(state)
        if isinstance(awaited, Over):
            state = near_the_top(options, drawn)
            continue
        if not isinstance(awaited, ToChoose):
            GAME.play(state, ROLLED[tuple(drawn.choices(range(1, 7), k=4))])
            continue
        choices = list(GAME.legal(state))
        view: Any = GAME.view(state, 0)
        if isinstance(choices[0], Advance):
            if drawn.random() < 0.2:
                for choice in choices:
                    assert isinstance(choice, Advance)
                    after = GAME.apply(state, choice)
                    assert throws_that_can_be_used(after) == round(chance(view, choice.columns) * 1296)
                compared += 1
        elif drawn.random() < 0.2:
            assert throws_that_can_be_used(state) == round(chance(view) * 1296)
            compared += 1
        GAME.play(state, drawn.choice(choices))
