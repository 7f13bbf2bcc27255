"""The archive's port: what finished matches need of it, in few verbs.

An archive keeps one file a match, whole or not at all. It carries a mark, by which a store knows it again: so that two
services with folders of the same name on two machines do not take them for one archive.
"""

import re
from typing import Final, Protocol

from rollbook.replay_file.container import SUFFIX
from rollbook.storage.port import StoreUnavailable

MARK_NAME: Final = "archive.mark"
LONGEST_MARK: Final = 64

_MATCH_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


class ArchiveUnavailable(StoreUnavailable):
    """The archive cannot be read or written now, or does not have what it must have."""


class Archive(Protocol):
    """A place for replay files."""

    @property
    def where(self) -> str:
        """Where it is, as an operator may be told, without credentials."""

    async def put(self, match_id: str, data: bytes) -> None:
        """Keep the file of a match in place of one that is there; durable when it returns, and whole at any moment."""

    async def get(self, match_id: str) -> bytes | None:
        """The file of a match; none if there is none."""

    async def versions(self) -> dict[str, str]:
        """By match id all files that there are; a version is another whenever the file is."""

    async def drafts(self) -> frozenset[str]:
        """What a crash left of files that were being written, and what is being written now; never read."""

    async def drop(self, drafts: frozenset[str]) -> None:
        """Remove drafts that nobody writes any more."""

    async def mark(self, claim: str = "") -> str:
        """The mark of this archive: the one that is claimed, if it had none; empty if it still has none."""


def file_name(match_id: str) -> str:
    """What the file of a match is called; ValueError for what is no match id, so that none leads elsewhere.

    >>> file_name("a-match")
    'a-match.rollbook'
    """
    if not _MATCH_ID.fullmatch(match_id):
        raise ValueError("no match of ours has such an id")
    return match_id + SUFFIX


def match_of(name: str) -> str | None:
    """The match whose file is called so; none if it is no such file.

    >>> match_of("a-match.rollbook"), match_of(".a-match.part"), match_of("archive.mark")
    ('a-match', None, None)
    """
    match_id = name.removesuffix(SUFFIX)
    return match_id if match_id != name and _MATCH_ID.fullmatch(match_id) else None
