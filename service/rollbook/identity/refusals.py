"""Refusals of tokens, names and key files: a stable reason for programs, and a sentence for people.

No sentence repeats the refused input: a token is a secret, and a name may be crafted to break a screen.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar


class TokenReason(StrEnum):
    """Every reason to refuse a token. The names are part of the contract with clients and never change."""

    OVERSIZED = "oversized"
    MALFORMED = "malformed"
    WRONG_ALGORITHM = "wrong_algorithm"
    WRONG_ISSUER = "wrong_issuer"
    KEY_UNKNOWN = "key_unknown"
    FORGED = "forged"
    WRONG_AUDIENCE = "wrong_audience"
    CLAIM_INVALID = "claim_invalid"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    ROLE_NOT_TRUSTED = "role_not_trusted"
    REVOKED = "revoked"


class NameReason(StrEnum):
    """Every reason to refuse a player's name."""

    NAME_EMPTY = "name_empty"
    NAME_TOO_LONG = "name_too_long"
    CONTROL_CHARACTER = "control_character"
    BIDIRECTIONAL_CHARACTER = "bidirectional_character"
    INVISIBLE_CHARACTER = "invisible_character"
    UNASSIGNED_CHARACTER = "unassigned_character"
    TOO_MANY_MARKS = "too_many_marks"
    WHITE_SPACE = "white_space"
    BRACKET = "bracket"
    RESERVED_SIGN = "reserved_sign"
    RESERVED_NAME = "reserved_name"


class KeyReason(StrEnum):
    """Every reason to refuse a key file, or the list of public keys beside it."""

    KEY_EXPOSED = "key_exposed"
    KEY_MALFORMED = "key_malformed"
    NOT_ED25519 = "not_ed25519"
    PUBLISHED_MALFORMED = "published_malformed"


R = TypeVar("R", bound=StrEnum)


class IdentityRefused(Exception, Generic[R]):
    """`reason` is stable and for programs, `why` is a sentence for people."""

    def __init__(self, reason: R, why: str) -> None:
        """`reason` is for programs, `why` for people."""
        super().__init__(reason, why)
        self.reason = reason
        self.why = why

    def __str__(self) -> str:
        """The sentence for people."""
        return self.why


class TokenRefused(IdentityRefused[TokenReason]):
    """The token is rejected."""


class NameRefused(IdentityRefused[NameReason]):
    """The player's name is refused."""

    def __init__(self, reason: NameReason, why: str, character: int = 0) -> None:
        """`character` is the place of the refused character, from 1; 0 if the whole name is refused."""
        super().__init__(reason, why)
        self.character = character


class KeyRefused(IdentityRefused[KeyReason]):
    """The key file is refused."""
