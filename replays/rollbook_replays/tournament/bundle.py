"""A tournament in one file: a zip archive of a manifest, the replays of its matches, and a signature over all of it.

    manifest.toml
    matches/MATCH_ID.rollbook     one for each match, by ascending name
    SIGNATURE                     `KEY_ID HEX`, a line

Everything is stored as it is, for hashes and signatures do not shrink, and without dates: the same matches give the
same bytes. What is read is read in place and never unpacked anywhere: names are names here, not paths. The signature is
Ed25519 over `"rollbook/1/bundle" || SHA-256(the lines of all other entries)`, a line being `HEX_SHA256 NAME`, by
ascending name.
"""

from __future__ import annotations

import hashlib
import io
import re
import stat
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rollbook.ed25519 import holds
from rollbook.replay_file.container import LARGEST_FILE, SUFFIX
from rollbook.replay_file.key_lines import key_id
from rollbook_replays.tournament.manifest import (
    LARGEST_MANIFEST,
    MOST_MATCHES,
    Manifest,
    WrongManifest,
    is_match_id,
    read_manifest,
)

MANIFEST: Final = "manifest.toml"
SIGNATURE: Final = "SIGNATURE"
FOLDER: Final = "matches/"
LARGEST_BUNDLE: Final = 2 << 30

_MAGIC: Final = b"PK\x03\x04"
_LABEL: Final = b"rollbook/1/bundle"
_LINE: Final = re.compile(rb"([0-9a-f]{16}) ([0-9a-f]{128})\n")
_END: Final = struct.Struct("<4s4H2LH")
_END_MAGIC: Final = b"PK\x05\x06"
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_LOCATOR_MAGIC: Final = b"PK\x06\x07"
_LOCATOR_BYTES: Final = 20
_LONGEST_ENTRY: Final = 46 + 200
"""What the directory says of an entry."""
_CHUNK: Final = 1 << 20


class NotABundle(Exception):
    """This is no whole bundle; the sentence says why."""


@dataclass(frozen=True, slots=True)
class BundledReplay:
    """One replay in a bundle: where its bytes stand."""

    bundle: Path
    entry: str
    start: int
    size: int

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{self.bundle}/{self.entry}"

    @property
    def match_id(self) -> str:
        """The match that its name promises."""
        return self.entry.removeprefix(FOLDER).removesuffix(SUFFIX)

    def read(self) -> bytes:
        """Its bytes."""
        with self.bundle.open("rb") as file:
            file.seek(self.start)
            return file.read(self.size)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle as its file has it; nothing of what it says has been checked."""

    path: Path
    manifest: Manifest
    sources: tuple[BundledReplay, ...]
    """The replays, by ascending name."""
    key_id: str
    """Whose signature this is."""
    signature: bytes
    signed: bytes

    def holds(self, key: Ed25519PublicKey) -> bool:
        """Whether the key signed exactly this."""
        return holds(key, self.signature, self.signed)


# Writing


def write_bundle(
    file: IO[bytes], manifest: bytes, matches: Mapping[str, Callable[[], bytes]], key: Ed25519PrivateKey
) -> None:
    """Write the archive of these replays, by match id; one is read at a time."""
    digests = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:

        def add(name: str, data: bytes) -> None:
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)
            digests.append((name, hashlib.sha256(data).hexdigest()))

        add(MANIFEST, manifest)
        for match_id in sorted(matches):
            add(f"{FOLDER}{match_id}{SUFFIX}", matches[match_id]())
        signature = key.sign(_signed(digests))
        add(SIGNATURE, f"{key_id(key.public_key())} {signature.hex()}\n".encode("ascii"))


def _signed(entries: Iterable[tuple[str, str]]) -> bytes:
    lines = "".join(f"{digest} {name}\n" for name, digest in sorted(entries))
    return _LABEL + hashlib.sha256(lines.encode("ascii")).digest()


# Reading


def looks_like_bundle(path: Path) -> bool:
    """Whether the file begins as zip archives do."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def open_bundle(path: Path) -> Bundle:
    """The bundle in the file, or `NotABundle`; memory and time are bounded by the size of the file."""
    with path.open("rb") as file:
        entries = _entries(path, file)
        digests = {entry.entry: _digest(file, entry) for entry in entries.values() if entry.entry != SIGNATURE}
        manifest = _part(file, entries, MANIFEST, LARGEST_MANIFEST)
        line = _LINE.fullmatch(_part(file, entries, SIGNATURE, _CHUNK))
    if line is None:
        raise NotABundle(f"{SIGNATURE} is no line of a key id and a signature")
    try:
        read = read_manifest(manifest)
    except WrongManifest as wrong:
        raise NotABundle(f"{MANIFEST}: {wrong}") from None
    return Bundle(
        path=path,
        manifest=read,
        sources=tuple(entries[name] for name in sorted(entries) if name.startswith(FOLDER)),
        key_id=line[1].decode("ascii"),
        signature=bytes.fromhex(line[2].decode("ascii")),
        signed=_signed(digests.items()),
    )


