"""The bench of durability runs."""

from __future__ import annotations

import pytest

from tests.bench import replicated


def test_a_tiny_run_measures_every_durability(capsys: pytest.CaptureFixture[str]) -> None:
    """The smallest run shows that the bench works; it writes no results."""
    replicated.main(["--tiny"])
    said = capsys.readouterr().out
    assert all(f"| {level} |" in said for level in replicated.LEVELS)
