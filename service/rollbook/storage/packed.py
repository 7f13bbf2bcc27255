"""The file of a backup: a gzipped tar that any tar reads, with checksums of the files in it and of the whole.

The last file in the tar lists the others: SHA-256, size and name of each. After the tar comes an empty gzip member
whose comment is the SHA-256 of all bytes before it, so that a change of any bit is detected.
"""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final

CHECKSUMS: Final = "checksums.sha256"
"""The last file of a backup; a backup without it was cut off. `sha256sum -c` reads it without the sizes."""

_GZIP_LEVEL: Final = 6
_AT_ONCE: Final = 1 << 20
_WITH_COMMENT: Final = b"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xff"
_NOTHING: Final = b"\x03\x00" + bytes(8)
"""Compressed data, checksum and length of an empty gzip member."""

_BROKEN: Final = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, OSError, ValueError, ArithmeticError)
"""What gzip and tar raise for damaged bytes; OverflowError if a length in a header is too large."""


class Damaged(Exception):
    """The file is not the complete backup that was written; the message names the difference, if it is known."""


def _end(digest: str) -> bytes:
    return _WITH_COMMENT + f"SHA-256 of all before: {digest}".encode() + b"\0" + _NOTHING


_END_BYTES: Final = len(_end(hashlib.sha256().hexdigest()))


class Packing:
    """A backup being written."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        """Created by `packing`."""
        self._tar = tar
        self._lines: list[str] = []

    @property
    def count(self) -> int:
        """The number of files added."""
        return len(self._lines)

    def add(self, file: IO[bytes], name: str) -> None:
        """Add an open file under this name; data that is appended to the file meanwhile is left out."""
        about = self._tar.gettarinfo(arcname=name, fileobj=file)
        about.uname = about.gname = ""
        about.uid = about.gid = 0
        read = _Hashed(file)
        self._tar.addfile(about, read)
        self._lines.append(f"{read.digest}  {about.size}  {name}\n")

    def finish(self) -> None:
        """Add the list of checksums."""
        data = "".join(self._lines).encode()
        about = tarfile.TarInfo(CHECKSUMS)
        about.size = len(data)
        self._tar.addfile(about, BytesIO(data))


@contextmanager
def packing(file: IO[bytes]) -> Iterator[Packing]:
    """Write a backup into a file that is open for writing and reading."""
    with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        backup = Packing(tar)
        yield backup
        backup.finish()
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # a file that can be read
    file.write(_end(digest))


def check(backup: Path) -> int:
    """Check a backup and return its number of files; raises Damaged with what differs, or OSError."""
    with backup.open("rb") as file:
        length = file.seek(0, 2) - _END_BYTES
        if length < 0:
            raise Damaged(f"{backup} is no whole backup: it is too short")
        file.seek(0)
        digest, left = hashlib.sha256(), length
        while left and (data := file.read(min(left, _AT_ONCE))):
            digest.update(data)
            left -= len(data)
        if file.read() == _end(digest.hexdigest()):
            file.seek(0)
            return len(_members(file, length))
        file.seek(0)
        raise Damaged(f"{backup} is no whole backup: {_difference(file, length)}")


def unpack(backup: Path, folder: Path) -> None:
    """Check a backup, extract its files into a folder and read each of them back; raises Damaged."""
    check(backup)
    try:
        with gzip.open(backup, "rb") as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
            tar.extractall(folder, filter="data")
    except _BROKEN as broken:
        raise Damaged(f"{backup} is no whole backup: {broken}") from broken
    listed = folder / CHECKSUMS
    if not listed.is_file():
        raise Damaged(f"{backup} is no whole backup of a data directory")
    for digest, size, name in _lines(listed.read_bytes()):
        with (folder / name).open("rb") as file:
            if (folder / name).stat().st_size != size or hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise Damaged(f"{folder / name} could not be written as it is in {backup}: look after the disk")
    listed.unlink()


def _members(file: IO[bytes], length: int) -> dict[str, tuple[str, int]]:
    """Checksum and size by name of the files of an undamaged backup; raises Damaged if its list is wrong."""
    found, said = _read(file, length)
    if said is None or {name: of for name, of in found.items() if name != CHECKSUMS} != said:
        raise Damaged("it does not list the files that are in it")
    return said


def _difference(file: IO[bytes], length: int) -> str:
    """Describe where a damaged backup differs from what was written."""
    last = [""]
    try:
        found, said = _read(file, length, last)
    except _BROKEN as broken:
        return f"it breaks off at {last[0] or 'its beginning'} ({broken})"
    if said is None:
        return f"it ends behind {last[0] or 'its beginning'}"
    names = [name for name, of in said.items() if found.get(name) != of]
    if names:
        return f"{', '.join(names)} in it is not what was backed up"
    return "its files are whole, but bytes between or behind them are not"


def _read(
    file: IO[bytes], length: int, last: list[str] | None = None
) -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]] | None]:
    """Checksum and size of each file by name: computed, and as listed (None without a list).

    The name of the file being read is kept in `last[0]`.
    """
    found: dict[str, tuple[str, int]] = {}
    said = None
    packed_bytes: Any = _Part(file, length)
    with gzip.GzipFile("", "rb", fileobj=packed_bytes) as packed:
        with tarfile.open(fileobj=packed, mode="r|") as tar:
            for member in tar:
                if last is not None:
                    last[0] = member.name
                content = tar.extractfile(member)
                if content is None:
                    continue
                if member.name == CHECKSUMS:
                    data = content.read()
                    said = {name: (digest, size) for digest, size, name in _lines(data)}
                    found[member.name] = (hashlib.sha256(data).hexdigest(), member.size)
                else:
                    read = _Hashed(content)
                    while read.read(_AT_ONCE):
                        pass
                    found[member.name] = (read.digest, member.size)
        while packed.read(_AT_ONCE):
            pass  # gzip verifies its checksum only at its end
    return found, said


def _lines(data: bytes) -> Iterator[tuple[str, int, str]]:
    for line in data.decode().splitlines():
        digest, size, name = line.split("  ", 2)
        yield digest, int(size), name


class _Hashed:
    """Wraps a file and computes the checksum of what is read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes."""
        data = self._file.read(size)
        self._hash.update(data)
        return data

    @property
    def digest(self) -> str:
        """The checksum of the bytes read so far."""
        return self._hash.hexdigest()


class _Part:
    """Reads only the first bytes of a file, as if it ended there."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file = file
        self._left = length

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes, up to the end of the part."""
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data
