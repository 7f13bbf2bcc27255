"""Measures several things side by side: each round runs all of them once."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from statistics import median as median_of
from typing import Any, TypeAlias

Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a measured coroutine on the loop of the bench."""


@dataclass(frozen=True)
class Measure:
    """A measure: work that returns its number of units, and the goal for its ratio to the baseline."""

    name: str
    unit: str
    work: Callable[[], float]
    goal: float | None = None
    by_processor: bool = False
    """Whether the goal is for the ratio by processor time, which other programs on the same cores do not change."""


@dataclass(frozen=True)
class Row:
    """A result."""

    name: str
    unit: str
    rates: tuple[float, ...]
    ratio: float
    goal: float | None
    at_most: bool = False
    """Whether the goal is an upper limit."""
    by_processor: float | None = None
    """The ratio of units per second of this process's own processor time."""
    judged_by_processor: bool = False
    """Whether the goal is for `by_processor`."""

    @property
    def median(self) -> float:
        """The median of the rounds: units a second, or the looked-up value."""
        return median_of(self.rates)

    @property
    def reached(self) -> bool:
        """Whether the goal was reached."""
        if self.goal is None:
            return True
        ratio = self.by_processor if self.judged_by_processor and self.by_processor is not None else self.ratio
        return ratio <= self.goal if self.at_most else ratio >= self.goal


def side_by_side(measures: Sequence[Measure], rounds: int) -> list[Row]:
    """Return the rates of all measures; the ratios are to the first, round by round."""
    rates: list[list[float]] = [[] for _ in measures]
    processor: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for number, measure in enumerate(measures):
            gc.collect()
            started, began = time.perf_counter(), time.process_time()
            units = measure.work()
            processor[number].append(units / (time.process_time() - began))
            rates[number].append(units / (time.perf_counter() - started))
    return [
        Row(
            measure.name,
            measure.unit,
            tuple(found),
            _ratio(found, rates[0]),
            measure.goal,
            by_processor=_ratio(worked, processor[0]),
            judged_by_processor=measure.by_processor,
        )
        for measure, found, worked in zip(measures, rates, processor, strict=True)
    ]


def looked_up(measures: Sequence[Measure], rounds: int) -> list[Row]:
    """Return the value of each work, such as a time with an upper limit; the ratios are to the first."""
    found: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for measure, values in zip(measures, found, strict=True):
            gc.collect()
            values.append(measure.work())
    return [
        Row(measure.name, measure.unit, tuple(values), _ratio(values, found[0]), measure.goal, at_most=True)
        for measure, values in zip(measures, found, strict=True)
    ]


def _ratio(found: Sequence[float], baseline: Sequence[float]) -> float:
    return median_of(value / base for value, base in zip(found, baseline, strict=True))
