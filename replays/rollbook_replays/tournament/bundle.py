"""Bundles: a tournament in one zip archive with a manifest, the replays of its matches, and a signature over both.

    manifest.toml
    matches/MATCH_ID.rollbook     one for each match, by ascending name
    SIGNATURE                     `KEY_ID HEX`, a line

The archive has no compression, because hashes and signatures do not shrink, and no dates. The same matches therefore
give the same bytes, and the reader refuses any other encoding. It reads entries in place, never unpacks them, and never
uses their names as paths. The signature is Ed25519 over `"rollbook/1/bundle" || SHA-256(lines)`. There is a line
`HEX_SHA256 NAME` for every other entry, by ascending name.
"""

from __future__ import annotations

import hashlib
import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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
_DIRECTORY_MAGIC: Final = b"PK\x01\x02"
_END_MAGIC: Final = b"PK\x05\x06"
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_LISTED: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_ZIP_VERSION: Final = 20
_ON_UNIX: Final = 3 << 8
_NO_DATE: Final = (0, 0x21)
"""Midnight of the first day that a zip archive can encode."""
_MODE: Final = (stat.S_IFREG | 0o644) << 16
_LONGEST_NAME: Final = 200
_CHUNK: Final = 1 << 20


class NotABundle(Exception):
    """The file is not a complete bundle; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class BundledReplay:
    """The position of one replay in a bundle."""

    bundle: Path
    entry: str
    start: int
    size: int
    crc: int
    """The CRC of the replay's bytes that the bundle states; it has not been compared with the bytes."""

    @property
    def name(self) -> str:
        """The name in reports."""
        return f"{self.bundle}/{self.entry}"

    @property
    def match_id(self) -> str:
        """The match id in the name of the entry."""
        return self.entry.removeprefix(FOLDER).removesuffix(SUFFIX)

    def read(self) -> bytes:
        """The bytes of the replay."""
        with self.bundle.open("rb") as file:
            file.seek(self.start)
            return file.read(self.size)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A decoded bundle; its signature, checksums and claims are unchecked."""

    path: Path
    manifest: Manifest
    sources: tuple[BundledReplay, ...]
    """The replays, by ascending name."""
    key_id: str
    """The id of the key that claims to have signed the bundle."""
    signature: bytes
    signed: bytes
    changed: tuple[str, ...]
    """Entries whose bytes do not have the checksum that the bundle states for them."""

    def holds(self, key: Ed25519PublicKey) -> bool:
        """Whether the key signed exactly these entries."""
        return holds(key, self.signature, self.signed)


# Writing


def write_bundle(
    file: IO[bytes], manifest: bytes, matches: Mapping[str, Callable[[], bytes]], key: Ed25519PrivateKey
) -> None:
    """Write the bundle; `matches` has by match id the function that reads the replay, and they are called in turn."""
    digests = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:

        def add(name: str, data: bytes) -> None:
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            info.external_attr = _MODE
            archive.writestr(info, data)
            digests.append((name, hashlib.sha256(data).hexdigest()))

        add(MANIFEST, manifest)
        for match_id in sorted(matches):
            add(f"{FOLDER}{match_id}{SUFFIX}", matches[match_id]())
        signature = key.sign(_signed_bytes(digests))
        add(SIGNATURE, f"{key_id(key.public_key())} {signature.hex()}\n".encode("ascii"))


def _signed_bytes(entries: Iterable[tuple[str, str]]) -> bytes:
    lines = "".join(f"{digest} {name}\n" for name, digest in sorted(entries))
    return _LABEL + hashlib.sha256(lines.encode("ascii")).digest()


# Reading


def looks_like_bundle(path: Path) -> bool:
    """Whether the file begins like a zip archive."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def begins_like_bundle(path: Path) -> bool:
    """Whether the file begins like a zip archive whose first entry is a manifest, as every bundle does."""
    with path.open("rb") as file:
        begun = file.read(_LOCAL.size + len(MANIFEST))
    return begun.startswith(_MAGIC) and begun.endswith(MANIFEST.encode("ascii"))


def open_bundle(path: Path) -> Bundle:
    """Decode the bundle in the file or raise `NotABundle`; memory and time are bounded by the size of the file."""
    with path.open("rb") as file:
        entries = _entries(path, file)
        digests = {name: _digest(file, entry) for name, entry in entries.items()}
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
        sources=tuple(entry for entry in entries.values() if entry.entry.startswith(FOLDER)),
        key_id=line[1].decode("ascii"),
        signature=bytes.fromhex(line[2].decode("ascii")),
        signed=_signed_bytes((name, digest) for name, (digest, _) in digests.items() if name != SIGNATURE),
        changed=tuple(name for name, (_, crc) in digests.items() if crc != entries[name].crc),
    )


