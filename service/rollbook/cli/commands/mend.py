"""`rollbook mend`: cuts off the zero bytes that a power cut left at the end of a store's file."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit
from rollbook.storage.append_only import cut_zeros, extended_file
from rollbook.storage.embedded.data_directory import DataDirectory, DataDirectoryRefused


def mend(*, data: Annotated[Path, Parameter(env_var="ROLLBOOK_DATA")]) -> int:
    """Cut off the zero bytes that a power cut may leave at the end of a store's append-only file.

    A service that finds them refuses to start, with a message. They were never part of a command, and nothing
    acknowledged comes after them. Stop the service first. Other damage to the file is not repaired: restore a backup
    then. Prints the file and how many bytes were cut off. Exit code 1 if the data directory is in use or cannot be
    written, 3 if there is no store in it.

    Example: `rollbook mend --data ~/rollbook`

    Parameters
    ----------
    data
        The data directory of the service.
    """
    try:
        found = asyncio.run(_mend_files(data.expanduser()))
    except (DataDirectoryRefused, OSError) as why:
        print(f"rollbook mend: {why}", file=sys.stderr)
        return Exit.WRONG
    if found is None:
        print(f"rollbook mend: {data} has no store", file=sys.stderr)
        return Exit.UNREADABLE
    path, count = found
    print(f"rollbook mend: {count:,} zero bytes cut off" if count else "rollbook mend: no zero bytes", file=sys.stderr)
    print(path)
    return Exit.GOOD


async def _mend_files(data: Path) -> tuple[Path, int] | None:
    if not (data / "store").is_dir():
        return None
    directory = DataDirectory.take(data)
    try:
        lock = await directory.take_server_lock()
        try:
            path = extended_file(directory.store)
            return None if path is None else (path, cut_zeros(path))
        finally:
            lock.close()
    finally:
        directory.release()
