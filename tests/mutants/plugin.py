"""A pytest plugin for tests that run on a mutant, and before that on the unchanged code.

It makes Hypothesis try the same examples each time without shrinking, and ends a test that takes all memory. If the
environment names a file, the plugin writes the time of each test to it and names the running test to coverage.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest
from hypothesis import Phase, settings

TIMES = "ROLLBOOK_TEST_TIMES"
"""The environment variable that names the file for the times."""

MOST_MEMORY_BYTES = 8 << 30

settings.register_profile("mutants", derandomize=True, database=None, phases=(Phase.explicit, Phase.generate))


class Times:
    """The times of the passed tests."""

    def __init__(self, file: Path) -> None:
        """`file`: where to write."""
        self._file = file
        self._seconds: dict[str, float] = {}
        self._not_passed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """From here on coverage assigns the executed lines to this test."""
        tracer = coverage.Coverage.current()
        if tracer is not None:
            tracer.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up setup, test and teardown, which are reported one by one."""
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0) + report.duration
        if not report.passed:
            self._not_passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        passed = {name: seconds for name, seconds in self._seconds.items() if name not in self._not_passed}
        self._file.write_text(json.dumps(passed), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Set the limits, and record times if asked."""
    settings.load_profile("mutants")
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = MOST_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, MOST_MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    if TIMES in os.environ:
        config.pluginmanager.register(Times(Path(os.environ[TIMES])))
