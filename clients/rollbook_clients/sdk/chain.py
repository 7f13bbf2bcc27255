"""The chain of a match's events and the heads that the service signs, by the bytes of scheme `fair/1` alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook.v1.table_pb2 import Position as PositionMessage
from rollbook.v1.table_pb2 import SignedHead


def genesis(match_id: str) -> bytes:
    """The link before event 1."""
    return hashlib.sha256(b"rollbook/1/genesis" + match_id.encode("ascii")).digest()


def link(event: bytes) -> bytes:
    """The link that the event after this one carries."""
    return hashlib.sha256(b"rollbook/1/link" + event).digest()


def entropy_commitment(entropy: bytes) -> bytes:
    """What a seat tells of its entropy when it is taken."""
    return hashlib.sha256(b"rollbook/1/entropy" + entropy).digest()


@dataclass(frozen=True, slots=True)
class Position:
    """A point of a match's log, right after an event; equal if nothing before it can differ."""

    sequence: int
    link: bytes
    key_id: str = field(default="", compare=False)
    signature: bytes = field(default=b"", compare=False)
    """What vouched for it, if a signed head did: a service that lost the end of its log can tell that it did."""

    @classmethod
    def read(cls, message: PositionMessage) -> Self:
        """The position that a message names."""
        return cls(message.sequence, message.link, message.key_id, message.signature)

    @classmethod
    def start(cls, match_id: str) -> Self:
        """Before event 1."""
        return cls(0, genesis(match_id))

    @property
    def message(self) -> PositionMessage:
        """As the service takes it."""
        return PositionMessage(sequence=self.sequence, link=self.link, key_id=self.key_id, signature=self.signature)


@dataclass(frozen=True, slots=True)
class Head:
    """The service vouches for a log up to here. Keep it: a log that is changed afterwards is provably changed."""

    match_id: str
    sequence: int
    link: bytes
    key_id: str
    signature: bytes

    @classmethod
    def read(cls, message: SignedHead) -> Self:
        """The head in a message; nothing is checked yet."""
        return cls(message.match_id, message.sequence, message.link, message.key_id, message.signature)

    @property
    def position(self) -> Position:
        """The position that it vouches for."""
        return Position(self.sequence, self.link, self.key_id, self.signature)

    @property
    def signed(self) -> bytes:
        """The bytes that the signature is over."""
        match_id = self.match_id.encode("ascii")
        size, sequence = len(match_id).to_bytes(4, "big"), self.sequence.to_bytes(8, "big")
        return b"rollbook/1/head" + size + match_id + sequence + self.link

    def is_signed_by(self, key: Ed25519PublicKey) -> bool:
        """Whether the signature holds."""
        try:
            key.verify(self.signature, self.signed)
        except InvalidSignature:
            return False
        return True
