"""Processes over one store have the same keys: others are refused at their start, and keys are rotated under way."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollbook.identity.keys import load_or_create
from rollbook.identity.service_keys import KeyFileRefused, ServiceKeys
from rollbook.server.shared_keys import settle_keys
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.log import RedisLog
from tests.server.talking import World
from tests.storage.servers import Server, running


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Server]:
    """An empty server."""
    with running(find_server(), tmp_path / "valkey") as found:
        yield found


def start(server: Server, data: Path) -> None:
    """What a service does with keys when it starts."""

    async def main() -> None:
        log = await RedisLog.connect(server.url)
        try:
            await settle_keys(log, ServiceKeys.in_directory(data))
        finally:
            await log.close()

    data.mkdir(exist_ok=True)
    asyncio.run(main())


@pytest.mark.parametrize("name", ["head.key", "replay.key", "token.key"])
def test_a_process_with_another_key_is_told_what_to_copy(name: str, valkey: Server, tmp_path: Path) -> None:
    """And starts once that was done."""
    first, second = tmp_path / "first", tmp_path / "second"
    start(valkey, first)
    shutil.copytree(first, second)
    for file in second.glob(f"{name}*"):
        file.unlink()
    with pytest.raises(KeyFileRefused, match=f"copy {name} and {name}.public from"):
        start(valkey, second)
    for file in first.glob(f"{name}*"):
        shutil.copy2(file, second)
    start(valkey, second)


@pytest.mark.parametrize("name", ["head.key", "replay.key", "token.key"])
def test_a_signing_key_is_rotated_replica_by_replica(name: str, valkey: Server, tmp_path: Path) -> None:
    """Everybody knows the new public key first; then each has the new key, and one that has not yet may start again."""
    first, second, new = tmp_path / "first", tmp_path / "second", tmp_path / "new"
    start(valkey, first)
    shutil.copytree(first, second)
    new.mkdir()
    load_or_create(new / name)
    for data in (first, second):
        with (data / f"{name}.public").open("a", encoding="ascii") as listed:
            listed.write((new / f"{name}.public").read_text("ascii"))
        start(valkey, data)
    shutil.copy2(new / name, first / name)
    start(valkey, first)
    start(valkey, second)
    shutil.copy2(new / name, second / name)
    start(valkey, second)
    start(valkey, first)


def test_the_service_key_changes_only_where_no_match_is_open_or_running(valkey: Server, tmp_path: Path) -> None:
    """Ids, references and invitations follow from it."""
    data = tmp_path / "data"
    start(valkey, data)

    async def change(method: str) -> None:
        log = await RedisLog.connect(valkey.url)
        try:
            async with World(log=log).serving() as world:
                if method == "open":
                    await world.person("anna").open()
                else:
                    for match_id in await log.lobby():
                        await log.unlist(match_id)
        finally:
            await log.close()

    asyncio.run(change("open"))
    (data / "service.key").unlink()
    with pytest.raises(KeyFileRefused, match=r"copy service\.key"):
        start(valkey, data)
    asyncio.run(change("end"))
    start(valkey, data)
