"""Public keys as text, in the same form everywhere.

`KEY_ID HEX` is a key. In a file for audits a line also has the role of the key and its owner: `KEY_ID HEX ROLE NAME`.
`replays/FORMAT.md` has the grammar.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook.ed25519 import public_key
from rollbook.replay_file.lines import WrongLine, content, sanitise

MOST_KEYS: Final = 10_000
KEY_ID_DIGITS: Final = 16
LONGEST_NAME: Final = 100

_KEY: Final = re.compile(r"([0-9a-f]{16}) ([0-9a-f]{64})")
_HOW: Final = (
    "`rollbook key DATA --published` writes lines of a service with both, and `rollbook key FILE --role bundle --name"
    " NAME` that of an organiser"
)


class KeyRole(StrEnum):
    """What a key may sign; every key has exactly one role."""

    HEAD = "head"
    """Heads of matches."""
    REPLAY = "replay"
    """Replay files and the names in them."""
    BUNDLE = "bundle"
    """Bundles of tournaments."""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A trusted public key with its role and its owner."""

    public: Ed25519PublicKey
    role: KeyRole
    name: str
    """The owner; keys with equal names belong to one service."""

    def __post_init__(self) -> None:
        """Raise ValueError for a name that no line can contain."""
        check_name(self.name)

    @property
    def key_id(self) -> str:
        """The key's id."""
        return key_id(self.public)

    @property
    def line(self) -> str:
        """The key in one line, without its end."""
        return f"{key_line(self.public)} {self.role} {self.name}"

    def __str__(self) -> str:
        """The key for use in a sentence."""
        return f"a {self.role} key of {self.name}"


KnownKeys: TypeAlias = Mapping[str, KnownKey]
"""By key id."""

NO_KEYS: Final[KnownKeys] = MappingProxyType({})


def key_id(key: Ed25519PublicKey) -> str:
    """The id of a key: sixteen hexadecimal digits of its hash."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:KEY_ID_DIGITS]


def key_line(key: Ed25519PublicKey) -> str:
    """A key in one line, without line end, role and owner."""
    return f"{key_id(key)} {key.public_bytes_raw().hex()}"


def check_name(name: str) -> None:
    """Raise ValueError for a name that no owner of keys can have."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip(" "):
        raise ValueError(
            f"a name has 1 to {LONGEST_NAME} printable characters, and no space at either end; this is {sanitise(name)}"
        )


def read_key(line: str) -> tuple[str, Ed25519PublicKey]:
    """The id and the key in a line; raises ValueError unless `key_line` would write the same line."""
    written = _KEY.fullmatch(line)
    if written is None:
        raise ValueError("a line is a key id and an Ed25519 public key, both hexadecimal")
    key = public_key(bytes.fromhex(written[2]))
    if written[1] != key_id(key):
        raise ValueError(f"the id of this key is {key_id(key)}, not {written[1]}")
    return written[1], key


def read_known_key(line: str) -> KnownKey:
    """The key in a line with role and owner; raises ValueError with the reason."""
    digits, role, name = [*_split_line(line), "", ""][:3]
    _, key = read_key(digits)
    if not role:
        raise ValueError(f"a line is KEY_ID HEX ROLE NAME, and this one says neither role nor name: {_HOW}")
    if role not in list(KeyRole):
        raise ValueError(f"the role of a key is {', '.join(KeyRole)}, not {sanitise(role)}: {_HOW}")
    return KnownKey(key, KeyRole(role), name)


def keys_of_service(
    heads: Iterable[Ed25519PublicKey], replays: Iterable[Ed25519PublicKey], name: str = ""
) -> list[KnownKey]:
    """The keys of one service, oldest first within each role; without `name`, the oldest head key's id is the owner."""
    heads = list(heads)
    if not name and not heads:
        raise ValueError("a service without a head key needs a name")
    name = name or key_id(heads[0])
    return [
        *(KnownKey(key, KeyRole.HEAD, name) for key in heads),
        *(KnownKey(key, KeyRole.REPLAY, name) for key in replays),
    ]


def read_keys(text: str, known: KnownKeys = NO_KEYS) -> dict[str, KnownKey]:
    """The known keys and those of all lines, by key id; raises WrongLine for the first invalid line.

    A line may come twice, but no key has two roles or two names.
    """
    keys = dict(known)
    for number, line in content(text):
        try:
            key = read_known_key(line)
        except ValueError as wrong:
            raise WrongLine(number, str(wrong)) from None
        before = keys.setdefault(key.key_id, key)
        if before != key:
            raise WrongLine(number, f"key {key.key_id} is {key} here, and {before} before: it can be but one of them")
        if len(keys) > MOST_KEYS:
            raise WrongLine(number, f"there are at most {MOST_KEYS} keys")
    return keys


def write_keys(keys: Iterable[KnownKey]) -> str:
    """The lines of these keys, which `read_keys` reads."""
    return "".join(f"{key.line}\n" for key in keys)


def _split_line(line: str) -> list[str]:
    """Key with id, role and owner of a line, as far as they are there."""
    first, *others = line.split(" ", 3)
    return [" ".join([first, *others[:1]]), *others[1:]]
