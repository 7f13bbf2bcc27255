"""The chain of a match's events, by the bytes of scheme `fair/1`: links, positions, heads, commitments of seats.

Nothing else of the project is imported here, so that clients and auditors share it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a log: behind the event of this number, whose link this is."""

    sequence: int
    link: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """A head that the service signed: with it the service vouched for the log up to this event."""

    sequence: int
    link: bytes
    key_id: str
    """Which of the service's head keys signed it."""
    signature: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as it is stored: its bytes, and what lies hidden beside them."""

    event: bytes
    private: bytes = b""


def is_match_id(text: str) -> bool:
    """Whether a match may be called this."""
    return 0 < len(text) <= 100 and all("!" <= character <= "~" for character in text)  # noqa: PLR2004 - a name's length


def sized(text: str) -> bytes:
    """ASCII text behind its length, so that what follows cannot be mistaken for a part of it."""
    data = text.encode("ascii")
    return len(data).to_bytes(4, "big") + data


def genesis(match_id: str) -> bytes:
    """The link before the first event."""
    return hashlib.sha256(b"rollbook/1/genesis" + match_id.encode("ascii")).digest()


def link(event: bytes) -> bytes:
    """The link that the next event carries; an event's own bytes hold the link before it."""
    return hashlib.sha256(b"rollbook/1/link" + event).digest()


def entropy_commitment(entropy: bytes) -> bytes:
    """What a seat tells of its entropy when it is taken."""
    return hashlib.sha256(b"rollbook/1/entropy" + entropy).digest()


def head(match_id: str, sequence: int, last_link: bytes) -> bytes:
    """The bytes that the service signs to vouch for a log up to here."""
    return b"rollbook/1/head" + sized(match_id) + sequence.to_bytes(8, "big") + last_link
