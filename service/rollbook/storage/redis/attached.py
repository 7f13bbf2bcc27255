"""The replicas that are attached to a master, read from its INFO."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from rollbook.storage.redis.address import Host


def facts(answer: bytes) -> dict[str, str]:
    """The fields of an answer to INFO."""
    lines = answer.decode(errors="replace").splitlines()
    return dict(line.partition(":")[::2] for line in lines if ":" in line)


NO_PORT: Final = 0
"""The port of a program that only copies the data, such as `valkey-cli --rdb`."""


class Copy(NamedTuple):
    """A connection to a replica in its master's list."""

    host: Host
    state: str
    offset: int
    """The replication offset that the replica has confirmed to have in memory."""

    @property
    def is_online(self) -> bool:
        """Whether it receives every write."""
        return self.state == "online"


def copies(said: Mapping[str, str]) -> Iterator[Copy]:
    """The replica connections that a master lists."""
    for number in range(int(said.get("connected_slaves", "0"))):
        fields = dict(field.partition("=")[::2] for field in said.get(f"slave{number}", "").split(","))
        if "ip" in fields and "port" in fields:
            yield Copy((fields["ip"], int(fields["port"])), fields.get("state", ""), int(fields.get("offset", "0")))


@dataclass(frozen=True, slots=True)
class Attached:
    """The replicas of a master at one moment."""

    listed: tuple[Copy, ...]
    """The connections that are listed, including those of replicas that are still receiving their first copy."""
    online: int
    """How many connections receive every write. WAIT and WAITAOF count connections, of which a replica may have two for
    a while, so all of them have to confirm. A connection that the master counts without listing it is included."""
    written: int
    """The offset up to which the master has written."""
    history: str
    """The id of its replication history; a promoted replica begins a new one."""

    @property
    def hosts(self) -> frozenset[Host]:
        """The replicas."""
        return frozenset(copy.host for copy in self.listed)

    @property
    def offsets(self) -> tuple[int, ...]:
        """The confirmed offsets of the online connections that are listed."""
        return tuple(copy.offset for copy in self.listed if copy.is_online)

    @classmethod
    def of(cls, answer: bytes) -> Self:
        """Read the answer to INFO replication."""
        said = facts(answer)
        listed = tuple(copies(said))
        online = int(said.get("connected_slaves", "0")) - sum(not copy.is_online for copy in listed)
        return cls(listed, online, int(said.get("master_repl_offset", "0")), said.get("master_replid", ""))
