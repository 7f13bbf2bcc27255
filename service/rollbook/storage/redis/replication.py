"""Checks that a store's servers can confirm the disks of replicas, and reads INFO."""

from __future__ import annotations

from typing import Any

from redis.exceptions import ResponseError

from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.attached import facts
from rollbook.storage.redis.connection import Unanswered, Unsent
from rollbook.storage.redis.durability import NOT_KEPT, Keeping
from rollbook.storage.redis.masters import Server, Servers


async def check_replicated(servers: Servers, keeping: Keeping) -> None:
    """Raise StoreUnavailable if a master has no WAITAOF and the durability needs it."""
    if keeping.durability not in {"replicated", "quorum"}:
        return
    for master in await servers.every():
        answer = await _answer(master, ("WAITAOF", 0, 0, 0))
        if isinstance(answer, ResponseError):
            raise StoreUnavailable(
                f"The store cannot report what is on the disks of its replicas ({answer}): that takes Redis 7.2, or"
                " Valkey. Or ask for durability 'replicated-memory' by name, which waits for their memory.",
                NOT_KEPT,
            )


async def info(server: Server, section: str) -> dict[str, str]:
    """The fields of a section of INFO; raises StoreUnavailable."""
    answer = await _answer(server, ("INFO", section))
    if isinstance(answer, ResponseError):
        raise StoreUnavailable(f"INFO was refused ({answer})")
    return facts(answer)


async def _answer(server: Server, command: tuple[str | int, ...]) -> Any:
    try:
        (answer,) = await server.reads.converse([command])
    except (Unsent, Unanswered) as silence:
        raise StoreUnavailable(f"it does not answer ({silence})") from silence
    return answer
