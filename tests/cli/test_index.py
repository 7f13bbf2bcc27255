"""`rollbook index` compares the index of a store with its lobby and can rebuild it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollbook.cli.commands.index import index
from rollbook.cli.exits import Exit
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.log import RedisLog
from tests.cli.json_output import objects
from tests.server.rpc.talking import World
from tests.storage.servers import ALL_SLOTS, Server, running


@pytest.fixture(params=["one server", "a cluster"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A store as a single server and as a cluster."""
    slots = ALL_SLOTS if request.param == "a cluster" else range(0)
    with running(find_server(), tmp_path, slots=slots) as found:
        yield found


async def three_matches(url: str) -> None:
    """Open three matches without an index."""
    log = await RedisLog.connect(url)
    async with World(log=log).serving() as world:
        for number in range(3):
            await world.person(f"host-{number}").open()
    await log.close()


def test_the_index_is_compared_and_made_anew(store: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing, surplus and damaged entries are counted; the exit code distinguishes a good index from a wrong one."""
    asyncio.run(three_matches(store.url))
    said = "matches: 3, indexed otherwise: {}, indexed too often: {}, archived: 0\n"
    assert Exit.WRONG == index(redis=store.url), "nobody has said that it is whole"
    assert said.format(0, 0) == capsys.readouterr().out
    assert Exit.GOOD == index(redis=store.url, rebuild=True)
    assert Exit.GOOD == index(redis=store.url)
    capsys.readouterr()
    with store.client() as client:
        (key, *_) = sorted(client.scan_iter(b"*:index:list:public/cant_stop/"))
        client.zadd(key, {b"0" * 16 + b"a" * 24: 0})
        for rows in client.scan_iter(b"*:index:rows:*"):
            client.delete(rows)
            break
    assert Exit.WRONG == index(redis=store.url)
    # Four lists and an agenda contain a match without a row, and one list has a surplus entry.
    assert said.format(1, 6) == capsys.readouterr().out
    assert Exit.GOOD == index(redis=store.url, rebuild=True)
    assert said.format(0, 0) == capsys.readouterr().out
    with store.client() as client:
        client.set(key, "no list")
    assert Exit.WRONG == index(redis=store.url)
    assert Exit.GOOD == index(redis=store.url, rebuild=True)


def test_entries_of_archived_matches_are_counted_apart(store: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """A killed rebuild leaves list entries of a match that has since been archived; the index still counts as good.

    An index without the mark of a complete build is wrong.
    """

    async def archive(world: World) -> None:
        (match_id, *_) = await world.log.lobby()
        await world.log.trim(match_id)
        await world.log.unlist(match_id)

    async def leave_behind() -> None:
        log = await RedisLog.connect(store.url)
        async with World(log=log).serving() as world:
            for number in range(3):
                await world.person(f"host-{number}").open()
            with store.client() as client:
                for rows in client.scan_iter(b"*:index:rows:*"):
                    client.delete(rows)
            await archive(world)
            await world.service.index.make()
        await log.close()

    asyncio.run(leave_behind())
    assert Exit.GOOD == index(redis=store.url, as_json=True)
    expected = {"matches": 2, "indexed_otherwise": 0, "indexed_too_often": 0, "archived": 5, "is_whole": True}
    assert [expected] == objects(index, capsys.readouterr().out)
    with store.client() as client:
        for made in client.scan_iter(b"*:index:made"):
            client.delete(made)
    assert Exit.WRONG == index(redis=store.url, as_json=True)
    assert [expected | {"is_whole": False}] == objects(index, capsys.readouterr().out)


def test_where_there_is_no_store_there_is_no_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command exits with an error and creates no files."""
    assert Exit.UNREADABLE == index(data=tmp_path)
    assert "has no store" in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())
    assert Exit.USAGE == index()


def test_the_index_is_compared_by_a_command(store: Server) -> None:
    """`rollbook index` in a separate process gives the same result."""
    words = [sys.executable, "-m", "rollbook", "index", "--redis", store.url]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (Exit.WRONG, "matches: 0, indexed otherwise: 0, indexed too often: 0, archived: 0\n") == (
        done.returncode,
        done.stdout,
    )
