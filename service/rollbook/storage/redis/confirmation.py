"""Decides whether a write may be acknowledged: every replica that could take the master's place has to have it.

The operator declares how many replicas may be promoted (`--replicas`). A write is acknowledged if, at one moment,
exactly so many promotable replicas are attached and every attached replica has the write. All of them have to, because
WAITAOF returns a number and not which replicas it counted. The number and the list of replicas come from one
transaction, so that no replica is attached or detached between them. Whether a replica may be promoted only the replica
itself knows (`candidates.py`); it is asked with every acknowledgement, since that can be changed at any time.

With fewer promotable replicas a detached one might be promoted without the write. With more of them one may detach
without being missed, and be promoted later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from redis.exceptions import ResponseError

from rollbook.storage.port import NO_ANSWER, REPLICAS_DIFFER
from rollbook.storage.redis.address import Host
from rollbook.storage.redis.attached import Attached

Converse: TypeAlias = Callable[[Sequence[tuple[bytes | str | int, ...]]], Awaitable[list[Any]]]
"""Sends commands on the connection that wrote, and returns their answers."""

LIST: Final = ("INFO", "replication")

_SLICE_MS: Final = 250
"""How long one WAITAOF blocks before the attached replicas are read again: one of them may be gone."""

_ASK_SECONDS: Final = 1.0
"""The least time that replicas have for their answer: before a write, and where the time for a confirmation is over."""


class Promotable(Protocol):
    """Asks replicas whether they may be promoted."""

    async def promotable(self, hosts: frozenset[Host], seconds: float) -> Mapping[Host, bool | None]:
        """For each replica, None if it does not answer within these seconds."""

    async def close(self) -> None:
        """Close all connections."""


class Confirming(Protocol):
    """Decides about the writes of connections to one master."""

    @property
    def before(self) -> Sequence[tuple[bytes | str | int, ...]]:
        """Commands to send before the writes; `lack` receives the answers."""

    async def refusal(self, converse: Converse) -> str:
        """Why nothing should be written; empty if it may."""

    async def lack(self, converse: Converse, before: Sequence[Any]) -> Lack | None:
        """None once the writes are confirmed; otherwise why they are not acknowledged."""

    async def close(self) -> None:
        """Close all connections."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Why a write is not acknowledged."""

    why: str
    cause: str = NO_ANSWER
    """The cause in the words that clients receive."""


@dataclass(frozen=True, slots=True)
class _Misfit:
    why: str
    is_excess: bool = False
    """Whether waiting is useless, because more replicas than declared may be promoted."""
    is_certain: bool = True
    """Whether every replica has answered."""


