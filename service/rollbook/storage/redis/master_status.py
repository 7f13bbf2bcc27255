"""The status of a store's masters, for operators."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.connection import Unanswered, Unsent
from rollbook.storage.redis.dispatch import Dispatch
from rollbook.storage.redis.masters import Server

ANSWER_SECONDS: Final = 2.0
_WELL: Final = "ok"
_ON: Final = "1"


@dataclass(frozen=True, slots=True)
class MasterStatus:
    """The status of one master; without an answer, all other fields are empty."""

    answers: bool = False
    port: int = 0
    version: str = ""
    used_bytes: int = 0
    most_bytes: int = 0
    machine_bytes: int = 0
    """The memory of its machine, which bounds a master without `maxmemory`."""
    replicas: int = 0
    file_is_well: bool = False

    @property
    def memory_ratio(self) -> float:
        """The share of its memory that it uses; 0 if it is unknown."""
        most = self.most_bytes or self.machine_bytes
        return self.used_bytes / most if most else 0.0


async def master_statuses(dispatch: Dispatch) -> list[MasterStatus]:
    """The status of each master, silent ones first, then by port; empty if the masters cannot be looked up."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            found = await dispatch.servers.every()
    except (StoreUnavailable, TimeoutError):
        return []
    statuses = await asyncio.gather(*[_status(server) for server in found])
    return sorted(statuses, key=lambda master: (master.answers, master.port))


async def _status(server: Server) -> MasterStatus:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            (answer,) = await server.reads.converse([("INFO",)])
    except (Unsent, Unanswered, StoreUnavailable, TimeoutError):
        return MasterStatus()
    if not isinstance(answer, bytes):
        return MasterStatus()
    lines = (line.partition(":") for line in answer.decode(errors="replace").splitlines())
    facts = {name: value.strip() for name, _, value in lines}
    kind = "valkey" if "valkey_version" in facts else "redis"
    return MasterStatus(
        answers=True,
        port=_number(facts, "tcp_port"),
        version=f"{kind} {facts.get(f'{kind}_version', '')}".strip(),
        used_bytes=_number(facts, "used_memory"),
        most_bytes=_number(facts, "maxmemory"),
        machine_bytes=_number(facts, "total_system_memory"),
        replicas=_number(facts, "connected_slaves"),
        file_is_well=facts.get("aof_enabled") == _ON
        and {facts.get("aof_last_write_status"), facts.get("aof_last_bgrewrite_status")} == {_WELL},
    )


def _number(facts: dict[str, str], name: str) -> int:
    said = facts.get(name, "")
    return int(said) if said.isdecimal() else 0
