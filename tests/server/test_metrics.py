"""What Prometheus finds: numbers that move with what happens, and labels that nobody outside can make more of."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families

from rollbook.match.chain import Entry
from rollbook.match.events import Resumed, TimedOut
from rollbook.server.metrics import MeasuredLog, Metrics
from rollbook.server.settings import Listen, SettingRefused, Settings
from rollbook.storage.port import AppendUnconfirmed, StoreUnavailable
from rollbook.v1 import feed_pb2, match_pb2
from rollbook.v1.table_pb2 import Position
from tests.server.serving import Service, started, until
from tests.server.strangers import Line
from tests.server.test_whole_service import seated
from tests.storage.memory import MemoryLog
from tests.storage.waiting import wait

SERVE = [sys.executable, "-m", "rollbook", "serve"]
PATIENCE_SECONDS = 40
Numbers = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(text: str) -> Numbers:
    """Every sample by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(address: str) -> str:
    """What is told to whoever asks over HTTP."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        text: str = answer.read().decode()
        return text


def number(numbers: Numbers, name: str, **labels: str) -> float:
    """One sample; 0 as long as there is none."""
    return numbers.get((name, tuple(sorted(labels.items()))), 0.0)


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[Service, str]]:
    """`rollbook serve` with metrics on a port that the system chose, and where that is."""
    words = [*SERVE, "--data", str(folder), "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
    with started(words) as service:
        until(lambda: any(line["event"].startswith("listening") for line in service.lines), service)
        yield service, str(service.line("metrics")["address"])
        service.process.terminate()
        assert 0 == service.ended()


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario, and give up when it takes far too long."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await scenario()

    asyncio.run(bounded())


async def reaches(address: str, name: str, least: float, **labels: str) -> Numbers:
    """The numbers, once this one is as high as that."""
    while True:
        numbers = read(await asyncio.to_thread(scrape, address))
        if number(numbers, name, **labels) >= least:
            return numbers
        await asyncio.sleep(0.05)


def test_numbers_move_with_what_happens_and_labels_tell_nothing_of_anybody(tmp_path: Path) -> None:
    """A match is played and watched, something is refused, and a stranger invents methods."""

    async def scenario() -> None:
        async with serving(tmp_path) as (service, address):
            before = read(await asyncio.to_thread(scrape, address))
            assert 0 == number(before, "rollbook_appends_total", result="appended")
            assert 0 == number(before, "rollbook_lost_tails_total")
            line = Line(service.address)
            match_id, people = await seated(line, 2, random.Random(4), cant_stop={})
            feed: Any = line.feeds.WatchMatch(
                feed_pb2.WatchMatchRequest(match_id=match_id), metadata=people[0].metadata
            )
            await feed.read()
            await reaches(address, "rollbook_watchers", 1)
            await reaches(address, "rollbook_matches", 1, state="running")
            await reaches(address, "rollbook_feed_lag_events_count", 1)
            request = match_pb2.ChooseRequest(
                match_id=match_id, request_id="a-request", position=Position(sequence=10_000, link=bytes(32))
            )
            with pytest.raises(grpc.aio.AioRpcError):
                await line.matches.Choose(request, metadata=people[0].metadata)
            channel: Any = line.channel
            for invented in range(20):
                with pytest.raises(grpc.aio.AioRpcError):
                    await channel.unary_unary(f"/rollbook.v1.MatchService/Invented{invented}")(b"")
            feed.cancel()
            await asyncio.gather(*[person.watch(match_id, play=True) for person in people])
            while number(numbers := read(scrape(address)), "rollbook_matches", state="running"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert number(numbers, "rollbook_appends_total", result="appended") >= 6
            assert number(numbers, "rollbook_append_seconds_count") >= 6
            opened = {"method": "/rollbook.v1.MatchService/OpenMatch", "code": "OK"}
            assert 1 == number(numbers, "rollbook_call_seconds_count", **opened)
            invented_calls = {"method": "unknown", "code": "UNIMPLEMENTED"}
            assert 20 == number(numbers, "rollbook_call_seconds_count", **invented_calls)
            assert 1 == sum(value for (name, _), value in numbers.items() if name == "rollbook_refusals_total")
            text = scrape(address)
            for secret in (match_id, "a-request", "Invented", *[person.token for person in people]):
                assert secret not in text
            assert {"result", "le", "method", "code", "reason", "state"} >= {
                label for _, labels in numbers for label, _ in labels
            }
            await line.channel.close()

    run(scenario)


def test_metrics_end_with_the_service(tmp_path: Path) -> None:
    """Nobody listens on the address any more."""

    async def scenario() -> None:
        async with serving(tmp_path) as (_, address):
            assert scrape(address)
        host, _, port = address.rpartition(":")
        with socket.socket() as probe:
            assert 0 != probe.connect_ex((host, int(port)))

    run(scenario)


def refused(*flags: str) -> subprocess.CompletedProcess[str]:
    """A service that must not start."""
    return subprocess.run([*SERVE, *flags], capture_output=True, text=True, check=False, timeout=60, env=os.environ)


def test_a_port_in_use_is_told_by_its_address(tmp_path: Path) -> None:
    """In one line, before anything else is started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = refused("--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--metrics", address)
    assert 1 == done.returncode
    assert f"rollbook serve: cannot listen on {address} for metrics: Address already in use\n" == done.stderr
    assert not (tmp_path / "data").exists()


