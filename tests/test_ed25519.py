"""Implementations of Ed25519 disagree on some keys and signatures; Rollbook refuses all of these."""

from __future__ import annotations

import hashlib
from typing import Final

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rollbook.ed25519 import holds, is_weak_point, public_key

SMALL_ORDER: Final = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
)
"""The published eight points of order 1, 2, 4 and 8."""

NOT_REDUCED: Final = (
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
)
"""The non-canonical encodings of the first points."""

ORDER: Final = 2**252 + 27742317777372353535851937790883648493
MESSAGE: Final = b"this match"


@pytest.mark.parametrize("encoded", [*SMALL_ORDER, *NOT_REDUCED])
def test_a_key_of_small_order_is_none_however_it_is_written(encoded: str) -> None:
    """Under such a key a made-up signature holds for every eighth message, or for all."""
    with pytest.raises(ValueError, match="small order"):
        public_key(bytes.fromhex(encoded))


def test_a_signature_that_nobody_made_holds_by_what_others_take() -> None:
    """The library accepts the neutral key with the neutral point for all messages; Rollbook does not."""
    neutral = Ed25519PublicKey.from_public_bytes(bytes.fromhex(SMALL_ORDER[0]))
    forged = bytes.fromhex(SMALL_ORDER[0]) + bytes(32)
    neutral.verify(forged, MESSAGE)
    assert not holds(neutral, forged, MESSAGE)


def test_a_signature_with_a_point_of_small_order_holds_for_nobody() -> None:
    """Only the owner of the key can make one, and then some readers accept it and others do not."""
    private = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    key, point = private.public_key(), bytes.fromhex(SMALL_ORDER[0])
    scalar = bytearray(hashlib.sha512(b"k" * 32).digest()[:32])
    scalar[0], scalar[31] = scalar[0] & 0xF8, scalar[31] & 0x7F | 0x40
    challenge = hashlib.sha512(point + key.public_bytes_raw() + MESSAGE).digest()
    response = int.from_bytes(challenge, "little") * int.from_bytes(scalar, "little") % ORDER
    signature = point + response.to_bytes(32, "little")
    key.verify(signature, MESSAGE)
    assert not holds(key, signature, MESSAGE)


def test_honest_keys_and_signatures_hold() -> None:
    """A signature holds only for its message, and only with its exact length."""
    for number in range(50):
        private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        key, signature = private.public_key(), private.sign(MESSAGE)
        assert key == public_key(key.public_bytes_raw())
        assert holds(key, signature, MESSAGE)
        assert not holds(key, signature, b"that match")
        assert not any(holds(key, signature[:length], MESSAGE) for length in range(64))
        assert not is_weak_point(signature[:32])


@pytest.mark.parametrize("raw", [b"", bytes(31), b"\2" * 33])
def test_a_key_has_32_bytes(raw: bytes) -> None:
    """Shorter and longer keys are refused."""
    with pytest.raises(ValueError, match="has 32 bytes"):
        public_key(raw)


def test_bytes_that_are_no_point_are_no_key() -> None:
    """A library that noticed it only while verifying would report forged signatures."""
    off = (2).to_bytes(32, "little")
    with pytest.raises(InvalidSignature):
        Ed25519PublicKey.from_public_bytes(off).verify(bytes(64), b"")
    with pytest.raises(ValueError, match="is a point of its curve"):
        public_key(off)
