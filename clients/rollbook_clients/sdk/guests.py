"""The caller of a service: a guest that keeps its identity, or the user of a given token.

A guest has a token and a secret. Its entropy for every match is derived from the secret, so that a restarted program
can still get ready where it has a seat. A file can hold both, by address of the service.
"""

from __future__ import annotations

import asyncio
import base64
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
_CODE_LETTERS: Final = 8
_EXPIRED: Final = "TOKEN_EXPIRED"
_RENEWED_WITH: Final = 0.25
"""Fraction of a token's lifetime that is left when it is renewed."""

_AGAIN_SECONDS: Final = 60.0
"""Seconds between attempts to renew a token that is still valid."""


class GuestsUnreadable(ValueError):
    """The file of guests has the wrong format."""


class Caller:
    """Makes calls with a token, and renews the token when needed."""

    def __init__(  # noqa: PLR0913 - identity, and where it is saved
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
        """Use the given token; without one, sign in as the guest of the code, else of the file, else as a new guest.

        `is_guest` marks a given token as a guest's, which can be renewed.
        """
        self.connection = connection
        self.name = name
        self._is_guest = is_guest or not token
        self._keep = keep
        self._code, carried = ("", b"") if token else read_code(code)
        kept = _read_kept(keep, connection.address) if keep is not None else {}
        self.token = token or kept.get("token", "")
        self._secret = secret or carried or bytes.fromhex(kept.get("secret", "")) or secrets.token_bytes(_SECRET_BYTES)
        self._renew_at = float("inf")
        self._renewing = asyncio.Lock()

    def entropy(self, match_id: str) -> bytes:
        """This caller's entropy for the dice of a match: 32 bytes, secret until they are revealed."""
        return entropy_of(self._secret, match_id)

    def carry(self, code: str) -> str:
        """The code of a second device, followed by this caller's secret, which the service never receives."""
        return f"{code}-{base64.b32encode(self._secret).decode().rstrip('=')}"

    async def arrive(self) -> None:
        """Check that the service replies, and sign in if this caller is a guest."""
        seconds = self.connection.patience.arrival
        if not self._is_guest:
            await self.connection.call(lambda line: line.identity.GetKeys, GetKeysRequest(), seconds=seconds)
            return
        try:
            await self._sign_in(self.token, seconds)
        except Unauthenticated:
            # The service no longer accepts the guest's token. Its seats are lost with it, so sign in as a new guest.
            if not self.token:
                raise
            await self._sign_in("", seconds)

    async def _sign_in(self, old_token: str, seconds: float | None = None) -> None:
        request = SignInRequest(name=self.name, old_token=old_token, device_code=self._code)
        answer = await self.connection.call(lambda line: line.identity.SignIn, request, seconds=seconds)
        self.token, self.name, self._code = answer.token, answer.name, ""
        lifetime = answer.expires_ms / 1_000 - time.time()
        # If this computer's clock is wrong, only the refusal of an expired token triggers the renewal.
        self._renew_at = time.monotonic() + lifetime * (1 - _RENEWED_WITH) if lifetime > 0 else float("inf")
        if self._keep is not None:
            _write(self._keep, self.connection.address, {"token": self.token, "secret": self._secret.hex()})

    async def call(self, of: Callable[[Line], UnaryUnaryMultiCallable[Q, A]], request: Q) -> A:
        """Make a call with the token, renewed if needed, and return the reply."""
        if time.monotonic() >= self._renew_at:
            await self._renew_early()
        token = self.token
        try:
            return await self.connection.call(of, request, bearer(token))
        except Unauthenticated as refused:
            await self.renew(refused, token)
            return await self.connection.call(of, request, bearer(self.token))

    async def collect(self, request: GetReplayRequest) -> bytes:
        """Download a whole replay file; starts again from the beginning if the connection is lost."""
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
        """Replace an expired guest token; raises `refused` for any other token or reason."""
        if not self._is_guest or refused.reason != _EXPIRED:
            raise refused
        async with self._renewing:
            # If many calls find the token expired, the first one renews it for all.
            if self.token == token:
                await self._sign_in(token)

    async def resume(self, token: str, refused: Unauthenticated | None = None) -> Lost:
        """Renew the token that ended a stream; returns Lost, after which the caller repeats the stream."""
        refused = refused or Unauthenticated(_EXPIRED, "the token has expired")
        try:
            await self.renew(refused, token)
        except Unreachable as unreachable:
            return Lost(str(unreachable))
        return Lost(str(refused), in_order=True)

    async def _renew_early(self) -> None:
        """Renew the token before it expires; on failure the next attempt follows after a minute."""
        self._renew_at = time.monotonic() + _AGAIN_SECONDS
        with suppress(Unreachable, LimitReached):
            await self._sign_in(self.token, self.connection.patience.answer)


def read_code(code: str) -> tuple[str, bytes]:
    """The part of a device code for the service, and the secret behind it; empty if only the first part was typed.

    >>> read_code("k7qm 2wxp")
    ('K7QM2WXP', b'')
    >>> read_code("K7QM-2WXP-" + "A" * 51 + "Q")[1].hex()[-4:]
    '0001'
    """
    letters = "".join(character for character in code.upper() if character not in "- ")
    with suppress(ValueError):
        secret = base64.b32decode(letters[_CODE_LETTERS:] + "====")
        if len(secret) == _SECRET_BYTES:
            return letters[:_CODE_LETTERS], secret
    return letters, b""


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a call with this token."""
    return (("authorization", f"Bearer {token}"),)


def _read_kept(file: Path, address: str) -> dict[str, str]:
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
