"""Whether what a server says counts, where another one may have taken its place without its knowing.

A master that stood still, was replaced and goes on answers what it is asked as if nothing had happened, and all that it
acknowledges is lost when it is demoted. Only the Sentinels know. To ask them at every answer would cost more than most
answers, and need not be: nobody is replaced who has just answered everything at once.
"""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final, TypeAlias

Still: TypeAlias = Callable[[], Awaitable[bool]]

LATE_SECONDS: Final = 0.25
"""After so long a server may have been replaced before it answered; less than a failover takes to begin."""

REPLACED: Final = "another server has taken the place of this one"


class Credibility:
    """Of one server: what it says late counts only if it is still the one to say it, as is found out afterwards.

    As long as one question is overdue that holds for the answers to all others, however soon they come.
    """

    def __init__(self, still: Still | None = None) -> None:
        """Ask `still`, which looks now; nothing, if no other server ever takes this one's place."""
        self._still = still
        self._numbers = count()
        self._asked_at: dict[int, float] = {}
        """When the questions were asked that have no answer yet, the oldest first."""

    @contextmanager
    def question(self) -> Iterator[None]:
        """Something is asked of it, and its answer judged within."""
        number = next(self._numbers)
        self._asked_at[number] = time.monotonic()
        try:
            yield
        finally:
            del self._asked_at[number]

    async def holds(self) -> bool:
        """Whether what has just been answered counts."""
        if self._still is None:
            return True
        oldest = next(iter(self._asked_at.values()))
        return time.monotonic() - oldest <= LATE_SECONDS or await self._still()


UNCONTESTED: Final = Credibility()
"""Of a server whose place no other one takes."""
