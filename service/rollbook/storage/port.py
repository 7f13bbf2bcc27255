"""The store's ports: what the service needs of a store, and what every store has to promise.

Each part of the service receives only the ports that it uses; a store has all of them.

For every match a store keeps one sequence of entries, numbered 1, 2, 3 … without a gap, and an entry in a small index
of matches, the lobby. `append` is all or nothing, and durable when it returns; of two writers to one position exactly
one wins. Later reads return the same entries in the same order. Readers learn of new entries from `listen` and by
comparing with `behind`, because announcements may be wrong or lost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias

from rollbook.match.chain import Entry

MOST_BYTES: Final = 64 << 20
"""Limit for the bytes of one append: far below where a store would close the connection, far above any match."""

MOST_BEHIND: Final = 500
"""Maximum entries of one match that `behind` returns; a match with this many may have more."""

KEEP_SECONDS: Final = 7 * 24 * 3_600
"""How long the store keeps the head of an archived match."""

UNDER_WAY_MS: Final = 60_000
"""How long the operation that a place was reserved for may take: far longer than any append is waited for."""

BOOK_SECONDS: Final = 40 * 24 * 3_600
"""How long a holder's reservations are kept after the last one: longer than a guest may stay away and still return."""


NO_ANSWER: Final = "the store does not answer"
REPLICAS_DIFFER: Final = "the store has other replicas than the service waits for"
STORE_REPLACED: Final = "the store is not the one that it was"
MATCHES_LOST: Final = "the store has lost acknowledged events"
"""Causes of a failure, in the words that clients receive."""


Place: TypeAlias = tuple[int, str]
"""Sort key of a match in lists, which are descending: the time at which it was opened, and its id."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """The index row of a match, derived from its lobby entry alone."""

    opened_ms: int
    lists: tuple[str, ...]
    """Names of the lists that contain the match; no name contains a line break."""
    agenda: str = ""
    """Name of the agenda that the match is in; empty: none."""
    due_ms: int = 0
    """The earliest time at which something may be due, as far as the lobby entry shows."""
    longest_ms: int = 0
    """How far ahead of now a due time can be at most; the index treats a later one as an error."""


@dataclass(frozen=True, slots=True)
class LobbyEntry:
    """The lobby entry of a match from this append on; only lifecycle events change it."""

    summary: bytes
    """A few bytes that only the service interprets; empty removes the match from the lobby."""
    row: IndexRow | None = None
    """The new index row; without it the match is found only by reading the lobby."""


@dataclass(frozen=True, slots=True)
class Appended:
    """The entries are durable; `head` is the sequence of the last one."""

    head: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another writer was faster, or the log does not end at the expected entry; nothing was written."""

    head: int
    """The sequence of the last entry; 0 if there is none, also when 0 was expected and the lobby lists the match."""


@dataclass(frozen=True, slots=True)
class TooEarly:
    """The store's clock has not reached `not_before_ms`; nothing was written."""

    now_ms: int


AppendResult: TypeAlias = Appended | Conflict | TooEarly


class Announcement(NamedTuple):
    """A notice that a match has new entries. It may come late, twice or not at all, and may be wrong."""

    match_id: str
    head: int
    """The sequence of the last entry; 0 if something beside the log has changed."""
    is_lifecycle: bool
    """Whether the append changed the lobby entry of the match."""


@dataclass(frozen=True, slots=True)
class Quota:
    """The maximum number of matches in which one holder may have a place, for the named book of such places."""

    book: str
    most: int


@dataclass(frozen=True, slots=True)
class Reserved:
    """The match has a place in every requested book."""

    until_ms: int
    """When the operation that the place is for times out; unique among the reservations of this match."""
    is_new: bool
    """Whether the match had no place in any of these books before."""


@dataclass(frozen=True, slots=True)
class Full:
    """A book has no place left; nothing was written."""

    book: str
    now_ms: int


NOT_OURS: Final = "the store is not one that this service can use"
"""The cause of a refusal that does not pass with time."""


class AppendUnconfirmed(Exception):
    """The store did not answer in time: the append may or may not have happened. Read, or append the same again."""

    def __init__(self, why: str = "", cause: str = NO_ANSWER) -> None:
        """`why` is for the service's log, `cause` for clients."""
        super().__init__(why)
        self.cause = cause


