"""All processes over one store need the same keys: others are refused at their start.

Keys can be rotated during service.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from rollbook.identity.keys import load_or_create
from rollbook.identity.service_keys import KeyFileRefused, ServiceKeys
from rollbook.server.process import shared_keys
from rollbook.server.process.shared_keys import SILENT_MS, Fingerprints, SharedKeys
from rollbook.storage.backup import back_up, put_back
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.keys import KEYS_KEY, PROCESSES_KEY
from rollbook.storage.redis.log import RedisLog
from rollbook.v1 import identity_pb2, match_pb2
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from tests.server.rpc.talking import World
from tests.server.serving import started
from tests.storage.servers import Server, running


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Server]:
    """An empty server."""
    with running(find_server(), tmp_path / "valkey") as found:
        yield found


def start(server: Server, data: Path) -> None:
    """Start a process and end it."""

    async def main() -> None:
        async with process(server, data):
            pass

    asyncio.run(main())


@asynccontextmanager
async def process(
    server: Server, data: Path, *, is_killed: bool = False, failed: Callable[[str], None] = lambda _loop: None
) -> AsyncIterator[SharedKeys]:
    """Use the keys as a service does: settle at the start, beat, and leave at the end unless it is killed."""
    data.mkdir(exist_ok=True)
    log = await RedisLog.connect(server.url)
    try:
        keys = SharedKeys(log, ServiceKeys.in_directory(data), failed)
        await keys.settle()
        yield keys
        await (keys._loop.close() if is_killed else keys.close())
    finally:
        await log.close()


@pytest.mark.parametrize("name", ["head.key", "replay.key", "token.key"])
def test_a_process_with_another_key_is_told_what_to_copy(name: str, valkey: Server, tmp_path: Path) -> None:
    """After copying the files it starts."""
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
    """First all replicas list the new public key, then each gets the new key.

    Replicas with the old key can still restart.
    """
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
    """Match ids, references and invitations follow from the service key."""
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


@pytest.mark.parametrize("name", ["head.key", "replay.key", "token.key", "service.key"])
def test_no_process_starts_whose_keys_do_not_fit_those_that_run(name: str, valkey: Server, tmp_path: Path) -> None:
    """Listing the other's public key does not help, because the running process would not trust the new one."""
    first, second = tmp_path / "first", tmp_path / "second"

    async def main() -> None:
        async with process(valkey, first) as one:
            shutil.copytree(first, second)
            (second / name).unlink()
            with pytest.raises(KeyFileRefused, match=name):
                await refused(valkey, second)
            assert one.fit
            shutil.copy2(first / name, second)
            async with process(valkey, second) as two:
                assert two.fit

    asyncio.run(main())


async def refused(server: Server, data: Path) -> None:
    """Start a process that must be refused."""
    async with process(server, data):
        pass


