"""A replay file from a disk, as it is or packed with gzip, in bounded memory."""

from __future__ import annotations

import errno
import stat
import zlib
from pathlib import Path
from typing import Final

from rollbook.replay_file.container import LARGEST_FILE, SUFFIX, NotAReplay

PACKED_SUFFIX: Final = f"{SUFFIX}.gz"

_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
"""What zlib calls a stream of gzip."""


def read_file(path: Path) -> bytes:
    """What the file holds, unpacked; of one that is too large only so much that this shows.

    `OSError` if it cannot be had, `NotAReplay` if it cannot be unpacked.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        # Whoever opens a pipe waits until somebody writes into it.
        raise OSError(errno.EINVAL, "a pipe or a device, and no file")
    with path.open("rb") as file:
        return _unpacked(file.read(LARGEST_FILE + 1))


def _unpacked(data: bytes) -> bytes:
    """What was packed with gzip; anything else as it is."""
    if not data.startswith(_GZIP):
        return data
    unpacking = zlib.decompressobj(_GZIP_WINDOW)
    try:
        file = unpacking.decompress(data, LARGEST_FILE + 1)
    except zlib.error as broken:
        raise NotAReplay(f"the file cannot be unpacked: {broken}") from None
    if len(file) > LARGEST_FILE:
        raise NotAReplay(f"the file unpacks to more than {LARGEST_FILE} bytes, which no replay has")
    if not unpacking.eof or unpacking.unused_data:
        raise NotAReplay("the file was cut or extended: it is not one whole stream of gzip")
    return file
