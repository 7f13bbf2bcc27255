"""The screens equal their snapshots."""

from __future__ import annotations

import pytest

from tests.clients.terminal.pictures import PICTURES, SNAPSHOTS


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_looks_as_it_did(name: str) -> None:
    """A change of a screen changes a snapshot, which the author has to review."""
    kept = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert kept == f"{PICTURES[name]()}\n", "python -m tests.clients.terminal.pictures makes the snapshots anew"


def test_no_snapshot_is_of_nothing() -> None:
    """Every snapshot has a picture that makes it."""
    assert sorted(PICTURES) == sorted(path.stem for path in SNAPSHOTS.glob("*.txt"))