def _entries(path: Path, file: BinaryIO) -> dict[str, BundledReplay]:
    size = file.seek(0, io.SEEK_END)
    _check_directory(file, size)
    try:
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error) as broken:
        raise NotABundle(f"this is no whole zip archive: {broken}") from None
    entries: dict[str, BundledReplay] = {}
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        _check_entry(info)
        if info.filename in entries:
            raise NotABundle(f"{info.filename} is there twice")
        if info.header_offset != end:
            raise NotABundle(f"{info.filename} does not stand directly behind what is before it")
        start = _start(file, info)
        if start + info.file_size > size:
            raise NotABundle(f"{info.filename} goes beyond the end of the file")
        end = start + info.file_size
        entries[info.filename] = BundledReplay(path, info.filename, start, info.file_size)
    return entries


def _check_directory(file: BinaryIO, size: int) -> None:
    """Refuse what would make the archive's reader take more memory than a bundle needs, before it reads."""
    if size > LARGEST_BUNDLE:
        raise NotABundle(f"a bundle has at most {LARGEST_BUNDLE} bytes")
    tail = _LOCATOR_BYTES + _END.size
    if size < tail:
        raise NotABundle("the archive was cut: its directory is not there")
    file.seek(size - tail)
    last = file.read(tail)
    magic, _, _, count, total, length, _, comment = _END.unpack(last[_LOCATOR_BYTES:])
    if magic != _END_MAGIC or comment:
        raise NotABundle("the archive was cut or extended: its directory is not at its end")
    if last.startswith(_LOCATOR_MAGIC):
        raise NotABundle("a bundle is no zip64 archive")
    most = MOST_MATCHES + 2
    if max(count, total) > most or length > most * _LONGEST_ENTRY:
        raise NotABundle(f"a bundle has at most {MOST_MATCHES} matches")


def _check_entry(info: zipfile.ZipInfo) -> None:
    name = info.orig_filename
    shown = repr(name[:100])
    if name not in {MANIFEST, SIGNATURE} and not (
        name.startswith(FOLDER) and name.endswith(SUFFIX) and is_match_id(name[len(FOLDER) : -len(SUFFIX)])
    ):
        raise NotABundle(f"{shown} is no entry of a bundle: there are {MANIFEST}, {SIGNATURE} and {FOLDER}ID{SUFFIX}")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG}:
        raise NotABundle(f"{shown} is no regular file")
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.compress_size != info.file_size:
        raise NotABundle(f"{shown} is compressed or encrypted; a bundle stores its files as they are")
    if name.startswith(FOLDER) and info.file_size > LARGEST_FILE:
        raise NotABundle(f"{shown} claims {info.file_size} bytes; a replay has at most {LARGEST_FILE}")


def _start(file: BinaryIO, info: zipfile.ZipInfo) -> int:
    """Where the bytes begin: behind a header that has to name the same entry as the directory."""
    file.seek(info.header_offset)
    header = file.read(_LOCAL.size)
    name = info.orig_filename.encode("utf-8")
    if len(header) < _LOCAL.size or not header.startswith(_MAGIC):
        raise NotABundle(f"{info.filename} has no header where the directory says")
    *_, name_length, extra_length = _LOCAL.unpack(header)
    if name_length != len(name) or file.read(name_length) != name:
        raise NotABundle(f"{info.filename} has another name in the archive's directory")
    return info.header_offset + _LOCAL.size + int(name_length) + int(extra_length)


def _digest(file: BinaryIO, entry: BundledReplay) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(file, entry):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(file: BinaryIO, entry: BundledReplay) -> Iterator[bytes]:
    file.seek(entry.start)
    for taken in range(0, entry.size, _CHUNK):
        yield file.read(min(_CHUNK, entry.size - taken))


def _part(file: BinaryIO, entries: Mapping[str, BundledReplay], name: str, most: int) -> bytes:
    if name not in entries:
        raise NotABundle(f"there is no {name}")
    if entries[name].size > most:
        raise NotABundle(f"{name} has more than {most} bytes")
    return b"".join(_chunks(file, entries[name]))
