"""`python -m tests.bench compare REVISION`: what this commit costs in processor time, compared with another one.

Both commits are checked out into a temporary folder. Every round runs each benchmark once in both, in alternating
order, so that a busy machine slows both alike. A row's cost is the inverse of its ratio to the baseline of its
benchmark, by processor time; the table has the ratio of this commit's cost to the other's. Uncommitted changes are not
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = (".", "service", "replays", "clients")
MOST: Final = 1.05
"""The goal for the upper quartile of a row's ratios."""

Costs: TypeAlias = dict[str, float]
"""By row: processor time, in units of what the baseline takes."""


def main(words: Sequence[str]) -> None:
    """Compare, print a line for each row, and exit with 1 if a row is above the goal."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench compare", description=__doc__)
    parser.add_argument("revision", help="the other commit")
    parser.add_argument("--rounds", type=int, default=9, help="how often both are measured (default 9)")
    parser.add_argument(
        "--bench", action="append", choices=("rules", "service", "replays"), help="only this one; repeatable"
    )
    parser.add_argument("--tiny", action="store_true", help="next to nothing, only to see that it runs")
    chosen = parser.parse_args(words)
    ratios: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        trees = [
            check_out(revision, Path(folder) / name)
            for name, revision in (("ours", "HEAD"), ("other", chosen.revision))
        ]
        try:
            for number in range(chosen.rounds):
                for bench in chosen.bench or ("rules", "service", "replays"):
                    order = trees if number % 2 else trees[::-1]
                    costs = {tree.name: measure(tree, bench, tiny=chosen.tiny) for tree in order}
                    for row in costs["ours"].keys() & costs["other"].keys():
                        ratios[row].append(costs["ours"][row] / costs["other"][row])
                print(f"round {number + 1} of {chosen.rounds}", file=sys.stderr, flush=True)
        finally:
            for tree in trees:
                subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True)
    above = 0
    print(f"{'processor time, this commit to ' + chosen.revision:<60} median  upper quartile")
    for row, found in sorted(ratios.items()):
        upper = upper_quartile(found)
        above += upper > MOST
        print(f"{row:<60} {statistics.median(found):6.3f}  {upper:6.3f}{'  MISSED' if upper > MOST else ''}")
    sys.exit(1 if above and not chosen.tiny else 0)


def check_out(revision: str, tree: Path) -> Path:
    """Check the commit out into a folder of its own."""
    words = ["git", "worktree", "add", "--quiet", "--detach", str(tree), revision]
    subprocess.run(words, cwd=ROOT, check=True)
    return tree


def measure(tree: Path, bench: str, *, tiny: bool) -> Costs:
    """Run a benchmark of the tree for one round."""
    words = [sys.executable, "-m", "tests.bench", bench, "--rounds", "1", *(["--tiny"] if tiny else [])]
    paths = os.pathsep.join(str(tree / source) for source in SOURCES)
    done = subprocess.run(
        words, cwd=tree, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True, check=True
    )
    rows = json.loads(done.stdout.splitlines()[-1])
    # The first row is the baseline.
    return {f"{bench}: {row['name']}": 1 / row["by_processor"] for row in rows[1:] if row["by_processor"]}


def upper_quartile(found: Sequence[float]) -> float:
    """The value that a quarter of them reach or exceed."""
    return found[0] if len(found) == 1 else statistics.quantiles(found, n=4, method="inclusive")[2]
