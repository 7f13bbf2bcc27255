"""`rollbook mend` on a real store whose file ends in zero bytes, as after a power cut."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.append_only import extended_file, zeros_behind
from rollbook.storage.embedded.server import EmbeddedServer, ServerFailed
from rollbook.storage.port import Appended
from rollbook.storage.redis.log import RedisLog
from tests.clients.commands.test_tail import rollbook

ZEROS = (1, 17, 4_096, 70_000)
ENTRIES = [Entry(b"one\0\0"), Entry(b"two", b"\0")]


async def stored(data: Path, *more: Entry) -> list[Entry]:
    """Start a server on the data directory, append the entries, and return all that it has stored."""
    server = await EmbeddedServer.start(data)
    try:
        log = await RedisLog.connect(server.url)
        for entry in more:
            head = await log.head("m")
            assert Appended(head + 1) == await log.append("m", head, [entry])
        found = await log.read("m")
        await log.close()
    finally:
        await server.stop()
    return found


def extended(data: Path) -> Path:
    """The file that the store appends to."""
    found = extended_file(data / "store")
    assert found is not None
    return found


@pytest.mark.parametrize("zeros", ZEROS)
def test_zero_bytes_behind_the_last_command_are_cut_off(zeros: int, tmp_path: Path) -> None:
    """The server's error message names the command, and the command restores everything that was acknowledged."""

    async def scenario() -> None:
        data = tmp_path
        assert ENTRIES == await stored(data, *ENTRIES)
        path = extended(data)
        whole = path.read_bytes()
        path.write_bytes(whole + bytes(zeros))
        with pytest.raises(ServerFailed, match=rf"{zeros:,} zero bytes .*`rollbook mend --data {data}` cuts them off"):
            await stored(data)
        code, said, why = await rollbook("mend", "--data", str(data))
        assert (0, f"{path}\n", True) == (code, said, f"{zeros:,} zero bytes cut off" in why)
        assert whole == path.read_bytes()
        assert [*ENTRIES, Entry(b"three")] == await stored(data, Entry(b"three"))
        code, said, why = await rollbook("mend", "--data", str(data))
        assert (0, True) == (code, "no zero bytes" in why)

    asyncio.run(scenario())


def test_half_a_command_with_zeros_behind_it_is_dropped_whole(tmp_path: Path) -> None:
    """An incomplete command was never acknowledged; everything before it stays."""
    chance = random.Random(15)

    async def scenario() -> None:
        data = tmp_path
        assert [Entry(b"one")] == await stored(data, Entry(b"one"))
        path = extended(data)
        before = len(path.read_bytes())
        assert [Entry(b"one"), Entry(b"two")] == await stored(data, Entry(b"two"))
        whole = path.read_bytes()
        last = whole.rindex(b"XADD")
        assert before < last
        for length in chance.sample(range(last + 10, len(whole)), 6):
            path.write_bytes(whole[:length] + bytes(1_000))
            assert zeros_behind(path) >= 1_000
            assert 0 == (await rollbook("mend", "--data", str(data)))[0]
            assert [Entry(b"one")] == await stored(data)

    asyncio.run(scenario())


def test_a_store_in_use_is_left_alone(tmp_path: Path) -> None:
    """A directory without a store is refused as well."""

    async def scenario() -> None:
        assert 3 == (await rollbook("mend", "--data", str(tmp_path)))[0]
        server = await EmbeddedServer.start(tmp_path)
        code, _, why = await rollbook("mend", "--data", str(tmp_path))
        assert (1, True) == (code, "is in use by the service" in why)
        await server.stop()

    asyncio.run(scenario())
