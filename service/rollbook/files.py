"""Files that appear whole or not at all, whenever the power fails."""

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
"""What a file is called that a crash left unfinished: nothing ever reads it."""

Step: TypeAlias = Callable[[str], None]
"""Is told of every step by its name; tests end the process there."""


def no_step(_name: str) -> None:
    """Nobody wants to know."""


@contextmanager
def appearing(
    path: Path, mode: int = 0o644, *, overwrite: bool = True, durable: bool = True, step: Step = no_step
) -> Iterator[IO[bytes]]:
    """A file to write; it has its name, and what stood there before is gone, only once all of it is on the disk.

    Until then only its owner can read it, whatever its mode will be. Without `overwrite` FileExistsError says that the
    name is taken: of several who write at once exactly one wins. What is not `durable` is whole after a crash of the
    program, but perhaps not after one of the machine.

    What a link leads to is replaced, not the link. A device or a pipe is written to, and stays what it is.
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
    """Whether something is there that cannot be replaced by a file, such as /dev/null."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def write_file(path: Path, data: bytes, mode: int = 0o644, *, durable: bool = True) -> None:
    """Write a whole file, in place of one that is there."""
    with appearing(path, mode, durable=durable) as file:
        file.write(data)


def create_file(path: Path, data: bytes, mode: int = 0o644) -> bool:
    """Write a whole file unless there is one; whether there was none."""
    try:
        with appearing(path, mode, overwrite=False) as file:
            file.write(data)
    except FileExistsError:
        # What is there must outlive a power failure as well before anybody builds on it.
        sync_folder(path.parent)
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Make durable which names the folder has."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
