"""Revoked tokens, by issuer and `jti`: a list in the store, which every process reads again once a second.

While the store is unavailable, the last list that was read applies. An entry outlives every token that `rollbook token`
can mint.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from rollbook.identity.tokens import Subject
from rollbook.server.access.bans import LOOK_SECONDS, BanStore
from rollbook.server.loops import BackgroundLoop
from rollbook.server.refusals import Refusal
from rollbook.storage.port import StoreUnavailable

MOST_REVOKED: Final = 10_000
KEPT_MS: Final = 11 * 365 * 24 * 3_600_000


class Revocations:
    """The revoked tokens, as last read by this process."""

    def __init__(self, store: BanStore, clock_ms: Callable[[], int], failed: Callable[[str], None]) -> None:
        """`clock_ms` is the process's clock; `failed` is called with the loop's name whenever a read fails."""
        self._store = store
        self._clock_ms = clock_ms
        self._version = ""
        self._revoked: frozenset[str] = frozenset()
        self.changed: Callable[[], None] = lambda: None
        """Called after every change of the list."""
        self.loop = BackgroundLoop("revocations", self.look, failed, LOOK_SECONDS)

    async def start(self) -> None:
        """Read the list once, then again every LOOK_SECONDS."""
        with suppress(StoreUnavailable):
            await self.look()
        self.loop.start()

    async def look(self) -> None:
        """Read the list if it has changed."""
        listing = await self._store.read(self._version)
        if listing is not None:
            self._version, self._revoked = listing.version, frozenset(listing.texts)
            self.changed()

    def include(self, subject: Subject) -> bool:
        """Whether the subject's token is revoked."""
        return bool(self._revoked) and _id(subject.issuer, subject.jti) in self._revoked

    async def revoke(self, issuer: str, jti: str, by: str) -> bool:
        """Revoke a token; returns whether it was not revoked before. Raises Refusal if too many are revoked."""
        is_new = _id(issuer, jti) not in self._revoked
        now_ms = self._clock_ms()
        if not await self._store.put(_id(issuer, jti), json.dumps([now_ms, by]), now_ms + KEPT_MS, MOST_REVOKED):
            raise Refusal("TOO_MANY_BANS", "too many tokens are revoked already", {"limit": MOST_REVOKED})
        await self.look()
        return is_new


def _id(issuer: str, jti: str) -> str:
    return f"{len(issuer)}:{issuer}:{jti}"
