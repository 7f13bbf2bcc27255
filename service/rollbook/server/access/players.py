"""Values derived from the service key: references of players, match ids, invitation codes, pseudonyms."""

from __future__ import annotations

import base64
import hmac
from functools import lru_cache
from typing import Final

from rollbook.identity import references
from rollbook.identity.tokens import Subject
from rollbook.match.chain import entropy_of
from rollbook.match.commands import Origin
from rollbook.server.access.house_bots import HouseBot, secret_of, strengths

MOST_REFERENCES: Final = 20_000
"""Cache size: references of players."""

_INVITATION_BYTES: Final = 15


class Players:
    """Derives references of players, match ids, invitation codes and pseudonyms from the service key."""

    def __init__(self, service_key: bytes) -> None:
        """`service_key` has 32 bytes."""
        self._key = service_key
        self._references = lru_cache(MOST_REFERENCES)(self._reference)

    def reference(self, caller: Subject, match_id: str) -> bytes:
        """The caller's reference in the log of this match; it differs in every match."""
        return self._references(caller.key, match_id)

    def _reference(self, subject: str, match_id: str) -> bytes:
        salt = hmac.digest(self._key, b"rollbook/1/salt" + match_id.encode(), "sha256")
        return references.player_reference(salt, subject)

    def origin(self, caller: Subject, match_id: str, request_id: str, now_ms: int) -> Origin:
        """The origin of a command, as recorded in the log of this match."""
        return Origin(now_ms, self.reference(caller, match_id), references.request_hash(caller.key, request_id))

    def opens(self, caller: Subject, request_id: str) -> str:
        """The id of the match that this request opens."""
        return references.match_id(self._key, caller.key, request_id)

    def rematch(self, match_id: str, aborted: str = "") -> str:
        """The id of the rematch of a match, the same for all callers; after an aborted rematch the id of the next."""
        return references.rematch_id(self._key, match_id, aborted)

    def brought_by(self, bot: HouseBot, match_id: str) -> bytes:
        """The entropy of a bot of the house in a match, which the bot's process derives in the same way."""
        return entropy_of(secret_of(self._key, bot.sub), match_id)

    def strength(self, player: bytes, match_id: str) -> int:
        """The strength of the bot of the house with this reference, from 1; 0 for any other player."""
        bots = ((self._reference(bot.key, match_id), strength) for bot, strength in strengths())
        return next((strength for reference, strength in bots if reference == player), 0)

    def pseudonym(self, who: str) -> str:
        """A stable name for a subject or an address, under which matches or guests are counted."""
        return hmac.digest(self._key, b"rollbook/1/pseudonym" + who.encode(), "sha256")[:16].hex()

    def device_code(self, code: str) -> tuple[str, bytes]:
        """The name under which the store keeps a code's content, and the key that encrypts the content."""
        digest = hmac.digest(self._key, b"rollbook/1/device" + code.encode(), "sha512")
        return digest[:16].hex(), digest[32:]

    def invitation_code(self, match_id: str) -> str:
        """The code that opens a seat of a private match; it is derived, so it is not stored."""
        digest = hmac.digest(self._key, b"rollbook/1/invitation" + match_id.encode(), "sha256")
        return base64.b32encode(digest[:_INVITATION_BYTES]).decode("ascii").lower()

    def is_invited(self, match_id: str, code: str) -> bool:
        """Whether this is the invitation code of the match."""
        return hmac.compare_digest(code.encode(), self.invitation_code(match_id).encode())
