"""`python -m tests.mutants`: random changes to the code, one at a time, and which the tests do not notice.

A change is a comparison turned, an `and` for an `or`, a constant one more or less, a `not`, a statement or an allowed
value left out. For each, in a copy of the tree as it is, the tests run that execute the changed line, until one fails.
What survives is printed with its place: a test is missing there, or the change means nothing, which only a reader can
tell. The same seed and the same tree give the same changes.

The first run takes some times as long as the suite, since it finds out which tests execute which lines. That is kept
in `.mutants/` and holds until a module or a helper of tests changes; a changed file of tests is looked at again alone.

  python -m tests.mutants --count 300 --jobs 2                   all modules, all tests; the seed is drawn and printed
  python -m tests.mutants --seed 7 --count 20 --only service/rollbook/rules --tests tests/rules tests/match
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rollbook.cli.progress import Progress
from tests.mutants.changes import Change
from tests.mutants.crew import Crew, crew
from tests.mutants.drawing import draw, modules
from tests.mutants.reach import Reach, Traces, files_with_tests
from tests.mutants.verdicts import Judge, Judged, Verdict

ROOT = Path(__file__).parents[2]

KEPT = ".mutants"
"""The folder for cached facts about the tests."""


def main(words: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Make the changes and report; 0 if none survived, 1 if some did, 2 if there is nothing to do, 130 by Ctrl-C."""
    asked = _arguments().parse_args(words)
    seed = secrets.randbelow(1_000_000) if asked.seed is None else asked.seed
    counts: Counter[Verdict] = Counter()
    drawn = 0
    try:
        with crew(root, asked.jobs) as workers:
            changes = draw(workers.root, modules(workers.root, asked.only), seed, asked.count)
            drawn = len(changes)
            files = files_with_tests(workers.root, asked.tests)
            if not changes or not files:
                print("There is nothing to change, or no test to notice it.", file=sys.stderr)
                return 2
            print(f"seed {seed}", flush=True)
            for judged in _judged(workers, changes, Traces(workers.root, root / KEPT), files, asked.test_seconds):
                counts[judged.verdict] += 1
                if judged.verdict is Verdict.SURVIVED:
                    print(f"{judged.change}  ({judged.tests} tests)", flush=True)
    except KeyboardInterrupt:
        _summary(counts, seed, drawn)
        return 130
    _summary(counts, seed, drawn)
    return 1 if counts[Verdict.SURVIVED] else 0


def _judged(
    workers: Crew, changes: Sequence[Change], traces: Traces, files: Sequence[str], test_seconds: int
) -> Iterator[Judged]:
    """Find the tests of each line where they are not cached, then judge change by change."""
    missing = traces.missing(files)
    with Progress("file of tests traced", "files of tests traced", len(missing)) as progress:
        for _ in workers.each(traces.trace, missing):
            progress.one_more()
    judge = Judge(Reach(traces.read(files)), test_seconds)
    with Progress("change", "changes", len(changes)) as progress:
        for judged in workers.each(judge, changes):
            progress.one_more()
            yield judged


def _summary(counts: Counter[Verdict], seed: int, drawn: int) -> None:
    done = counts.total()
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
    rate = counts[Verdict.SURVIVED] / done if done else 0
    rest = "" if done == drawn else f"; {drawn - done} of {drawn} not looked at"
    print(f"seed {seed}: {done} changes: {parts}; {rate:.1%} survived{rest}")


def _arguments() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("--seed", type=int, help="which changes are made. Default: drawn and printed")
    words.add_argument("--count", type=_positive, default=20, help="how many changes are made (default 20)")
    words.add_argument("--only", nargs="+", metavar="PATH", default=(), help="change only modules below these paths")
    words.add_argument("--tests", nargs="+", metavar="PATH", default=(), help="ask only the tests below these paths")
    words.add_argument("--jobs", type=_positive, default=1, help="copies of the tree at work at once (default 1)")
    words.add_argument("--test-seconds", type=_positive, default=60, help="the longest a test may take (default 60)")
    return words


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{word} is not 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
