"""Short one-time codes with which a guest signs in on a second device.

The store keeps a code under a hash that requires the service key, and the guest's subject and name encrypted with a key
derived from the code, so neither can be read in the store.
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
from rollbook.storage.port import Secrets, TokenBuckets

CODE_SECONDS: Final = 300
CODES_PER_HOUR: Final = 20
"""Limit for the codes that one guest creates."""

TRIES_PER_HOUR: Final = 30
"""Limit for attempts from one address; there are 32^8 codes."""

_HOUR_MS: Final = 3_600_000
_BYTES: Final = 5
_GROUP: Final = 4
_NONCE: Final = bytes(12)
"""Constant, because each key encrypts only one text."""


class DeviceCodes:
    """Creates and redeems codes, for all processes over one store."""

    def __init__(
        self,
        secrets: Secrets,
        buckets: TokenBuckets,
        players: Players,
        clock_ms: Callable[[], int],
        draw_secret: Callable[[], bytes],
    ) -> None:
        self._secrets = secrets
        self._buckets = buckets
        self._players = players
        self._clock_ms = clock_ms
        self._draw_secret = draw_secret

    async def create(self, guest: Subject) -> tuple[str, int]:
        """A code for this guest, and its expiry in Unix milliseconds; raises Refusal after too many."""
        await self._count(f"codes:{self._players.pseudonym(guest.key)}", CODES_PER_HOUR)
        code = base64.b32encode(self._draw_secret()[-_BYTES:]).decode("ascii")
        kept_as, key = self._players.device_code(code)
        expires_ms = self._clock_ms() + CODE_SECONDS * 1_000
        sealed = AESGCM(key).encrypt(_NONCE, json.dumps([guest.sub, guest.name, expires_ms]).encode(), None)
        await self._secrets.keep(kept_as, sealed, CODE_SECONDS * 1_000)
        return f"{code[:_GROUP]}-{code[_GROUP:]}", expires_ms

    async def redeem(self, code: str, address: str) -> Subject:
        """The guest who created a code, which is then used up; raises Refusal for a wrong code or too many attempts."""
        await self._count(f"tries:{self._players.pseudonym(address)}", TRIES_PER_HOUR)
        letters = "".join(character for character in code.upper() if character not in "- ")
        kept_as, key = self._players.device_code(letters)
        sealed = await self._secrets.take(kept_as)
        if sealed is not None:
            sub, name, expires_ms = json.loads(AESGCM(key).decrypt(_NONCE, sealed, None))
            if self._clock_ms() < expires_ms:
                return Subject(OWN_ISSUER, sub, Role.PLAYER, (), name, 0)
        raise Refusal("DEVICE_CODE_WRONG", "this code does not hold: it is mistyped, used, or older than five minutes")

    async def _count(self, bucket: str, most: int) -> None:
        wait_ms = await self._buckets.draw(bucket, most, _HOUR_MS)
        if wait_ms:
            raise Refusal("TOO_MANY_CODES", "too many device codes within an hour", {"retry_after_ms": wait_ms})
