"""Other issuers whose tokens a service accepts: a file describes each of them and the roles that it may give.

    {
      "issuer": "https://club.example",
      "roles": ["player", "judge"],
      "keys": [
        {"kty": "OKP", "crv": "Ed25519", "kid": "2027", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
        "21fe31dfa154a261 d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
      ],
      "by_address": false
    }

`issuer` is the `iss` of its tokens. A key is a JSON Web Key, as issuers publish them, or a line of `rollbook key`;
tokens name it as `kid`. A retired key stays in the list as long as its tokens shall be accepted. Only the owner may
write to the file, because its keys can sign for everyone. `by_address` may be left out (true); false exempts the
issuer's subjects from the limits per address, so that a school with accounts of its own shares no limit with guests.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import stat
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook.ed25519 import KEY_BYTES, public_key
from rollbook.identity.refusals import IdentityRefused
from rollbook.identity.service_keys import KeyFileRefused, KeyFileUnreadable
from rollbook.identity.tokens import LONGEST_TEXT, OWN_ISSUER, Role, TrustedIssuer
from rollbook.replay_file.key_lines import read_key

LONGEST_FILE: Final = 65_536
MOST_KEYS: Final = 64
_MEMBERS: Final = {"issuer", "roles", "keys"}
_BY_ADDRESS: Final = "by_address"
_OKP: Final = {"kty": "OKP", "crv": "Ed25519"}


class IssuerReason(StrEnum):
    """Every reason to refuse an issuer file."""

    FILE_EXPOSED = "file_exposed"
    FILE_MALFORMED = "file_malformed"
    NAME_REFUSED = "name_refused"
    NAMED_TWICE = "named_twice"
    ROLES_REFUSED = "roles_refused"
    BY_ADDRESS_REFUSED = "by_address_refused"
    KEYS_REFUSED = "keys_refused"


class IssuerRefused(IdentityRefused[IssuerReason]):
    """The issuer file is refused."""


def read_issuers(paths: Iterable[Path]) -> list[TrustedIssuer]:
    """The issuers in these files; raises IssuerRefused, which names the file, or OSError."""
    found: dict[str, TrustedIssuer] = {}
    for path in paths:
        try:
            issuer = read_issuer(path)
        except IssuerRefused as refused:
            raise IssuerRefused(refused.reason, f"{path}: {refused}") from None
        if issuer.name in found:
            raise IssuerRefused(IssuerReason.NAMED_TWICE, f"{path}: {issuer.name} is described by another file as well")
        found[issuer.name] = issuer
    return list(found.values())


def read_issuer(path: Path) -> TrustedIssuer:
    """The issuer in a file; raises IssuerRefused or OSError."""
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        data = file.read(LONGEST_FILE + 1)
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        why = f"its mode is {stat.S_IMODE(mode):04o}: only its owner may write to it (chmod 644)"
        raise IssuerRefused(IssuerReason.FILE_EXPOSED, why)
    try:
        described = json.loads(data) if len(data) <= LONGEST_FILE else None
    except (ValueError, RecursionError):
        described = None
    if not isinstance(described, dict) or described.keys() - {_BY_ADDRESS} != _MEMBERS:
        what = "issuer, roles, keys and, if need be, by_address"
        why = f"it must be a JSON object of {what}, and nothing else, of at most {LONGEST_FILE:,} bytes"
        raise IssuerRefused(IssuerReason.FILE_MALFORMED, why)
    by_address = described.get(_BY_ADDRESS, True)
    if not isinstance(by_address, bool):
        raise IssuerRefused(IssuerReason.BY_ADDRESS_REFUSED, "by_address must be true or false")
    return TrustedIssuer(_name(described["issuer"]), _keys(described["keys"]), _roles(described["roles"]), by_address)


def _name(name: Any) -> str:
    if not _is_text(name):
        raise IssuerRefused(IssuerReason.NAME_REFUSED, f"issuer must be 1 to {LONGEST_TEXT} printable characters")
    if name == OWN_ISSUER:
        why = f"{OWN_ISSUER} is the service itself: another issuer needs another name"
        raise IssuerRefused(IssuerReason.NAME_REFUSED, why)
    return str(name)


def _roles(roles: Any) -> frozenset[Role]:
    if not isinstance(roles, list) or not roles or any(role not in list(Role) for role in roles):
        raise IssuerRefused(IssuerReason.ROLES_REFUSED, f"roles must list one or more of {', '.join(Role)}")
    return frozenset(map(Role, roles))


def _keys(keys: Any) -> dict[str, Ed25519PublicKey]:
    if not isinstance(keys, list) or not 0 < len(keys) <= MOST_KEYS:
        raise IssuerRefused(IssuerReason.KEYS_REFUSED, f"keys must list 1 to {MOST_KEYS} keys")
    found: dict[str, Ed25519PublicKey] = {}
    for number, key in enumerate(keys, start=1):
        kid, public = _key_line(number, key) if isinstance(key, str) else _web_key(number, key)
        if kid in found:
            raise _no_key(number, "has the id of a key before it")
        found[kid] = public
    return found


def _key_line(number: int, line: str) -> tuple[str, Ed25519PublicKey]:
    try:
        return read_key(line)
    except ValueError as wrong:
        why = f"is not what `rollbook key FILE` prints, a key id, a space, and the public key it belongs to: {wrong}"
        raise _no_key(number, why) from None


def _web_key(number: int, key: Any) -> tuple[str, Ed25519PublicKey]:
    if not isinstance(key, dict) or any(key.get(name) != value for name, value in _OKP.items()):
        raise _no_key(number, 'is not a JSON Web Key with "kty": "OKP" and "crv": "Ed25519"')
    if "d" in key:
        raise _no_key(number, "is a private key: give this service the public one, without d, and nobody the other")
    if not _is_text(key.get("kid")):
        raise _no_key(number, f"needs a kid of 1 to {LONGEST_TEXT} printable characters, as tokens name it")
    try:
        raw = base64.b64decode(str(key.get("x")) + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != KEY_BYTES:
        raise _no_key(number, "needs an x of 43 characters, the 32 bytes of the public key in base64url")
    try:
        return str(key["kid"]), public_key(raw)
    except ValueError as wrong:
        raise _no_key(number, f"has an x that is no key: {wrong}") from None


def _no_key(number: int, why: str) -> IssuerRefused:
    return IssuerRefused(IssuerReason.KEYS_REFUSED, f"key {number} {why}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and value.isprintable()


def trusted_issuers(paths: Sequence[Path]) -> list[TrustedIssuer]:
    """The issuers of these files; raises KeyFileRefused or KeyFileUnreadable, as for the service's own keys."""
    try:
        return read_issuers(paths)
    except IssuerRefused as refused:
        raise KeyFileRefused(str(refused)) from refused
    except OSError as failure:
        raise KeyFileUnreadable(f"{failure.filename}: {failure.strerror}") from failure
