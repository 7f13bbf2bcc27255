"""Revoked tokens, by issuer and `jti`. An entry outlives every token that `rollbook token` can mint."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from rollbook.identity.tokens import Subject
from rollbook.server.access.followed_list import FollowedList, ListStore
from rollbook.server.refusals import Refusal
from rollbook.storage.redis.ban_list import Listing

MOST_REVOKED: Final = 10_000
KEPT_MS: Final = 11 * 365 * 24 * 3_600_000


class Revocations(FollowedList):
    """The revoked tokens, as last read by this process."""

    def __init__(self, store: ListStore, clock_ms: Callable[[], int], failed: Callable[[str], None]) -> None:
        """`clock_ms` is the process's clock; `failed` is called with the loop's name whenever a read fails."""
        super().__init__("revocations", store, failed)
        self._clock_ms = clock_ms
        self._revoked: frozenset[str] = frozenset()

    def _take(self, listing: Listing) -> None:
        self._revoked = frozenset(listing.texts)

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
