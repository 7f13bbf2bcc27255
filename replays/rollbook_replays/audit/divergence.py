"""How a check says that something is not as it has to be."""

from __future__ import annotations

from rollbook_replays.audit.verdicts import Check, Divergence


class Diverged(Exception):
    """The first thing wrong; what comes behind it proves nothing."""

    def __init__(self, event: int | None, check: Check, expected: str, found: str) -> None:
        """Hold what the verdict will say."""
        super().__init__(event, check, expected, found)
        self.divergence = Divergence(event, check, expected, found)
