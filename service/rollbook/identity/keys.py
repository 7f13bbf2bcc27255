"""Ed25519 key files, each with a list (FILE.public) of all public keys it ever held.

A key file is PEM (PKCS 8) that only its owner can read. It is written atomically; of several processes that create it
at once exactly one wins. To rotate a key, move its file away: the next `load_or_create` makes a new one, and the list
keeps the old public key, so that old signatures can always be verified. Only the owner may write to the list, because
anyone who can add a key to it can sign as the service.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path
from typing import BinaryIO

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from rollbook.files import create_file, sync_folder
from rollbook.identity.refusals import KeyReason, KeyRefused
from rollbook.replay_file.key_lines import key_id, key_line, read_key
from rollbook.replay_file.lines import WrongLine, content, text_of

_LONGEST_KEY_FILE = 4096
_REACHED_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def load(path: Path) -> Ed25519PrivateKey:
    """The key in a file; raises KeyRefused if others can access it or it is not an Ed25519 key, and OSError."""
    with open(path, "rb", opener=_without_waiting) as file:
        mode = _mode(file)
        if not stat.S_ISREG(mode):
            raise KeyRefused(KeyReason.KEY_MALFORMED, "a key file must be a regular file")
        if mode & _REACHED_BY_OTHERS:
            raise _exposed_error(file, "reach a key file (chmod 600)")
        data = file.read(_LONGEST_KEY_FILE)
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyRefused(KeyReason.KEY_MALFORMED, "it holds no unencrypted private key in PEM (PKCS 8)") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyRefused(KeyReason.NOT_ED25519, "it holds a private key, but not one of Ed25519")
    return key


def load_or_create(path: Path) -> Ed25519PrivateKey:
    """The key in a file, created if necessary; its public key is in the list before it is returned."""
    if not path.exists():
        pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        create_file(path, pem, 0o600)
    key = load(path)
    _publish(path, key.public_key())
    return key


def list_published_keys(path: Path) -> dict[str, Ed25519PublicKey]:
    """All public keys that a key file ever held, by key id, the oldest first; empty without a list."""
    try:
        with _published_path(path).open("rb") as file:
            return _read_published(file)
    except FileNotFoundError:
        return {}


def _published_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.public")


def _publish(path: Path, key: Ed25519PublicKey) -> None:
    with open(_published_path(path), "ab+", opener=_for_all_to_read) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if key_id(key) in _read_published(file):
            return
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(key_line(key).encode("ascii") + b"\n")
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)


def _read_published(file: BinaryIO) -> dict[str, Ed25519PublicKey]:
    if _mode(file) & _WRITTEN_BY_OTHERS:
        raise _exposed_error(file, "write the list of published keys (chmod 644)")
    file.seek(0)
    data = file.read()
    keys = {}
    try:
        # An incomplete last line was left by a crash; its key has not signed anything yet.
        for number, line in content(text_of(data[: data.rfind(b"\n") + 1])):
            try:
                name, key = read_key(line)
            except ValueError as wrong:
                raise WrongLine(number, str(wrong)) from None
            keys[name] = key
    except WrongLine as wrong:
        why = f"line {wrong.line} of the published keys is not a key id and its public key: {wrong.reason}"
        raise KeyRefused(KeyReason.PUBLISHED_MALFORMED, why) from None
    return keys


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _for_all_to_read(path: str, flags: int) -> int:
    return os.open(path, flags, 0o644)


def _mode(file: BinaryIO) -> int:
    """The mode of the open file; the path could be replaced between the check and the read."""
    return os.fstat(file.fileno()).st_mode


def _exposed_error(file: BinaryIO, what: str) -> KeyRefused:
    mode = f"the mode of {Path(file.name).name} is {stat.S_IMODE(_mode(file)):04o}"
    return KeyRefused(KeyReason.KEY_EXPOSED, f"{mode}: only its owner may {what}")
