"""What no append may exceed, whichever store it goes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rollbook.match.chain import Entry

MOST_BYTES: Final = 64 << 20
"""The most that the entries of one append may weigh: far below where a store would break off, far above any match."""

KEEP_SECONDS: Final = 7 * 24 * 3_600
"""How long the head of an archived match stays in the store."""


def check_append(match_id: str, expected: int, entries: Sequence[Entry]) -> None:
    """Raise ValueError for an append that no state of the store could make right."""
    if not match_id:
        raise ValueError("a match has an id")
    if expected < 0:
        raise ValueError(f"sequences begin at 1, so nothing stands behind {expected}")
    if not entries:
        raise ValueError("an append has at least one entry")
    weight = sum(len(entry.event) + len(entry.private) for entry in entries)
    if weight > MOST_BYTES:
        raise ValueError(f"an append weighs at most {MOST_BYTES} bytes, not {weight}")
