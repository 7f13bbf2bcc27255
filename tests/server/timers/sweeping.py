"""Two replicas that sweep one store, whose clock the test sets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.identity.references import REFERENCE_BYTES
from rollbook.identity.service_keys import SigningKey
from rollbook.identity.tokens import OWN_ISSUER, Role, TrustedIssuer, Verifier
from rollbook.match.chain import HeadKeys, Position
from rollbook.match.codec.envelope import read_bytes
from rollbook.match.commands import Choose, GetReady, OpenMatch, Origin, TakeSeat
from rollbook.match.dice import commitment
from rollbook.match.events import Opened, Terms
from rollbook.match.ledger import Ledger
from rollbook.replay_file.key_lines import key_id
from rollbook.rules.catalogue import find
from rollbook.server.app import Parts
from rollbook.server.given import Given
from tests.storage.memory import MemoryLog

SECRET = bytes(32)
MATCH = "abcdefghijklmnopqrstuvwx"
ODD = "aaaaaaaaaaaaaaaaaaaaaaaa"
TERMS = Terms(turn_seconds=30, reserve_seconds=0, ready_seconds=20)


class Replicas:
    """Two replicas over one store; the clock of the second may be wrong."""

    def __init__(self, skew_ms: int = 0) -> None:
        """Begin with an empty store."""
        self.now_ms = 1_700_000_000_000
        self.log = MemoryLog(lambda: self.now_ms)
        self.services = [self.service(), self.service(skew_ms)]
        self.sweepers = [service.sweeper() for service in self.services]
        self.requests = 0

    def service(self, skew_ms: int = 0) -> Parts:
        """A process of the service, whose clock may be wrong."""
        key = Ed25519PrivateKey.generate()
        kid = key_id(key.public_key())
        trusted = TrustedIssuer(OWN_ISSUER, {kid: key.public_key()}, frozenset(Role))
        return Parts(
            Given(
                log=self.log,
                store=self.log,
                head_keys=HeadKeys(key, kid, {kid: key.public_key()}),
                replay_key=SigningKey(key, {kid: key.public_key()}),
                service_key=bytes(32),
                verifier=Verifier([trusted], lambda: 0),
                clock_ms=lambda: self.now_ms + skew_ms,
            )
        )

    def by(self, player: str) -> Origin:
        """The origin of a command of this player."""
        self.requests += 1
        return Origin(self.now_ms, player.encode().ljust(REFERENCE_BYTES), self.requests.to_bytes(16, "big"))

    async def open_eight(self) -> list[str]:
        """Open eight running matches."""
        matches = [letter * 24 for letter in "abcdefgh"]
        for match_id in matches:
            await self.open(ready=2, match_id=match_id)
        return matches

    async def open(self, *, ready: int = 0, seated: int = 2, terms: Terms = TERMS, match_id: str = MATCH) -> None:
        """Open a match of two, seat and make ready the given numbers of players."""
        rules = find("cant_stop")
        opened = Opened(match_id, "cant_stop", 1, rules.settle({}, 2), ("", ""), commitment(SECRET), terms)
        matches = self.services[0].matches
        await matches.open(OpenMatch(self.by("p0"), opened, SECRET))
        for seat in range(seated):
            await matches.carry_out(match_id, TakeSeat(self.by(f"p{seat}")))
        for seat in range(ready):
            closing = (await self.services[0].replicas.ledger(match_id)).closing
            assert closing is not None
            await matches.carry_out(match_id, GetReady(self.by(f"p{seat}"), closing.link))

    def choose(self, player: str, position: Position, choice: object) -> Choose:
        """A player's choice."""
        return Choose(self.by(player), position, choice)

    async def sweep(self) -> None:
        """Let both replicas sweep at once."""
        await asyncio.gather(*[sweeper.sweep() for sweeper in self.sweepers])

    async def beat(self, *numbers: int) -> None:
        """Let a second pass and let these replicas beat."""
        self.now_ms += 1_000
        await asyncio.gather(*[self.sweepers[number].beat() for number in numbers])

    @property
    def counted(self) -> list[float | None]:
        """The number of running matches per replica; only the one that sweeps counts them."""
        registries = [service.metrics.registry for service in self.services]
        running = {"state": "running", "game": "cant_stop"}
        return [registry.get_sample_value("rollbook_matches", running) for registry in registries]

    async def live(self, ms: int) -> None:
        """Let this time pass, with a sweep every second."""
        while ms > 0:
            self.now_ms += min(ms, 1_000)
            ms -= 1_000
            await self.sweep()

    async def ledger(self) -> Ledger:
        """The current match."""
        return await self.services[0].replicas.ledger(MATCH)

    async def events(self, kind: type, match_id: str = MATCH) -> list[object]:
        """The events of a kind in the log."""
        ledger = await self.services[0].replicas.ledger(match_id)
        entries = await self.log.read(match_id, 1, 10_000)
        read = [read_bytes(entry.event, entry.private, ledger.game).event for entry in entries]
        return [event for event in read if isinstance(event, kind)]


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario to its end."""
    asyncio.run(scenario())  # type: ignore[arg-type]


def noted_reads(
    log: MemoryLog, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], None] = lambda: None
) -> list[str]:
    """Record the ids of the matches that are read from now on; call `meanwhile` at each read."""
    read: list[str] = []
    sound = log.read

    async def note(match_id: str, *arguments: Any) -> Any:
        read.append(match_id)
        meanwhile()
        return await sound(match_id, *arguments)

    monkeypatch.setattr(log, "read", note)
    return read
