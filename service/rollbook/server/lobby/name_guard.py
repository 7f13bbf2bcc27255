"""Counts operations that copy names, so that `forget` can wait until they finish."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class NameUses:
    """Running uses of names, by the age in which they began."""

    def __init__(self) -> None:
        self.age = 0
        """Increases whenever names are erased; names read in an earlier age must not be kept."""
        self._uses: Counter[int] = Counter()
        self._ended = asyncio.Event()

    @contextmanager
    def use(self) -> Iterator[None]:
        """Read and write names within this context."""
        age = self.age
        self._uses[age] += 1
        try:
            yield
        finally:
            self._uses[age] -= 1
            if not self._uses[age]:
                del self._uses[age]
                self._ended.set()

    async def begin_anew(self) -> None:
        """Begin a new age, and wait for all uses of earlier ages."""
        self.age += 1
        while any(age < self.age for age in self._uses):
            self._ended.clear()
            await self._ended.wait()
