"""Tokens made without the code under test, so that the tests can forge anything."""

from __future__ import annotations

import base64
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.identity.tokens import Role, TrustedIssuer, Verifier
from rollbook.replay_file.key_lines import key_id

NOW = 1_800_000_000

OURS = Ed25519PrivateKey.from_private_bytes(b"\1" * 32)
OUR_OLD = Ed25519PrivateKey.from_private_bytes(b"\2" * 32)
CLUB = Ed25519PrivateKey.from_private_bytes(b"\3" * 32)
STRANGER = Ed25519PrivateKey.from_private_bytes(b"\4" * 32)

TRUSTED = (
    TrustedIssuer("rollbook", {key_id(key.public_key()): key.public_key() for key in (OUR_OLD, OURS)}, frozenset(Role)),
    TrustedIssuer("club", {"2027": CLUB.public_key()}, frozenset({Role.PLAYER})),
)

HEADER: dict[str, Any] = {"alg": "Ed25519", "kid": key_id(OURS.public_key()), "typ": "JWT"}
CLAIMS: dict[str, Any] = {
    "iss": "rollbook",
    "sub": "anna",
    "aud": "rollbook",
    "iat": NOW - 10,
    "exp": NOW + 10,
    "role": "player",
    "name": "Anna",
}


def verifier(now: float = NOW, leeway_seconds: float = 0) -> Verifier:
    """A verifier that trusts both issuers, at a fixed time."""
    return Verifier(TRUSTED, lambda: now, leeway_seconds=leeway_seconds)


def base64url(data: bytes) -> bytes:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def written(value: Any) -> bytes:
    """JSON as a segment of a token."""
    return base64url(json.dumps(value).encode())


def signed(header: bytes, payload: bytes, key: Ed25519PrivateKey = OURS) -> bytes:
    """Two segments and a valid signature of them."""
    content = header + b"." + payload
    return content + b"." + base64url(key.sign(content))


def token(header: Any = None, key: Ed25519PrivateKey = OURS, **claims: Any) -> bytes:
    """A genuine token, except for the given header and claims; a claim of None is left out."""
    merged = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    return signed(written(HEADER if header is None else header), written(merged), key)
