"""A pytest plugin that writes the failed tests with their errors, so that `.ci/run` can run each of them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


class Failures:
    """The failures of a run, collected in the process that distributes the tests."""

    def __init__(self, file: Path) -> None:
        """`file`: where to write."""
        self._file = file
        self._ended: set[str] = set()
        self._failed: dict[str, str] = {}
        self._not_collected: set[str] = set()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that cannot be collected; the tests of other files still run."""
        if report.failed:
            self._not_collected.add(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the first failure of a test; a crashed worker fails its running test."""
        self._ended.add(report.nodeid)
        if report.failed:
            self._failed.setdefault(report.nodeid, report.longreprtext)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the file."""
        not_run = max(0, session.testscollected - len(self._ended))
        found = {
            "exit_code": int(exitstatus),
            "not_collected": sorted(self._not_collected),
            "not_run": not_run,
            "failed": self._failed,
        }
        self._file.write_text(json.dumps(found), encoding="utf-8")
