"""Who callers are in the logs of matches, and who is invited: everything that follows from the service key."""

from __future__ import annotations

import base64
import hmac
from functools import lru_cache
from typing import Final

from rollbook.identity import references
from rollbook.identity.tokens import Subject
from rollbook.match.chain import entropy_of
from rollbook.match.commands import Origin
from rollbook.server.access.house_bots import HouseBot, secret_of

MOST_REFERENCES: Final = 20_000
"""References to players that are not made anew for every call."""

_INVITATION_BYTES: Final = 15


class Players:
    """Who callers are in the logs of matches, and who is invited: everything that follows from the service key."""

    def __init__(self, service_key: bytes) -> None:
        """Derive everything from these 32 bytes."""
        self._key = service_key
        self._references = lru_cache(MOST_REFERENCES)(self._reference)

    def reference(self, caller: Subject, match_id: str) -> bytes:
        """What stands for the caller in the log of this match, and in no other."""
        return self._references(caller.key, match_id)

    def _reference(self, subject: str, match_id: str) -> bytes:
        salt = hmac.digest(self._key, b"rollbook/1/salt" + match_id.encode(), "sha256")
        return references.player_reference(salt, subject)

    def origin(self, caller: Subject, match_id: str, request_id: str, now_ms: int) -> Origin:
        """Whom a command of the caller comes from, as the log of this match will know it."""
        return Origin(now_ms, self.reference(caller, match_id), references.request_hash(caller.key, request_id))

    def opens(self, caller: Subject, request_id: str) -> str:
        """The id of the match that this request opens."""
        return references.match_id(self._key, caller.key, request_id)

    def rematch(self, match_id: str, aborted: str = "") -> str:
        """The id of the rematch of a match, for whoever asks; of the next one, if an earlier one was aborted."""
        return references.rematch_id(self._key, match_id, aborted)

    def brought_by(self, bot: HouseBot, match_id: str) -> bytes:
        """What a bot of the house brings to the dice of a match; its process knows the same."""
        return entropy_of(secret_of(self._key, bot.sub), match_id)

    def pseudonym(self, who: str) -> str:
        """What stands for a subject or an address where its matches or guests are counted; nobody else can make it."""
        return hmac.digest(self._key, b"rollbook/1/pseudonym" + who.encode(), "sha256")[:16].hex()

    def device_code(self, code: str) -> tuple[str, bytes]:
        """By what name the store keeps what a code stands for, and the key that seals it."""
        digest = hmac.digest(self._key, b"rollbook/1/device" + code.encode(), "sha512")
        return digest[:16].hex(), digest[32:]

    def invitation_code(self, match_id: str) -> str:
        """What opens a seat of a private match. It is kept nowhere."""
        digest = hmac.digest(self._key, b"rollbook/1/invitation" + match_id.encode(), "sha256")
        return base64.b32encode(digest[:_INVITATION_BYTES]).decode("ascii").lower()

    def is_invited(self, match_id: str, code: str) -> bool:
        """Whether this is the invitation code of the match."""
        return hmac.compare_digest(code.encode(), self.invitation_code(match_id).encode())
