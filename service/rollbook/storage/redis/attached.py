"""The replicas that are attached to a master, read from its INFO."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from rollbook.storage.redis.address import Host


def facts(answer: bytes) -> dict[str, str]:
    """The fields of an answer to INFO."""
    lines = answer.decode(errors="replace").splitlines()
    return dict(line.partition(":")[::2] for line in lines if ":" in line)


class Copy(NamedTuple):
    """A connection to a replica in its master's list."""

    host: Host
    state: str
    offset: int
    """The replication offset that the replica has confirmed to have in memory."""


def copies(said: Mapping[str, str]) -> Iterator[Copy]:
    """The replica connections that a master lists."""
    for number in range(int(said.get("connected_slaves", "0"))):
        fields = dict(field.partition("=")[::2] for field in said.get(f"slave{number}", "").split(","))
        if "ip" in fields and "port" in fields:
            yield Copy((fields["ip"], int(fields["port"])), fields.get("state", ""), int(fields.get("offset", "0")))


@dataclass(frozen=True, slots=True)
class Attached:
    """The replicas of a master at one moment."""

    hosts: frozenset[Host]
    """The replicas, including those that are still receiving their first copy."""
    online: int
    """How many connections receive every write. WAIT and WAITAOF count connections, of which a replica may have two for
    a while, so all of them have to confirm. A connection that the master counts without listing it is included."""
    offsets: tuple[int, ...]
    """The confirmed offsets of the online connections that are listed."""
    written: int
    """The offset up to which the master has written."""

    @classmethod
    def of(cls, answer: bytes) -> Self:
        """Read the answer to INFO replication."""
        said = facts(answer)
        listed = list(copies(said))
        offsets = tuple(copy.offset for copy in listed if copy.state == "online")
        online = int(said.get("connected_slaves", "0")) - len(listed) + len(offsets)
        return cls(frozenset(copy.host for copy in listed), online, offsets, int(said.get("master_repl_offset", "0")))
