"""The log's port: what a match needs of a store, in few verbs, and what every store has to promise.

A store keeps for every match one sequence of entries, numbered 1, 2, 3 … without a gap, and a small index of matches,
the lobby. `append` is all or nothing and durable when it returns; of two writers to one position exactly one wins.
Reading gives the same entries at any later time, in order. New ones are noticed by what `listen` hears, and by
comparing with what `behind` brings, since whatever is heard may be wrong, and something may not be heard.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias

from rollbook.match.chain import Entry

MOST_BYTES: Final = 64 << 20
"""The most that the entries of one append may weigh: far below where a store would break off, far above any match."""

MOST_BEHIND: Final = 500
"""How many entries of one match `behind` brings; where there are so many, there may be more."""

KEEP_SECONDS: Final = 7 * 24 * 3_600
"""How long the head of an archived match stays in the store."""

UNDER_WAY_MS: Final = 60_000
"""How long what a place was reserved for may be under way: far longer than any append is waited for."""

BOOK_SECONDS: Final = 40 * 24 * 3_600
"""How long a holder's reservations stay after the last one: longer than a guest who stays away can return."""


NO_ANSWER: Final = "the store does not answer"
REPLICAS_DIFFER: Final = "the store has other replicas than the service waits for"
"""Causes of a failure, in the words that clients receive."""


Place: TypeAlias = tuple[int, str]
"""Where a match stands in lists, which are descending: when it was opened, and its id."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """Where the index has a match: derived from what the lobby says of it, and from nothing else."""

    opened_ms: int
    lists: tuple[str, ...]
    """By name; no name has a line break."""
    agenda: str = ""
    """By name, where something may be due in it; empty: nowhere."""
    due_ms: int = 0
    """Nothing is due before, as far as the lobby knows."""
    longest_ms: int = 0
    """By how much later than now something can be due at any time; later is wrong."""


@dataclass(frozen=True, slots=True)
class LobbyEntry:
    """What the lobby says of a match from this append on; only lifecycle events change it."""

    summary: bytes
    """A few bytes that the service understands; empty takes the match out of the lobby."""
    row: IndexRow | None = None
    """What the index says from then on; without it the match is found by reading the lobby."""


@dataclass(frozen=True, slots=True)
class Appended:
    """The entries are durable, the last of them at this sequence."""

    head: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody else was faster, or the log is not where it was thought to be; nothing was written."""

    head: int
    """The sequence of the last entry; 0 if there is none, even if 0 was expected but the lobby lists the match."""


@dataclass(frozen=True, slots=True)
class TooEarly:
    """The store's own clock has not come to `not_before_ms`; nothing was written."""

    now_ms: int


AppendResult: TypeAlias = Appended | Conflict | TooEarly


class Announcement(NamedTuple):
    """That somebody has appended to a match, as it is heard: perhaps late, twice, not at all, or falsely."""

    match_id: str
    head: int
    """The sequence that the last entry has by now."""
    is_lifecycle: bool
    """Whether the lobby says something else of the match than before."""


@dataclass(frozen=True, slots=True)
class Quota:
    """How many matches one holder may have a place in, by the name of the book that these places stand in."""

    book: str
    most: int


@dataclass(frozen=True, slots=True)
class Reserved:
    """The match has a place in every book that was named."""

    until_ms: int
    """Until when what it is for may be under way; no other reservation of this match has the same."""
    is_new: bool
    """Whether it had a place in none of them before."""


@dataclass(frozen=True, slots=True)
class Full:
    """A book has no place left; nothing was written."""

    book: str
    now_ms: int


NOT_OURS: Final = "the store is not one that this service can use"
"""The cause of a refusal that waiting does not end."""


class AppendUnconfirmed(Exception):
    """The store did not answer in time: the append may or may not have happened. Read, or append the same again."""

    def __init__(self, why: str = "", cause: str = NO_ANSWER) -> None:
        """`why` is for the log, `cause` for clients."""
        super().__init__(why)
        self.cause = cause


class StoreUnavailable(Exception):
    """The store cannot be reached, or is not as it has to be; nothing was written."""

    def __init__(self, why: str = "", cause: str = NO_ANSWER) -> None:
        """Keep what an operator wants to know, and the cause as clients may be told it."""
        super().__init__(why)
        self.cause = cause


class Hole(Exception):
    """Entries are missing from the middle or the end of a log: nobody shall carry on over that."""

    def __init__(self, match_id: str, stored: int, head: int = 0) -> None:
        """Keep up to which entry the log is whole, and which entry was its last, as far as that is known."""
        super().__init__(match_id, stored)
        self.match_id = match_id
        self.stored = stored
        self.head = max(head, stored)

    def __str__(self) -> str:
        return f"match {self.match_id} has a hole behind event {self.stored}"


