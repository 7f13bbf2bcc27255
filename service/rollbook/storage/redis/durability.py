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

_WAITS: Final = 0.8
"""The part of the time for an answer that replicas may take to confirm."""

_ELSE: Final = "Or ask for durability 'relaxed' by name, which may lose what was acknowledged."


class NotDurable(RedisError):
    """The server does not keep what it acknowledges; redis-py closes a connection on its own errors only."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The question whether replicas have everything that a connection wrote, in a round trip of its own.

    In one with what was written it takes a second: replicas are asked for what they have before they get it.
    """

    command: tuple[str | int, ...]
    replicas: int

    def lacks(self, answer: Any) -> str:
        """What is missing; empty if nothing is."""
        if isinstance(answer, Exception):
            return f"whether replicas have it was not answered: {answer}"
        local, found = answer if isinstance(answer, list) else (1, answer)
        if local and found >= self.replicas:
            return ""
        return f"{found} of {self.replicas} replicas had it in time" if local else "it was not on the master's disk"


@dataclass(frozen=True, slots=True)
class Fence:
    """A small write behind what is read, on the same connection: whoever has that write has what was read before.

    What another connection wrote a confirmation says nothing of.
    """

    key: bytes
    confirmation: Confirmation


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

    def confirmation(self, answer_seconds: float) -> Confirmation | None:
        """What replicas are asked, where an answer may take so long."""
        wait_ms = int(answer_seconds * _WAITS * 1_000)
        if self.durability == "replicated":
            return Confirmation(("WAITAOF", 1, self.replicas, wait_ms), self.replicas)
        if self.durability == "replicated-memory":
            return Confirmation(("WAIT", self.replicas, wait_ms), self.replicas)
        return None

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
