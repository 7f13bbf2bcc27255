"""Key names in Redis: every key has the hash tag of its partition.

A partition is the unit that can move between the servers of a cluster and that one script can write to: a match and the
lobby that lists it are in the same partition.
"""

import hashlib
from functools import lru_cache
from typing import Final

PARTITIONS: Final = 256
"""The number of partitions of a new store that is not a Cluster."""

CLUSTER_PARTITIONS: Final = 16
"""The number of partitions of a new Cluster, where every query of the index asks all of them."""

PARTITIONS_KEY: Final = b"rollbook:partitions"
"""The number of partitions that the store began with, and which it keeps."""

FORMAT_KEY: Final = b"rollbook:format"
"""The format of the store's matches; a data directory has it in a file."""

BEAT_KEY: Final = b"rollbook:beat"
"""When a service last recorded that it is alive, in Unix milliseconds."""

PROCESSES_KEY: Final = b"rollbook:processes"
KEYS_KEY: Final = b"rollbook:keys"
"""The fingerprints of the keys that all services of this store share."""

ARCHIVE_KEY: Final = b"rollbook:archive"
"""The mark of the archive that this store's finished matches go to."""

LACKING_KEY: Final = b"rollbook:archive:lacking"
"""Exists while some service runs that does not have that archive."""

INDEX: Final = b":index:"
"""Part of every key of a lobby's index."""

ROLL_KEY: Final = b"rollbook:roll"
"""The newest roll call, and the calls that processes have completed."""

LOST_KEY: Final = b"rollbook:lost"
"""Matches of which a new master lacks acknowledged events, with the sequence of the newest of them."""

ACCEPTED_KEY: Final = b"rollbook:lost:accepted"
"""Lost matches whose loss was accepted, until they have been ended."""

BANS_KEY: Final = b"rollbook:bans"
"""The ban list."""

REVOKED_KEY: Final = b"rollbook:revoked"
"""The list of revoked tokens."""

MOST_REMEMBERED: Final = 20_000
"""Cache size: matches and holders whose partition is remembered."""

MARKER: Final = b":marker"
"""End of the keys of markers, by which processes recognise their store."""

ANNOUNCEMENTS: Final = b"rollbook:appended"
"""The channel on which the append script publishes; no key has this name."""


def alive_key(partition: int) -> bytes:
    """The key that processes write to test whether a partition's server accepts writes."""
    return b"{p%d}:alive" % partition


def marker_key(partition: int) -> bytes:
    """The key of a partition's marker."""
    return b"{p%d}" % partition + MARKER


def fence_key(key: bytes) -> bytes:
    """The key of the write that follows a read of `key`, on the same server.

    >>> fence_key(b"{p51}:m:a-match"), fence_key(b"rollbook:beat")
    (b'{p51}:fence', b'{rollbook:beat}:fence')
    """
    return (key.partition(b"}")[0] + b"}:fence") if key.startswith(b"{") else b"{%b}:fence" % key


SWEEPER_KEY: Final = b"rollbook:sweeper"
"""The process that has the sweeper's lease."""


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
    """The key of a book of a holder; all books of a holder are in one partition.

    >>> book_key("somebody", "seats")
    b'{p71}:book:somebody:seats'
    """
    return b"{p%d}:book:%b:%b" % (partition_of(holder, partitions), holder.encode(), book.encode())


def bucket_key(bucket: str, partitions: int = PARTITIONS) -> bytes:
    """The key of a bucket."""
    return b"{p%d}:bucket:%b" % (partition_of(bucket, partitions), bucket.encode())


def kept_key(name: str, partitions: int = PARTITIONS) -> bytes:
    """The key of a short-lived value."""
    return b"{p%d}:kept:%b" % (partition_of(name, partitions), name.encode())


def declined_key(match_id: str, partitions: int = PARTITIONS) -> bytes:
    """The key of the players who have declined a rematch."""
    return b"{p%d}:declined:%b" % (partition_of(match_id, partitions), match_id.encode())


def lobby_key(partition: int) -> bytes:
    """The key of the lobby of a partition."""
    return b"{p%d}:lobby" % partition


def index_key(base: bytes | int | None, *names: str) -> bytes:
    """The prefix of the index of all partitions, or of one; from such a prefix, the key of a part of the index.

    >>> index_key(index_key(None), "list", "public"), index_key(index_key(7), "made")
    (b'rollbook:index:list:public', b'{p7}:index:made')
    """
    if base is None:
        return b"rollbook" + INDEX
    if isinstance(base, int):
        return b"{p%d}%b" % (base, INDEX)
    return base + ":".join(names).encode()


def rows_key(base: bytes, partition: int) -> bytes:
    """The key of the index rows of a partition's matches.

    >>> rows_key(index_key(None), 7)
    b'rollbook:index:rows:7'
    """
    return index_key(base, "rows", str(partition))
