"""The port of PlayNow's pools: what the service needs of a store to seat callers together.

A pool is a short list of open tables. It is a hint where to look: the log of a match decides who has a seat. So a pool
may be wrong for a while, and may be lost; the processes that follow the seats write it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

MOST_TABLES: Final = 64
"""Tables of a pool; of further ones, that with the least recently seen people leaves the pool."""


class Pool(NamedTuple):
    """A pool, and how its tables are used."""

    name: str
    seats: int
    """Seats of each table."""
    claim_ms: int
    """How long a claim keeps a seat."""
    seen_ms: int
    """Callers only join a table with a person seen within this time; 0: or at any time."""
    keep_ms: int
    """The store forgets a pool that is not used for this long."""


class Claim(NamedTuple):
    """A caller's place at a table."""

    match_id: str
    until_ms: int
    """0: the caller sits there."""


class Hold(NamedTuple):
    """The result of claiming a seat at one table."""

    wait_ms: int
    """0, or the milliseconds after which a seat may be free; then the holder has no place."""
    until_ms: int
    """The end of the claim; 0: the holder sits there."""
    people_only: bool
    """Whether the holder wants people only."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a place at a table."""

    name: str
    """The pseudonym of a subject."""
    people_only: bool = False
    is_house: bool = False


@dataclass(frozen=True, slots=True)
class TablePlace:
    """A place at a table, as a pool has it."""

    holder: Holder
    until_ms: int
    """The end of the claim; 0: the holder sits there."""
    seen_ms: int
    """When the holder claimed the place, sat down, or last had a feed open."""


class PoolStore(Protocol):
    """The pools of a store. Each call is one atomic script, by the clock of the store."""

    async def claim(self, pool: Pool, holder: Holder, match_id: str) -> Claim:
        """Claim a seat: at the holder's table, else at the oldest table with people, else at a new one, `match_id`."""

    async def hold(self, pool: Pool, holder: Holder, match_id: str) -> Hold:
        """Claim a seat at this table, or extend the claim; a table that the pool lacks is added."""

    async def sit(self, pool: Pool, holders: Sequence[Holder], match_id: str) -> None:
        """Record that these holders sit at a table and were seen; a table that the pool lacks is added."""

    async def leave(self, pool: Pool, holder: str, match_id: str) -> tuple[int, bool]:
        """Remove a holder's place, and a table without people.

        Returns how many people are left, and whether one of them wants people only.
        """

    async def places(self, pool: Pool, match_id: str) -> list[TablePlace]:
        """All places at a table; empty if the pool lacks it."""

    async def drop(self, pool: Pool, match_id: str) -> None:
        """Remove a table whose seats are closed, or which is over or was never opened."""

    async def pause(self, holder: str, first_ms: int, most_ms: int, forgive_ms: int) -> None:
        """Refuse a holder for a time that doubles with each call, until there was none for `forgive_ms`."""

    async def paused_ms(self, holder: str) -> int:
        """For how many more milliseconds a holder is refused; 0 if it is not."""
