"""What an operator accepts who lets the service go on after the store has lost data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from rollbook.match.commands import Origin
from rollbook.server.play.matches import Matches


class Recognition(Protocol):
    """By which processes recognise their store."""

    async def accept(self) -> bool:
        """Accept that the store was emptied; returns whether it was."""


class LossRecord(Protocol):
    """The matches of which the store lacks acknowledged events."""

    async def accept(self) -> Sequence[str]:
        """Let all processes append again; returns the matches, until each is settled."""

    async def settle(self, match_id: str) -> None:
        """Record that a match has been ended."""


async def accept_loss(
    recognition: Recognition, record: LossRecord, matches: Matches, clock_ms: Callable[[], int]
) -> Sequence[str] | None:
    """Go on with what the store has, and end the matches that lack events.

    Returns the ended matches, None if nothing was lost. It may be repeated after a failure.
    """
    was_emptied = await recognition.accept()
    lacking = await record.accept()
    for match_id in lacking:
        await matches.end_lost(match_id, Origin(clock_ms()))
        await record.settle(match_id)
    return lacking if lacking or was_emptied else None
