"""The screens as they look."""

from __future__ import annotations

import pytest

from tests.clients.terminal.pictures import PICTURES, SNAPSHOTS


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_looks_as_it_did(name: str) -> None:
    """What a person sees changes only when somebody wants it to, and has looked at the change."""
    kept = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert kept == f"{PICTURES[name]()}\n", "python -m tests.clients.terminal.pictures makes the snapshots anew"


def test_no_snapshot_is_of_nothing() -> None:
    """A snapshot that no test looks at is a promise that nobody keeps."""
    assert sorted(PICTURES) == sorted(path.stem for path in SNAPSHOTS.glob("*.txt"))
