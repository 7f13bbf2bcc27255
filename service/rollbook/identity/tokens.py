"""Tokens: the identity and the role of a caller, signed by a trusted issuer.

A token is a JWT in compact form; algorithm and audience are fixed, independent of its header. The checks have a
fixed order: size, form, algorithm, issuer, key, signature, audience, claims, times, and whether the issuer may give the
role. Before the signature is verified, only the choice of the key depends on the content.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf
from typing import Any, Final

from cachetools import LRUCache
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from joserfc.jws import CompactSignature, extract_compact, validate_compact

from rollbook.identity.names import kept_name
from rollbook.identity.refusals import NameRefused, TokenReason, TokenRefused
from rollbook.replay_file.key_lines import key_id

ALGORITHM: Final = "Ed25519"
"""The name from RFC 9864; the older name `EdDSA` may mean another curve and is refused."""

AUDIENCE: Final = "rollbook"
OWN_ISSUER: Final = "rollbook"
"""The issuer name of a service and its `rollbook token`."""

LEEWAY_SECONDS: Final = 60
"""How much the clocks of an issuer and a service may differ."""

JTI_BYTES: Final = 8

LONGEST_TOKEN: Final = 4096
LONGEST_TEXT: Final = 200
MOST_MATCHES: Final = 64

MOST_REMEMBERED: Final = 4_096
"""Cache size: tokens whose signature was verified; the least recently used one is dropped first."""

_LAST_SECOND = 253_402_300_799
"""The end of the year 9999; calendars have no later times."""

_MATCH_ID = re.compile(r"[!-~]{1,100}")


class Role(StrEnum):
    """What a subject may do besides watching."""

    PLAYER = "player"
    JUDGE = "judge"
    OPERATOR = "operator"
    GATEWAY = "gateway"
    """Watches on behalf of many callers, and is trusted for their addresses."""


HOUSE: Final = "house-"
"""Prefix of the subjects of the service's own bots, which the service gives to no player."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A caller, as identified by a trusted issuer."""

    issuer: str
    sub: str
    role: Role
    matches: tuple[str, ...]
    """The matches that a judge may see; empty for everyone else."""
    name: str
    expires_at: int
    """The token's expiry in Unix seconds, without the verifier's leeway."""
    by_address: bool = field(default=True, compare=False)
    """Whether the limits per address include this subject; the description of its issuer decides."""
    jti: str = field(default="", compare=False)
    """The id of the token, by which it can be revoked; empty: it has none."""
    key: str = field(init=False, repr=False, compare=False)
    """Issuer and sub combined into one unambiguous text."""

    def __post_init__(self) -> None:
        """Compute the key once, because every call needs it.

        >>> Subject("rollbook", "anna", Role.PLAYER, (), "Anna", 0).key
        '8:rollbook:anna'
        """
        object.__setattr__(self, "key", f"{len(self.issuer)}:{self.issuer}:{self.sub}")

    @property
    def is_house(self) -> bool:
        """Whether this is one of the service's own bots."""
        return self.issuer == OWN_ISSUER and self.sub.startswith(HOUSE)


@dataclass(frozen=True, slots=True)
class TrustedIssuer:
    """An issuer with its public keys by key id, including old ones, and the roles it may give."""

    name: str
    keys: Mapping[str, Ed25519PublicKey]
    roles: frozenset[Role]
    by_address: bool = True
    """Whether the limits per address include the issuer's subjects."""


class Issuer:
    """Mints tokens of one issuer with one key."""

    def __init__(self, key: Ed25519PrivateKey, name: str = OWN_ISSUER) -> None:
        self.name = name
        self.key_id = key_id(key.public_key())
        self._key = OKPKey.import_key(key)

    def mint(  # noqa: PLR0913 - a token has many claims
        self,
        sub: str,
        role: Role,
        *,
        name: str,
        issued_at: int,
        lifetime_seconds: int,
        matches: Sequence[str] = (),
        jti: str | None = None,
    ) -> str:
        """Mint a token valid from `issued_at`, in Unix seconds; raises TokenRefused if no verifier would accept it.

        Without `jti` the token gets a random one.
        """
        claims: dict[str, Any] = {
            "iss": self.name,
            "sub": sub,
            "aud": AUDIENCE,
            "iat": issued_at,
            "exp": issued_at + lifetime_seconds,
            "role": role.value,
            "name": name,
        }
        if matches:
            claims["matches"] = list(matches)
        claims["jti"] = secrets.token_hex(JTI_BYTES) if jti is None else jti
        claims["name"] = _subject(claims).name
        token = jwt.encode({"alg": ALGORITHM, "kid": self.key_id}, claims, self._key, algorithms=[ALGORITHM])
        if len(token) > LONGEST_TOKEN:
            raise _oversized_error()
        return token


