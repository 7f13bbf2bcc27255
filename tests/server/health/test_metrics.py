"""The metrics for Prometheus: numbers follow events, and clients cannot create new labels."""

from __future__ import annotations

import asyncio
import os
import platform
import random
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter as Tally
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from grpc._cython import cygrpc  # type: ignore[attr-defined]  # it has no types
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from rollbook import __version__
from rollbook.match.chain import Entry
from rollbook.match.events import Resumed, TimedOut
from rollbook.server.configuration.settings import Listen, SettingRefused, Settings
from rollbook.server.health.metrics import MeasuredLog, Metrics
from rollbook.server.rpc.layers import Call, CallLog, Refusing
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
LABELS = {"result", "le", "method", "code", "reason", "state", "game", "kind", "version", "python", "durability"}
Numbers = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(text: str) -> Numbers:
    """Every sample by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(address: str) -> str:
    """The text of the metrics page."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        text: str = answer.read().decode()
        return text


def assert_sound(text: str) -> None:
    """The checks of promtool: help and type for each family, conventional names, no duplicates."""
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    samples = [(sample.name, tuple(sorted(sample.labels.items()))) for family in families for sample in family.samples]
    assert len(set(samples)) == len(samples)
    for family in families:
        assert family.documentation.endswith(".") or not family.name.startswith("rollbook_"), family.name
        assert family.type in {"counter", "gauge", "histogram"}, family.name
        assert re.fullmatch(r"(rollbook|process)_[a-z0-9_]+", family.name)
        # Only base units.
        assert not re.search(r"(_ms|milliseconds|minutes|_kb|_mb|_count|_total)$", family.name)
        totals = {sample.name for sample in family.samples if sample.name.endswith("_total")}
        assert (family.type == "counter") == bool(totals) or not family.samples


