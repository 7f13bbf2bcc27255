"""A data directory in one file, taken while its service runs or not, and put back whole.

The store keeps its matches in append-only files that a manifest names: of those the server only ever extends the last,
and none that the manifest names is ever changed otherwise. So a copy of all of them, opened while the manifest stayed
the same, is the store as it was at some moment of the copying; a command that was cut at the end is dropped when the
store is loaded, because its script stands in one transaction. The archive is copied behind the store: a match that has
left the store by then is in it.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Final

from rollbook.files import appearing, sync_folder
from rollbook.storage.data_format import FORMAT, refusal

_MARKER: Final = "format"
_KEYS: Final = ("*.key", "*.key.public")
_ARCHIVE_FILES: Final = ("archive.mark", "*.rollbook")
_ARCHIVE: Final = "archive"
_STORE: Final = "store"
MANIFESTS: Final = "appendonlydir/*.manifest"
_SINGLE: Final = "appendonly.aof"
"""What servers before version 7 have in place of a manifest; a rewrite exchanges it as a whole."""

_TRIES: Final = 100
"""How often the manifest may change under the hands; a rewrite takes longer than to open a few files."""

_FOR_ITS_OWNER: Final = 0o600
"""The mode of a backup: there are keys in it."""

_GZIP_LEVEL: Final = 6
_AT_ONCE: Final = 1 << 20

_END: Final = "whole"
"""The last member: whatever lacks it was cut."""


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
    with (
        appearing(out, _FOR_ITS_OWNER) as file,
        gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|") as tar,
    ):
        count = _add(tar, data, [path for pattern in (_MARKER, *_KEYS) for path in sorted(data.glob(pattern))])
        stored = _add_store(tar, data)
        archived = [path for pattern in _ARCHIVE_FILES for path in sorted((data / _ARCHIVE).glob(pattern))]
        count += stored + _add(tar, data, archived)
        tar.addfile(tarfile.TarInfo(_END), BytesIO())
    return Saved(count, stored > 0)


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


def _add(tar: tarfile.TarFile, data: Path, paths: list[Path]) -> int:
    for path in paths:
        with path.open("rb") as file:
            _add_file(tar, file, str(path.relative_to(data)))
    return len(paths)


def _add_file(tar: tarfile.TarFile, file: IO[bytes], name: str) -> None:
    # The size is settled first; what is appended meanwhile is not read.
    about = tar.gettarinfo(arcname=name, fileobj=file)
    about.uname = about.gname = ""
    about.uid = about.gid = 0
    tar.addfile(about, file)


def _add_store(tar: tarfile.TarFile, data: Path) -> int:
    with _opened_store(data / _STORE) as files:
        for path, file in files.items():
            _add_file(tar, file, str(path.relative_to(data)))
        return len(files)


@contextmanager
def _opened_store(store: Path) -> Iterator[dict[Path, IO[bytes]]]:
    """The store's files as one manifest names them, open: what is deleted meanwhile can still be read."""
    for _ in range(_TRIES):
        with ExitStack() as stack:
            manifest = next(iter(store.glob(MANIFESTS)), None)
            if manifest is None:
                single = store / _SINGLE
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


def named_files(manifest: bytes) -> list[str]:
    """The files that a manifest of the store names: `file NAME seq NUMBER type TYPE` on each line."""
    words = [line.split() for line in manifest.decode().splitlines() if line.startswith("file ")]
    # Type h is history: files that are about to be deleted and that no start reads.
    return [Path(line[1]).name for line in words if line[-1] != "h"]


def _unpack(backup: Path, folder: Path) -> None:
    try:
        with gzip.open(backup, "rb") as packed:
            with tarfile.open(fileobj=packed, mode="r|") as tar:
                tar.extractall(folder, filter="data")
            while packed.read(_AT_ONCE):
                pass  # only at its end gzip says whether all that came before is as it was
    except FileNotFoundError as failure:
        raise BackupUnreadable(f"{backup}: {failure.strerror}") from failure
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as broken:
        raise BackupUnreadable(f"{backup} is no whole backup: {broken}") from broken
    if not (folder / _END).is_file():
        raise BackupUnreadable(f"{backup} is no whole backup of a data directory")
    (folder / _END).unlink()


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o700)
            sync_folder(path)
        else:
            with path.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)
