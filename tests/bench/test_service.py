"""The bench of the service runs to its end; how fast anything is depends on the machine, and is not looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog

from tests.bench.service import choices, fan_out, stored, suite

TINY = {
    choices: {"AT_ONCE": 1, "CHOICES_EACH": 2, "PLAYED": 1, "PLAYS_EACH": 2},
    fan_out: {"TIMES": 1, "BURST": 2},
    stored: {"GROUP": 2, "APPENDS_EACH": 2, "ALONE": 2, "MATCHES": 1, "CHOICES": 4},
    suite: {"WATCHERS": 2, "WATCHERS_TIMED": 2},
}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything that is measured, but little of it; the bench's log is put away afterwards."""
    for module, sizes in TINY.items():
        for name, size in sizes.items():
            monkeypatch.setattr(module, name, size)
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("tiny")
def test_the_bench_of_the_service_runs_to_its_end() -> None:
    """Once an argument of a script was forgotten, and nobody noticed before the next release was to be measured."""
    rows = suite.bench(1)
    assert {"Choose, 1 matches at once", "frames to 2 watchers", "group commit of 2 matches"} <= {
        row.name for row in rows
    }
    assert all(row.median > 0 for row in rows)
