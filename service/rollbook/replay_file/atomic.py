"""Files that appear whole or not at all, whenever the power fails."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def appearing(path: Path, mode: int = 0o644) -> Iterator[IO[bytes]]:
    """A file to write; it has its name, and what stood there before is gone, only once all of it is on the disk.

    Until then only its owner can read it, whatever its mode will be.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    part = Path(name)
    try:
        with open(descriptor, "w+b") as file:  # noqa: PTH123 - a descriptor
            yield file
            file.flush()
            os.fsync(descriptor)
        part.chmod(mode)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
