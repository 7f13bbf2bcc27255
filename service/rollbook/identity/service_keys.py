"""The keys of a service, in files of its data directory that only its owner can read.

    head.key      signs the heads of matches (or a file that the operator names)
    replay.key    signs replay files
    token.key     signs the tokens of guests; `rollbook token --key` mints others with it
    service.key   32 random bytes from which ids and references are derived

Each is created on first use. Replicas of one service need the same four. `service.name`, if it exists, contains the
name under which `rollbook key` lists the public keys.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rollbook.files import create_file, write_file
from rollbook.identity.keys import list_published_keys, load, load_or_create
from rollbook.identity.refusals import KeyRefused
from rollbook.replay_file.key_lines import LONGEST_NAME, check_name, key_id

SERVICE_KEY_BYTES: Final = 32
NAME_FILE: Final = "service.name"


class KeyFileRefused(Exception):
    """A key file is unusable; the message gives the reason."""


class KeyFileUnreadable(KeyFileRefused):
    """A key file does not exist or may not be read."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key, and all public keys of its role."""

    private: Ed25519PrivateKey
    published: dict[str, Ed25519PublicKey]
    """Public keys by key id, old ones first."""

    @property
    def key_id(self) -> str:
        """The id of the current key."""
        return key_id(self.private.public_key())


@dataclass(frozen=True, slots=True, repr=False)
class ServiceKeys:
    """All keys of a service."""

    head: SigningKey
    replay: SigningKey
    token: SigningKey
    service: bytes
    name: str = ""
    """The name under which judges list the public keys; empty for the id of the oldest head key."""

    @classmethod
    def in_directory(cls, data: Path, head_key: Path | None = None, name: str = "") -> ServiceKeys:
        """Load the keys, creating missing ones; only an external head key must exist.

        A given name is written to the directory; otherwise the stored name is used.
        """
        kept = service_name(data)
        if name and name != kept:
            write_file(data / NAME_FILE, f"{name}\n".encode())
        return cls(
            head=_signing(data / "head.key") if head_key is None else _signing(head_key, must_exist=True),
            replay=_signing(data / "replay.key"),
            token=_signing(data / "token.key"),
            service=_service_key(data / "service.key"),
            name=name or kept,
        )


def service_name(data: Path) -> str:
    """The name in a data directory; empty if it has none."""
    path = data / NAME_FILE
    try:
        with path.open("rb") as file:
            name = file.read(4 * LONGEST_NAME + 1).decode().removesuffix("\n")
        check_name(name)
    except FileNotFoundError:
        return ""
    except OSError as failure:
        raise KeyFileUnreadable(f"{path}: {failure.strerror}") from failure
    except ValueError as wrong:
        raise KeyFileRefused(f"{path}: {wrong}") from None
    return name


def service_key(data: Path) -> bytes:
    """The existing service key of a data directory; raises KeyFileUnreadable if there is none."""
    path = data / "service.key"
    if not path.exists():
        raise KeyFileUnreadable(f"{path}: there is no such file")
    return _service_key(path)


def _signing(path: Path, *, must_exist: bool = False) -> SigningKey:
    try:
        private = load(path) if must_exist else load_or_create(path)
        if must_exist:
            _note_published(path)
        listed = list_published_keys(path)
    except KeyRefused as refused:
        raise KeyFileRefused(f"{path}: {refused}") from refused
    except OSError as failure:
        hint = f"; rollbook key {path} --create makes one" if must_exist and not path.exists() else ""
        raise KeyFileUnreadable(f"{path}: {failure.strerror}{hint}") from failure
    public = private.public_key()
    return SigningKey(private, {**listed, key_id(public): public})


def _note_published(path: Path) -> None:
    try:
        load_or_create(path)
    except OSError as failure:
        # A secret on a read-only mount cannot have the list beside it.
        if failure.errno not in {errno.EROFS, errno.EACCES, errno.EPERM}:
            raise


def _service_key(path: Path) -> bytes:
    try:
        if not path.exists():
            create_file(path, secrets.token_bytes(SERVICE_KEY_BYTES), 0o600)
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(SERVICE_KEY_BYTES + 1)
    except OSError as failure:
        raise KeyFileUnreadable(f"{path}: {failure.strerror}") from failure
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyFileRefused(
            f"{path}: its mode is {stat.S_IMODE(mode):04o}: only its owner may reach a key file (chmod 600)"
        )
    if len(key) != SERVICE_KEY_BYTES:
        raise KeyFileRefused(f"{path}: it does not hold the {SERVICE_KEY_BYTES} bytes that it was made with")
    return key
