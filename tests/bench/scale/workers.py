"""A move where one service is several processes: its streams in the same one, and in different ones.

A connection belongs to one worker. So where each match has a connection, all of its streams are in the same worker;
where each participant has one, they are not.
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
"""With two workers, on cores that the load shares."""
LATER_MS: Final = {"p50": 5.0, "p99": 25.0}


def is_there() -> bool:
    """Whether a service can have workers."""
    said = subprocess.run(
        (sys.executable, "-m", "rollbook", "serve", "--help"), capture_output=True, text=True, check=True
    )
    return FLAG in said.stdout


@dataclass(frozen=True, slots=True)
class Played:
    """Rounds with so many workers, whose connections belong to a match or to a participant."""

    rounds: list[Round] = field(default_factory=list)
    paced: list[Round] = field(default_factory=list)
    """At half load."""

    @property
    def micros(self) -> float:
        """What a move costs all workers together."""
        return median(each.micros("server") for each in self.rounds)

    @property
    def rate(self) -> float:
        """Moves a second; also of rounds in which the load was slow, as it shares the cores."""
        return median(each.rate for each in self.rounds)

    def told_ms(self, part: str) -> float:
        """When everybody had a move, at half load."""
        return median(each.told_ms[part] for each in self.paced)


def several_workers(size: Size, said: Callable[[str], None]) -> list[str]:
    """What a move costs by workers, and how long frames take at half load."""
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
    """By how much frames are later in other workers, the median and the highest of a hundred."""
    later = {part: apart.told_ms(part) - together.told_ms(part) for part in LATER_MS}
    reached = all(later[part] <= most for part, most in LATER_MS.items())
    return f"{later['p50']:+.1f} and {later['p99']:+.1f} ms{_bound(reached, '<= 5 and 25')}"
