"""Durability levels: what must be true of the servers before a write is acknowledged.

`fsync` is one disk. `replicated` is that disk and those of N replicas, so that any of them that becomes master has
everything that was acknowledged or returned. `replicated-memory` is the master's disk and the memory of N replicas, for
servers that cannot confirm replicas' disks: after a power failure of all servers only the master's disk has the latest
writes. `quorum` is the disks of a majority of the servers, so that play goes on while one of three is away.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from redis.exceptions import RedisError, ResponseError

Durability: TypeAlias = Literal["fsync", "relaxed", "replicated", "replicated-memory", "quorum"]

NEEDED_FOR_FSYNC: Final = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""Settings that a server needs so that acknowledged entries survive a crash."""

NOT_KEPT: Final = "the store would not keep what it acknowledges"

_LEAST_REPLICAS: Final = "min-replicas-to-write"

_ELSE: Final = "Or ask for durability 'relaxed' by name, which may lose what was acknowledged."


class NotDurable(RedisError):
    """The server would lose acknowledged data. A RedisError, because redis-py closes connections only on these."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """The required durability."""

    durability: Durability = "fsync"
    replicas: int = 1
    """How many replicas may be promoted: all have to have a write, or with `quorum` half of them."""

    @property
    def is_replicated(self) -> bool:
        """Whether replicas must have a write."""
        return self.durability not in {"fsync", "relaxed"}

    @property
    def needed_replicas(self) -> int:
        """The number of replicas that must have a write."""
        return self.replicas // 2 if self.durability == "quorum" else self.replicas

    @property
    def needed(self) -> Mapping[str, str]:
        """Settings that a server needs, by name."""
        if self.durability == "relaxed":
            return {}
        return NEEDED_FOR_FSYNC | ({_LEAST_REPLICAS: str(self.needed_replicas)} if self.is_replicated else {})

    async def prove(self, connection: Any) -> None:
        """Initialise a new connection; raises NotDurable unless the server's settings keep what it acknowledges."""
        await connection.on_connect()
        commands = [("CONFIG", "GET", setting) for setting in self.needed]
        await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        for setting, needed in self.needed.items():
            try:
                answer = await connection.read_response()
            except ResponseError as refusal:
                raise NotDurable(
                    f"Whether the store keeps what it acknowledges cannot be seen: CONFIG GET {setting} was refused"
                    f" ({refusal}). Let this user read the configuration. {_ELSE}"
                ) from refusal
            check_durable(setting, needed, answer)


def check_durable(setting: str, needed: str, answer: Any) -> None:
    """Raise NotDurable if a server's setting differs from the needed value."""
    found = answer[1].decode(errors="replace") if len(answer) > 1 else "unknown to the server"
    if setting == _LEAST_REPLICAS and found.isdecimal() and int(found) >= int(needed):
        return
    if found != needed:
        raise NotDurable(
            f"The store would not keep what it acknowledges: {setting} is {found}, and has to be {needed}."
            f" Set it in the server's configuration file, and now with CONFIG SET {setting} {needed}. {_ELSE}"
        )
