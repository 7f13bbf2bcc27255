"""What a part of a service needs that stands alone: keys that sign heads, and the memory of what was told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.heads import HeadKeys
from rollbook.replay_file.key_lines import key_id
from rollbook.server.play.lost_logs import LostTails

_KEY = Ed25519PrivateKey.from_private_bytes(b"h" * 32)
HEAD_KEYS = HeadKeys(_KEY, key_id(_KEY.public_key()), {key_id(_KEY.public_key()): _KEY.public_key()})


def lost_tails(log: Any, noticed: Callable[[], None] = lambda: None) -> LostTails:
    """What a process remembers that has told nothing yet."""
    return LostTails(log, HEAD_KEYS, noticed)
