"""Asks replicas whether they may take their master's place, which their master does not know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Final

from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.address import Host, Kind
from rollbook.storage.redis.connection import Unanswered, Unsent, Wire

_PRIORITY: Final = ("replica-priority", b"0")
_NO_FAILOVER: Final = ("cluster-replica-no-failover", b"yes")
"""The setting, and its value, with which a replica is never promoted; Redis Cluster ignores the priority."""

_NO_PORT: Final = 0
"""The port of a program that only copies the data, such as `valkey-cli --rdb`."""


class Candidates:
    """Asks the replicas of one master, and keeps a connection to each replica that is attached."""

    def __init__(self, kind: Kind, connect: Callable[[Host], Wire]) -> None:
        self._setting, self._never = _NO_FAILOVER if kind is Kind.CLUSTER else _PRIORITY
        self._connect = connect
        self._wires: dict[Host, Wire] = {}

    async def promotable(self, hosts: Collection[Host], seconds: float) -> Mapping[Host, bool | None]:
        """Whether each of the attached replicas may be promoted; None if it does not answer within these seconds."""
        await self._hang_up(self._wires.keys() - hosts)
        answers = await asyncio.gather(*(self._ask(host, seconds) for host in hosts))
        return dict(zip(hosts, answers, strict=True))

    async def close(self) -> None:
        """Close all connections."""
        await self._hang_up(set(self._wires))

    async def _hang_up(self, hosts: Collection[Host]) -> None:
        # All are taken out before the first is closed: another acknowledgement may hang up at the same time.
        for wire in [self._wires.pop(host) for host in hosts]:
            await wire.abandon()

    async def _ask(self, host: Host, seconds: float) -> bool | None:
        if host[1] == _NO_PORT:
            return False
        wire = self._wires.get(host)
        if wire is None:
            wire = self._wires[host] = self._connect(host)
        try:
            async with asyncio.timeout(seconds):
                (answer,) = await wire.converse([("CONFIG", "GET", self._setting)])
        except (TimeoutError, Unsent, Unanswered, StoreUnavailable):
            return None
        if not isinstance(answer, list) or len(answer) < 2:  # noqa: PLR2004 - name and value
            return None
        return bool(answer[1] != self._never)
