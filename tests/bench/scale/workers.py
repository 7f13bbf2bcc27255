"""A move where one service is several processes: its streams in the same one, and in different ones.

A connection belongs to one worker. So where each match has a connection, all of its streams are in the same worker;
where each participant has one, they are not.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
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
LATER_MS: Final = {"p50": 5.0, "p99": 25.0}


def is_there() -> bool:
    """Whether a service can have workers."""
    said = subprocess.run(
        (sys.executable, "-m", "rollbook", "serve", "--help"), capture_output=True, text=True, check=True
    )
    return FLAG in said.stdout


def several_workers(size: Size, said: Callable[[str], None]) -> list[str]:
    """What a move costs by workers, and how long frames take at half load."""
    if not is_there():
        return [f"Workers are not measured: `rollbook serve` has no {FLAG}."]
    rows: list[list[str]] = []
    baseline: dict[str, Round] = {}
    for workers in size.workers:
        found: dict[str, Round] = {}
        paced: dict[str, Round] = {}
        with serving(FLAG, str(workers)) as service:
            for layout in (TOGETHER, APART):
                how = replace(size.shared, connections=layout)
                found[layout] = one_round(service, how)
                paced[layout] = one_round(service, how, rate=found[TOGETHER].rate / 2)
                said(f"{workers} workers, a connection a {layout}: {found[layout].said}")
                said(f"{workers} workers, a connection a {layout}, half load: {paced[layout].said}")
        baseline = baseline or found
        for layout, one in found.items():
            first = baseline[layout]
            ratio = one.micros("server") / first.micros("server")
            rows.append(
                [
                    f"{workers}, a connection a {layout}",
                    f"{one.micros('server'):,.0f}",
                    f"{ratio:.2f}",
                    _bound(ratio, MOST_TOGETHER if layout == TOGETHER else MOST_APART.get(workers)),
                    f"{one.rate:,.0f}",
                    f"{one.rate / first.rate:.2f}",
                    *(f"{paced[layout].told_ms[part]:.1f}" for part in LATER_MS),
                    _later(paced[layout], paced[TOGETHER]) if layout == APART else "",
                ]
            )
    heads = ("workers", "server µs a move", "over one", "", "moves/s", "over one", "half load p50 ms", "p99", "apart")
    return results.table(heads, rows)


def _bound(ratio: float, most: float | None) -> str:
    return "" if most is None else f"<= {most:g} {'reached' if ratio <= most else 'MISSED'}"


def _later(apart: Round, together: Round) -> str:
    """By how much frames are later in other workers, the median and the highest of a hundred."""
    later = {part: apart.told_ms[part] - together.told_ms[part] for part in LATER_MS}
    reached = all(later[part] <= most for part, most in LATER_MS.items())
    return f"{later['p50']:+.1f} and {later['p99']:+.1f} ms later {'reached' if reached else 'MISSED'}"
