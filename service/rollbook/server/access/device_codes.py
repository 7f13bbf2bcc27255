"""Codes by which a guest signs in on a second device: short, for once, and not for long.

The store knows a code by a hash that nobody makes without the service key, and what it stands for is sealed by the code
itself, so that neither a subject nor a name can be read there.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.server.access.players import Players
from rollbook.server.refusals import Refusal
from rollbook.storage.port import Log

CODE_SECONDS: Final = 300
CODES_PER_HOUR: Final = 20
"""How many codes one guest may make."""

TRIES_PER_HOUR: Final = 30
"""How many codes may be tried from one address; of a million million there are."""

_HOUR_MS: Final = 3_600_000
_BYTES: Final = 5
_GROUP: Final = 4
_NONCE: Final = bytes(12)
"""A key seals one thing, and never another."""


class DeviceCodes:
    """Makes and takes them, for all processes over one store."""

    def __init__(
        self, log: Log, players: Players, clock_ms: Callable[[], int], draw_secret: Callable[[], bytes]
    ) -> None:
        """Keep them in this log's store."""
        self._log = log
        self._players = players
        self._clock_ms = clock_ms
        self._draw_secret = draw_secret

    async def create(self, guest: Subject) -> tuple[str, int]:
        """A code for this guest, and when it expires."""
        await self._count(f"codes:{self._players.pseudonym(guest.key)}", CODES_PER_HOUR)
        code = base64.b32encode(self._draw_secret()[-_BYTES:]).decode("ascii")
        kept_as, key = self._players.device_code(code)
        expires_ms = self._clock_ms() + CODE_SECONDS * 1_000
        sealed = AESGCM(key).encrypt(_NONCE, json.dumps([guest.sub, guest.name, expires_ms]).encode(), None)
        await self._log.keep(kept_as, sealed, CODE_SECONDS * 1_000)
        return f"{code[:_GROUP]}-{code[_GROUP:]}", expires_ms

    async def redeem(self, code: str, address: str) -> Subject:
        """The guest who made a code, which is used up then; refused if there is none, or too many are tried."""
        await self._count(f"tries:{self._players.pseudonym(address)}", TRIES_PER_HOUR)
        letters = "".join(character for character in code.upper() if character not in "- ")
        kept_as, key = self._players.device_code(letters)
        sealed = await self._log.take(kept_as)
        if sealed is not None:
            sub, name, expires_ms = json.loads(AESGCM(key).decrypt(_NONCE, sealed, None))
            if self._clock_ms() < expires_ms:
                return Subject(OWN_ISSUER, sub, Role.PLAYER, (), name, 0)
        raise Refusal("DEVICE_CODE_WRONG", "this code does not hold: it is mistyped, used, or older than five minutes")

    async def _count(self, bucket: str, most: int) -> None:
        wait_ms = await self._log.draw(bucket, most, _HOUR_MS)
        if wait_ms:
            raise Refusal("TOO_MANY_CODES", "too many device codes within an hour", {"retry_after_ms": wait_ms})