@dataclass(frozen=True, slots=True)
class _Genuine:
    """The claims of a token with a valid signature; they never change."""

    subject: Subject
    begins_at: int


class Verifier:
    """Verifies tokens of trusted issuers, with a clock that returns Unix seconds."""

    def __init__(  # noqa: PLR0913 - each is a condition of its own
        self,
        trusted: Iterable[TrustedIssuer],
        clock: Callable[[], float],
        *,
        audience: str = AUDIENCE,
        leeway_seconds: float = 0,
        operator_seconds: float = inf,
        is_revoked: Callable[[Subject], bool] = lambda _subject: False,
    ) -> None:
        """An operator's token lasts at most `operator_seconds`; `is_revoked` is called at every verification."""
        self._operator_seconds = operator_seconds
        self._is_revoked = is_revoked
        self._trusted: dict[str, TrustedIssuer] = {}
        self._keys: dict[tuple[str, str], OKPKey] = {}
        for issuer in trusted:
            if issuer.name in self._trusted:
                raise ValueError(f"the issuer {issuer.name} is named twice")
            self._trusted[issuer.name] = issuer
            for kid, key in issuer.keys.items():
                self._keys[issuer.name, kid] = OKPKey.import_key(key)
        self._clock = clock
        self._audience = audience
        self._leeway_seconds = leeway_seconds
        self._remembered: LRUCache[bytes, _Genuine] = LRUCache(MOST_REMEMBERED)

    def verify(self, token: str | bytes) -> Subject:
        """The subject of a token; raises only TokenRefused, for any input.

        An accepted token is cached by its hash, so that its signature is verified once; its times are checked on every
        call. Refused tokens are not cached, because strangers can make any number of them.
        """
        data = token if isinstance(token, bytes) else token.encode("utf-8", "replace")
        digest = hashlib.sha256(data).digest()
        known = self._remembered.get(digest)
        genuine = known or self._genuine(data)
        try:
            self._check_now(genuine)
        except TokenRefused:
            self._remembered.pop(digest, None)
            raise
        if known is None:
            self._remembered[digest] = genuine
        return genuine.subject

    @property
    def remembered(self) -> int:
        """The number of cached tokens."""
        return len(self._remembered)

    def _genuine(self, data: bytes) -> _Genuine:
        """The claims of a token with a valid signature; its times are not checked."""
        signed = _parse(data)
        claims = _json_object(signed.payload)
        issuer = self._issuer(claims)
        self._check_signature(signed, issuer)
        if not _is_for(self._audience, claims.get("aud")):
            raise TokenRefused(TokenReason.WRONG_AUDIENCE, "the token is meant for another service")
        subject = replace(_subject(claims), by_address=issuer.by_address)
        if subject.role is Role.OPERATOR and subject.expires_at - _seconds(claims, "iat") > self._operator_seconds:
            raise _invalid("exp", f"be at most {self._operator_seconds:.0f} s later than iat in an operator's token")
        return _Genuine(subject, max(_seconds(claims, "iat"), _seconds(claims, "nbf") if "nbf" in claims else 0))

    def has_expired(self, subject: Subject) -> bool:
        """Whether the subject's token has expired by now, or is revoked; long streams ask regularly."""
        return self._is_revoked(subject) or self._clock() >= subject.expires_at + self._leeway_seconds

    def _issuer(self, claims: dict[str, Any]) -> TrustedIssuer:
        name = claims.get("iss")
        issuer = self._trusted.get(name) if isinstance(name, str) else None
        if issuer is None:
            raise TokenRefused(TokenReason.WRONG_ISSUER, "the token comes from an issuer that is not trusted here")
        return issuer

    def _check_signature(self, signed: CompactSignature, issuer: TrustedIssuer) -> None:
        kid = signed.headers().get("kid")
        key = self._keys.get((issuer.name, kid)) if isinstance(kid, str) else None
        if key is None:
            raise TokenRefused(TokenReason.KEY_UNKNOWN, "the token names no key that its issuer has published")
        try:
            genuine = validate_compact(signed, key, algorithms=[ALGORITHM])
        except JoseError:
            raise _malformed_error("the token's header holds what no header may hold") from None
        if not genuine:
            raise TokenRefused(TokenReason.FORGED, "the token's signature is not that of the key it names")

    def _check_now(self, genuine: _Genuine) -> None:
        subject = genuine.subject
        if self._is_revoked(subject):
            raise TokenRefused(TokenReason.REVOKED, "an operator of this service has revoked the token")
        if self.has_expired(subject):
            raise TokenRefused(TokenReason.EXPIRED, "the token has expired")
        if genuine.begins_at > self._clock() + self._leeway_seconds:
            raise TokenRefused(TokenReason.NOT_YET_VALID, "the token is not valid yet")
        if subject.role not in self._trusted[subject.issuer].roles:
            raise TokenRefused(TokenReason.ROLE_NOT_TRUSTED, "the token's issuer may not give this role")


