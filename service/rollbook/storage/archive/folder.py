"""An archive in a folder: of this machine, or of a disk that several share.

A file appears under its name only when it is whole and on disk, by a rename; the folder is synced behind it. What a
crash leaves of a file that was being written is never read, and swept out when the folder is opened again.
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
"""A draft that is older is nobody's any more; a younger one may be another service's."""

T = TypeVar("T")


class FolderArchive:
    """Keeps every match in a file of its own."""

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        """Use this folder, making it if need be; ArchiveUnavailable if that cannot be."""
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
        """Keep the file of a match in place of one that is there."""
        path = self._folder / file_name(match_id)
        await self._do("written", lambda: self._write(path, data))

    async def get(self, match_id: str) -> bytes | None:
        """The file of a match; none if there is none."""
        path = self._folder / file_name(match_id)

        def read() -> bytes | None:
            try:
                with path.open("rb") as file:
                    return file.read(LARGEST_FILE + 1)
            except FileNotFoundError:
                self._folder.stat()  # a file that is not there is one thing, and a disk that is not there another
                return None

        return await self._do("read", read)

    async def versions(self) -> dict[str, str]:
        """By match id all files that there are."""

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
        """What a crash left of files that were being written, and what is being written now."""
        return await self._do("read", lambda: frozenset(draft.name for draft in self._drafts()))

    async def drop(self, drafts: frozenset[str]) -> None:
        """Remove drafts that nobody writes any more."""

        def remove() -> None:
            for draft in self._drafts():
                if draft.name in drafts:
                    draft.unlink(missing_ok=True)

        await self._do("written", remove)

    async def mark(self, claim: str = "") -> str:
        """The mark of this archive: the one that is claimed, if it had none."""
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
        """Do it on a thread: a shared disk may take its time, and nobody shall wait for it who does not want to."""
        try:
            return await asyncio.to_thread(work)
        except OSError as failure:
            raise ArchiveUnavailable(f"the archive {self._folder} cannot be {what}: {failure.strerror}") from failure
