"""The cost of a move in a service of several workers, with its streams in one worker or in several.

A connection belongs to one worker. With a connection for each match all of its streams are in one worker; with one for
each participant they are in several.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final

from tests.bench import results
from tests.bench.peers.rounds import Round
from tests.bench.peers.service import one_round, serving
from tests.bench.scale.size import Size

FLAG: Final = "--workers"
TOGETHER: Final = "match"
APART: Final = "participant"
MOST_APART: Final = {2: 1.35, 4: 1.7}
MOST_TOGETHER: Final = 1.1
TWO: Final = 2
LEAST_RATE: Final = 0.95
"""The lowest ratio with two workers, on cores that the load shares."""
LATER_MS: Final = {"p50": 5.0, "p99": 25.0}


def is_there() -> bool:
    """Whether a service can have workers here."""
    said = subprocess.run(
        (sys.executable, "-m", "rollbook", "serve", "--help"), capture_output=True, text=True, check=True
    )
    return FLAG in said.stdout


@dataclass(frozen=True, slots=True)
class Played:
    """Rounds with this many workers, with a connection for each match or each participant."""

    rounds: list[Round] = field(default_factory=list)
    paced: list[Round] = field(default_factory=list)
    """Rounds at half load."""

    @property
    def micros(self) -> float:
        """Processor time of all workers for a move, in microseconds."""
        return median(each.micros("server") for each in self.rounds)

    @property
    def rate(self) -> float:
        """Moves a second, also in rounds with a slow load, because the load shares the cores."""
        return median(each.rate for each in self.rounds)

    def told_ms(self, part: str) -> float:
        """The time until all watchers have a move, at half load."""
        return median(each.told_ms[part] for each in self.paced)


def several_workers(size: Size, said: Callable[[str], None]) -> list[str]:
    """Return a table of the cost of a move by workers, and of the delay of frames at half load."""
    if not is_there():
        return [f"Workers are not measured: `rollbook serve` has no {FLAG}."]
    found = {workers: {TOGETHER: Played(), APART: Played()} for workers in size.workers}
    for _ in range(size.rounds):
        for workers, layouts in found.items():
            with serving(FLAG, str(workers)) as service:
                for layout, played in layouts.items():
                    how = replace(size.shared, connections=layout)
                    played.rounds.append(one_round(service, how))
                    played.paced.append(one_round(service, how, rate=layouts[TOGETHER].rate / 2))
                    said(f"{workers} workers, a connection a {layout}: {played.rounds[-1].said}")
                    said(f"{workers} workers, a connection a {layout}, half load: {played.paced[-1].said}")
    first = found[size.workers[0]]
    rows = [
        _row(workers, layout, played, first[layout], layouts[TOGETHER])
        for workers, layouts in found.items()
        for layout, played in layouts.items()
    ]
    heads = ("workers", "server µs a move", "over one", "moves/s", "over one", "half load p50 ms", "p99", "apart")
    return results.table(heads, rows)


def _row(workers: int, layout: str, played: Played, first: Played, together: Played) -> list[str]:
    cost, rate = played.micros / first.micros, played.rate / first.rate
    most = MOST_TOGETHER if layout == TOGETHER else MOST_APART.get(workers, math.inf)
    return [
        f"{workers}, a connection a {layout}",
        f"{played.micros:,.0f}",
        f"{cost:.2f}{_bound(cost <= most, f'<= {most:g}')}" if most < math.inf else f"{cost:.2f}",
        f"{played.rate:,.0f}",
        f"{rate:.2f}{_bound(rate >= LEAST_RATE, f'>= {LEAST_RATE:g}') if workers == TWO else ''}",
        *(f"{played.told_ms(part):.1f}" for part in LATER_MS),
        _later(played, together) if layout == APART and workers > 1 else "",
    ]


def _bound(reached: bool, words: str) -> str:
    return f", {words} {'reached' if reached else 'MISSED'}"


def _later(apart: Played, together: Played) -> str:
    """Return how much later frames arrive in other workers: median and 99th percentile."""
    later = {part: apart.told_ms(part) - together.told_ms(part) for part in LATER_MS}
    reached = all(later[part] <= most for part, most in LATER_MS.items())
    return f"{later['p50']:+.1f} and {later['p99']:+.1f} ms{_bound(reached, '<= 5 and 25')}"