class Confirmation:
    """Confirms the writes of connections to one master, in a round trip of its own.

    In one round trip with the write it takes a second: replicas are asked for what they have before they get it.
    """

    before: Final = ()
    """Nothing has to be asked before the writes."""

    def __init__(self, command: str, replicas: int, seconds: float, candidates: Promotable) -> None:
        """`command` is WAITAOF or WAIT, `replicas` the declared number, `seconds` the time for a confirmation."""
        self._waits_for_disks = command == "WAITAOF"
        self._replicas = replicas
        self._seconds = seconds
        self._candidates = candidates
        self._misfit: _Misfit | None = None
        """Of the last confirmation."""

    async def refusal(self, converse: Converse) -> str:
        """Why nothing should be written; empty if the replicas fit, or fitted at the last confirmation."""
        if self._misfit is not None:
            (listed,) = await converse([LIST])
            if isinstance(listed, Exception):
                return f"INFO was refused: {listed}"
            self._misfit = await self._find_misfit(Attached.of(listed), _ASK_SECONDS)
        return "" if self._misfit is None else self._misfit.why

    async def lack(self, converse: Converse, _before: Sequence[Any] = ()) -> Lack | None:
        """None once every attached replica has what the connection wrote; otherwise why it is not acknowledged."""
        now = asyncio.get_running_loop().time
        end = now() + self._seconds
        wanted = self._replicas
        while True:
            block_ms = max(1, min(_SLICE_MS, int((end - now()) * 1_000)))
            # Within a transaction WAITAOF does not block.
            counting = [("MULTI",), self._wait(wanted, 0), LIST, ("EXEC",)]
            answers = await converse([LIST, self._wait(wanted, block_ms), *counting])
            if (refused := find_refusal(answers)) is not None:
                return Lack(f"whether replicas have it was not answered: {refused}")
            counted, listed = answers[-1]
            attached = Attached.of(listed)
            if self._waits_for_disks:
                is_on_disk, having = counted
            else:
                # Before Redis 7.2, MULTI makes WAIT count those that have everything that was written until MULTI.
                written = Attached.of(answers[0]).written
                is_on_disk, having = 1, max(counted, sum(offset >= written for offset in attached.offsets))
            has_all = is_on_disk and having >= attached.online
            asking_seconds = max(end - now(), _ASK_SECONDS) if has_all else _SLICE_MS / 1_000
            misfit = await self._find_misfit(attached, asking_seconds)
            if has_all and misfit is None:
                self._misfit = None
                return None
            is_late = now() >= end
            if misfit is not None and (misfit.is_certain or has_all):
                self._misfit = misfit
                if misfit.is_excess or is_late:
                    return Lack(misfit.why, REPLICAS_DIFFER)
            wanted = attached.online + 1 if has_all else max(attached.online, self._replicas)
            if is_late:
                found = f"{having} of {wanted} replicas had it in time"
                return Lack(found if is_on_disk else "it was not on the master's disk in time")

    async def close(self) -> None:
        """Close the connections to replicas."""
        await self._candidates.close()

    def _wait(self, replicas: int, milliseconds: int) -> tuple[str | int, ...]:
        return ("WAITAOF", 1, replicas, milliseconds) if self._waits_for_disks else ("WAIT", replicas, milliseconds)

    async def _find_misfit(self, attached: Attached, seconds: float) -> _Misfit | None:
        found = await self._candidates.promotable(attached.hosts, seconds)
        silent = [host for host, answer in found.items() if answer is None]
        promotable = [host for host, answer in found.items() if answer]
        has = f"A master of the store has {len(promotable)} replicas that may take its place"
        if len(promotable) > self._replicas:
            return _Misfit(
                f"{has} ({name_hosts(promotable)}), and --replicas is {self._replicas}: one without the write might"
                f" be chosen. Start with --replicas {len(promotable)} and set min-replicas-to-write {len(promotable)}"
                " on every server, or shut down what is too many.",
                is_excess=True,
            )
        if silent:
            return _Misfit(
                f"Replicas of the store do not report whether they may take the master's place"
                f" ({name_hosts(silent)}): every service has to reach every replica, and may read its configuration.",
                is_certain=False,
            )
        if len(promotable) < self._replicas:
            return _Misfit(
                f"{has} ({name_hosts(promotable) or 'none'}), and --replicas is {self._replicas}: one that is not"
                " attached might be chosen. Attach as many. A replica that is never promoted (replica-priority 0, in a"
                " Cluster cluster-replica-no-failover yes) does not count, and is waited for as well."
            )
        return None


@dataclass(frozen=True, slots=True)
class Fence:
    """A write issued after a read on the same connection: a replica that has the write has everything that was read.

    A confirmation covers only what its own connection wrote.
    """

    key: bytes
    confirmation: Confirming


def find_refusal(answers: Sequence[Any]) -> Exception | None:
    """The first refusal among the answers, also among those of the transaction."""
    executed = answers[-1] if isinstance(answers[-1], list) else []
    refused = (answer for answer in (*answers, *executed) if isinstance(answer, Exception))
    return next(refused, None if executed else ResponseError("the transaction was not carried out"))


def name_hosts(hosts: Sequence[Host]) -> str:
    """The addresses in a sentence."""
    return ", ".join(f"{host}:{port}" for host, port in sorted(hosts))
