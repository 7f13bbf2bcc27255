"""A turn step by step, for the page of a game's rules: moves, the board after each step, and the odds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rollbook.rules.game import Game
from rollbook_replays.games.chart import Chart
from rollbook_replays.games.words import Words


@dataclass(frozen=True, slots=True)
class Step:
    """Some moves, and what happens in them, in both languages."""

    moves: tuple[Any, ...]
    english: str
    german: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """A turn step by step, as seat 0 sees it, and how likely things are."""

    seats: int
    steps: tuple[Step, ...]
    odds: Callable[[Words], Iterable[Chart]]
    """Returns tables of chances, computed from the rules."""

    def views(self, rules: Game[Any, Any, Any]) -> Iterator[tuple[Step, Any, Any]]:
        """Yield each step with the view after it and the next move; raises a refusal if a move is illegal."""
        state = rules.start({}, self.seats)
        following = [step.moves[0] for step in self.steps[1:]]
        for step, move in zip(self.steps, [*following, None], strict=True):
            state = rules.fold(state, step.moves)
            yield step, rules.view(state, 0), move


def chance(cases: int, of: int) -> str:
    """A chance in whole percent, rounded down, so that only a certain event has 100.

    >>> chance(1295, 1296), chance(1, 1296), chance(0, 6)
    ('99 %', '< 1 %', '0 %')
    """
    percent = 100 * cases // of
    return f"{percent} %" if percent or not cases else "< 1 %"
