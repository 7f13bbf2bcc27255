"""Signed heads: the service vouches for a log up to a position, with a key that is used for nothing else."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rollbook.match.fairness import head


def sign_head(key: Ed25519PrivateKey, match_id: str, sequence: int, last_link: bytes) -> bytes:
    """The signature of a head."""
    return key.sign(head(match_id, sequence, last_link))


def is_signed(key: Ed25519PublicKey, match_id: str, sequence: int, last_link: bytes, signature: bytes) -> bool:
    """Whether the signature vouches for exactly this head."""
    try:
        key.verify(signature, head(match_id, sequence, last_link))
    except InvalidSignature:
        return False
    return True
