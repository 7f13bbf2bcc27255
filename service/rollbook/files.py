"""Writes files atomically: complete or not at all, even if the power fails."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, TypeAlias

DRAFT_PREFIX: Final = "."
DRAFT_SUFFIX: Final = ".part"
"""Suffix of a file that a crash left unfinished; such a file is never read."""

Step: TypeAlias = Callable[[str], None]
"""Called with the name of every step; tests end the process there."""


def no_step(_name: str) -> None:
    """Ignore the step."""


@contextmanager
def appearing(
    path: Path, mode: int = 0o644, *, overwrite: bool = True, durable: bool = True, step: Step = no_step
) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` only once all of it is on the disk.

    Until then only its owner can read it, in spite of `mode`. Without `overwrite`, FileExistsError is raised if
    the name is taken: of several concurrent writers exactly one wins. A file that is not `durable` survives a crash of
    the program, but perhaps not one of the machine.

    If `path` is a symbolic link, its target is replaced. A device or a pipe is written to directly.
    """
    path = path.resolve() if path.is_symlink() else path
    if overwrite and _is_no_file(path):
        with path.open("wb") as there:
            yield there
        return
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{DRAFT_PREFIX}{path.name}.", suffix=DRAFT_SUFFIX)
    draft = Path(name)
    try:
        with open(descriptor, "w+b") as file:  # noqa: PTH123 - a descriptor
            yield file
            file.flush()
            if durable:
                os.fsync(descriptor)
        draft.chmod(mode)
        step("written")
        if overwrite:
            draft.replace(path)
        else:
            path.hardlink_to(draft)
        step("renamed")
    finally:
        draft.unlink(missing_ok=True)
    if durable:
        sync_folder(path.parent)
        step("synced")


def _is_no_file(path: Path) -> bool:
    """Whether the path is neither a file nor a directory, such as /dev/null, and so cannot be replaced."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def write_file(path: Path, data: bytes, mode: int = 0o644, *, durable: bool = True) -> None:
    """Write a whole file atomically, replacing an existing one."""
    with appearing(path, mode, durable=durable) as file:
        file.write(data)


def create_file(path: Path, data: bytes, mode: int = 0o644) -> bool:
    """Write a whole file atomically if it does not exist; returns whether it was created."""
    try:
        with appearing(path, mode, overwrite=False) as file:
            file.write(data)
    except FileExistsError:
        # The existing file must also survive a power failure before the caller relies on it.
        sync_folder(path.parent)
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Make the names of the files in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