def test_a_process_that_was_killed_is_forgotten(
    valkey: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys of a killed process count until it has been silent for long enough."""
    first, second = tmp_path / "first", tmp_path / "second"

    async def main() -> None:
        async with process(valkey, first, is_killed=True):
            pass
        shutil.copytree(first, second)
        (second / "service.key").unlink()
        with pytest.raises(KeyFileRefused, match="another service key runs"):
            await refused(valkey, second)
        monkeypatch.setattr(shared_keys, "SILENT_MS", -1)
        async with process(valkey, second):
            pass

    asyncio.run(main())


def test_who_learns_of_another_process_with_other_keys_serves_no_more(
    valkey: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example after a failover that lost an entry.

    It serves again when the other is gone, and logs the failure once.
    """
    monkeypatch.setattr(shared_keys, "BEAT_SECONDS", 0.01)
    first, second = tmp_path / "first", tmp_path / "second"

    async def main() -> None:
        failures: list[str] = []
        async with process(valkey, first, failed=failures.append) as one:
            second.mkdir()
            stranger = Fingerprints.of(ServiceKeys.in_directory(second))
            await one._log.enter("a stranger", stranger.write(), SILENT_MS)
            with capture_logs() as said:
                while len(failures) < 3:  # noqa: ASYNC110 - nothing in it says so
                    await asyncio.sleep(0.01)
            assert not one.fit
            assert ["a loop has failed, and tries again"] == [line["event"] for line in said]
            await one._log.leave("a stranger")
            while not one.fit:  # noqa: ASYNC110 - nor this
                await asyncio.sleep(0.01)

    asyncio.run(main())


@pytest.mark.parametrize("said", [b"\xff", b"{}", b"[]", b'{"service":1,"signs":1,"published":1}'])
def test_what_the_store_says_of_its_keys_may_be_unreadable(valkey: Server, tmp_path: Path, said: bytes) -> None:
    """The process does not guess; the message names the key to repair."""
    start(valkey, tmp_path / "data")
    with valkey.client() as client:
        client.set(KEYS_KEY, said)
        client.hset(PROCESSES_KEY, "rubbish", said)
    with pytest.raises(KeyFileRefused, match="rollbook:keys"):
        start(valkey, tmp_path / "data")


def test_the_keys_of_a_store_are_in_its_backup(tmp_path: Path) -> None:
    """A service restored with other keys is refused."""
    data, restored = tmp_path / "data", tmp_path / "restored"
    words = ["--listen", "127.0.0.1:0", "--durability", "relaxed", "--log-level", "info"]
    with started([sys.executable, "-m", "rollbook", "serve", "--data", str(data), *words]) as one:
        one.line("listening")
    back_up(data, tmp_path / "backup.tar.gz")
    put_back(tmp_path / "backup.tar.gz", restored)
    for file in restored.glob("head.key*"):
        file.unlink()
    serve = [sys.executable, "-m", "rollbook", "serve", "--data", str(restored), *words]
    done = subprocess.run(serve, capture_output=True, text=True, timeout=100, check=False)
    assert 1 == done.returncode
    assert "copy head.key and head.key.public from" in done.stderr


@pytest.mark.parametrize("name", ["token.key", "head.key"])
def test_two_replicas_rotate_a_key_while_the_service_runs(name: str, valkey: Server, tmp_path: Path) -> None:
    """The procedure of OPERATIONS.md, with one replica serving at all times: old and new tokens are valid at both."""
    first, second, new = tmp_path / "first", tmp_path / "second", tmp_path / "new"
    start(valkey, first)
    shutil.copytree(first, second)
    new.mkdir()
    load_or_create(new / name)
    with ExitStack() as stack:
        running_now = {data: stack.enter_context(replica(valkey, data)) for data in (first, second)}
        tokens = [signed_in(one) for one in running_now.values()]
        for change in (publish, exchange):
            for data in (first, second):
                running_now.pop(data).close()
                change(new / name, data / name)
                running_now[data] = again = stack.enter_context(replica(valkey, data))
                tokens.append(signed_in(again))
                for one in running_now.values():
                    for token in tokens:
                        assert listed(one, token)


def publish(new: Path, file: Path) -> None:
    """Append the new public key to the published keys."""
    with file.with_name(f"{file.name}.public").open("a", encoding="ascii") as lines:
        lines.write(new.with_name(f"{new.name}.public").read_text("ascii"))


def exchange(new: Path, file: Path) -> None:
    """Replace the old key file with the new one."""
    shutil.copy2(new, file)


class Replica:
    """A process of the service."""

    def __init__(self, server: Server, data: Path) -> None:
        words = ["serve", "--data", str(data), "--redis", server.url, "--listen", "127.0.0.1:0", "--log-level", "info"]
        self._stack = ExitStack()
        self.service = self._stack.enter_context(started([sys.executable, "-m", "rollbook", *words]))
        self.channel = self._stack.enter_context(self.service.channel())

    def close(self) -> None:
        """Drain the process."""
        if self.service.process.poll() is None:
            self.service.process.terminate()
            assert 0 == self.service.ended()
        self._stack.close()


def replica(server: Server, data: Path) -> AbstractContextManager[Replica]:
    """A replica that is closed at the end."""
    return closing(Replica(server, data))


def signed_in(one: Replica) -> str:
    """The token of a new guest."""
    return IdentityServiceStub(one.channel).SignIn(identity_pb2.SignInRequest(), timeout=20).token


def listed(one: Replica, token: str) -> bool:
    """List matches with this token; raises if it is refused."""
    metadata: Any = (("authorization", f"Bearer {token}"),)
    MatchServiceStub(one.channel).ListMatches(match_pb2.ListMatchesRequest(), timeout=20, metadata=metadata)
    return True
