"""Erased data is in no file of a store, and a process can wait for all others over the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import IndexRow, LobbyEntry
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.rewrite import rewrite_files
from rollbook.storage.redis.roll_call import SILENT_MS, Roll, RollCall
from tests.storage.servers import ALL_SLOTS, OLDEST_REDIS, Server, running

pytestmark = pytest.mark.asyncio

PLAIN: Final = {"rdbcompression": "no"}
ROW = IndexRow(1, ("matches",))
GONE, STAYS = b"Xanthippe-7f3 of Athens, who is forgotten", b"Theodora-9c1"


def files_with(word: bytes, folder: Path) -> list[str]:
    """The files below a folder that contain these bytes."""
    return [path.name for path in folder.rglob("*") if path.is_file() and word in path.read_bytes()]


async def erased(server: Server) -> RedisLog:
    """A log whose lobby entry was replaced."""
    log = await RedisLog.connect(server.url)
    await log.append("match", 0, [Entry(b"event")], lobby=LobbyEntry(GONE))
    assert not await log.relist("match", b"something else", b"nothing", ROW)
    assert not await log.relist("never", GONE, b"nothing", ROW)
    assert GONE == await log.summary("match")
    assert await log.relist("match", GONE, STAYS, ROW)
    assert STAYS == await log.summary("match")
    return log


@pytest.mark.parametrize("kind", ["valkey", "oldest_redis", "cluster"])
async def test_a_rewritten_store_has_no_byte_of_what_was_erased(kind: str, tmp_path: Path) -> None:
    """An earlier rewrite may still run; the search finds the remaining word, which proves that the search works."""
    binary = OLDEST_REDIS if kind == "oldest_redis" else find_server()
    with running(binary, tmp_path, PLAIN, slots=ALL_SLOTS if kind == "cluster" else range(0)) as server:
        log = await erased(server)
        assert files_with(GONE, tmp_path)
        with server.client() as client:
            client.bgrewriteaof()
        assert [] == await rewrite_files(log)
        assert [] == files_with(GONE, tmp_path)
        assert files_with(STAYS, tmp_path)
        assert [Entry(b"event")] == await log.read("match")
        await log.close()


async def test_replicas_are_rewritten_and_those_that_refuse_are_named(tmp_path: Path) -> None:
    """A replica that refuses the rewrite keeps the name in its files, and the result names the replica."""
    with (
        running(find_server(), tmp_path / "master", PLAIN) as master,
        running(find_server(), tmp_path / "willing", PLAIN) as willing,
        running(find_server(), tmp_path / "other", PLAIN) as other,
    ):
        log = await RedisLog.connect(master.url)
        with willing.client() as one, other.client() as two, master.client() as first:
            for client in (one, two):
                client.replicaof("127.0.0.1", master.port)
            while 2 != first.info("replication")["connected_slaves"]:  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.01)
            first.wait(2, 10_000)
            await log.close()
            log = await erased(master)
            two.execute_command("ACL", "SETUSER", "default", "-bgrewriteaof")
            (problem,) = await rewrite_files(log)
        assert f"the replica 127.0.0.1:{other.port}" in problem
        assert "BGREWRITEAOF was refused" in problem
        assert [] == files_with(GONE, tmp_path / "master")
        assert [] == files_with(GONE, tmp_path / "willing")
        assert files_with(GONE, tmp_path / "other")
        await log.close()


async def test_a_master_that_may_not_be_rewritten_is_named(tmp_path: Path) -> None:
    """The name is gone from the lobby, and the result lists the files that still have it."""
    with running(find_server(), tmp_path, PLAIN) as server:
        log = await erased(server)
        with server.client() as client:
            client.execute_command("ACL", "SETUSER", "default", "-bgrewriteaof")
        (problem,) = await rewrite_files(log)
        assert "a server of the store still has them in its files: BGREWRITEAOF was refused" in problem
        await log.close()


@pytest.mark.parametrize("kind", ["valkey", "oldest_redis", "cluster"])
async def test_a_call_is_obeyed_when_every_process_has_said_so(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that stops answering is silent, one that left does not count, and call numbers only grow."""
    binary = OLDEST_REDIS if kind == "oldest_redis" else find_server()
    with running(binary, tmp_path, slots=ALL_SLOTS if kind == "cluster" else range(0)) as server:
        log = await RedisLog.connect(server.url)
        roll = RollCall(log)
        assert 0 == await roll.answer("one", 0)
        assert 0 == await roll.answer("two", 0)
        call = await roll.call()
        assert Roll(frozenset({"one", "two"}), frozenset()) == await roll.roll(call)
        assert call == await roll.answer("one", 0)
        assert call == await roll.answer("one", call)
        assert Roll(frozenset({"two"}), frozenset()) == await roll.roll(call)
        monkeypatch.setattr("rollbook.storage.redis.roll_call.SILENT_MS", -1)
        assert Roll(frozenset(), frozenset({"two"})) == await roll.roll(call)
        monkeypatch.setattr("rollbook.storage.redis.roll_call.SILENT_MS", SILENT_MS)
        await roll.leave("two")
        assert Roll(frozenset(), frozenset()) == await roll.roll(call)
        later = [await roll.call() for _ in range(3)]
        assert sorted({call, *later}) == [call, *later]
        assert [False, True] == [await roll.begin(), await roll.begin()]
        await roll.finish()
        assert not await roll.begin()
        await log.close()
