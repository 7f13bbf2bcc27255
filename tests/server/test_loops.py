"""Background loops survive exceptions; health and metrics report a loop that stands still."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from grpc_health.v1 import health_pb2

from rollbook.server import loops
from rollbook.server.loops import BackgroundLoop
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.keys import BEAT_KEY
from rollbook.v1 import identity_pb2, match_pb2
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from tests.server.serving import health, started
from tests.storage.servers import Server, running

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as found:
        yield found


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop run until the condition holds."""
    while not condition():  # noqa: ASYNC110 - nothing in a loop says so
        await asyncio.sleep(0)


@pytest.mark.parametrize("failure", [ValueError, KeyError, OSError, AssertionError])
def test_a_loop_outlives_any_exception(monkeypatch: pytest.MonkeyPatch, failure: type[Exception]) -> None:
    """Each exception is counted; a loop that only fails counts as standing still until it succeeds."""
    monkeypatch.setattr(loops, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(loops, "STILL_SECONDS", 0.05)
    counted: list[str] = []
    is_well = asyncio.Event()

    async def work() -> None:
        if not is_well.is_set():
            raise failure

    async def scenario() -> None:
        loop = BackgroundLoop("work", work, counted.append, 0.0)
        loop.start()
        await until(lambda: len(counted) > 2 and loop.stands_still)
        assert {"work"} == set(counted)
        is_well.set()
        await until(lambda: not loop.stands_still)
        await loop.close()

    asyncio.run(scenario())


def words(data: Path, *flags: str) -> list[str]:
    """The command line of a service with metrics."""
    ports = ("--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--log-level", "info")
    return [sys.executable, "-m", "rollbook", "serve", "--data", str(data), *ports, *flags]


def metric(one: Any, name: str) -> float:
    """The sum of a metric of the service, as Prometheus would read it."""
    (said,) = [line for line in one.lines if line["event"] == "metrics"]
    with urlopen(f"http://{said['address']}/metrics") as page:
        return sum(float(line.split()[-1]) for line in page.read().decode().splitlines() if line.startswith(name))


SWEEPER_FAILURES = 'rollbook_loop_failures_total{loop="sweeper"}'


def scribble(client: Any, key: bytes) -> None:
    """Write a value that no sweeper can read."""
    with client.pipeline(transaction=True) as both:
        both.delete(key).hset(key, "no", "number").execute()


def until_failed(one: Any, spoil: Callable[[], None]) -> None:
    """Repeat the damage until the sweeper has failed on it, since the sweeper may overwrite it."""
    while metric(one, SWEEPER_FAILURES) == 0:
        spoil()
        time.sleep(0.1)


def test_health_says_that_the_sweeper_stands_still(valkey: Server, tmp_path: Path) -> None:
    """The store is well and accepts appends, but no turn would end."""
    with (
        started(words(tmp_path, "--redis", valkey.url)) as one,
        one.channel() as channel,
        valkey.client() as client,
    ):
        watch: Any = health(channel).Watch(health_pb2.HealthCheckRequest(), timeout=100)
        assert SERVING == next(watch).status
        until_failed(one, lambda: scribble(client, BEAT_KEY))
        assert NOT_SERVING == next(watch).status
        assert metric(one, SWEEPER_FAILURES) > 1
        client.delete(BEAT_KEY)
        assert SERVING == next(watch).status


def test_health_tells_of_the_archive_apart(tmp_path: Path) -> None:
    """While the archive is away, the service serves and opens matches; failures are counted."""
    archive = tmp_path / "archive"
    archive.mkdir()
    with (
        started(words(tmp_path / "data", "--archive", str(archive), "--durability", "relaxed")) as one,
        one.channel() as channel,
    ):
        watch: Any = health(channel).Watch(health_pb2.HealthCheckRequest(service="rollbook.archive"), timeout=100)
        while next(watch).status != SERVING:
            pass
        archive.rename(tmp_path / "elsewhere")
        assert NOT_SERVING == next(watch).status
        assert SERVING == health(channel).Check(health_pb2.HealthCheckRequest()).status
        assert metric(one, "rollbook_archive_failures_total") >= 1
        token = IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(name="Anna"), timeout=20).token
        request = match_pb2.OpenMatchRequest(request_id="open-the-match", seats=2)
        request.options.cant_stop.SetInParent()
        metadata: Any = (("authorization", f"Bearer {token}"),)
        assert MatchServiceStub(channel).OpenMatch(request, timeout=20, metadata=metadata).match_id
