"""How a check says that something is not as it has to be."""

from __future__ import annotations

from typing import Final

from rollbook_replays.audit.verdicts import Check, Divergence

LONGEST_TOLD: Final = 2_000
"""Far more than any genuine event takes; a forger cannot fill a judge's memory, or the page."""


class Diverged(Exception):
    """The first thing wrong; what comes behind it proves nothing."""

    def __init__(self, event: int | None, check: Check, expected: str, found: str, *, is_refusal: bool = False) -> None:
        """Hold what the verdict will say."""
        super().__init__(event, check, expected, found)
        self.divergence = Divergence(event, check, shortened(expected), shortened(found), is_refusal)


def shortened(text: str) -> str:
    """What is told of a file, which a stranger may have made as long as a file can be.

    >>> shortened("a short one"), len(shortened("x" * 10**6))
    ('a short one', 2001)
    """
    return text if len(text) <= LONGEST_TOLD else text[:LONGEST_TOLD] + "…"
