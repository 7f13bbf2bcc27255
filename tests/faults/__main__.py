"""Cause faults of a service and its store while clients play: `python -m tests.faults NAME --seed S --seconds N`.

Processes, sockets and files are real. The checkers of the simulation examine all requests and answers, and finally the
stored logs. A run that breaks a promise exits with code 1, and leaves its history and its directory; a run without a
broken promise writes its figures into `RESULTS.md`. A seed repeats what is drawn, but not the timing of processes and
disks.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.bench import results
from tests.faults.catalogue import FAULTS
from tests.faults.outcome import Outcome, Run

FILE: Final = Path(__file__).with_name("RESULTS.md")
HEADING: Final = """# What was done to the service, and what came of it

Each section is what `python -m tests.faults NAME` wrote when it last ran, with the machine it ran on.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run one of them, or all one after the other; the exit code."""
    options = _options(words)
    names = list(FAULTS) if options.name == "all" else [options.name]
    code = 0
    for name in names:
        code |= _one(name, options)
    return code


def _one(name: str, options: argparse.Namespace) -> int:
    directory = Path(tempfile.mkdtemp(prefix=f"rollbook-{name}-"))
    seconds = options.seconds / (len(FAULTS) if options.name == "all" else 1)
    print(f"{name}: seed {options.seed}, {seconds:g} s, {directory}", flush=True)
    began = time.monotonic()
    outcome = asyncio.run(FAULTS[name](Run(options.seed, seconds, directory, lambda line: print(line, flush=True))))
    took = time.monotonic() - began
    for broken in outcome.broken:
        print(f"{name}: {broken}")
    if outcome.broken:
        (directory / "history.txt").write_text("\n".join(outcome.history) + "\n", "utf-8")
        print(f"again: python -m tests.faults {name} --seed {options.seed} --seconds {seconds:g}")
        print(f"history: {directory / 'history.txt'}")
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    lines = _section(name, options.seed, took, outcome)
    print("\n".join(lines))
    if not options.dry:
        results.write(name, lines, FILE, HEADING)
    return 0


def _section(name: str, seed: int, took: float, outcome: Outcome) -> list[str]:
    said = [f"- {figure}: {value}" for figure, value in outcome.figures.items()]
    return [f"`python -m tests.faults {name} --seed {seed}` took {took:.0f} s; no promise was broken.", "", *said]


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.faults", description=__doc__)
    parser.add_argument("name", choices=[*FAULTS, "all"], help="what to do; all: one after the other")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="what is drawn follows from it")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long things go wrong, of all together")
    parser.add_argument("--dry", action="store_true", help="write no results")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
