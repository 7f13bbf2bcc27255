"""Public keys in text: one `KEY_ID HEX` a line, the same wherever a person or a program hands a key on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook.replay_file.lines import WrongLine

MOST_KEYS: Final = 10_000
KEY_ID_DIGITS: Final = 16


def key_id(key: Ed25519PublicKey) -> str:
    """The name of a key: sixteen hexadecimal digits of its hash."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:KEY_ID_DIGITS]


def key_line(key: Ed25519PublicKey) -> str:
    """A key in one line, without its end."""
    return f"{key_id(key)} {key.public_bytes_raw().hex()}"


def read_key(line: str) -> tuple[str, Ed25519PublicKey]:
    """The key of a line behind its id; ValueError says why it is not what `key_line` gives."""
    name, _, digits = line.partition(" ")
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(digits))
    except ValueError:
        key = None
    if key is not None and name != key_id(key):
        raise ValueError(f"the id of this key is {key_id(key)}, not {name[:40]}")
    if key is None or line != key_line(key):
        raise ValueError("a line is a key id and an Ed25519 public key, both hexadecimal")
    return name, key


def read_keys(text: str) -> dict[str, Ed25519PublicKey]:
    """By key id the keys of all lines; empty lines do not count."""
    keys: dict[str, Ed25519PublicKey] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if len(keys) == MOST_KEYS:
            raise WrongLine(number, f"a key file holds at most {MOST_KEYS} keys")
        try:
            name, key = read_key(line.strip())
        except ValueError as wrong:
            raise WrongLine(number, str(wrong)) from None
        keys[name] = key
    return keys


def write_keys(keys: Iterable[Ed25519PublicKey]) -> str:
    """The lines of these keys, which `read_keys` reads."""
    return "".join(f"{key_line(key)}\n" for key in keys)
