"""A log in front of another one: what it does not do itself it passes on."""

from collections.abc import Mapping

from rollbook.match.chain import Entry
from rollbook.storage.port import Log


class WrappedLog:
    """Passes every call of the port on but `append`, which is what a log is put in front for."""

    def __init__(self, inner: Log) -> None:
        self._inner = inner

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """The entries behind `after`, at most so many, in order; none if there are none."""
        return await self._inner.read(match_id, after, limit)

    async def head(self, match_id: str) -> int:
        """The sequence of the last entry; 0 if the match does not exist."""
        return await self._inner.head(match_id)

    async def wait(self, after: Mapping[str, int], timeout_seconds: float) -> dict[str, list[Entry]]:
        """Entries behind the given sequences, of the matches that have any; none of them after the time-out."""
        return await self._inner.wait(after, timeout_seconds)

    async def lobby(self) -> dict[str, bytes]:
        """The summaries of all matches that the lobby lists."""
        return await self._inner.lobby()

    async def summary(self, match_id: str) -> bytes | None:
        """What the lobby says of one match; nothing if it does not list it."""
        return await self._inner.summary(match_id)

    async def unlist(self, match_id: str) -> None:
        """Take a match out of the lobby."""
        await self._inner.unlist(match_id)

    async def drop(self, match_id: str) -> None:
        """Take a match out of the lobby of whose log nothing can be read, and keep it from being begun again."""
        await self._inner.drop(match_id)

    async def now_ms(self) -> int:
        """The store's own clock."""
        return await self._inner.now_ms()

    async def beat(self, now_ms: int) -> int | None:
        """Say that a service is alive now, and learn when one last said so."""
        return await self._inner.beat(now_ms)

    async def lease(self, holder: str, lease_ms: int) -> bool:
        """Whether this holder sweeps, for so long from now on."""
        return await self._inner.lease(holder, lease_ms)

    async def close(self) -> None:
        """Let go of connections; appends under way finish first."""
        await self._inner.close()
