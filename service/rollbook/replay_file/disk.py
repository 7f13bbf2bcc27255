"""Reads a replay file from a disk, plain or packed with gzip, in bounded memory."""

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
"""zlib's number for the gzip format."""


def read_file(path: Path) -> bytes:
    """The content of a file, unpacked; of a file that is too large only enough to see that.

    Raises OSError if the file cannot be read, and NotAReplay if it cannot be unpacked.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        # Opening a pipe would block until another process writes into it.
        raise OSError(errno.EINVAL, "a pipe or a device, and no file")
    with path.open("rb") as file:
        return _unpack(file.read(LARGEST_FILE + 1))


def _unpack(data: bytes) -> bytes:
    """The content of a gzip file; other data is returned unchanged."""
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
