"""`python -m tests.bench peers`: a durable move beside that of a peer in memory, and of a prototype without rules.

Each has the same load from a new process: 50 matches of two seats, with every move sent to two players and two
spectators. Every round measures all of them, one after the other, each on a new server.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from tests.bench import results
from tests.bench.peers import bare, boardgame_io
from tests.bench.peers.boardgame_io import NAME as BOARDGAME
from tests.bench.peers.rounds import Round
from tests.bench.peers.service import one_round, profile, serving
from tests.bench.peers.size import FULL, TINY, Size

ROLLBOOK: Final = "Rollbook, fsync"
PROTOTYPE: Final = "bare prototype, fsync"
SHARED: Final = "8"
OWN: Final = "participant"


@dataclass(frozen=True, slots=True)
class Run:
    """A part of every round."""

    peer: str
    connections: str
    paced: bool = False

    @property
    def name(self) -> str:
        """The name in reports."""
        return f"{self.peer}, {'own connections' if self.connections == OWN else f'{self.connections} connections'}"


RUNS: Final = (
    *(Run(peer, connections) for peer in (ROLLBOOK, PROTOTYPE) for connections in (SHARED, OWN)),
    Run(BOARDGAME, OWN),
    *(Run(ROLLBOOK, connections, paced=True) for connections in (SHARED, OWN)),
    Run(BOARDGAME, OWN, paced=True),
)
Found = Mapping[Run, Sequence[Round]]


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio of the service to a peer: its limit and its aim."""

    what: str
    peer: str
    value: Callable[[Round], float]
    must: float
    aim: float
    paced: bool = False
    is_rate: bool = False
    """A rate with a lower limit, which counts only if the load was not the bottleneck."""


GOALS: Final = (
    Goal("server CPU a move", BOARDGAME, lambda found: found.micros("server"), 1.8, 1.2),
    Goal("server CPU a move", PROTOTYPE, lambda found: found.micros("server"), 2.2, 1.4),
    Goal("moves/s", BOARDGAME, lambda found: found.rate, 0.5, 0.8, is_rate=True),
    Goal("p99 to all feeds, moves offered", BOARDGAME, lambda found: found.told_ms["p99"], 2.0, 1.0, paced=True),
)


def main(words: Sequence[str]) -> None:
    """Measure and print; a complete run also writes its section."""
    given = _given(words)
    size = TINY if given.tiny else replace(FULL, seconds=given.seconds)
    if given.profile:
        print(profile(replace(size, connections=given.connections or SHARED)))
        return
    peers, missing = _peers(given.only, install=not given.tiny)
    runs = [run for run in RUNS if run.peer in peers]
    if given.tiny:
        # Enough for every line of the report; own connections use the same code.
        runs = [run for run in runs if run.connections == SHARED or given.only]
    if given.only:
        whose = OWN if given.only == "boardgame" else given.connections or SHARED
        runs = [run for run in runs if run.connections == whose and not run.paced]
    found = measured(runs, 1 if given.tiny else given.rounds, size)
    lines = [*report(found, size), *missing]
    print("\n".join(lines))
    if not (given.only or given.tiny):
        results.write("peers", lines)