def _oversized_error() -> TokenRefused:
    return TokenRefused(TokenReason.OVERSIZED, f"a token has at most {LONGEST_TOKEN} bytes")


def _malformed_error(why: str) -> TokenRefused:
    return TokenRefused(TokenReason.MALFORMED, why)


def _invalid(claim: str, must: str) -> TokenRefused:
    return TokenRefused(TokenReason.CLAIM_INVALID, f"the claim {claim} must {must}")


def _parse(data: bytes) -> CompactSignature:
    """Parse a token with the right form and algorithm; its signature is not verified."""
    if len(data) > LONGEST_TOKEN:
        raise _oversized_error()
    try:
        signed = extract_compact(data)
    # The library reads a header before checking that it is an object, and JSON may be nested too deeply.
    except (JoseError, TypeError, ValueError, RecursionError):
        raise _malformed_error("the token is not a signed JWT in compact form") from None
    header: object = signed.headers()
    if not isinstance(header, dict):
        raise _malformed_error("the token's header is not a JSON object")
    if header.get("alg") != ALGORITHM:
        raise TokenRefused(TokenReason.WRONG_ALGORITHM, f"a token must be signed with {ALGORITHM}")
    if "crit" in header:
        raise _malformed_error("the token asks for an extension that is not known here")
    return signed


def _json_object(payload: bytes) -> dict[str, Any]:
    try:
        claims = json.loads(payload)
    except (ValueError, RecursionError):
        raise _malformed_error("the token's claims are not JSON") from None
    if not isinstance(claims, dict):
        raise _malformed_error("the token's claims are not a JSON object")
    return claims


def _is_for(audience: str, value: Any) -> bool:
    return value == audience or (isinstance(value, list) and audience in value)


def _subject(claims: dict[str, Any]) -> Subject:
    """The subject in the claims; raises TokenRefused if they are incomplete or out of bounds."""
    expires_at = _seconds(claims, "exp")
    if expires_at <= _seconds(claims, "iat"):
        raise _invalid("exp", "be later than iat")
    role = _role(claims)
    return Subject(
        issuer=_text(claims, "iss"),
        sub=_text(claims, "sub"),
        role=role,
        matches=_matches(claims, role),
        name=_name(claims),
        expires_at=expires_at,
        jti=_text(claims, "jti") if "jti" in claims else "",
    )


def _text(claims: dict[str, Any], claim: str) -> str:
    text = claims.get(claim)
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_TEXT or not text.isprintable():
        raise _invalid(claim, f"be 1 to {LONGEST_TEXT} printable characters")
    return text


def _seconds(claims: dict[str, Any], claim: str) -> int:
    value = claims.get(claim)
    # In Python booleans are integers, and its JSON accepts NaN, with which every comparison is false.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LAST_SECOND:
        raise _invalid(claim, "be a time in Unix seconds")
    return int(value)


def _role(claims: dict[str, Any]) -> Role:
    try:
        return Role(claims.get("role", ""))
    except ValueError:
        raise _invalid("role", f"be one of {', '.join(Role)}") from None


def _matches(claims: dict[str, Any], role: Role) -> tuple[str, ...]:
    matches = claims.get("matches", [])
    if role is not Role.JUDGE:
        if matches != []:
            raise _invalid("matches", "be left out but for a judge")
        return ()
    if not isinstance(matches, list) or not 0 < len(matches) <= MOST_MATCHES:
        raise _invalid("matches", f"name 1 to {MOST_MATCHES} matches that the judge may see")
    if not all(isinstance(match, str) and _MATCH_ID.fullmatch(match) for match in matches):
        raise _invalid("matches", "be ids of matches: 1 to 100 ASCII characters without spaces")
    return tuple(matches)


def _name(claims: dict[str, Any]) -> str:
    name = claims.get("name")
    if not isinstance(name, str):
        raise _invalid("name", "be a text")
    try:
        return kept_name(name)
    except NameRefused as refused:
        raise _invalid("name", f"be a player's name: {refused.why}") from None
