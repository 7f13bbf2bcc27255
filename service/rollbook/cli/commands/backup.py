"""`rollbook backup` and `rollbook restore`: a whole data directory in one file, and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit, count_noun, usage
from rollbook.cli.json_lines import AsJson, print_json
from rollbook.storage.backup import BackupRefused, BackupUnreadable, back_up, put_back
from rollbook.storage.backup import verify as verify_backup


def backup(
    *,
    data: Annotated[Path | None, Parameter(env_var="ROLLBOOK_DATA")] = None,
    out: Path | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    verify: Path | None = None,
    as_json: AsJson = False,
) -> int:
    """Back up a data directory: keys, matches in play, and the archive if it is in there.

    The service may keep running. Everything that was acknowledged before the backup began is in it; of later commands
    some may be, but never half of one. Keep the file as secret as the keys in it. Matches in a Redis of your own, or in
    an archive elsewhere, need a backup of their own: first Redis, then the archive. A backup has checksums of
    everything in it and of itself; --verify compares them. Exit code 1 if the file cannot be written or is there
    already, 3 if there is nothing to back up, or a backup was damaged.

    Example: `rollbook backup --data ~/rollbook --out rollbook.tar.gz`

    Parameters
    ----------
    data
        The data directory of the service.
    out
        The file to write, such as rollbook.tar.gz; readable only by its owner.
    force
        Overwrite the file if it exists.
    verify
        Verify this backup instead of making one.
    as_json
        For programs: one JSON object instead of the path. file: the path of the backup; files: how many files are in
        it; bytes: its size; has_store: whether a store is in it, null with --verify; is_verified: whether every
        checksum was compared.
    """
    if verify is not None:
        return _verify(verify.expanduser(), as_json=as_json)
    if data is None or out is None:
        return usage("name the data and the target: --data and --out; rollbook backup --help explains it")
    target = out.expanduser()
    if target.exists() and not force:
        print(f"{target} is there already; --force overwrites it", file=sys.stderr)
        return Exit.WRONG
    try:
        saved = back_up(data.expanduser(), target)
    except BackupUnreadable as unreadable:
        print(f"rollbook backup: {unreadable}", file=sys.stderr)
        return Exit.UNREADABLE
    except (BackupRefused, OSError) as failure:
        print(f"rollbook backup: {failure}", file=sys.stderr)
        return Exit.WRONG
    if not saved.store:
        print(
            "rollbook backup: no store is in there; back up your Redis by its own means, before this", file=sys.stderr
        )
    print(
        f"rollbook backup: {count_noun(saved.files, 'file', 'files')}, {target.stat().st_size:,} bytes", file=sys.stderr
    )
    _tell(target, saved.files, has_store=saved.store, as_json=as_json)
    return Exit.GOOD


def _tell(backup: Path, files: int, *, has_store: bool | None, as_json: bool) -> None:
    """Print the result for a backup; `has_store` is None if it was only verified."""
    if as_json:
        facts = {"file": str(backup), "files": files, "bytes": backup.stat().st_size}
        print_json({**facts, "has_store": has_store, "is_verified": has_store is None})
    else:
        print(backup)


def _verify(backup: Path, *, as_json: bool) -> Exit:
    try:
        count = verify_backup(backup)
    except BackupUnreadable as unreadable:
        print(f"rollbook backup: {unreadable}", file=sys.stderr)
        return Exit.UNREADABLE
    print(f"rollbook backup: {count_noun(count, 'file', 'files')}, all of them as they were backed up", file=sys.stderr)
    _tell(backup, count, has_store=None, as_json=as_json)
    return Exit.GOOD


def restore(file: Path, *, data: Annotated[Path, Parameter(env_var="ROLLBOOK_DATA")]) -> int:
    """Restore a backup into a data directory that is empty or does not exist.

    Everything is compared with the checksums in the backup, and then moved into place at once. What happened after the
    backup is lost: a client that saw more of a match gets DATA_LOSS, and that match is sealed as aborted, if anything
    of it is left. Exit code 1 if the directory is not empty or cannot be written, 3 if the file is not a complete
    backup.

    Example: `rollbook restore rollbook.tar.gz --data ~/rollbook-again`

    Parameters
    ----------
    file
        What `rollbook backup` wrote.
    data
        The data directory to create.
    """
    try:
        put_back(file.expanduser(), data.expanduser())
    except BackupUnreadable as unreadable:
        print(f"rollbook restore: {unreadable}", file=sys.stderr)
        return Exit.UNREADABLE
    except (BackupRefused, OSError) as failure:
        print(f"rollbook restore: {failure}", file=sys.stderr)
        return Exit.WRONG
    print(data)
    return Exit.GOOD