class StoreUnavailable(Exception):
    """The store cannot be reached, or is not fit for use; nothing was written."""

    def __init__(self, why: str = "", cause: str = NO_ANSWER) -> None:
        """`why` is for operators, `cause` for clients."""
        super().__init__(why)
        self.cause = cause


class Hole(Exception):
    """Entries are missing from the middle or the end of a log; nothing may be appended after the gap."""

    def __init__(self, match_id: str, stored: int, head: int = 0) -> None:
        """`stored` is the last entry before the gap, `head` the last entry of the log as far as that is known."""
        super().__init__(match_id, stored)
        self.match_id = match_id
        self.stored = stored
        self.head = max(head, stored)

    def __str__(self) -> str:
        return f"match {self.match_id} has a hole behind event {self.stored}"


class EventLog(Protocol):
    """The events of all matches."""

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
        """Append after the entry numbered `expected` (0: the match is new), all or nothing, durably.

        With `expected` 0 neither log nor lobby may have the match. `behind` is the event that the expected entry must
        have: a log restored from a backup may be as long as the one it replaced. A log with a hole accepts only an
        append with `in_place_of` equal to its last sequence: the new entries replace everything after `expected`. No
        other operation removes entries.
        """

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """At most `limit` entries after `after`, in order; empty if there are none. Raises Hole if one is missing."""

    async def head(self, match_id: str) -> int:
        """The sequence of the last entry; 0 if the match does not exist."""

    async def behind(self, after: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Up to MOST_BEHIND entries after the given sequence of each match; matches without new entries are left out.

        A match with a hole after its sequence gets an empty list; the other matches are not affected.
        """

    async def listen(self, heard: Callable[[Announcement], None], began: Callable[[], None]) -> None:
        """Call `heard` for every append by any process after `began`, until the connection ends.

        Raises StoreUnavailable if listening cannot begin. For an append through this log, the call comes after the
        answer to the append.
        """


class LobbyStore(Protocol):
    """The lobby: a summary for every match, in parts."""

    @property
    def parts(self) -> int:
        """The number of parts of the lobby."""

    async def lobby(self) -> dict[str, bytes]:
        """The summaries of all matches that the lobby lists."""

    async def lobby_parts(self, parts: Sequence[int]) -> dict[str, bytes]:
        """The summaries of all matches in some parts of the lobby; parts are small and numbered from 0."""

    async def summary(self, match_id: str) -> bytes | None:
        """The lobby summary of one match; None if the lobby does not list it."""

    async def summaries(self, match_ids: Sequence[str]) -> dict[str, bytes]:
        """The lobby summaries of these matches; those that the lobby does not list are left out."""

    async def lengths(self, match_ids: Sequence[str]) -> dict[str, int]:
        """The number of entries in each of these logs, at little cost; a log that cannot be read is left out."""

    async def unlist(self, match_id: str) -> None:
        """Remove an archived match from the lobby."""

    async def drop(self, match_id: str) -> None:
        """Remove a match whose log is unreadable from the lobby, and prevent that it is begun again."""


class MatchIndex(Protocol):
    """The index of the lobby: lists of matches, and agendas of what is due when."""

    @property
    def index_parts(self) -> int:
        """The number of parts of the index that every query asks."""

    async def page(self, lists: Sequence[str], before: Place | None, limit: int) -> list[Place]:
        """At most `limit` matches of these lists after the place `before`, each once, the last opened first."""

    async def counts(self, lists: Sequence[str]) -> list[int]:
        """The number of matches in each of these lists of the index."""

    async def due(self, agenda: str, until_ms: int, limit: int, since_ms: int = 0) -> list[tuple[str, int]]:
        """At most `limit` matches of an agenda that may be due in this span, each with its due time, earliest first."""

    async def put_off(self, agenda: str, match_id: str, was_ms: int, due_ms: int) -> None:
        """Move the due time of a match, unless it is no longer `was_ms`."""

    async def differing(self, part: int, now_ms: int) -> list[str]:
        """The matches of a part of the lobby whose index row is wrong or missing, or which only the index has."""

    async def reindex(self, rows: Mapping[str, tuple[bytes, IndexRow]], now_ms: int) -> None:
        """Write the index rows of these matches, each given with the lobby summary that its row was made from.

        A match whose summary has changed since is skipped; an empty summary removes the match from the index.
        """

    async def has_index(self) -> bool:
        """Whether the index is marked as complete."""

    async def mark_index(self, *, whole: bool) -> None:
        """Mark the index as complete, or as one that has to be rebuilt."""


class IndexedLobby(LobbyStore, MatchIndex, Protocol):
    """The lobby and its index, for the parts that keep them equal."""


class SharedClock(Protocol):
    """The store's clock."""

    async def now_ms(self) -> int:
        """The store's clock in Unix milliseconds, which all replicas of the service share."""


class Lease(Protocol):
    """The lease of the one process that sweeps, and the time at which a service was last alive."""

    async def lease(self, holder: str, lease_ms: int) -> bool:
        """Request or renew the sweeper's lease by the store's clock; returns whether this holder has it.

        At most one holder has the lease, until `lease_ms` after its last call; then another one can get it.
        """

    async def beat(self, now_ms: int) -> None:
        """Record that a service is alive at this time."""

    async def last_beat(self) -> int | None:
        """When a service last recorded that it is alive; None if none ever did."""


class QuotaBooks(Protocol):
    """Books of places, which limit how many matches a holder may have."""

    async def reserve(self, holder: str, match_id: str, quotas: Sequence[Quota]) -> Reserved | Full:
        """Give a match a place in each of these books of a holder, or in none of them if one is full.

        Of concurrent callers exactly as many succeed as there are free places. A match that has a place keeps it.
        """

    async def list_reserved(self, holder: str, book: str) -> dict[str, int]:
        """The matches with a place in a book, each with the `until_ms` of its reservation; negative once settled."""

    async def settle(self, holder: str, books: Sequence[str], match_id: str, until_ms: int) -> None:
        """Settle a reservation: its operation has happened. Does nothing if the place was reserved again since."""

    async def release(self, holder: str, books: Sequence[str], places: Mapping[str, int]) -> None:
        """Remove the places of these matches, except those that were reserved again or settled since."""

    async def free(self, holder: str, book: str, match_ids: Sequence[str]) -> None:
        """Remove the places of these matches, also settled ones; the matches are over and stay so."""


class TokenBuckets(Protocol):
    """Buckets of tokens, which limit how often something may happen."""

    async def draw(self, bucket: str, most: int, per_ms: int) -> int:
        """Take one token from a bucket that holds `most` and refills steadily in `per_ms`.

        Returns 0, or the milliseconds to wait until there is a token. A new bucket is full, and so is any bucket after
        `per_ms`, even if the store's clock goes back.
        """


class Secrets(Protocol):
    """Values that are kept for a short time and can be taken once."""

    async def keep(self, name: str, value: bytes, for_ms: int) -> None:
        """Store a value under a name for `for_ms`, or until `take` removes it."""

    async def take(self, name: str) -> bytes | None:
        """Remove and return the value stored under a name, or None; of concurrent callers one gets it."""


class Declines(Protocol):
    """Who has declined a rematch."""

    async def decline(self, match_id: str, player: bytes, keep_seconds: int) -> None:
        """Record for `keep_seconds` that a player declines a rematch, and notify all listeners.

        The announcement has head 0, because it is not about an append.
        """

    async def list_declined(self, match_id: str) -> set[bytes]:
        """The players who have declined a rematch, while their answers are kept."""


class Archivable(Protocol):
    """The part that archiving has in the store: entries that may go, and which archive they are in."""

    async def trim(self, match_id: str) -> None:
        """Remove the entries of an archived match; its head is kept for a week, so that a stale append is refused."""

    async def archive_mark(self, claim: str = "") -> str:
        """The mark of the archive that this store's matches go to; a store without one gets `claim`."""

    async def lack_archive(self, seconds: int) -> None:
        """Record for this time that a running service does not have the archive."""

    async def archive_is_lacked(self) -> bool:
        """Whether a service has recorded that it lacks the archive."""


class MatchStore(
    EventLog, IndexedLobby, SharedClock, Lease, QuotaBooks, TokenBuckets, Secrets, Declines, Archivable, Protocol
):
    """Everything that a store offers. Only the code that puts the service together receives it whole."""


def check_append(match_id: str, expected: int, entries: Sequence[Entry]) -> None:
    """Raise ValueError for an append that no state of the store could accept."""
    if not match_id:
        raise ValueError("a match has an id")
    if expected < 0:
        raise ValueError(f"sequences begin at 1, so nothing stands behind {expected}")
    if not entries:
        raise ValueError("an append has at least one entry")
    weight = sum(len(entry.event) + len(entry.private) for entry in entries)
    if weight > MOST_BYTES:
        raise ValueError(f"an append weighs at most {MOST_BYTES} bytes, not {weight}")