def _given(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench peers", description=__doc__)
    parser.add_argument("--only", choices=["rollbook", "bare", "boardgame"], help="this one, as fast as it can be")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured (default 5)")
    parser.add_argument("--seconds", type=float, default=FULL.seconds, help="how long a round takes")
    parser.add_argument("--connections", choices=[OWN, SHARED], help="with --only or --profile: whose they are")
    parser.add_argument("--tiny", action="store_true", help="next to nothing of everything, once, to see that it runs")
    parser.add_argument("--profile", action="store_true", help="print where the service's time goes")
    return parser.parse_args(words)


def _peers(only: str | None, *, install: bool) -> tuple[list[str], list[str]]:
    """Return the peers that can be measured, and a line for each other peer."""
    if only is not None and only != "boardgame":
        return [{"rollbook": ROLLBOOK, "bare": PROTOTYPE}[only]], []
    others = [] if only else [ROLLBOOK, PROTOTYPE]
    why = boardgame_io.installed() if install else boardgame_io.why_not()
    if why:
        return others, ["", f"{BOARDGAME} is not measured: {why}"]
    return [*others, BOARDGAME], ["", boardgame_io.versions()]


def measured(runs: Sequence[Run], rounds: int, size: Size) -> Found:
    """Measure all rounds; prints a line after each run."""
    found: dict[Run, list[Round]] = {run: [] for run in runs}
    for number in range(rounds):
        for run, those in found.items():
            those.append(one := _once(run, replace(size, connections=run.connections)))
            offered = f" at {size.offered:,.0f} moves/s" if run.paced else ""
            print(f"round {number + 1} of {rounds}, {run.name}{offered}: {one.said}", flush=True)
    return found


def _once(run: Run, size: Size) -> Round:
    rate = size.offered if run.paced else 0.0
    if run.peer == ROLLBOOK:
        with serving() as service:
            return one_round(service, size, rate=rate)
    if run.peer == PROTOTYPE:
        return bare.one_round(size, rate=rate)
    return boardgame_io.one_round(size, rate=rate)


def report(found: Found, size: Size) -> list[str]:
    """Return two tables and the ratios."""
    heads = ("", "server µs a move", "store µs", "moves/s", "answer p50 ms", "p99", "feeds p50 ms", "p99", "load")
    lines = [
        f"{size.matches} matches of two seats, {size.seconds:g} s a round; medians, and the lowest to the highest."
    ]
    for paced in (False, True):
        if rows := [_row(run.name, those) for run, those in found.items() if run.paced == paced]:
            title = f"{size.offered:,.0f} moves/s offered:" if paced else "As fast as it goes:"
            lines += ["", title, "", *results.table(heads, rows)]
    if ratios := [row for goal in GOALS for row in _ratios(goal, found)]:
        lines += ["", *results.table(("Rollbook over", "ratio", "must", "aim", ""), ratios)]
    return lines


def _row(name: str, those: Sequence[Round]) -> list[str]:
    counting = [each for each in those if each.counts]
    has_store = all("store" in each.processor for each in those)
    return [
        name,
        _spread([each.micros("server") for each in those]),
        _spread([each.micros("store") for each in those]) if has_store else "-",
        _spread([each.rate for each in counting]) if counting else "the load was too slow",
        *(_spread([times[part] for times in kind], 1) for kind in _times(those) for part in ("p50", "p99")),
        f"{100 * median(each.load for each in those):.0f} %",
    ]


def _times(those: Sequence[Round]) -> tuple[list[Mapping[str, float]], list[Mapping[str, float]]]:
    return [each.answer_ms for each in those], [each.told_ms for each in those]


def _spread(values: Sequence[float], digits: int = 0) -> str:
    if len(values) == 1:
        return f"{values[0]:,.{digits}f}"
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def _ratios(goal: Goal, found: Found) -> list[list[str]]:
    """Compute the ratios round by round, so that a busy machine slows both."""
    rows = []
    for run, those in found.items():
        if run.peer != ROLLBOOK or run.paced != goal.paced:
            continue
        other = Run(goal.peer, OWN if goal.peer == BOARDGAME else run.connections, paced=run.paced)
        pairs = zip(those, found.get(other, ()), strict=False)
        ratios = [
            goal.value(ours) / goal.value(theirs)
            for ours, theirs in pairs
            if not goal.is_rate or (ours.counts and theirs.counts)
        ]
        if ratios:
            ratio, sign = median(ratios), "≥" if goal.is_rate else "≤"
            reached = ratio >= goal.must if goal.is_rate else ratio <= goal.must
            name = f"{goal.what}, {run.name.rpartition(', ')[2]}, over {goal.peer}"
            words = [f"{sign} {bound:g}" for bound in (goal.must, goal.aim)]
            rows.append([name, f"{ratio:.2f}", *words, "reached" if reached else "MISSED"])
    return rows
