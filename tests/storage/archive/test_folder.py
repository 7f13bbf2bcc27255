"""The archive in a folder: drafts left by a crash, and a folder that disappears."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rollbook.storage.archive.folder import FolderArchive
from rollbook.storage.archive.port import ArchiveUnavailable

pytestmark = pytest.mark.asyncio

MATCH = "aaaabbbbccccddddeeeeffff"


async def test_half_a_file_is_never_seen_and_swept_out_later(tmp_path: Path) -> None:
    """Readers and lists ignore a draft; a recent one stays, because another service may be writing it."""

    class Crash(BaseException):
        pass

    def crash(step: str) -> None:
        if step == "half written":
            raise Crash

    archive = FolderArchive(tmp_path, crash)
    old, young = tmp_path / ".old.1.part", tmp_path / ".young.1.part"
    for draft in (old, young):
        draft.write_bytes(b"half")
    os.utime(old, (1, 1))
    with pytest.raises(Crash):
        await archive.put(MATCH, b"whole")
    assert None is await archive.get(MATCH)
    assert {} == await archive.versions()
    FolderArchive(tmp_path)
    assert [young] == list(tmp_path.iterdir())


async def test_a_folder_that_went_away_is_not_an_empty_one(tmp_path: Path) -> None:
    """A match in it must not be reported as unknown."""
    folder = tmp_path / "disk"
    archive = FolderArchive(folder)
    await archive.put(MATCH, b"whole")
    folder.rename(tmp_path / "elsewhere")
    for call in (archive.get(MATCH), archive.versions(), archive.mark(), archive.put(MATCH, b"whole")):
        with pytest.raises(ArchiveUnavailable, match="No such file"):
            await call


async def test_a_place_where_no_folder_can_be_is_refused(tmp_path: Path) -> None:
    """The exception has the system's reason."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ArchiveUnavailable, match="cannot be used"):
        FolderArchive(tmp_path / "file")


async def test_only_the_owner_reads_the_archive(tmp_path: Path) -> None:
    """The archive has the hands of private matches."""
    archive = FolderArchive(tmp_path / "archive")
    await archive.put(MATCH, b"whole")
    assert 0o700 == (tmp_path / "archive").stat().st_mode & 0o777
    assert {0o600} == {file.stat().st_mode & 0o777 for file in (tmp_path / "archive").iterdir()}
