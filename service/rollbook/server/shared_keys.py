"""That all processes over one store have the same keys: the store knows their fingerprints, set by the first.

A signing key is followed by another if the list beside that one has the old one: this is how keys are rotated. From the
service key follow ids, references and invitations, so another takes its place only where no match is open or running.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final

from rollbook.identity.service_keys import KeyFileRefused, ServiceKeys
from rollbook.server.lobby import StoredLobby
from rollbook.storage.redis.log import RedisLog

_FINGERPRINT_DIGITS: Final = 16


async def settle_keys(log: RedisLog, keys: ServiceKeys) -> None:
    """Tell the store whose it is, or raise KeyFileRefused if it is that of a service with other keys."""
    mine = fingerprints(keys)
    said = json.dumps(mine)
    stored = await log.keys(said)
    while stored != said:
        known = json.loads(stored)
        other = [name for name in mine if known.get(name) != mine[name]]
        signing = {"head.key": keys.head, "replay.key": keys.replay, "token.key": keys.token}
        strange = [name for name in other if name in signing and known.get(name) not in signing[name].published]
        if strange:
            files = " and ".join(f"{name} and {name}.public" for name in strange)
            raise KeyFileRefused(
                f"The store is that of a service with other keys: copy {files} from the data directory of one that"
                " serves it, or use another store."
            )
        if "service.key" in other and await StoredLobby(log).listed():
            raise KeyFileRefused(
                "The store is that of a service with another service key, and matches are open or running in it: copy"
                " service.key from the data directory of one that serves it, or use another store."
            )
        stored = await log.keys(said, instead_of=stored)


def fingerprints(keys: ServiceKeys) -> dict[str, str]:
    """By file what tells each key apart and is no secret."""
    service = hashlib.sha256(b"rollbook/1/service-key" + keys.service).hexdigest()
    return {
        "head.key": keys.head.key_id,
        "replay.key": keys.replay.key_id,
        "token.key": keys.token.key_id,
        "service.key": service[:_FINGERPRINT_DIGITS],
    }
