"""Ed25519 keys and signatures, checked as strictly as in the strictest implementation, so that all verifiers agree.

Some implementations accept points of small order, under which one signature fits many messages, and unreduced numbers;
others refuse both. Honest keys and signatures have neither, so both are refused here.
"""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

KEY_BYTES: Final = 32
_PRIME: Final = 2**255 - 19
_D: Final = -121_665 * pow(121_666, -1, _PRIME) % _PRIME
"""Of the curve -x² + y² = 1 + d·x²·y² (RFC 8032, section 5.1)."""


def public_key(raw: bytes) -> Ed25519PublicKey:
    """The public key in these bytes; raises ValueError if they are invalid or weak."""
    if len(raw) != KEY_BYTES:
        raise ValueError(f"an Ed25519 public key has {KEY_BYTES} bytes, not {len(raw)}")
    if is_weak_point(raw):
        raise ValueError("an Ed25519 key of small order, or one that is not reduced, vouches for nothing")
    square = pow(_y(raw), 2, _PRIME)
    # x² is (y² - 1) / (d·y² + 1), which has to be a square.
    if pow((square - 1) * (_D * square + 1), (_PRIME - 1) // 2, _PRIME) != 1:
        raise ValueError("an Ed25519 key is a point of its curve, and this is none")
    return Ed25519PublicKey.from_public_bytes(raw)


def holds(key: Ed25519PublicKey, signature: bytes, message: bytes) -> bool:
    """Whether the key signed exactly this message; False if the signature contains a weak point."""
    if is_weak_point(signature[:KEY_BYTES]):
        return False
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def is_weak_point(encoded: bytes) -> bool:
    """Whether this is a point of small order, or one in a non-canonical encoding.

    The eight points have y = 0, y² = 1, or, since twice a point of order eight has y = 0, d·y⁴ + 2·y² = 1.
    """
    y = _y(encoded)
    square = y * y
    return y >= _PRIME or y * (square - 1) * (_D * square * square + 2 * square - 1) % _PRIME == 0


def _y(encoded: bytes) -> int:
    """The y coordinate, without the sign bit of x."""
    return int.from_bytes(encoded, "little") & ((1 << 255) - 1)
