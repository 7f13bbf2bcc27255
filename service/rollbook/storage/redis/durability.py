"""What has to be true of servers before an answer of theirs means that what was written stays.

`fsync` is one disk. `replicated` is that disk and those of N replicas, so that whichever of them takes the master's
place has everything that was acknowledged or told; `replicated-memory` is the master's disk and the memory of N
replicas, for servers that cannot say more: what died with all of their power is on the master's disk alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from redis.exceptions import RedisError, ResponseError

Durability: TypeAlias = Literal["fsync", "relaxed", "replicated", "replicated-memory"]

NEEDED_FOR_FSYNC: Final = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""What a server has to be set to, so that an answer means that the entries survive it."""

NOT_KEPT: Final = "the store would not keep what it acknowledges"

_LEAST_REPLICAS: Final = "min-replicas-to-write"

_ELSE: Final = "Or ask for durability 'relaxed' by name, which may lose what was acknowledged."


class NotDurable(RedisError):
    """The server does not keep what it acknowledges; redis-py closes a connection on its own errors only."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How durable an answer has to be."""

    durability: Durability = "fsync"
    replicas: int = 1
    """How many replicas have to have it, if it is replicated."""

    @property
    def is_replicated(self) -> bool:
        """Whether replicas have to have it."""
        return self.durability.startswith("replicated")

    @property
    def needed(self) -> Mapping[str, str]:
        """What a server has to be set to."""
        if self.durability == "relaxed":
            return {}
        return NEEDED_FOR_FSYNC | ({_LEAST_REPLICAS: str(self.replicas)} if self.is_replicated else {})

    async def prove(self, connection: Any) -> None:
        """Greet a server on a new connection, and refuse it unless it is set to keep what it acknowledges."""
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
    """Refuse a server that is set otherwise."""
    found = answer[1].decode(errors="replace") if len(answer) > 1 else "unknown to the server"
    if setting == _LEAST_REPLICAS and found.isdecimal() and int(found) >= int(needed):
        return
    if found != needed:
        raise NotDurable(
            f"The store would not keep what it acknowledges: {setting} is {found}, and has to be {needed}."
            f" Set it in the server's configuration file, and now with CONFIG SET {setting} {needed}. {_ELSE}"
        )
