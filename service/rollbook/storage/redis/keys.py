"""How matches are named in Redis: every key carries the hash tag of its partition.

A partition is what can move between the servers of a cluster, and what one script may write to: a match and the lobby
that lists it lie in the same one.
"""

import hashlib
from functools import lru_cache
from typing import Final

PARTITIONS: Final = 256

PARTITIONS_KEY: Final = b"rollbook:partitions"
"""Where a store keeps the number it was begun with; another number would look for matches in the wrong places."""

FORMAT_KEY: Final = b"rollbook:format"
"""Where a store keeps the format of its matches, as a data directory does in a file."""

BEAT_KEY: Final = b"rollbook:beat"
"""When a service last said that it is alive, in Unix milliseconds."""

PROCESSES_KEY: Final = b"rollbook:processes"
KEYS_KEY: Final = b"rollbook:keys"
"""The fingerprints of the keys that all services of this store have."""

ARCHIVE_KEY: Final = b"rollbook:archive"
"""The mark of the archive that this store's finished matches go to."""

LACKING_KEY: Final = b"rollbook:archive:lacking"
"""Is there for as long as some service runs that does not have that archive."""

INDEX: Final = b":index:"
"""In the key of everything that an index of a lobby has."""

ROLL_KEY: Final = b"rollbook:roll"
"""Which call the services of this store answer, and which of them have."""

BANS_KEY: Final = b"rollbook:bans"
"""Who is kept out, and until when."""

MOST_REMEMBERED: Final = 20_000
"""Matches and holders whose partition is not found out anew for every command."""

ANNOUNCEMENTS: Final = b"rollbook:appended"
"""The channel on which the script that appends says so; no key has this name."""


def alive_key(partition: int) -> bytes:
    """Where processes write to see whether the server of a partition takes it."""
    return b"{p%d}:alive" % partition


def fence_key(key: bytes) -> bytes:
    """Where something is written behind a read of this key, on the server that has it.

    >>> fence_key(b"{p51}:m:a-match"), fence_key(b"rollbook:beat")
    (b'{p51}:fence', b'{rollbook:beat}:fence')
    """
    return (key.partition(b"}")[0] + b"}:fence") if key.startswith(b"{") else b"{%b}:fence" % key


SWEEPER_KEY: Final = b"rollbook:sweeper"
"""Which process sweeps, as long as its lease lasts."""


@lru_cache(MOST_REMEMBERED)
def partition_of(match_id: str, partitions: int = PARTITIONS) -> int:
    """The partition of a match, the same in every process and version.

    >>> partition_of("a-match")
    51
    """
    return int.from_bytes(hashlib.sha256(match_id.encode()).digest()[:8], "big") % partitions


def stream_key(match_id: str, partitions: int = PARTITIONS) -> bytes:
    """The key of a match's stream.

    >>> stream_key("a-match")
    b'{p51}:m:a-match'
    """
    return b"{p%d}:m:%b" % (partition_of(match_id, partitions), match_id.encode())


def book_key(holder: str, book: str, partitions: int = PARTITIONS) -> bytes:
    """The key of a book of a holder, all of whose books lie in the same partition.

    >>> book_key("somebody", "seats")
    b'{p71}:book:somebody:seats'
    """
    return b"{p%d}:book:%b:%b" % (partition_of(holder, partitions), holder.encode(), book.encode())


def bucket_key(bucket: str, partitions: int = PARTITIONS) -> bytes:
    """The key of a bucket."""
    return b"{p%d}:bucket:%b" % (partition_of(bucket, partitions), bucket.encode())


def kept_key(name: str, partitions: int = PARTITIONS) -> bytes:
    """The key of what is kept for a while."""
    return b"{p%d}:kept:%b" % (partition_of(name, partitions), name.encode())


def lobby_key(partition: int) -> bytes:
    """The key of the lobby of a partition."""
    return b"{p%d}:lobby" % partition


def index_key(base: bytes | int | None, *names: str) -> bytes:
    """Where the index of all partitions begins, or that of one; and from such a beginning, what is in there.

    >>> index_key(index_key(None), "list", "public"), index_key(index_key(7), "made")
    (b'rollbook:index:list:public', b'{p7}:index:made')
    """
    if base is None:
        return b"rollbook" + INDEX
    if isinstance(base, int):
        return b"{p%d}%b" % (base, INDEX)
    return base + ":".join(names).encode()


def rows_key(base: bytes, partition: int) -> bytes:
    """The key of what an index says of the matches of a partition.

    >>> rows_key(index_key(None), 7)
    b'rollbook:index:rows:7'
    """
    return index_key(base, "rows", str(partition))
