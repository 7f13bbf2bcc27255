"""The IdentityService: tokens for guests, and the public keys for heads and replay files."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook.identity.names import ReservedNames, player_name
from rollbook.identity.refusals import TokenReason, TokenRefused
from rollbook.identity.service_keys import SigningKey
from rollbook.identity.tokens import OWN_ISSUER, Issuer, Role, Subject, TrustedIssuer, Verifier
from rollbook.match.chain import HeadKeys
from rollbook.replay_file.key_lines import keys_of_service
from rollbook.server.access.bans import Bans
from rollbook.server.access.device_codes import DeviceCodes
from rollbook.server.access.limits import Rates, Strangers
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.lobby.match_access import Callers, Context
from rollbook.server.play.quotas import GuestQuota
from rollbook.server.refusals import Refusal
from rollbook.v1 import identity_pb2 as proto
from rollbook.v1.identity_pb2_grpc import IdentityServiceServicer

GUEST: Final = "Guest"
OLD_TOKEN_SECONDS: Final = 30 * 24 * 3_600
"""How long after its expiry a guest's token still identifies the guest."""

RETURNS_PER_HOUR: Final = 100
"""How often one guest may sign in again per hour."""

_HOUR_SECONDS: Final = 3_600
_SUB_BYTES: Final = 15
_GUEST_SUB: Final = "guest-"


def guest_verifier(
    keys: Mapping[str, Ed25519PublicKey],
    clock: Callable[[], float],
    is_revoked: Callable[[Subject], bool] = lambda _subject: False,
) -> Verifier:
    """A verifier for expired tokens of guests, signed by the service's own keys; `clock` returns Unix seconds."""
    own = TrustedIssuer(OWN_ISSUER, keys, frozenset(Role))
    return Verifier([own], clock, leeway_seconds=OLD_TOKEN_SECONDS, is_revoked=is_revoked)


@dataclass(frozen=True, slots=True)
class Guests:
    """Issues and checks tokens of guests."""

    issuer: Issuer
    """Signs guests' tokens."""
    returning: Verifier
    """Accepts guests' old tokens, which may have expired."""
    draw_secret: Callable[[], bytes]


class IdentityServicer(IdentityServiceServicer):
    """Guests and keys. `layers.Refusing` turns exceptions of handlers into refusals."""

    def __init__(  # noqa: PLR0913 - a part for each kind of call
        self,
        guests: Guests | None,
        *,
        head_keys: HeadKeys,
        replay_key: SigningKey,
        name: str,
        limits: Limits,
        reserved: ReservedNames,
        quota: GuestQuota,
        codes: DeviceCodes,
        callers: Callers,
        strangers: Strangers,
        bans: Bans,
        clock_ms: Callable[[], int],
        count_guest: Callable[[bool], None],
    ) -> None:
        """Serve guests unless `guests` is None, and publish these keys under `name`."""
        self._guests = guests
        self._head_keys = head_keys
        self._replay_key = replay_key
        self._name = keys_of_service(head_keys.published.values(), (), name)[0].name
        self._strangers = strangers
        self._bans = bans
        self._clock_ms = clock_ms
        self._count_guest = count_guest
        self._token_seconds = limits.guest_token_seconds
        self._of_returning = Rates(RETURNS_PER_HOUR / _HOUR_SECONDS, RETURNS_PER_HOUR)
        self._reserved = reserved
        self._quota = quota
        self._codes = codes
        self._callers = callers

    async def SignIn(  # noqa: N802 - named by the contract
        self, request: proto.SignInRequest, context: Context
    ) -> proto.SignInResponse:
        """Sign in as a new guest, or as the guest of an old token or a device code."""
        guests = self._guests
        if guests is None:
            raise Refusal("GUESTS_OFF", "this service takes no guests")
        self._strangers.count(context)
        address = self._strangers.addresses.of(context)
        self._bans.check_address(address)
        if request.device_code:
            old: Subject | None = await self._codes.redeem(request.device_code, address)
        else:
            old = _returning(guests, request.old_token) if request.old_token else None
        if old is None:
            await self._quota.count(address)
        else:
            self._bans.check(old, lambda: address)
            # A returning guest does not count against the quota of new guests.
            self._of_returning.take(old.key, self._clock_ms())
        kept = "" if old is None else old.name
        name = player_name(request.name, kept, self._reserved) if request.name else kept or GUEST
        issued_at = self._clock_ms() // 1_000
        lifetime = self._token_seconds
        sub = _new_sub(guests) if old is None else old.sub
        token = guests.issuer.mint(sub, Role.PLAYER, name=name, issued_at=issued_at, lifetime_seconds=lifetime)
        self._count_guest(old is not None)
        return proto.SignInResponse(
            token=token, expires_ms=(issued_at + lifetime) * 1_000, name=name, same_subject=old is not None
        )

    async def CreateDeviceCode(  # noqa: N802 - named by the contract
        self, request: proto.CreateDeviceCodeRequest, context: Context
    ) -> proto.CreateDeviceCodeResponse:
        """Create a code with which the caller's second device signs in."""
        del request
        caller = self._callers.of(context)
        if self._guests is None:
            raise Refusal("GUESTS_OFF", "this service takes no guests")
        if not _is_guest(caller, self._guests):
            raise Refusal("ROLE_MISSING", "device codes are for guests; copy your token instead", {"role": "guest"})
        code, expires_ms = await self._codes.create(caller)
        return proto.CreateDeviceCodeResponse(code=code, expires_ms=expires_ms)

    async def GetKeys(  # noqa: N802 - named by the contract
        self, request: proto.GetKeysRequest, context: Context
    ) -> proto.GetKeysResponse:
        """The public keys of signed heads and of replay files, and the name of their service."""
        del request
        self._strangers.count(context)
        response = proto.GetKeysResponse(name=self._name)
        for kid, key in self._head_keys.published.items():
            response.keys.add(key_id=kid, public_key=key.public_bytes_raw(), in_use=kid == self._head_keys.key_id)
        replay = self._replay_key
        for kid, key in replay.published.items():
            response.replay_keys.add(key_id=kid, public_key=key.public_bytes_raw(), in_use=kid == replay.key_id)
        return response


def _returning(guests: Guests, token: str) -> Subject:
    """The guest of an old token; raises TokenRefused for a token that is not a guest's."""
    subject = guests.returning.verify(token)
    if subject.issuer != guests.issuer.name:
        raise TokenRefused(TokenReason.WRONG_ISSUER, "only a token of this service identifies a guest")
    if not _is_guest(subject, guests):
        raise TokenRefused(TokenReason.ROLE_NOT_TRUSTED, "only a guest's token identifies a guest")
    return subject


def _is_guest(subject: Subject, guests: Guests) -> bool:
    is_ours = subject.issuer == guests.issuer.name and subject.role is Role.PLAYER
    return is_ours and subject.sub.startswith(_GUEST_SUB)


def _new_sub(guests: Guests) -> str:
    return f"{_GUEST_SUB}{base64.b32encode(guests.draw_secret()[:_SUB_BYTES]).decode('ascii').lower()}"
