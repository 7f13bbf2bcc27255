"""Simulate the service under faults: `python -m tests.sim --seeds 2000`.

Every seed is one world that can be repeated step by step. The first broken promise ends the run with exit code 1.
`--trace` prints the events before it, and `--steps` limits the faults to fewer messages, for a shorter trace.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
from collections.abc import Iterator, Sequence
from functools import partial

from tests.sim.faults import BREAKS, LOSSES, Fault
from tests.sim.observations import told_line
from tests.sim.world import Outcome, timed_run

LINE = 200
"""Longest line of a trace in characters."""


def main(words: Sequence[str] | None = None) -> int:
    """Run seeds until one fails; return the exit code."""
    options = _options(words)
    seeds = range(options.seed, options.seed + options.seeds)
    also = tuple(Fault[name.upper()] for name in options.also)
    seconds: list[float] = []
    for number, (outcome, took) in enumerate(_outcomes(seeds, options.jobs, options.steps, also), 1):
        seconds.append(took)
        if outcome.violations:
            _show(outcome, trace=options.trace, steps=options.steps)
            return 1
        if number % 20 == 0 or number == len(seeds):
            rate = f"{statistics.median(seconds):.2f} s of CPU a seed in the median, {max(seconds):.2f} at most"
            sys.stdout.write(f"{number} of {len(seeds)} seeds, the last with unseed {outcome.unseed:016x}; {rate}\n")
            sys.stdout.flush()
    return 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.sim", description="Simulate the service under faults.")
    parser.add_argument("--seeds", type=int, default=20, help="how many to run")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--steps", type=int, help="let things go wrong for so many messages")
    parser.add_argument("--jobs", type=int, default=1, help="how many to run at once")
    parser.add_argument("--trace", action="store_true", help="show what led to a broken promise")
    names = [fault.name.lower() for fault in (*LOSSES, *BREAKS)]
    parser.add_argument("--also", action="append", default=[], choices=names, help="a fault to have among them")
    return parser.parse_args(words)


def _outcomes(
    seeds: Sequence[int], jobs: int, steps: int | None, also: tuple[Fault, ...]
) -> Iterator[tuple[Outcome, float]]:
    work = partial(timed_run, steps=steps, also=also)
    if jobs == 1:
        yield from map(work, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(work, seeds)


def _show(outcome: Outcome, *, trace: bool, steps: int | None) -> None:
    again = f"--seed {outcome.seed} --seeds 1" + ("" if steps is None else f" --steps {steps}")
    if trace:
        for at, observation in outcome.seen:
            if getattr(observation, "match_id", "") in {"", outcome.violations[0].match_id}:
                sys.stdout.write(told_line(at, observation)[:LINE] + "\n")
    for violation in outcome.violations:
        sys.stdout.write(f"seed {outcome.seed}: {violation} (match {violation.match_id[:6]})\n")
    sys.stdout.write(f"again: python -m tests.sim {again} --trace\n")


if __name__ == "__main__":
    sys.exit(main())
