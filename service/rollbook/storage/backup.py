"""A data directory in one file, taken while its service runs or not, and put back whole.

The store keeps its matches in append-only files that a manifest names: of those the server only ever extends the last,
and none that the manifest names is ever changed otherwise. So a copy of all of them, opened while the manifest stayed
the same, is the store as it was at some moment of the copying; a command that was cut at the end is dropped when the
store is loaded, because its script stands in one transaction. The archive is copied behind the store: a match that has
left the store by then is in it. `packed` is the file that all of it goes into.
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
"""How often the manifest may change under the hands; a rewrite takes longer than to open a few files."""

_FOR_ITS_OWNER: Final = 0o600
"""The mode of a backup: there are keys in it."""


class BackupRefused(Exception):
    """What was asked cannot be done here; the sentence says why."""


class BackupUnreadable(BackupRefused):
    """There is no data directory, or no whole backup, to read."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What is in a backup."""

    files: int
    store: bool
    """Whether the store's matches are in it."""


def back_up(data: Path, out: Path) -> Saved:
    """Write everything that cannot be made anew into one file."""
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
    """How many files are in a backup that is as it was written, bit by bit; BackupUnreadable for any other."""
    try:
        return check(backup)
    except (Damaged, OSError) as why:
        raise BackupUnreadable(_sentence(why)) from why


def put_back(backup: Path, data: Path) -> None:
    """Make a data directory from a backup, whole or not at all."""
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
    """The store's files as one manifest names them, open: what is deleted meanwhile can still be read."""
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
