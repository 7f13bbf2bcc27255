"""The exception that a check raises when it finds a fault."""

from __future__ import annotations

from typing import Final

from rollbook_replays.audit.verdicts import Check, Divergence

LONGEST_TOLD: Final = 2_000
"""Characters of a text from a file in a verdict: more than any genuine event needs, and a limit for a forged one."""


class Diverged(Exception):
    """The first fault in a file; the audit stops there, because the rest proves nothing."""

    def __init__(self, event: int | None, check: Check, expected: str, found: str, *, is_refusal: bool = False) -> None:
        """Build the `Divergence` of the verdict, with both texts shortened."""
        super().__init__(event, check, expected, found)
        self.divergence = Divergence(event, check, shorten_text(expected), shorten_text(found), is_refusal)


def shorten_text(text: str) -> str:
    """The text cut to `LONGEST_TOLD` characters; a text from a forged file can be as long as the file.

    >>> shorten_text("a short one"), len(shorten_text("x" * 10**6))
    ('a short one', 2001)
    """
    return text if len(text) <= LONGEST_TOLD else text[:LONGEST_TOLD] + "…"
