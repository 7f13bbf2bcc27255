"""Whether so many replicas can confirm what is written as durability asks for, found out once at the start."""

from collections.abc import Iterator
from typing import Any

from redis.exceptions import ResponseError

from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.address import Host
from rollbook.storage.redis.connection import Unanswered, Unsent
from rollbook.storage.redis.durability import NOT_KEPT, Keeping
from rollbook.storage.redis.masters import Server, Servers


async def check_replicas(servers: Servers, keeping: Keeping) -> None:
    """Raise StoreUnavailable if a master cannot say what is asked for, or has a replica that is not waited for."""
    for master in await servers.every():
        if keeping.durability == "replicated":
            (answer,) = await _answers(master, ("WAITAOF", 0, 0, 0))
            if isinstance(answer, ResponseError):
                raise StoreUnavailable(
                    f"The store cannot say what is on the disks of its replicas ({answer}): that takes Redis 7.2, or"
                    " Valkey. Or ask for durability 'replicated-memory' by name, which waits for their memory.",
                    NOT_KEPT,
                )
        promotable = [host async for host in _promotable(servers, master)]
        if len(promotable) > keeping.replicas:
            found = ", ".join(f"{host}:{port}" for host, port in promotable)
            raise StoreUnavailable(
                f"A master of the store has {len(promotable)} replicas that may take its place ({found}), and"
                f" --replicas is {keeping.replicas}: one that nobody waited for might be chosen. Start with --replicas"
                f" {len(promotable)}, or set replica-priority 0 where a replica never becomes the master.",
                NOT_KEPT,
            )


async def _promotable(servers: Servers, master: Server) -> Any:
    """The replicas of a master that may become one; whoever does not say may."""
    for host, _ in copies(await info(master, "replication")):
        copy = servers.copy_at(host)
        try:
            said = await info(copy, "replication")
        except StoreUnavailable:
            said = {}
        finally:
            await copy.close()
        if said.get("slave_priority") != "0":
            yield host


def copies(said: dict[str, str]) -> Iterator[tuple[Host, str]]:
    """Where a master's replicas are, as it says, and how they are."""
    for number in range(int(said.get("connected_slaves", "0"))):
        facts = dict(fact.partition("=")[::2] for fact in said.get(f"slave{number}", "").split(","))
        if "ip" in facts and "port" in facts:
            yield (facts["ip"], int(facts["port"])), facts.get("state", "")


async def info(server: Server, section: str) -> dict[str, str]:
    """What a server says of itself."""
    (answer,) = await _answers(server, ("INFO", section))
    if isinstance(answer, ResponseError):
        raise StoreUnavailable(f"INFO was refused ({answer})")
    lines = answer.decode(errors="replace").splitlines()
    return dict(line.partition(":")[::2] for line in lines if ":" in line)


async def _answers(server: Server, *commands: tuple[str | int, ...]) -> list[Any]:
    try:
        return await server.reads.converse(commands)
    except (Unsent, Unanswered) as silence:
        raise StoreUnavailable(f"it does not answer ({silence})") from silence
