"""An archive in a folder, on this machine or on a shared disk.

A rename makes a file appear under its name once it is complete and on disk; then the folder is synced. Files that a
crash left incomplete are never read, and are removed when the folder is opened again.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from rollbook.files import DRAFT_PREFIX, DRAFT_SUFFIX, Step, appearing, no_step
from rollbook.replay_file.container import LARGEST_FILE
from rollbook.storage.archive.port import LONGEST_MARK, MARK_NAME, ArchiveUnavailable, file_name, match_of

_STALE_SECONDS: Final = 3_600
"""Age from which a draft is abandoned; a younger one may belong to another service."""

T = TypeVar("T")


class FolderArchive:
    """Keeps every match in its own file."""

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        """Open this folder, creating it if necessary; raises ArchiveUnavailable if that fails."""
        self._folder = folder
        self._step = step
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep()
        except OSError as failure:
            raise ArchiveUnavailable(f"the archive {folder} cannot be used: {failure.strerror}") from failure

    @property
    def where(self) -> str:
        """The folder."""
        return str(self._folder)

    async def put(self, match_id: str, data: bytes) -> None:
        """Write the file of a match, replacing an existing one."""
        path = self._folder / file_name(match_id)
        await self._do("written", lambda: self._write(path, data))

    async def get(self, match_id: str) -> bytes | None:
        """The file of a match; None if there is none."""
        path = self._folder / file_name(match_id)

        def read() -> bytes | None:
            try:
                with path.open("rb") as file:
                    return file.read(LARGEST_FILE + 1)
            except FileNotFoundError:
                self._folder.stat()  # raises if the whole folder is missing
                return None

        return await self._do("read", read)

    async def versions(self) -> dict[str, str]:
        """The version of every file, by match id."""

        def look() -> dict[str, str]:
            found = {}
            with os.scandir(self._folder) as files:
                for file in files:
                    match_id = match_of(file.name)
                    if match_id is not None:
                        with contextlib.suppress(FileNotFoundError):
                            facts = file.stat()
                            found[match_id] = f"{facts.st_ino}-{facts.st_mtime_ns}-{facts.st_size}"
            return found

        return await self._do("read", look)

    async def drafts(self) -> frozenset[str]:
        """The names of incomplete files, left by a crash or being written now."""
        return await self._do("read", lambda: frozenset(draft.name for draft in self._drafts()))

    async def drop(self, drafts: frozenset[str]) -> None:
        """Remove abandoned drafts."""

        def remove() -> None:
            for draft in self._drafts():
                if draft.name in drafts:
                    draft.unlink(missing_ok=True)

        await self._do("written", remove)

    async def mark(self, claim: str = "") -> str:
        """The mark of this archive; an archive without one gets `claim`."""
        path = self._folder / MARK_NAME

        def settle() -> str:
            if claim:
                with contextlib.suppress(FileExistsError):
                    self._write(path, claim.encode(), overwrite=False)
            try:
                with path.open("rb") as file:
                    return file.read(LONGEST_MARK).decode("ascii", "replace").strip()
            except FileNotFoundError:
                self._folder.stat()
                return ""

        return await self._do("read", settle)

    def _write(self, path: Path, data: bytes, *, overwrite: bool = True) -> None:
        with appearing(path, 0o600, overwrite=overwrite, step=self._step) as file:
            file.write(data[: len(data) // 2])
            file.flush()
            self._step("half written")
            file.write(data[len(data) // 2 :])

    def _sweep(self) -> None:
        for draft in self._drafts():
            with contextlib.suppress(FileNotFoundError):
                if draft.stat().st_mtime < time.time() - _STALE_SECONDS:
                    draft.unlink()

    def _drafts(self) -> Iterator[Path]:
        return self._folder.glob(f"{DRAFT_PREFIX}*{DRAFT_SUFFIX}")

    async def _do(self, what: str, work: Callable[[], T]) -> T:
        """Run file operations on a thread, because a shared disk may be slow; raises ArchiveUnavailable on failure."""
        try:
            return await asyncio.to_thread(work)
        except OSError as failure:
            raise ArchiveUnavailable(f"the archive {self._folder} cannot be {what}: {failure.strerror}") from failure
