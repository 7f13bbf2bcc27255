"""Makes the servers of a store rewrite their files, so that erased data is in none of them."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from redis.exceptions import ResponseError

from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.attached import copies
from rollbook.storage.redis.connection import Command, Unanswered, Unsent
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.masters import Server
from rollbook.storage.redis.replication import info

REWRITE_SECONDS: Final = 600.0
"""Time limit for one rewrite."""

COPY_SECONDS: Final = 30.0
"""Time limit for a replica to catch up with its master."""

_POLL_SECONDS: Final = 0.05


class NotRewritten(Exception):
    """The files of a server still contain what was erased; the message gives the reason."""


async def rewrite_files(log: RedisLog) -> list[str]:
    """Let every server of the store rewrite its files; returns one sentence for each that did not."""
    problems: list[str] = []
    for master in await log.dispatch.servers.every():
        try:
            await _rewrite(master)
            said = await _info(master, "replication")
        except NotRewritten as why:
            problems.append(f"a server of the store still has them in its files: {why}")
            continue
        for host, line, _ in copies(said):
            copy = log.dispatch.servers.copy_at(host)
            try:
                await _until_copied(copy, int(said["master_repl_offset"]))
                await _rewrite(copy)
            except NotRewritten as why:
                problems.append(f"the replica {host[0]}:{host[1]} ({line}) may still have them in its files: {why}")
            finally:
                await copy.close()
    return problems


async def _rewrite(server: Server) -> None:
    if (await _info(server, "persistence"))["aof_enabled"] == "1":
        await _run_rewrite(
            server, "BGREWRITEAOF", ("aof_rewrite_in_progress", "aof_rewrite_scheduled"), "aof_last_bgrewrite"
        )
    if await _takes_snapshots(server):
        await _run_rewrite(server, "BGSAVE", ("rdb_bgsave_in_progress",), "rdb_last_bgsave")


async def _run_rewrite(server: Server, command: str, busy: tuple[str, ...], outcome: str) -> None:
    """Run the whole command after any that is under way, which may have begun before the erasing."""
    try:
        async with asyncio.timeout(REWRITE_SECONDS):
            while True:
                await _until_idle(server, busy)
                answer = await _answer(server, command)
                if not isinstance(answer, ResponseError):
                    break
                if "in progress" not in str(answer):
                    raise NotRewritten(f"{command} was refused ({answer}); run it there")
            said = await _until_idle(server, busy)
    except TimeoutError:
        raise NotRewritten(f"{command} took more than {REWRITE_SECONDS:g} s") from None
    if said.get(f"{outcome}_status") != "ok":
        raise NotRewritten(f"{command} failed there; its log has the reason")


async def _until_idle(server: Server, busy: tuple[str, ...]) -> dict[str, str]:
    while True:
        said = await _info(server, "persistence")
        if all(said.get(field, "0") == "0" for field in busy):
            return said
        await asyncio.sleep(_POLL_SECONDS)


async def _takes_snapshots(server: Server) -> bool:
    answer = await _answer(server, "CONFIG", "GET", "save")
    return not isinstance(answer, ResponseError) and len(answer) > 1 and bool(answer[1])


async def _until_copied(copy: Server, offset: int) -> None:
    try:
        async with asyncio.timeout(COPY_SECONDS):
            while int((await _info(copy, "replication")).get("slave_repl_offset", "0")) < offset:  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        raise NotRewritten(f"after {COPY_SECONDS:g} s it does not have what its master has") from None


async def _info(server: Server, section: str) -> dict[str, str]:
    try:
        return await info(server, section)
    except StoreUnavailable as why:
        raise NotRewritten(str(why)) from why


async def _answer(server: Server, *command: str) -> Any:
    asked: list[Command] = [command]
    try:
        (answer,) = await server.reads.converse(asked)
    except (Unsent, Unanswered, StoreUnavailable) as silence:
        raise NotRewritten(f"it does not answer ({silence})") from silence
    return answer
