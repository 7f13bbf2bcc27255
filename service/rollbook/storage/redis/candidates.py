"""Asks replicas whether they may take their master's place, which their master does not know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Final

from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.address import Host, Kind
from rollbook.storage.redis.attached import NO_PORT
from rollbook.storage.redis.connection import Unanswered, Unsent, Wire

_PRIORITY: Final = ("replica-priority", b"0")
_NO_FAILOVER: Final = ("cluster-replica-no-failover", b"yes")
"""The setting, and its value, with which a replica is never promoted; Redis Cluster ignores the priority."""


class Candidates:
    """Asks the replicas of one master, and keeps a connection to each replica that is attached."""

    def __init__(self, kind: Kind, connect: Callable[[Host], Wire]) -> None:
        self._setting, self._never = _NO_FAILOVER if kind is Kind.CLUSTER else _PRIORITY
        self._connect = connect
        self._wires: dict[Host, Wire] = {}

    async def promotable(self, hosts: Collection[Host], seconds: float) -> Mapping[Host, bool | None]:
        """Whether each of the attached replicas may be promoted; None if it does not answer within these seconds."""
        found = await self._ask_all(dict.fromkeys(hosts, seconds))
        return {host: None if value is None else value != self._never for host, value in found.items()}

    async def priorities(self, seconds: Mapping[Host, float]) -> Mapping[Host, int | None]:
        """The priority of each of the attached replicas; None if it does not answer within its seconds."""
        found = await self._ask_all(seconds)
        return {host: int(value) if value is not None and value.isdigit() else None for host, value in found.items()}

    async def close(self) -> None:
        """Close all connections."""
        await self._hang_up(set(self._wires))

    async def _hang_up(self, hosts: Collection[Host]) -> None:
        # All are taken out before the first is closed: another acknowledgement may hang up at the same time.
        for wire in [self._wires.pop(host) for host in hosts]:
            await wire.abandon()

    async def _ask_all(self, seconds: Mapping[Host, float]) -> Mapping[Host, bytes | None]:
        await self._hang_up(self._wires.keys() - seconds.keys())
        answers = await asyncio.gather(*(self._ask(host, limit) for host, limit in seconds.items()))
        return dict(zip(seconds, answers, strict=True))

    async def _ask(self, host: Host, seconds: float) -> bytes | None:
        """The value of the setting; None without an answer."""
        if host[1] == NO_PORT:
            return self._never
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
        return bytes(answer[1])