class Log(Protocol):
    """A store of matches."""

    async def append(  # noqa: PLR0913 - everything that is atomic
        self,
        match_id: str,
        expected: int,
        entries: Sequence[Entry],
        *,
        behind: bytes | None = None,
        lobby: LobbyEntry | None = None,
        not_before_ms: int | None = None,
        in_place_of: int | None = None,
    ) -> AppendResult:
        """Append behind the entry numbered `expected` (0: neither log nor lobby have it), all or nothing, durably.

        `behind` is the event which that entry has to be: a log that was put back may be as long as the one it replaced.
        A log with a hole takes nothing but, with `in_place_of` its last sequence, what stands for all that is lost
        behind `expected`; that is the only time that entries go.
        """

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """The entries behind `after`, at most so many, in order; none if there are none; Hole if one is missing."""

    async def head(self, match_id: str) -> int:
        """The sequence of the last entry; 0 if the match does not exist."""

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Entries behind the given sequences, of the matches that have any, at most MOST_BEHIND of each.

        A match comes without an entry if there is a hole among what is behind its sequence; the others do not suffer.
        """

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Call `heard` with what anybody appends from `began` on, until that ends; StoreUnavailable if it cannot begin.

        Of what is appended through this log it is called only when the append has been answered.
        """

    async def lobby(self) -> dict[str, bytes]:
        """The summaries of all matches that the lobby lists."""

    async def summary(self, match_id: str) -> bytes | None:
        """What the lobby says of one match; nothing if it does not list it."""

    async def summaries(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        """What the lobby says of these matches; those that it does not list are left out."""

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """The summaries of all matches in some parts of the lobby, which are numbered from 0 and small."""

    @property
    def parts(self) -> int:
        """In how many parts the lobby lies."""

    async def lengths(self, match_ids: Sequence[str]) -> dict[str, int]:
        """How many entries each of these logs has now; none of one that cannot be read. It costs next to nothing."""

    async def unlist(self, match_id: str) -> None:
        """Take a match out of the lobby: it is in the archive."""

    async def drop(self, match_id: str) -> None:
        """Take a match out of the lobby of whose log nothing can be read, and keep it from being begun again."""

    async def page(self, lists: Sequence[str], before: Place | None, limit: int) -> list[Place]:
        """So many matches of these lists of the index, each once, those opened last first, behind a place."""

    async def counts(self, lists: Sequence[str]) -> list[int]:
        """How many matches each of these lists of the index has."""

    async def due(self, agenda: str, until_ms: int, limit: int, since_ms: int = 0) -> list[tuple[str, int]]:
        """So many matches of an agenda that may be due in that time, and when, those first that are due longest."""

    async def put_off(self, agenda: str, match_id: str, was_ms: int, due_ms: int) -> None:
        """Something is due at another time, unless that was said anew since it was due then."""

    async def differing(self, part: int, now_ms: int) -> list[str]:
        """The matches of a part of the lobby of which the index says something else, or which only it has."""

    async def reindex(self, rows: Mapping[str, tuple[bytes, IndexRow]], now_ms: int) -> None:
        """Index these matches by what the lobby said, unless it says something else by now; empty: nothing."""

    async def has_index(self) -> bool:
        """Whether the index is whole, as far as anybody knows."""

    async def mark_index(self, *, whole: bool) -> None:
        """Say that the index is whole, or that it has to be made anew."""

    async def now_ms(self) -> int:
        """The store's own clock, in Unix milliseconds, which all replicas share."""

    async def beat(self, now_ms: int) -> None:
        """Say that a service is alive now."""

    async def last_beat(self) -> int | None:
        """When a service last said that it is alive; nothing if none ever did."""

    async def lease(self, holder: str, lease_ms: int) -> bool:
        """Whether this holder sweeps, for so long from now on by the store's clock; of several at once one does.

        The holder has it for longer by asking again in time. Whoever else asks has it once that time is over.
        """

    async def reserve(self, holder: str, match_id: str, quotas: Sequence[Quota]) -> Reserved | Full:
        """Give a match a place in each of these books of a holder, or in none of them if one is full.

        Of many that reserve at once, exactly as many succeed as there is room for. A match that has its place keeps it.
        """

    async def reserved(self, holder: str, book: str) -> dict[str, int]:
        """The matches that have a place, and until when what it is for may be under way; below 0 once settled."""

    async def settle(self, holder: str, books: Sequence[str], match_id: str, until_ms: int) -> None:
        """What the place was reserved for has happened, unless it has been reserved again since."""

    async def release(self, holder: str, books: Sequence[str], places: Mapping[str, int]) -> None:
        """Take the places of these matches back, those apart that have been reserved or settled since."""

    async def free(self, holder: str, book: str, match_ids: Sequence[str]) -> None:
        """Take the places of these matches back, which are over and not opened again, however they were reserved."""

    async def draw(self, bucket: str, most: int, per_ms: int) -> int:
        """Take one of `most` out of a bucket that fills steadily in so many milliseconds, or say how long to wait.

        It is full at first, and again after `per_ms`, also if the store's clock goes back. Returns 0 if one was taken.
        """

    async def keep(self, name: str, value: bytes, for_ms: int) -> None:
        """Keep something by a name for so long, unless it is taken before."""

    async def take(self, name: str) -> bytes | None:
        """What is kept by a name, which is gone then: of many who take it one gets it."""

    async def close(self) -> None:
        """Let go of connections; appends under way finish first."""


def check_append(match_id: str, expected: int, entries: Sequence[Entry]) -> None:
    """Raise ValueError for an append that no state of the store could make right."""
    if not match_id:
        raise ValueError("a match has an id")
    if expected < 0:
        raise ValueError(f"sequences begin at 1, so nothing stands behind {expected}")
    if not entries:
        raise ValueError("an append has at least one entry")
    weight = sum(len(entry.event) + len(entry.private) for entry in entries)
    if weight > MOST_BYTES:
        raise ValueError(f"an append weighs at most {MOST_BYTES} bytes, not {weight}")
