"""Decides whether to trust an answer from a master that may have been replaced.

A master that was suspended, replaced and then resumed answers as if nothing had happened, and everything it
acknowledges is lost when it is demoted. Only the Sentinels know it. Asking them at every answer would cost more than
most answers, and is unnecessary: a master that answers everything promptly cannot have been replaced.
"""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final, TypeAlias

Still: TypeAlias = Callable[[], Awaitable[bool]]

LATE_SECONDS: Final = 0.25
"""A server may have been replaced before an answer that takes longer; less than a failover takes to begin."""

REPLACED: Final = "another server has taken the place of this one"


class Credibility:
    """Judges the answers of one server: after a late one the Sentinels are asked whether it is still the master.

    While one question is overdue, that holds for the answers to all others too, however prompt they are.
    """

    def __init__(self, still: Still | None = None) -> None:
        """`still` asks whether the server is the master; None for a server that is never replaced."""
        self._still = still
        self._numbers = count()
        self._asked_at: dict[int, float] = {}
        """When each unanswered question was asked, the oldest first."""

    @contextmanager
    def question(self) -> Iterator[None]:
        """Context of one question and its answer, which is judged inside."""
        number = next(self._numbers)
        self._asked_at[number] = time.monotonic()
        try:
            yield
        finally:
            del self._asked_at[number]

    async def holds(self) -> bool:
        """Whether the answer just received can be trusted."""
        if self._still is None:
            return True
        oldest = next(iter(self._asked_at.values()))
        return time.monotonic() - oldest <= LATE_SECONDS or await self._still()


UNCONTESTED: Final = Credibility()
"""For a server that is never replaced."""
