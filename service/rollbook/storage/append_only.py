"""The append-only files of an embedded store: the server extends the last one and changes no other.

After a power cut the file system may have made a file longer than what was written to it; the rest is zero bytes after
the last command. A server that finds zero bytes there does not start. No command ends with one, so all of them can be
cut off; the server itself drops an incomplete last command.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rollbook.files import sync_folder

MANIFESTS: Final = "appendonlydir/*.manifest"
SINGLE: Final = "appendonly.aof"
"""The single file that servers before version 7 have instead of a manifest; a rewrite replaces it as a whole."""

_AT_ONCE: Final = 1 << 16


def named_files(manifest: bytes) -> list[str]:
    """The files that a manifest of the store names; its lines are `file NAME seq NUMBER type TYPE`."""
    words = [line.split() for line in manifest.decode().splitlines() if line.startswith("file ")]
    # Type h is history: files that are about to be deleted and that a start ignores.
    return [Path(line[1]).name for line in words if line[-1] != "h"]


def extended_file(store: Path) -> Path | None:
    """The file that the server extends, the last in the manifest; None if there is none."""
    manifest = next(iter(store.glob(MANIFESTS)), None)
    if manifest is None:
        return store / SINGLE if (store / SINGLE).is_file() else None
    names = named_files(manifest.read_bytes())
    found = manifest.parent / names[-1] if names else None
    return found if found is not None and found.is_file() else None


def zeros_behind(path: Path) -> int:
    """The number of zero bytes at the end of a file."""
    with path.open("rb") as file:
        size = left = file.seek(0, os.SEEK_END)
        while left:
            begin = max(left - _AT_ONCE, 0)
            file.seek(begin)
            kept = len(file.read(left - begin).rstrip(b"\0"))
            left = begin + kept
            if kept:
                break
    return size - left


def cut_zeros(path: Path) -> int:
    """Cut off the zero bytes at the end of a file, durably, and return how many there were."""
    count = zeros_behind(path)
    if count:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - count)
            os.fsync(file.fileno())
        sync_folder(path.parent)
    return count
