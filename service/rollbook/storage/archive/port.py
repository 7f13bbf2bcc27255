"""The archive's port: what the service needs of a place for finished matches.

An archive keeps one file a match, whole or not at all. Its mark identifies it to a store, so that folders with the same
name on two machines are not taken for one archive.
"""

import re
from typing import Final, Protocol

from rollbook.replay_file.container import SUFFIX
from rollbook.storage.port import StoreUnavailable

MARK_NAME: Final = "archive.mark"
LONGEST_MARK: Final = 64

_MATCH_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


class ArchiveUnavailable(StoreUnavailable):
    """The archive cannot be read or written now, or lacks a file that it should have."""


class Archive(Protocol):
    """A place for replay files."""

    @property
    def where(self) -> str:
        """The place of the archive for messages to operators, without credentials."""

    async def put(self, match_id: str, data: bytes) -> None:
        """Write the file of a match, replacing an existing one; atomic, and durable when it returns."""

    async def get(self, match_id: str) -> bytes | None:
        """The file of a match; None if there is none."""

    async def versions(self) -> dict[str, str]:
        """The version of every file, by match id; a version changes whenever its file does."""

    async def drafts(self) -> frozenset[str]:
        """The names of incomplete files, left by a crash or being written now; never read."""

    async def drop(self, drafts: frozenset[str]) -> None:
        """Remove abandoned drafts."""

    async def mark(self, claim: str = "") -> str:
        """The mark of this archive; an archive without one gets `claim`, and stays unmarked (empty) without a claim."""


def file_name(match_id: str) -> str:
    """The file name of a match; raises ValueError for an invalid id, so that no id leads to another folder.

    >>> file_name("a-match")
    'a-match.rollbook'
    """
    if not _MATCH_ID.fullmatch(match_id):
        raise ValueError("no match of ours has such an id")
    return match_id + SUFFIX


def match_of(name: str) -> str | None:
    """The match that this file name belongs to; None for any other file.

    >>> match_of("a-match.rollbook"), match_of(".a-match.part"), match_of("archive.mark")
    ('a-match', None, None)
    """
    match_id = name.removesuffix(SUFFIX)
    return match_id if match_id != name and _MATCH_ID.fullmatch(match_id) else None