def test_metrics_stay_on_this_machine_unless_it_is_said_otherwise(tmp_path: Path) -> None:
    """Like the service itself; and an address that is none is refused by the name of its flag."""
    with pytest.raises(SettingRefused) as exposed:
        Settings.read(data=tmp_path, metrics="0.0.0.0:9090")
    assert "--metrics" == exposed.value.flag
    assert "can be reached from other machines" in exposed.value.why
    everywhere = Settings.read(data=tmp_path, metrics="[::]:9090", insecure=True)
    assert Listen("::", 9090) == everywhere.metrics
    assert Listen("::1", 0) == Settings.read(data=tmp_path, metrics="[::1]:0").metrics
    assert Settings.read(data=tmp_path).metrics is None
    with pytest.raises(SettingRefused) as malformed:
        Settings.read(data=tmp_path, metrics="9090")
    assert "--metrics: '9090' is not host:port" in str(malformed.value)


class Failing(MemoryLog):
    """A log whose next append fails with this."""

    failure: Exception | None = None

    async def append(self, match_id: str, expected: int, entries: Sequence[Entry], **how: Any) -> Any:
        """Append, or fail."""
        if self.failure is not None:
            raise self.failure
        return await super().append(match_id, expected, entries, **how)


def test_appends_are_counted_by_what_came_of_them() -> None:
    """And whatever came of them is passed on as it was."""

    async def scenario() -> None:
        metrics, inner = Metrics(), Failing(lambda: 5)
        log = MeasuredLog(inner, metrics)
        entries = [Entry(b"event")]
        assert 1 == getattr(await log.append("m", 0, entries), "head", None)
        assert 1 == getattr(await log.append("m", 0, entries), "head", None)
        assert 5 == getattr(await log.append("m", 1, entries, not_before_ms=6), "now_ms", None)
        for inner.failure in (AppendUnconfirmed(), StoreUnavailable("gone"), StoreUnavailable("gone")):
            with pytest.raises(type(inner.failure)):
                await log.append("m", 1, entries)
        assert entries == await log.read("m") == (await wait(log, {"m": 0}, 0))["m"]
        assert (1, 5, {}) == (await log.head("m"), await log.now_ms(), await log.lobby())
        assert {"appended": 1, "conflict": 1, "too_early": 1, "unknown": 1, "unavailable": 2} == {
            result: metrics.registry.get_sample_value("rollbook_appends_total", {"result": result})
            for result in ("appended", "conflict", "too_early", "unknown", "unavailable")
        }
        assert 6 == metrics.registry.get_sample_value("rollbook_append_seconds_count")

    asyncio.run(scenario())


def test_sweeps_are_counted_by_kind() -> None:
    """In the words of events."""
    metrics = Metrics()
    for event in (TimedOut(0), TimedOut(1), Resumed(5)):
        metrics.swept(event)
    assert (2, 1) == tuple(
        metrics.registry.get_sample_value("rollbook_sweeps_total", {"kind": kind}) for kind in ("timed_out", "resumed")
    )
