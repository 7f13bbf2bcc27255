"""Signed heads: the service vouches for a log up to a position, with a key that is used for nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rollbook.ed25519 import holds
from rollbook.match.chain import Head, head


def sign_head(key: Ed25519PrivateKey, match_id: str, sequence: int, last_link: bytes) -> bytes:
    """The signature of a head."""
    return key.sign(head(match_id, sequence, last_link))


def is_signed(key: Ed25519PublicKey, match_id: str, sequence: int, last_link: bytes, signature: bytes) -> bool:
    """Whether the signature vouches for exactly this head."""
    return holds(key, signature, head(match_id, sequence, last_link))


@dataclass(frozen=True, slots=True)
class HeadKeys:
    """The key that a service signs heads with, and the public ones of all that it ever signed with."""

    private: Ed25519PrivateKey
    key_id: str
    published: Mapping[str, Ed25519PublicKey]

    def sign(self, match_id: str, sequence: int, last_link: bytes) -> Head:
        """The head, signed."""
        return Head(sequence, last_link, self.key_id, sign_head(self.private, match_id, sequence, last_link))

    def have_signed(self, match_id: str, signed: Head) -> bool:
        """Whether one of them vouches for this head of the match."""
        key = self.published.get(signed.key_id)
        return key is not None and is_signed(key, match_id, signed.sequence, signed.link, signed.signature)
