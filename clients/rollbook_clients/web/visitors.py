"""Visitors of the page: each browser has a secret, and becomes a guest of the service when it plays.

Secret and guest token are in cookies that scripts cannot read, so that every process of the page can serve every
visitor without a shared store. All visitors share the connections to the service.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response

from rollbook_clients.sdk import KeptHeads, Match, Table
from rollbook_clients.sdk.connection import Connection
from rollbook_clients.sdk.guests import Caller

VISIT: Final = "visit"
GUEST: Final = "guest"
NAME: Final = "name"
SECRET_BYTES: Final = 32
KEPT_SECONDS: Final = 180 * 24 * 3_600
LONGEST_NAME: Final = 40
_JOINERS: Final = "\u200c\u200d"
"""Invisible, and needed in Persian names and emoji."""
MOST_VISITORS: Final = 2_000
"""Most visitors that are cached; requests of others carry everything needed in their cookies."""


_FIRST: Final = "ba be bo da de fa fe fi ja jo ka ke ki la le li lo ma me mi mo na ne ni no ra re ri ro sa se si ta te"
_SECOND: Final = "bin da dor fa kin la lan len lin lo lor ma mir na nel nik no ra ran rek ri rin sa sel ta tan to va"
"""Syllables of proposed names, which are easy to pronounce in both languages."""


@dataclass(slots=True)
class Visitor:
    """One browser."""

    secret: bytes
    token: str = ""
    """The token of its guest; empty before it plays."""
    name: str = ""
    is_new: bool = False
    """Whether it has no cookie yet."""

    def rename(self, said: str) -> None:
        """Take the name that was typed, with single spaces; an empty one changes nothing."""
        name = "".join(letter for letter in " ".join(said.split()) if letter.isprintable() or letter in _JOINERS)
        self.name = name[:LONGEST_NAME] or self.name

    @property
    def proposed_name(self) -> str:
        """The name of this visitor, else one for the name field that stays the same until another is typed."""
        digest = hmac.digest(self.secret, b"rollbook/page/name", "sha256")
        syllables = [part.split() for part in (_FIRST, _SECOND)]
        name = "".join(part[byte % len(part)] for part, byte in zip(syllables, digest, strict=False))
        return self.name or name.capitalize()

    @property
    def form_token(self) -> str:
        """The token that proves that a form comes from this page."""
        return hmac.digest(self.secret, b"rollbook/page/form", "sha256").hex()

    @property
    def reference(self) -> str:
        """A key for caches, derived from the secret; it does not reveal the visitor."""
        return hmac.digest(self.secret, b"rollbook/page/reference", "sha256").hex()


class Visitors:
    """The browsers that use this process, as guests of the service."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tables: LRUCache[str, Table] = LRUCache(MOST_VISITORS)
        self._matches: LRUCache[tuple[str, str], Match] = LRUCache(4 * MOST_VISITORS)
        """Keeps Match objects, because they may hold a command that is not settled."""

    def of(self, request: Request) -> Visitor:
        """The visitor of a request, from its cookies; a new one if they are missing."""
        try:
            secret = bytes.fromhex(request.cookies.get(VISIT, ""))
        except ValueError:
            secret = b""
        name = _show_kept(request.cookies.get(NAME, ""))
        if len(secret) != SECRET_BYTES:
            return Visitor(secrets.token_bytes(SECRET_BYTES), name=name, is_new=True)
        return Visitor(secret, request.cookies.get(GUEST, ""), name)

    async def table(self, visitor: Visitor) -> Table:
        """The visitor's table; signs the visitor in as a new guest if needed, with the visitor's current name."""
        key = visitor.reference
        table = self._tables.get(key)
        if table is None or table.token != visitor.token or not visitor.token:
            caller = Caller(self._connection, visitor.name, visitor.token, None, visitor.secret, is_guest=True)
            await caller.arrive()
            table = self._tables[key] = Table(caller, KeptHeads(None))
            visitor.token = table.token
        return table

    async def match(self, visitor: Visitor, match_id: str, invitation_code: str = "") -> Match:
        """A match as this guest sees it."""
        table = await self.table(visitor)
        match = self._matches[visitor.reference, match_id] = table.match(match_id, invitation_code)
        return match

    @staticmethod
    def remember(visitor: Visitor, response: Response, *, is_secure: bool) -> None:
        """Set the cookies of a visitor on a response."""
        values = {VISIT: visitor.secret.hex(), GUEST: visitor.token, NAME: visitor.name.encode().hex()}
        for key, value in values.items():
            if value:
                response.set_cookie(
                    key, value, max_age=KEPT_SECONDS, httponly=True, samesite="lax", secure=is_secure, path="/"
                )


def _show_kept(kept: str) -> str:
    try:
        return bytes.fromhex(kept).decode()[:LONGEST_NAME]
    except ValueError:
        return ""
