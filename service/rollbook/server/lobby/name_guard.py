"""Who takes names from where they are kept to somewhere else, so that forgetting can wait for all who have them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class NameUses:
    """Uses of names, by how often everything was forgotten before they began."""

    def __init__(self) -> None:
        """Know of none."""
        self.age = 0
        """Changes whenever names are forgotten: what was read in another age must not be kept."""
        self._uses: Counter[int] = Counter()
        self._ended = asyncio.Event()

    @contextmanager
    def use(self) -> Iterator[None]:
        """Read names in here, and write them where they go."""
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
        """Begin a new age, and wait for all uses that began before it."""
        self.age += 1
        while any(age < self.age for age in self._uses):
            self._ended.clear()
            await self._ended.wait()
