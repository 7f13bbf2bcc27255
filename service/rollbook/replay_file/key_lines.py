"""Public keys as audits are given them: one `KEY_ID HEX` a line, head keys and replay keys alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook.replay_file.lines import WrongLine

MOST_KEYS: Final = 10_000

_KEY_ID_BYTES: Final = 8


def key_id(key: Ed25519PublicKey) -> bytes:
    """The name of a key: the first bytes of its hash."""
    return hashlib.sha256(key.public_bytes_raw()).digest()[:_KEY_ID_BYTES]


def read_keys(text: str) -> dict[str, Ed25519PublicKey]:
    """By key id (sixteen hexadecimal digits) the keys of all lines; empty lines do not count."""
    keys: dict[str, Ed25519PublicKey] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if len(keys) == MOST_KEYS:
            raise WrongLine(number, f"a key file holds at most {MOST_KEYS} keys")
        name, key = _read(number, line)
        keys[name] = key
    return keys


def write_keys(keys: Iterable[Ed25519PublicKey]) -> str:
    """The lines of these keys, which `read_keys` reads."""
    return "".join(f"{key_id(key).hex()} {key.public_bytes_raw().hex()}\n" for key in keys)


def _read(number: int, line: str) -> tuple[str, Ed25519PublicKey]:
    name, _, digits = line.strip().partition(" ")
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(digits))
    except ValueError:
        raise WrongLine(number, "a line is a key id and an Ed25519 public key, both hexadecimal") from None
    expected = key_id(key).hex()
    if name != expected:
        raise WrongLine(number, f"the id of this key is {expected}, not {name[:40]}")
    return name, key
