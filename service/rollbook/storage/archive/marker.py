"""Opens the archive of a store from its configured place, and verifies it by its mark."""

import secrets
from pathlib import Path
from typing import Final

from rollbook.files import Step, no_step
from rollbook.storage.archive.folder import FolderArchive
from rollbook.storage.archive.port import MARK_NAME, Archive, ArchiveUnavailable
from rollbook.storage.port import Archivable

S3: Final = "s3://"
_MARK_BYTES: Final = 16


class OtherArchive(Exception):
    """The archive is not the one that holds the store's finished matches."""


def open_archive(where: str, step: Step = no_step) -> Archive:
    """Open the archive in a folder, or at s3://bucket/prefix; raises ArchiveUnavailable if it cannot be opened."""
    if not where.startswith(S3):
        return FolderArchive(Path(where).expanduser(), step)
    try:
        from rollbook.storage.archive.s3 import S3Archive  # noqa: PLC0415 - an extra, loaded only if used
    except ModuleNotFoundError:
        raise ArchiveUnavailable("an archive at s3:// needs obstore: pip install 'rollbook[s3]'") from None
    return S3Archive(where)


async def settle(archive: Archive, store: Archivable) -> str:
    """Return the common mark of archive and store, giving a new one to both if neither has one.

    Raises OtherArchive if the marks differ. Only a store that never had an archive accepts a new one: an empty folder
    is more likely a disk that is not mounted.
    """
    known = await store.archive_mark()
    found = await archive.mark()
    if not known:
        found = found or await archive.mark(secrets.token_hex(_MARK_BYTES))
        known = await store.archive_mark(found)
    if known != found:
        what = "another archive" if found else f"no archive (there is no {MARK_NAME})"
        raise OtherArchive(
            f"{archive.where} is {what}, and not the one that the finished matches of this store are in: give that one,"
            " or move it here with everything in it"
        )
    return known
