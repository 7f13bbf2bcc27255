"""Long work in slices: between two of them the event loop serves all other calls."""

from __future__ import annotations

import asyncio
import time
from typing import Final

SLICE_SECONDS: Final = 0.001
"""How long a piece of work may keep the loop: every call passes through the loop several times, and may wait each time
for a slice."""

LONGEST_SECONDS: Final = 0.002
"""A slice that has lasted longer has waited for something in between."""

RESTS: Final = 3
"""How many times as long as a slice the loop is left to others, which is enough for a choice from its request to its
answer."""


class Slices:
    """The slices of one piece of work, the first of which begins now."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def is_over(self) -> bool:
        """Whether the slice has lasted long enough, so that the work has to `rest`."""
        return time.perf_counter() - self._began > SLICE_SECONDS

    async def rest(self) -> None:
        """Leave the loop to others for a while, and begin another slice."""
        lasted = min(time.perf_counter() - self._began, LONGEST_SECONDS)
        await asyncio.sleep(RESTS * lasted)
        self._began = time.perf_counter()
