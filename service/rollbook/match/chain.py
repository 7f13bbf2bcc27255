"""The chain of a match's events in scheme `fair/1`: links, positions, signed heads, commitments of seats.

With a head the service vouches for a log up to a position; the key signs heads only. This module imports nothing of the
project except `ed25519`, so that clients and auditors can share it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rollbook.ed25519 import holds


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a log: after the event of this number, which has this link."""

    sequence: int
    link: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """A signed head: the service vouches for the log up to this event."""

    sequence: int
    link: bytes
    key_id: str
    """The id of the head key that signed it."""
    signature: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored event: its bytes, and its private part."""

    event: bytes
    private: bytes = b""


_LINK: Final = b"rollbook/1/link"


def is_match_id(text: str) -> bool:
    """Whether the text is a valid match id."""
    return 0 < len(text) <= 100 and all("!" <= character <= "~" for character in text)  # noqa: PLR2004 - a name's length


def with_length(text: str) -> bytes:
    """ASCII text with its length before it, so that it cannot run into the text after it."""
    data = text.encode("ascii")
    return len(data).to_bytes(4, "big") + data


def genesis(match_id: str) -> bytes:
    """The link before the first event."""
    return hashlib.sha256(b"rollbook/1/genesis" + match_id.encode("ascii")).digest()


def link(event: bytes) -> bytes:
    """The link of an event, which the next event contains."""
    return hashlib.sha256(_LINK + event).digest()


def links(events: Iterable[bytes]) -> list[bytes]:
    """The links of many events."""
    sha256 = hashlib.sha256
    return [sha256(_LINK + event).digest() for event in events]


def entropy_of(secret: bytes, match_id: str) -> bytes:
    """The entropy for one match from a secret: 32 bytes that cannot be predicted without the secret."""
    return hmac.digest(secret, match_id.encode(), "sha256")


def entropy_commitment(entropy: bytes) -> bytes:
    """A seat's commitment to its entropy."""
    return hashlib.sha256(b"rollbook/1/entropy" + entropy).digest()


def head(match_id: str, sequence: int, last_link: bytes) -> bytes:
    """The bytes that the service signs to vouch for a log up to here."""
    return b"rollbook/1/head" + with_length(match_id) + sequence.to_bytes(8, "big") + last_link


def sign_head(key: Ed25519PrivateKey, match_id: str, sequence: int, last_link: bytes) -> bytes:
    """Sign a head."""
    return key.sign(head(match_id, sequence, last_link))


def is_signed(key: Ed25519PublicKey, match_id: str, sequence: int, last_link: bytes, signature: bytes) -> bool:
    """Whether the signature is valid for exactly this head."""
    return holds(key, signature, head(match_id, sequence, last_link))


@dataclass(frozen=True, slots=True)
class HeadKeys:
    """The key that a service signs heads with, and all its public head keys, old ones included."""

    private: Ed25519PrivateKey
    key_id: str
    published: Mapping[str, Ed25519PublicKey]

    def sign(self, match_id: str, sequence: int, last_link: bytes) -> Head:
        """Return the signed head."""
        return Head(sequence, last_link, self.key_id, sign_head(self.private, match_id, sequence, last_link))

    def have_signed(self, match_id: str, signed: Head) -> bool:
        """Whether one of the service's keys has signed this head of the match."""
        key = self.published.get(signed.key_id)
        return key is not None and is_signed(key, match_id, signed.sequence, signed.link, signed.signature)
