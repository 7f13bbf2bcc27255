"""The tests' verdict on a change."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.mutants.changes import Change
from tests.mutants.copies import Copy
from tests.mutants.reach import KnownTest, Reach

RUN_SECONDS = 120
"""Time of a run beyond that of its tests before the change."""

SLOWER = 5
"""How many times longer a run may take than its tests took under coverage."""


class Verdict(StrEnum):
    """The result of a change."""

    KILLED = "killed"
    """A test failed."""
    TIMEOUT = "timeout"
    """A test did not end."""
    SURVIVED = "survived"


@dataclass(frozen=True, slots=True)
class Judged:
    """A change with the verdict of the tests."""

    change: Change
    verdict: Verdict
    tests: int
    """The number of tests that could notice it."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Runs the tests of a change until one fails."""

    reach: Reach
    test_seconds: int
    """The longest time of one test."""

    def __call__(self, copy: Copy, change: Change) -> Judged:
        """Make the change in the copy, run the tests, and undo it."""
        tests = self.reach.tests_of(change)
        near = [test for test in tests if self.reach.near(change, test)]
        rest = [test for test in tests if not self.reach.near(change, test)]
        verdict = Verdict.SURVIVED
        with copy.changed(change):
            for stage in filter(None, (near, rest)):
                verdict = self._run(copy, stage)
                if verdict is not Verdict.SURVIVED:
                    break
        return Judged(change, verdict, len(tests))

    def _run(self, copy: Copy, tests: Sequence[KnownTest]) -> Verdict:
        most = RUN_SECONDS + SLOWER * sum(test.seconds for test in tests)
        with tempfile.TemporaryDirectory(prefix="rollbook-mutant-") as folder:
            names = Path(folder) / "tests"
            names.write_text("\n".join(test.name for test in tests), encoding="utf-8")
            ran = copy.test(["--exitfirst", f"--timeout={self.test_seconds}", f"@{names}"], most)
        if ran.code == 0:
            return Verdict.SURVIVED
        if ran.code is None or "Timeout" in ran.output:
            return Verdict.TIMEOUT
        return Verdict.KILLED
