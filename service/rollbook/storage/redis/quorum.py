"""Decides whether a write may be acknowledged with durability `quorum`: a majority of the servers has it on disk.

A store has n servers, n odd: a master, and n - 1 replicas that may all take its place. A write is acknowledged when it
is on the disks of the master and of (n - 1) / 2 replicas. Sentinels promote a replica only if a majority of them
agrees, one on the host of each server, so at least one of the servers that can be promoted has the write. They choose
it by priority, and then by offsets that may be seconds old. That is why the priorities have to be equal, and why every
process compares a new master with what it has acknowledged (`testimony.py`).

WAITAOF returns how many replicas have the write, and not which. A replica without an answer about its priority may be
among them, unless it had not received the write at all; so it is subtracted. A replica with two connections is counted
twice; so is a surplus connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from rollbook.storage.port import REPLICAS_DIFFER
from rollbook.storage.redis.address import Host
from rollbook.storage.redis.attached import NO_PORT, Attached, Copy
from rollbook.storage.redis.confirmation import LIST, Converse, Lack, find_refusal, name_hosts
from rollbook.storage.redis.keys import LOST_KEY
from rollbook.storage.redis.testimony import Testimony

_SLICE_MS: Final = 250
"""How long one WAITAOF blocks before the attached replicas are read again: one of them may be gone."""

_ASK_SECONDS: Final = 0.25
"""How long a replica may take to answer that cannot have been counted."""

_LEAST_SECONDS: Final = 1.0
"""The least time for the answer of a replica that may have been counted."""


class Priorities(Protocol):
    """Asks replicas for the priority with which they are promoted."""

    async def priorities(self, seconds: Mapping[Host, float]) -> Mapping[Host, int | None]:
        """For each replica, None if it does not answer within its seconds."""

    async def close(self) -> None:
        """Close all connections."""


class QuorumConfirmation:
    """Confirms the writes of connections to one master."""

    before: Final = (LIST,)
    """Sent before the writes: a replica without anything beyond this offset does not have them."""

    def __init__(self, replicas: int, seconds: float, candidates: Priorities, testimony: Testimony) -> None:
        """`replicas` is n - 1, `seconds` the time for a confirmation; what is confirmed is told to `testimony`."""
        self._replicas = replicas
        self._needed = replicas // 2
        self._seconds = seconds
        self._candidates = candidates
        self._testimony = testimony
        self._misfit = ""
        """Why the replicas did not fit at the last confirmation."""
        self._silent: frozenset[Host] = frozenset()
        """Replicas that did not answer at the last confirmation."""

    async def refusal(self, converse: Converse) -> str:
        """Why nothing should be written; empty if the replicas fit, or fitted at the last confirmation."""
        if self._misfit:
            (listed,) = await converse([LIST])
            if isinstance(listed, Exception):
                return f"INFO was refused: {listed}"
            hosts = _hosts(Attached.of(listed).listed)
            self._misfit = self._find_misfit(
                hosts, await self._candidates.priorities(dict.fromkeys(hosts, _ASK_SECONDS))
            )
        return self._misfit

    async def lack(self, converse: Converse, before: Sequence[Any]) -> Lack | None:
        """None once a majority of the servers has what the connection wrote; otherwise why it is not acknowledged."""
        if isinstance(before[0], Exception):
            return Lack(f"INFO was refused: {before[0]}")
        start = Attached.of(before[0]).written
        now = asyncio.get_running_loop().time
        end = now() + self._seconds
        while True:
            block_ms = max(1, min(_SLICE_MS, int((end - now()) * 1_000)))
            # Within a transaction WAITAOF does not block.
            count_lost: tuple[bytes | str, ...] = ("HLEN", LOST_KEY)
            answers = await converse(
                [LIST, self._wait(block_ms), ("MULTI",), self._wait(0), LIST, count_lost, ("EXEC",)]
            )
            if (refused := find_refusal(answers)) is not None:
                return Lack(f"whether replicas have it was not answered: {refused}")
            written = Attached.of(answers[0])
            (is_on_disk, counted), listed, lost = answers[-1]
            attached = Attached.of(listed)
            hosts = _hosts(attached.listed)
            # Only these may have been counted. A replica that stands still is waited for once.
            likely = frozenset(copy.host for copy in attached.listed if copy.is_online and copy.offset > start)
            asked = dict.fromkeys(hosts - self._silent, _ASK_SECONDS)
            asked |= dict.fromkeys(hosts & likely, max(end - now(), _LEAST_SECONDS))
            found = await self._candidates.priorities(asked)
            self._silent = hosts - {host for host, priority in found.items() if priority is not None}
            self._misfit = self._find_misfit(hosts, found)
            if self._misfit:
                return Lack(self._misfit, REPLICAS_DIFFER)
            silent = sum(found.get(host) is None for host in likely)
            surplus = attached.online - len({copy.host for copy in attached.listed if copy.is_online})
            having = counted - silent - surplus
            if is_on_disk and having >= self._needed:
                self._testimony.acknowledge(written.history, written.written)
                await self._testimony.learn_losses(lost, converse)
                return None
            if now() >= end:
                found_text = f"{max(having, 0)} of {self._needed} replicas that are needed had it in time"
                return Lack(found_text if is_on_disk else "it was not on the master's disk in time")

    async def close(self) -> None:
        """Close the connections to replicas."""
        await self._candidates.close()

    def _wait(self, milliseconds: int) -> tuple[str | int, ...]:
        return ("WAITAOF", 1, self._needed, milliseconds)

    def _find_misfit(self, hosts: frozenset[Host], priorities: Mapping[Host, int | None]) -> str:
        """Why the attached replicas are not those of a quorum; empty if they are."""
        servers = self._replicas + 1
        if len(hosts) > self._replicas:
            return (
                f"A master of the store has {len(hosts)} replicas ({name_hosts(sorted(hosts))}), and --replicas is"
                f" {self._replicas}: {self._needed + 1} of {len(hosts) + 1} servers are no majority. Shut down what is"
                f" too many, or start with --replicas {len(hosts) + len(hosts) % 2} and as many replicas."
            )
        known = {host: priority for host, priority in priorities.items() if priority is not None}
        if never := [host for host, priority in known.items() if not priority]:
            return (
                f"Replicas of the store may never take the master's place ({name_hosts(sorted(never))}): a quorum of"
                f" {servers} servers needs all of them. Set replica-priority 100 on each."
            )
        if len(set(known.values())) > 1:
            said = ", ".join(f"{host}:{port} {priority}" for (host, port), priority in sorted(known.items()))
            return (
                f"Replicas of the store have different priorities ({said}), by which the Sentinels would choose before"
                " they compare what a replica has. Set the same replica-priority on every server."
            )
        return ""


def _hosts(copies: Sequence[Copy]) -> frozenset[Host]:
    """The replicas; a program that only copies the data has no port."""
    return frozenset(copy.host for copy in copies if copy.host[1] != NO_PORT)
