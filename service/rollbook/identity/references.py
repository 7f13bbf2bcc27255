"""References to players and requests in a log: hashes, so that names and subjects outside the log can be erased.

Every hash has a label, and every part is preceded by its length, so that different inputs never hash the same bytes.
`subject` is always `Subject.key`; texts are UTF-8, lengths big-endian.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Final

REFERENCE_BYTES: Final = 16
SHORTEST_SALT: Final = 16
SHORTEST_SERVICE_KEY: Final = 32

_MATCH_ID_BYTES = 15
"""Fifteen bytes are 24 base32 characters without padding."""
_MATCH_ID: Final = re.compile(r"[a-z2-7]{24}")


def player_reference(salt: bytes, subject: str) -> bytes:
    """The reference to a player in a match's log; it reveals nothing once the match's salt is erased."""
    if len(salt) < SHORTEST_SALT:
        raise ValueError(f"a salt has at least {SHORTEST_SALT} bytes")
    return _hash(b"rollbook/1/player", salt, subject.encode())


def request_hash(subject: str, request_id: str) -> bytes:
    """A hash that identifies a repeated request in a match; it depends on the subject as well as the request id."""
    return _hash(b"rollbook/1/request", subject.encode(), request_id.encode())


def match_id(service_key: bytes, subject: str, request_id: str) -> str:
    """The id of the match that this request opens: the same for a retry, and unpredictable.

    >>> match_id(bytes(32), "8:rollbook:anna", "1")
    'zk7noytwhvtbujuwrmsxezbk'
    """
    if len(service_key) < SHORTEST_SERVICE_KEY:
        raise ValueError(f"a service key has at least {SHORTEST_SERVICE_KEY} bytes")
    parts = _join(subject.encode(), request_id.encode())
    digest = hmac.digest(service_key, b"rollbook/1/open" + parts, "sha256")
    return base64.b32encode(digest[:_MATCH_ID_BYTES]).decode("ascii").lower()


def rematch_id(service_key: bytes, match_id: str, aborted: str = "") -> str:
    """The id of the rematch of a match: the same for all callers, and unpredictable.

    >>> rematch_id(bytes(32), "zk7noytwhvtbujuwrmsxezbk") == rematch_id(bytes(32), "zk7noytwhvtbujuwrmsxezbk", "a" * 24)
    False
    """
    digest = hmac.digest(service_key, b"rollbook/1/rematch" + _join(match_id.encode(), aborted.encode()), "sha256")
    return base64.b32encode(digest[:_MATCH_ID_BYTES]).decode("ascii").lower()


def rematch_request(match_id: str) -> bytes:
    """The request hash of opening a rematch, the same for all callers."""
    return _hash(b"rollbook/1/rematch", match_id.encode())


def is_match_id(text: str) -> bool:
    """Whether the text is a match id."""
    return _MATCH_ID.fullmatch(text) is not None


def _hash(label: bytes, *parts: bytes) -> bytes:
    return hashlib.sha256(label + _join(*parts)).digest()[:REFERENCE_BYTES]


def _join(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