async def assert_only_two_pages(address: str) -> None:
    """The address serves only metrics and health, and only GET."""

    def status(path: str, method: str = "GET") -> int:
        request = urllib.request.Request(f"http://{address}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - of our own
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    asked = ("/metrics", "/healthz", "/", "/favicon.ico", "/metrics/x")
    found = [await asyncio.to_thread(status, path) for path in asked]
    assert [200, 200, 404, 404, 404] == found
    assert [405, 405] == [await asyncio.to_thread(status, path, "POST") for path in asked[:2]]


def number(numbers: Numbers, name: str, **labels: str) -> float:
    """A sample's value, or 0 if there is none."""
    return numbers.get((name, tuple(sorted(labels.items()))), 0.0)


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[Service, str]]:
    """Start `rollbook serve` with metrics on a free port; yield the service and the address of the metrics."""
    words = [*SERVE, "--data", str(folder), "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
    with started(words) as service:
        until(lambda: any(line["event"].startswith("listening") for line in service.lines), service)
        yield service, str(service.line("metrics")["address"])
        service.process.terminate()
        assert 0 == service.ended()


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario; fail after `PATIENCE_SECONDS`."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await scenario()

    asyncio.run(bounded())


async def reaches(address: str, name: str, least: float, **labels: str) -> Numbers:
    """Return all numbers once this sample has reached `least`."""
    while True:
        numbers = read(await asyncio.to_thread(scrape, address))
        if number(numbers, name, **labels) >= least:
            return numbers
        await asyncio.sleep(0.05)


def test_numbers_move_with_what_happens_and_labels_tell_nothing_of_anybody(tmp_path: Path) -> None:
    """A match is played and watched, a choice is refused, and a client calls invented methods."""

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
            await reaches(address, "rollbook_matches", 1, state="running", game="cant_stop")
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
            running = {"state": "running", "game": "cant_stop"}
            while number(numbers := read(scrape(address)), "rollbook_matches", **running):  # noqa: ASYNC110
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
            assert LABELS >= {label for _, labels in numbers for label, _ in labels}
            assert_sound(text)
            assert 2 == number(numbers, "rollbook_guests_total", kind="new")
            assert (1, 1, 1) == tuple(
                number(numbers, f"rollbook_{name}") for name in ("serving", "store_up", "sweepers")
            )
            for timed in ("sweep_seconds", "store_proof_seconds", "event_loop_lag_seconds"):
                assert number(numbers, f"rollbook_{timed}_count") >= 1
            assert abs(time.time() - number(numbers, "rollbook_last_sweep_timestamp_seconds")) < PATIENCE_SECONDS
            built = {"version": __version__, "python": platform.python_version(), "durability": "fsync"}
            assert 1 == number(numbers, "rollbook_build_info", **built)
            assert number(numbers, "process_resident_memory_bytes") > number(numbers, "process_open_fds") > 0
            await assert_only_two_pages(address)
            assert [] == [said for said in service.lines if said["level"] in {"warning", "error"}]
            await line.channel.close()

    run(scenario)


@pytest.mark.parametrize(("share", "told"), [(0.0, 0), (0.25, 5), (1.0, 20)])
def test_only_a_share_of_calls_is_logged_and_all_that_failed_by_our_fault(share: float, told: int) -> None:
    """Logged calls are evenly spaced; calls that fail by the service's fault are always logged."""

    async def answers(_call: Call) -> None:
        pass

    async def main() -> None:
        calls = CallLog(lambda *_: None, share)
        handle = calls.around("/rollbook.v1.MatchService/Choose", SimpleNamespace(request_streaming=False), answers)
        for code in (grpc.StatusCode.OK, grpc.StatusCode.INTERNAL):
            for _ in range(20):
                await handle(Call(match_pb2.ChooseRequest(), SimpleNamespace(code=lambda code=code: code)))

    with capture_logs() as said:
        asyncio.run(main())
    statuses = Tally(line["status"] for line in said if line["event"] == "call")
    assert (told, 20) == (statuses["OK"], statuses["INTERNAL"])


def test_a_caller_who_is_gone_before_the_answer_has_cancelled() -> None:
    """A cancelled call is neither a failure nor a refusal, so it is logged at level info."""
    refusals: list[str] = []
    statuses: list[str] = []

    async def answers(_call: Call) -> None:
        raise cygrpc.ExecuteBatchError("gone")

    async def main() -> None:
        handler = SimpleNamespace(request_streaming=False)
        guarded = Refusing(refusals.append).around("/Test/Echo", handler, answers)
        calls = CallLog(lambda _method, status, _seconds: statuses.append(status))
        context = SimpleNamespace(code=lambda: grpc.StatusCode.OK)
        with pytest.raises(cygrpc.ExecuteBatchError):
            await calls.around("/Test/Echo", handler, guarded)(Call(match_pb2.ChooseRequest(), context))

    with capture_logs() as said:
        asyncio.run(main())
    assert ([], ["CANCELLED"], ["info"]) == (refusals, statuses, [line["log_level"] for line in said])


def test_metrics_end_with_the_service(tmp_path: Path) -> None:
    """The port is closed."""

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
    """The message is one line; nothing else has been started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = refused("--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--metrics", address)
    assert 1 == done.returncode
    assert f"rollbook serve: cannot listen on {address} for metrics: Address already in use\n" == done.stderr
    assert not (tmp_path / "data").exists()


def test_metrics_stay_on_this_machine_unless_it_is_said_otherwise(tmp_path: Path) -> None:
    """The rule is the same as for the service's address; a malformed address is refused by its flag."""
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
    """A log whose appends fail with `failure` if it is set."""

    failure: Exception | None = None

    async def append(self, match_id: str, expected: int, entries: Sequence[Entry], **how: Any) -> Any:
        """Append, or raise `failure`."""
        if self.failure is not None:
            raise self.failure
        return await super().append(match_id, expected, entries, **how)


def test_appends_are_counted_by_what_came_of_them() -> None:
    """Results and exceptions are passed on unchanged."""

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
        assert 1 == await log.head("m")
        assert {"appended": 1, "conflict": 1, "too_early": 1, "unknown": 1, "unavailable": 2} == {
            result: metrics.registry.get_sample_value("rollbook_appends_total", {"result": result})
            for result in ("appended", "conflict", "too_early", "unknown", "unavailable")
        }
        assert 6 == metrics.registry.get_sample_value("rollbook_append_seconds_count")

    asyncio.run(scenario())


def test_sweeps_are_counted_by_kind() -> None:
    """The kinds have the names of events."""
    metrics = Metrics()
    for event in (TimedOut(0), TimedOut(1), Resumed(5)):
        metrics.count_swept(event)
    assert (2, 1) == tuple(
        metrics.registry.get_sample_value("rollbook_sweeps_total", {"kind": kind}) for kind in ("timed_out", "resumed")
    )
