"""Parts of a service for tests: keys that sign heads, the memory of delivered positions, a process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.chain import HeadKeys
from rollbook.match.ledger import Ledger
from rollbook.replay_file.key_lines import key_id
from rollbook.server.play.matches import Matches
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.port import LobbyEntry

_KEY = Ed25519PrivateKey.from_private_bytes(b"h" * 32)
HEAD_KEYS = HeadKeys(_KEY, key_id(_KEY.public_key()), {key_id(_KEY.public_key()): _KEY.public_key()})


def lost_tails(log: Any, noticed: Callable[[], None] = lambda: None) -> LostTails:
    """The lost-tail check of a process that has delivered nothing yet."""
    return LostTails(log, log, log, HEAD_KEYS, noticed)


@asynccontextmanager
async def no_lobby(_ledger: Ledger, *_about: object) -> AsyncIterator[LobbyEntry | None]:
    """A lobby without entries."""
    yield None


class Process:
    """One process of the service over a log."""

    def __init__(self, log: Any, lost: LostTails | None = None) -> None:
        """Begin without known matches; `lost` overrides the lost-tail check."""
        lost = lost or lost_tails(log)
        self.replicas = Replicas(log, log, lost)
        self.matches = Matches(log, self.replicas, lost, no_lobby)

    async def ledger(self, match_id: str) -> Ledger:
        """The current ledger of a match."""
        return await self.replicas.ledger(match_id)
