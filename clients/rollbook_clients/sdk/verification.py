"""A match audited by its own player: the one module of the SDK that knows rules, loaded only when it is asked for."""

from __future__ import annotations

import asyncio

from rollbook_clients.sdk.witness import Witness
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Audited


async def audited(witness: Witness, replay: bytes) -> Audited:
    """What a replay file is worth to somebody who saw the match, by the keys that the service publishes."""
    keys = await witness.keys.all()
    kept = [] if witness.head is None else [witness.head]
    return await asyncio.to_thread(audit, replay, keys, kept)
