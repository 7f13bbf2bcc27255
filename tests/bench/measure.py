"""Measuring several things side by side: each round takes all of them once."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median as median_of


@dataclass(frozen=True)
class Measure:
    """One thing to measure: work that says how many units it did, and the goal for its ratio to the baseline."""

    name: str
    unit: str
    work: Callable[[], int]
    goal: float | None = None


@dataclass(frozen=True)
class Row:
    """What was measured."""

    name: str
    unit: str
    rates: tuple[float, ...]
    ratio: float
    goal: float | None

    @property
    def median(self) -> float:
        """Units a second, the median of the rounds."""
        return median_of(self.rates)


def side_by_side(measures: Sequence[Measure], rounds: int) -> list[Row]:
    """Rates of all, the first being the baseline that the others' ratios are to, round by round."""
    rates: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for measure, found in zip(measures, rates, strict=True):
            gc.collect()
            started = time.perf_counter()
            units = measure.work()
            found.append(units / (time.perf_counter() - started))
    return [
        Row(
            measure.name,
            measure.unit,
            tuple(found),
            median_of(rate / baseline for rate, baseline in zip(found, rates[0], strict=True)),
            measure.goal,
        )
        for measure, found in zip(measures, rates, strict=True)
    ]
