"""Who calls: a guest who stays the same one, or whoever the given token says.

A guest has a token, and a secret of its own from which its entropy for every match follows, so that a program that is
started again can still get ready where it sat down. A file can hold both, by the address of the service.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, Final

from grpc.aio import UnaryUnaryMultiCallable

from rollbook.files import write_file
from rollbook.match.chain import entropy_of
from rollbook.v1.identity_pb2 import GetKeysRequest, SignInRequest
from rollbook.v1.replay_pb2 import GetReplayRequest
from rollbook_clients.sdk.connection import A, Connection, Line, Lost, Q
from rollbook_clients.sdk.patience import Deadline
from rollbook_clients.sdk.refusals import LimitReached, Unauthenticated, Unreachable

_SECRET_BYTES: Final = 32
_EXPIRED: Final = "TOKEN_EXPIRED"
_RENEWED_WITH: Final = 0.25
"""The part of a token's life that is left when it is renewed."""

_AGAIN_SECONDS: Final = 60.0
"""Between attempts to renew a token that still holds."""


class GuestsUnreadable(ValueError):
    """The file of guests is none."""


class Caller:
    """Calls with a token, and sees to it that there is a good one."""

    def __init__(  # noqa: PLR0913 - who calls, and what is kept of it
        self,
        connection: Connection,
        name: str,
        token: str,
        keep: Path | None,
        secret: bytes = b"",
        *,
        is_guest: bool = False,
        code: str = "",
    ) -> None:
        """Be who the token says; without one the guest of the code, of the file, or a new one.

        A guest's own token is renewed.
        """
        self.connection = connection
        self.name = name
        self._is_guest = is_guest or not token
        self._keep = keep
        self._code = "" if token else code
        kept = _kept(keep, connection.address) if keep is not None else {}
        self.token = token or kept.get("token", "")
        self._secret = secret or bytes.fromhex(kept.get("secret", "")) or secrets.token_bytes(_SECRET_BYTES)
        self._renew_at = float("inf")
        self._renewing = asyncio.Lock()

    def entropy(self, match_id: str) -> bytes:
        """What this caller brings to the dice of a match: 32 bytes that nobody else can know."""
        return entropy_of(self._secret, match_id)

    async def arrive(self) -> None:
        """Make sure that there is a service, and be somebody there."""
        seconds = self.connection.patience.arrival
        if not self._is_guest:
            await self.connection.call(lambda line: line.identity.GetKeys, GetKeysRequest(), seconds=seconds)
            return
        try:
            await self._sign_in(self.token, seconds)
        except Unauthenticated:
            # The service does not know its own token any more, and with it no seat that the guest had.
            if not self.token:
                raise
            await self._sign_in("", seconds)

    async def _sign_in(self, old_token: str, seconds: float | None = None) -> None:
        request = SignInRequest(name=self.name, old_token=old_token, device_code=self._code)
        answer = await self.connection.call(lambda line: line.identity.SignIn, request, seconds=seconds)
        self.token, self.name, self._code = answer.token, answer.name, ""
        lifetime = answer.expires_ms / 1_000 - time.time()
        # A clock that is wrong must not lead to a sign-in before every call: then the refusal tells when it is time.
        self._renew_at = time.monotonic() + lifetime * (1 - _RENEWED_WITH) if lifetime > 0 else float("inf")
        if self._keep is not None:
            _write(self._keep, self.connection.address, {"token": self.token, "secret": self._secret.hex()})

    async def call(self, of: Callable[[Line], UnaryUnaryMultiCallable[Q, A]], request: Q) -> A:
        """The answer to a call with the token, renewed if need be."""
        if time.monotonic() >= self._renew_at:
            await self._renew_early()
        token = self.token
        try:
            return await self.connection.call(of, request, bearer(token))
        except Unauthenticated as refused:
            await self.renew(refused, token)
            return await self.connection.call(of, request, bearer(self.token))

    async def collect(self, request: GetReplayRequest) -> bytes:
        """A whole replay file, from the start again if the connection is lost on the way."""
        deadline, attempts = Deadline(self.connection.patience.call), self.connection.attempts()
        while True:
            token = self.token
            stream = self.connection.stream(lambda line: line.replays.GetReplay, request, bearer(token))
            try:
                async with aclosing(stream) as parts:
                    return b"".join([part.part async for part in parts])
            except Unauthenticated as refused:
                await self.renew(refused, token)
            except Lost as lost:
                if not await deadline.sleep(max(lost.pause, attempts.pause())):
                    raise Unreachable(f"no service answers at {self.connection.address} ({lost})") from None

    async def renew(self, refused: Unauthenticated, token: str) -> None:
        """Get another token for this one; what else is wrong with it, or is not ours to renew, is raised."""
        if not self._is_guest or refused.reason != _EXPIRED:
            raise refused
        async with self._renewing:
            # Of many calls that find the token expired, one renews it for all.
            if self.token == token:
                await self._sign_in(token)

    async def resume(self, token: str, refused: Unauthenticated | None = None) -> Lost:
        """What a stream that ended for its token comes to: a new one, and the same again."""
        refused = refused or Unauthenticated(_EXPIRED, "the token has expired")
        try:
            await self.renew(refused, token)
        except Unreachable as unreachable:
            return Lost(str(unreachable))
        return Lost(str(refused), in_order=True)

    async def _renew_early(self) -> None:
        """Get another token while this one still holds; if that fails, there is time to try again."""
        self._renew_at = time.monotonic() + _AGAIN_SECONDS
        with suppress(Unreachable, LimitReached):
            await self._sign_in(self.token, self.connection.patience.answer)


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """What goes with a call."""
    return (("authorization", f"Bearer {token}"),)


def _kept(file: Path, address: str) -> dict[str, str]:
    entry = _read(file).get(address, {})
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise GuestsUnreadable(f"{file}: this is no file of guests")
    return entry


def _read(file: Path) -> dict[str, Any]:
    try:
        guests = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        guests = None
    if not isinstance(guests, dict):
        raise GuestsUnreadable(f"{file}: this is no file of guests")
    return guests


def _write(file: Path, address: str, guest: dict[str, str]) -> None:
    guests = _read(file) | {address: guest}
    write_file(file, json.dumps(guests, indent=1).encode(), 0o600)
