"""Splits long work into slices, so that the event loop serves other calls in between."""

from __future__ import annotations

import asyncio
from typing import Final

SLICE_SECONDS: Final = 0.001
"""How long a piece of work may block the loop. A call passes through the loop several times, and may wait for a slice
each time."""

LONGEST_SECONDS: Final = 0.002
"""A slice that lasted longer was interrupted by other work, so it counts as this long."""

RESTS: Final = 3
"""The loop serves other calls for this many times the length of a slice, which is enough to answer one player's
choice."""


class Slices:
    """The slices of one piece of work; the first slice begins with the object."""

    __slots__ = ("_began", "_time")

    def __init__(self) -> None:
        # The loop's clock, which stands still while the loop of a simulation works.
        self._time = asyncio.get_running_loop().time
        self._began = self._time()

    @property
    def is_over(self) -> bool:
        """Whether the slice has lasted long enough, so that the work must call `rest`."""
        return self._time() - self._began > SLICE_SECONDS

    async def rest(self) -> None:
        """Let the loop serve other calls for a while, then begin the next slice."""
        lasted = min(self._time() - self._began, LONGEST_SECONDS)
        await asyncio.sleep(RESTS * lasted)
        self._began = self._time()
