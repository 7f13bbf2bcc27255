"""Writes very many matches to the store of a running service, with the service's own code.

It acts like another process of the service without gRPC: the service reads these appends from the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

from rollbook.identity.references import REFERENCE_BYTES, match_id
from rollbook.match.chain import entropy_commitment
from rollbook.match.commands import Choose, GetReady, OpenMatch, Origin, TakeSeat
from rollbook.match.dice import commitment
from rollbook.match.events import Opened, Terms
from rollbook.rules.catalogue import find
from rollbook.server.lobby.beside import Beside
from rollbook.storage.redis.log import RedisLog
from tests.bench.peers.tables import ENTROPY, SEATS
from tests.bench.service.stage import next_move, stage

AT_ONCE: Final = 64
GAME: Final = find("cant_stop")
MONTH_SECONDS: Final = 30 * 24 * 3_600
KEY: Final = b"k" * 32
"""The key from which the ids follow."""

_numbers: Final = count(1)


class Filler:
    """Writes matches to a store."""

    def __init__(self, log: RedisLog) -> None:
        """`log`: the target of appends."""
        self._log = log
        self._service = stage(log).service

    @classmethod
    @asynccontextmanager
    async def at(cls, url: str) -> AsyncIterator[Filler]:
        """Connect to an existing store."""
        log = await RedisLog.connect(url)
        try:
            yield cls(log)
        finally:
            await log.close()

    async def fill(self, number: int, *, running: bool, turn_seconds: int = 0) -> list[str]:
        """Add matches, open or running; returns their ids."""
        left = iter(range(number))
        made: list[str] = []

        async def some() -> None:
            nonlocal made
            for _ in left:
                made += [await self._match(running=running, turn_seconds=turn_seconds)]

        await asyncio.gather(*[some() for _ in range(AT_ONCE)])
        return made

    async def _match(self, *, running: bool, turn_seconds: int) -> str:
        number = next(_numbers)
        which = match_id(KEY, "filler", str(number))
        players = [_reference(SEATS * number + seat) for seat in range(SEATS)]
        now_ms = await self._log.now_ms()
        secret = number.to_bytes(32, "big")
        terms = Terms(turn_seconds, 0, 300, open_seconds=MONTH_SECONDS, idle_seconds=MONTH_SECONDS)
        options = GAME.settle({}, SEATS)
        opened = Opened(which, GAME.name, GAME.version, options, ("",) * SEATS, commitment(secret), terms)
        await self._service.matches.open(OpenMatch(Origin(now_ms, players[0], _request()), opened, secret))
        if not running:
            return which
        for player in players:
            sitting = TakeSeat(Origin(now_ms, player, _request()), commitment=entropy_commitment(ENTROPY))
            taken = await self._service.matches.carry_out(which, sitting, Beside("Somebody"))
        closing = taken.last.link
        for player in players:
            ready = GetReady(Origin(now_ms, player, _request()), closing, ENTROPY)
            await self._service.matches.carry_out(which, ready)
        return which

    async def play_on(self, which: str, events: int) -> None:
        """Choose in a running match, for each awaited seat, until it has this many events."""
        with self._service.replicas.use(which) as replica:
            ledger = await replica.caught_up()
            while ledger.head.sequence < events:
                seat, choice = next_move(ledger)
                origin = Origin(await self._log.now_ms(), ledger.players[seat], _request())
                await self._service.matches.carry_out(which, Choose(origin, ledger.head, choice))
                ledger = replica.ledger


def _reference(number: int) -> bytes:
    return number.to_bytes(REFERENCE_BYTES, "big")


def _request() -> bytes:
    return b"%016d" % next(_numbers)
