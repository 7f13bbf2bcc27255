"""Saves a data directory in one file, while its service runs or not, and restores it whole.

The store keeps its matches in append-only files that a manifest names: the server extends the last of them and changes
no other. So a copy of all of them, opened while the manifest stayed the same, is the store at some moment during the
copying. A command that was cut off at the end is dropped when the store is loaded, because the writes of a script are
one transaction. The archive is copied after the store, so that it contains every match that has left the store by then.
`packed` defines the format of the file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from rollbook.files import appearing, sync_folder
from rollbook.storage.append_only import MANIFESTS, SINGLE, named_files
from rollbook.storage.data_format import FORMAT, refusal
from rollbook.storage.packed import Damaged, Packing, check, packing, unpack

_MARKER: Final = "format"
_KEYS: Final = ("*.key", "*.key.public", "service.name")
_ARCHIVE_FILES: Final = ("archive.mark", "*.rollbook")
_ARCHIVE: Final = "archive"
_STORE: Final = "store"

_TRIES: Final = 100
"""How often the manifest may change while its files are opened; a rewrite takes longer than opening a few files."""

_FOR_ITS_OWNER: Final = 0o600
"""The mode of a backup, which contains keys."""


class BackupRefused(Exception):
    """The request cannot be carried out; the message gives the reason."""


class BackupUnreadable(BackupRefused):
    """There is no data directory, or no undamaged backup, to read."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The contents of a backup."""

    files: int
    store: bool
    """Whether the backup contains the store's matches."""


def back_up(data: Path, out: Path) -> Saved:
    """Write everything into one file that cannot be derived from other data."""
    try:
        found = (data / _MARKER).read_text("utf-8").strip() if (data / _STORE).exists() else FORMAT
    except OSError as failure:
        raise BackupUnreadable(f"{data / _MARKER}: {failure.strerror}") from failure
    if not any(data.glob(_KEYS[0])):
        raise BackupUnreadable(f"{data} is no data directory: there is not even a key in it")
    if (why := refusal(str(data), found)) is not None:
        raise BackupRefused(why)
    with appearing(out, _FOR_ITS_OWNER) as file, packing(file) as backup:
        _add(backup, data, [path for pattern in (_MARKER, *_KEYS) for path in sorted(data.glob(pattern))])
        stored = _add_store(backup, data)
        _add(backup, data, [path for pattern in _ARCHIVE_FILES for path in sorted((data / _ARCHIVE).glob(pattern))])
    return Saved(backup.count, stored > 0)


def verify(backup: Path) -> int:
    """Check a backup bit by bit and return its number of files; raises BackupUnreadable if it is damaged."""
    try:
        return check(backup)
    except (Damaged, OSError) as why:
        raise BackupUnreadable(_sentence(why)) from why


def put_back(backup: Path, data: Path) -> None:
    """Restore a data directory from a backup, whole or not at all."""
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise BackupRefused(f"{data} is not empty: a backup is put back into a directory of its own")
    data.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=data.parent, prefix=f".{data.name}.", suffix=".restoring"))
    try:
        _unpack(backup, draft)
        _sync(draft)
        draft.replace(data)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    sync_folder(data.parent)


def _add(backup: Packing, data: Path, paths: list[Path]) -> None:
    for path in paths:
        with path.open("rb") as file:
            backup.add(file, str(path.relative_to(data)))


def _add_store(backup: Packing, data: Path) -> int:
    with _opened_store(data / _STORE) as files:
        for path, file in files.items():
            backup.add(file, str(path.relative_to(data)))
        return len(files)


@contextmanager
def _opened_store(store: Path) -> Iterator[dict[Path, IO[bytes]]]:
    """Open the store's files as one manifest names them; files deleted meanwhile can still be read."""
    for _ in range(_TRIES):
        with ExitStack() as stack:
            manifest = next(iter(store.glob(MANIFESTS)), None)
            if manifest is None:
                single = store / SINGLE
                yield {single: stack.enter_context(single.open("rb"))} if single.exists() else {}
                return
            files: dict[Path, IO[bytes]] = {}
            try:
                files[manifest] = stack.enter_context(manifest.open("rb"))
                said = files[manifest].read()
                files[manifest].seek(0)
                for name in named_files(said):
                    path = manifest.parent / name
                    files[path] = stack.enter_context(path.open("rb"))
                settled = manifest.read_bytes() == said
            except FileNotFoundError:
                settled = False
            if settled:
                yield files
                return
    raise BackupRefused(f"{store} is being rewritten again and again; try it later")


def _unpack(backup: Path, folder: Path) -> None:
    try:
        unpack(backup, folder)
    except (Damaged, FileNotFoundError) as why:
        raise BackupUnreadable(_sentence(why)) from why


def _sentence(why: Exception) -> str:
    return f"{why.filename}: {why.strerror}" if isinstance(why, OSError) else str(why)


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o700)
            sync_folder(path)
        else:
            with path.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)
