"""Simulated matches as replays: whole canonical logs with heads, all derived from the seed.

Times count up from a fixed instant, a second an event. The keys also follow from the seed, so that a corpus can be made
again anywhere. They prove nothing, because anyone with the seed can sign with them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.chain import genesis, sign_head
from rollbook.match.codec.envelope import Logged, write_bytes
from rollbook.match.events import Ready, SeatTaken
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import Head, Replay
from rollbook.replay_file.key_lines import KeyRole, KnownKey, key_id, write_keys

OPENED_MS: Final = 1_767_225_600_000
"""The first second of 2026."""

BETWEEN_EVENTS_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Keys:
    """The two keys of a seed."""

    heads: Ed25519PrivateKey
    replays: Ed25519PrivateKey
    name: str = "simulated"
    """The owner of the keys in a key file."""

    @classmethod
    def of(cls, seed: int) -> Keys:
        """Derive both keys from a seed."""
        heads, replays = (_derive_key(b"rollbook/1/simulate/%b-key" % kind, seed) for kind in (b"head", b"replay"))
        return cls(heads, replays, f"simulated with seed {seed}")

    @property
    def public(self) -> str:
        """The lines of a key file for audits."""
        of_heads = KnownKey(self.heads.public_key(), KeyRole.HEAD, self.name)
        return write_keys([of_heads, KnownKey(self.replays.public_key(), KeyRole.REPLAY, self.name)])


def record(simulation: Simulation, head_key: Ed25519PrivateKey) -> Replay:
    """Play the match to its end and return its replay with the last head signed."""
    opened = simulation.opened
    log = [
        write_bytes(
            simulation.match.game,
            opened,
            sequence=1,
            time_ms=OPENED_MS,
            previous=genesis(opened.match_id),
            secret=simulation.secret,
        )
    ]
    closing = b""
    for sequence, event in simulation.events():
        if isinstance(event, Ready):
            event = replace(event, closing_link=closing)  # noqa: PLW2901 - as a real seat would send it
        log.append(
            write_bytes(
                simulation.match.game,
                event,
                sequence=sequence,
                time_ms=OPENED_MS + (sequence - 1) * BETWEEN_EVENTS_MS,
                previous=log[-1].link,
            )
        )
        if isinstance(event, SeatTaken):
            closing = log[-1].link
    return Replay(
        match_id=opened.match_id,
        game=opened.game,
        ruleset=opened.ruleset,
        perspective=None,
        events=tuple(logged.data for logged in log),
        private={logged.sequence: logged.private for logged in log[1:] if logged.private},
        heads=(_head(opened.match_id, log[-1], head_key),),
        names=opened.names,
    )


def _head(match_id: str, last: Logged, key: Ed25519PrivateKey) -> Head:
    signature = sign_head(key, match_id, last.sequence, last.link)
    return Head(last.sequence, last.link, key_id(key.public_key()), signature)


def _derive_key(label: bytes, seed: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(label + str(seed).encode("ascii")).digest())
