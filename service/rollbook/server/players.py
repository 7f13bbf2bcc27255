"""Who callers are in the logs of matches, and who is invited: everything that follows from the service key."""

from __future__ import annotations

import base64
import hmac
from typing import Final

from cachetools import LRUCache

from rollbook.identity import references
from rollbook.identity.tokens import Subject
from rollbook.match.commands import Origin

MOST_REFERENCES: Final = 20_000
"""References to players that are not made anew for every call."""

_INVITATION_BYTES: Final = 15


class Players:
    """Names callers to matches, so that a log tells nobody who played it."""

    def __init__(self, service_key: bytes) -> None:
        """Derive everything from these 32 bytes."""
        self._key = service_key
        self._references: LRUCache[tuple[str, str], bytes] = LRUCache(MOST_REFERENCES)

    def reference(self, caller: Subject, match_id: str) -> bytes:
        """What stands for the caller in the log of this match, and in no other."""
        about = caller.key, match_id
        reference = self._references.get(about)
        if reference is None:
            salt = hmac.digest(self._key, b"rollbook/1/salt" + match_id.encode(), "sha256")
            reference = self._references[about] = references.player_reference(salt, caller.key)
        return reference

    def origin(self, caller: Subject, match_id: str, request_id: str, now_ms: int) -> Origin:
        """Whom a command of the caller comes from, as the log of this match will know it."""
        return Origin(now_ms, self.reference(caller, match_id), references.request_hash(caller.key, request_id))

    def opens(self, caller: Subject, request_id: str) -> str:
        """The id of the match that this request opens."""
        return references.match_id(self._key, caller.key, request_id)

    def invitation_code(self, match_id: str) -> str:
        """What opens a seat of a private match. It is kept nowhere."""
        digest = hmac.digest(self._key, b"rollbook/1/invitation" + match_id.encode(), "sha256")
        return base64.b32encode(digest[:_INVITATION_BYTES]).decode("ascii").lower()

    def is_invited(self, match_id: str, code: str) -> bool:
        """Whether this is the invitation code of the match."""
        return hmac.compare_digest(code.encode(), self.invitation_code(match_id).encode())