def _entries(path: Path, file: BinaryIO) -> dict[str, BundledReplay]:
    """All entries by name, in their order; raises `NotABundle` unless every byte around them is canonical."""
    size = file.seek(0, io.SEEK_END)
    if size > LARGEST_BUNDLE:
        raise NotABundle(f"a bundle has at most {LARGEST_BUNDLE} bytes")
    entries: dict[str, BundledReplay] = {}
    end = 0
    while (entry := _entry_at(path, file, end)) is not None:
        if entry.entry in entries:
            raise NotABundle(f"{entry.entry} is there twice")
        if len(entries) == MOST_MATCHES + 2:
            raise NotABundle(f"a bundle has at most {MOST_MATCHES} matches")
        end = entry.start + entry.size
        if end > size:
            raise NotABundle(f"the archive was cut: {entry.entry} goes beyond its end")
        entries[entry.entry] = entry
    for name in (MANIFEST, SIGNATURE):
        if name not in entries:
            raise NotABundle(f"there is no {name}")
    if list(entries) != [MANIFEST, *sorted(entries.keys() - {MANIFEST, SIGNATURE}), SIGNATURE]:
        raise NotABundle(f"the entries are not in their order: {MANIFEST}, matches by ascending name, {SIGNATURE}")
    directory = _directory(entries.values(), end)
    file.seek(end)
    if size - end != len(directory) or file.read(len(directory)) != directory:
        raise NotABundle("the archive was cut or extended: behind its entries stands not just their directory")
    return entries


def _entry_at(path: Path, file: BinaryIO, at: int) -> BundledReplay | None:
    """The entry that begins at this position; None if no entry begins there."""
    file.seek(at)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(_MAGIC):
        return None
    *_, crc, _, size, length, _ = _LOCAL.unpack(header)
    written = file.read(min(length, _LONGEST_NAME))
    name = written.decode("ascii", "replace")
    shown = repr(name[:100])
    if name not in {MANIFEST, SIGNATURE} and not (
        name.startswith(FOLDER) and name.endswith(SUFFIX) and is_match_id(name[len(FOLDER) : -len(SUFFIX)])
    ):
        raise NotABundle(f"{shown} is no entry of a bundle: there are {MANIFEST}, {SIGNATURE} and {FOLDER}ID{SUFFIX}")
    entry = BundledReplay(path, name, at + len(header) + length, size, crc)
    if header + written != _header(entry):
        raise NotABundle(
            f"{shown} is compressed, encrypted, dated or has extra fields; a bundle stores its files as they are"
        )
    if name.startswith(FOLDER) and size > LARGEST_FILE:
        raise NotABundle(f"{shown} claims {size} bytes; a replay has at most {LARGEST_FILE}")
    return entry


def _common_fields(entry: BundledReplay) -> tuple[int, ...]:
    """The fields that the header and the directory share, from the version to the length of the extra fields."""
    return (_ZIP_VERSION, 0, 0, *_NO_DATE, entry.crc, entry.size, entry.size, len(entry.entry), 0)


def _header(entry: BundledReplay) -> bytes:
    """The canonical bytes before an entry."""
    return _LOCAL.pack(_MAGIC, *_common_fields(entry)) + entry.entry.encode("ascii")


def _directory(entries: Collection[BundledReplay], at: int) -> bytes:
    """The canonical bytes after the entries."""
    listed = bytearray()
    for entry in entries:
        name = entry.entry.encode("ascii")
        offset = entry.start - _LOCAL.size - len(name)
        made = _ZIP_VERSION | _ON_UNIX
        listed += _LISTED.pack(_DIRECTORY_MAGIC, made, *_common_fields(entry), 0, 0, 0, _MODE, offset) + name
    return bytes(listed) + _END.pack(_END_MAGIC, 0, 0, len(entries), len(entries), len(listed), at, 0)


def _digest(file: BinaryIO, entry: BundledReplay) -> tuple[str, int]:
    """The SHA-256 of an entry's bytes in hexadecimal, and their CRC-32."""
    digest = hashlib.sha256()
    crc = 0
    for chunk in _chunks(file, entry):
        digest.update(chunk)
        crc = zlib.crc32(chunk, crc)
    return digest.hexdigest(), crc


def _chunks(file: BinaryIO, entry: BundledReplay) -> Iterator[bytes]:
    file.seek(entry.start)
    for taken in range(0, entry.size, _CHUNK):
        yield file.read(min(_CHUNK, entry.size - taken))


def _part(file: BinaryIO, entries: Mapping[str, BundledReplay], name: str, most: int) -> bytes:
    if entries[name].size > most:
        raise NotABundle(f"{name} has more than {most} bytes")
    return b"".join(_chunks(file, entries[name]))
