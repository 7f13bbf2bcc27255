"""Whether what a server says counts, where another one may have taken its place without its knowing.

A master that stood still, was replaced and goes on answers what it is asked as if nothing had happened, and all that it
acknowledges is lost when it is demoted. Only the Sentinels know. To ask them at every answer would cost more than most
answers, and need not be: nobody is replaced who has just answered at once.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

Still: TypeAlias = Callable[[], Awaitable[bool]]

LATE_SECONDS: Final = 0.25
"""After so long a server may have been replaced before it answered; less than a failover takes to begin."""

REPLACED: Final = "another server has taken the place of this one"


class Credibility:
    """Of one server: what it says late counts only if it is still the one to say it, as is found out afterwards."""

    def __init__(self, still: Still | None = None) -> None:
        """Ask `still`, which looks now; nothing, if no other server ever takes this one's place."""
        self._still = still

    async def covers(self, asked_at: float) -> bool:
        """Whether what was asked then, by the monotonic clock, and has been answered since, counts."""
        if self._still is None or time.monotonic() - asked_at <= LATE_SECONDS:
            return True
        return await self._still()


UNCONTESTED: Final = Credibility()
"""Of a server whose place no other one takes."""
