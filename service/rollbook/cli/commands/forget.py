"""`rollbook forget`: names of players taken out of the archive, and nothing else."""

from __future__ import annotations

import asyncio
import sys
import unicodedata
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage
from rollbook.replay_file.container import NotAReplay, read, without_names
from rollbook.storage.archive.marker import S3, open_archive
from rollbook.storage.archive.port import Archive, ArchiveUnavailable


def forget(
    *match: str,
    archive: Annotated[str, Parameter(env_var="ROLLBOOK_ARCHIVE")],
    player: str | None = None,
) -> int:
    """Take the names of players out of archived matches, for good; the files stay valid without them.

    Names stand beside the log, signed apart from it: what is left of a file is checked as before. All names of a match
    go together. A service may run meanwhile, and shows them no more after a minute. Copies that somebody took home, and
    backups, are not touched. Prints every match whose names are gone. Exit code 1 if a file cannot be read or written,
    3 if nothing was found.

    Parameters
    ----------
    match
        The ids of matches.
    archive
        The archive: a folder, or s3://bucket/prefix with credentials and endpoint in the environment.
    player
        All matches in which a seat has exactly this name, after NFC; names are not unique.
    """
    if not match and player is None:
        return usage("name matches, or a player with --player; rollbook forget --help explains it")
    if not archive.startswith(S3) and not Path(archive).expanduser().is_dir():
        print(f"{archive}: there is no such folder", file=sys.stderr)
        return Exit.UNREADABLE
    try:
        return asyncio.run(_forget(archive, match, None if player is None else unicodedata.normalize("NFC", player)))
    except ArchiveUnavailable as unavailable:
        print(f"rollbook forget: {unavailable}", file=sys.stderr)
        return Exit.WRONG


async def _forget(place: str, matches: tuple[str, ...], player: str | None) -> Exit:
    archive = open_archive(place)
    there = await archive.versions()
    found, code = 0, Exit.GOOD
    for match_id in sorted(there if player is not None else there.keys() & set(matches)):
        try:
            found += await _forget_one(archive, match_id, None if match_id in matches else player)
        except NotAReplay as broken:
            print(f"{match_id}: {broken}", file=sys.stderr)
            code = Exit.WRONG
    for match_id in sorted(set(matches) - there.keys()):
        print(f"{match_id}: the archive has no such match", file=sys.stderr)
    if code is Exit.GOOD and not found:
        print("rollbook forget: no names were found", file=sys.stderr)
        return Exit.UNREADABLE
    return code


async def _forget_one(archive: Archive, match_id: str, player: str | None) -> int:
    """Whether there were names to forget: any, or that of this player."""
    data = await archive.get(match_id)
    names = () if data is None else read(data).replay.names
    if data is None or not names or (player is not None and player not in names):
        return 0
    await archive.put(match_id, without_names(data))
    print(match_id, flush=True)
    return 1
