"""A service of several workers: one port, one store, one supervisor that restarts dead workers."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import grpc
import psutil
import pytest
from grpc_health.v1 import health_pb2

from rollbook.cli.commands import serve
from rollbook.server.configuration.settings import Settings, cores
from rollbook.server.process import workers as worker_processes
from rollbook.server.process.worker import WORKERS
from rollbook.server.process.worker_metrics import Tallies
from rollbook.server.process.workers import FAILED_STARTS
from rollbook.storage.embedded.server import find_server
from rollbook.v1 import identity_pb2
from tests.server.health.test_metrics import number, read, scrape
from tests.server.process.test_running import SERVING, refused
from tests.server.serving import DIARY, PROGRAM, READY_SECONDS, Service, begin, call, health, service, started, until
from tests.server.strangers import Line, Stranger
from tests.server.test_whole_service import SEED, assert_proved, run, seated
from tests.storage.servers import running

if sys.platform != "linux":
    pytest.skip("elsewhere there is one worker", allow_module_level=True)

TWO = ("--workers", "2")
SERVE = [sys.executable, "-m", "rollbook", "serve", "--listen", "127.0.0.1:0", *TWO]
CONNECTIONS = 24
"""With this many connections both workers get some, except in one of eight million runs."""


def workers(one: Service) -> dict[int, psutil.Process]:
    """The workers that last reported that they can be called, by number."""
    told = [line for line in one.lines if line["event"] == "a worker can be called"]
    last = {line["worker"]: line["process"] for line in told}
    return {number: psutil.Process(process) for number, process in last.items()}


def all_can_be_called(one: Service) -> bool:
    """Whether health reports that all workers can be called, asked of any worker."""
    with one.channel() as channel:
        return are_called(channel)


def are_called(channel: grpc.Channel) -> bool:
    """Whether all workers serve, asked over an existing connection."""
    request = health_pb2.HealthCheckRequest(service=WORKERS)
    return bool(SERVING == health(channel).Check(request, timeout=10, wait_for_ready=True).status)


def has_said(one: Service, what: str, often: int) -> bool:
    """Whether the output has this text at least so often."""
    return "".join(one.said).count(what) >= often


@contextmanager
def connections(one: Service) -> Iterator[list[grpc.Channel]]:
    """Open so many connections that both workers get some."""
    with ExitStack() as stack:
        yield [stack.enter_context(one.channel()) for _ in range(CONNECTIONS)]


def test_all_workers_answer_on_one_port_and_have_one_store_and_the_log_names_them(tmp_path: Path) -> None:
    """Every worker sees all writes, and every log line of a worker has its number."""
    with service(tmp_path, *TWO, "--log-level", "debug") as one, connections(one) as channels:
        assert SERVING == one.status()
        assert 2 == one.line("listening")["workers"]
        assert list(range(1, CONNECTIONS + 1)) == [call(channel, "Write") for channel in channels]
        assert {CONNECTIONS} == {call(channel, "Read") for channel in channels}
        called = [line["worker"] for line in one.lines if line.get("method") == f"/{DIARY}/Write"]
        assert (CONNECTIONS, {1, 2}) == (len(called), set(called))
        assert 1 == len([child for child in psutil.Process(one.process.pid).children() if "server" in child.name()])
        one.process.terminate()
        assert 0 == one.ended()
        assert {1, 2} == {line["worker"] for line in one.lines if line["event"] == "ended" and "worker" in line}


def test_the_supervisor_has_no_grpc_and_starts_its_workers_anew(tmp_path: Path) -> None:
    """A process that forks after gRPC has started can hang; the supervisor never loads gRPC."""
    with started([*SERVE, "--data", str(tmp_path)]) as one:
        assert SERVING == one.status()
        maps = {number: Path(f"/proc/{process.pid}/maps").read_text() for number, process in workers(one).items()}
        assert "cygrpc" not in Path(f"/proc/{one.process.pid}/maps").read_text()
        assert {1: True, 2: True} == {number: "cygrpc" in text for number, text in maps.items()}
        assert all(process.cmdline()[-1] == "rollbook.cli.worker" for process in workers(one).values())


def test_a_worker_that_is_killed_is_started_again_and_the_others_serve_meanwhile(tmp_path: Path) -> None:
    """No data is lost; health reports the missing worker under its own name, and the log has it."""
    with service(tmp_path, *TWO) as one, connections(one) as channels:
        until(lambda: all_can_be_called(one), one)
        written = [call(channel, "Write") for channel in channels]
        before = workers(one)
        before[2].suspend()
        before[2].kill()
        ended = one.line("a worker has ended")
        assert (2, "by SIGKILL") == (ended["worker"], ended["how"])
        assert SERVING == one.status()
        assert {max(written)} == {call(channel, "Read") for channel in channels}
        until(lambda: len([line for line in one.lines if line["event"] == "a worker can be called"]) == 3, one)
        assert before[1].pid == workers(one)[1].pid
        assert before[2].pid != workers(one)[2].pid
        until(lambda: all_can_be_called(one), one)
        assert max(written) + 1 == call(channels[0], "Write")
        one.process.terminate()
        assert 0 == one.ended()


def test_health_says_when_a_worker_is_missing(tmp_path: Path) -> None:
    """The service still serves; the workers have a health name of their own, like the archive."""
    with service(tmp_path, *TWO) as one:
        until(lambda: all_can_be_called(one), one)
        (tmp_path / "service.key").chmod(0o644)
        workers(one)[2].kill()
        until(lambda: not all_can_be_called(one), one)
        assert SERVING == one.status()
        (tmp_path / "service.key").chmod(0o600)
        until(lambda: all_can_be_called(one), one)


def test_a_worker_that_starts_no_more_ends_the_service_and_says_why(tmp_path: Path) -> None:
    """It gives up after a few attempts, and the log has the reason."""
    with service(tmp_path, *TWO) as one:
        assert SERVING == one.status()
        store = one.store
        (tmp_path / "service.key").chmod(0o644)
        workers(one)[1].kill()
        # So many starts of a worker take long on a busy machine.
        assert 1 == one.ended(FAILED_STARTS * READY_SECONDS / 2)
        said = "".join(one.said)
        assert FAILED_STARTS == said.count("only its owner may reach a key file (chmod 600)")
        assert f"rollbook serve: worker 1 does not start: it ended {FAILED_STARTS} times in a row" in one.said[-1]
        assert "Traceback" not in said
        assert not store.is_running()


@pytest.mark.timeout(300)  # so many starts of a worker, one after the other
def test_a_worker_that_finds_no_store_is_started_until_there_is_one(tmp_path: Path) -> None:
    """The other workers wait for the store as well, so a dead one must not end the service."""
    with (
        running(find_server(), tmp_path / "store") as store,
        service(tmp_path / "data", *TWO, "--redis", store.url, "--store-wait", "0") as one,
        one.channel() as channel,
    ):
        whole = partial(are_called, channel)
        until(whole, one)
        store.kill()
        workers(one)[1].kill()
        for deaths in range(1, FAILED_STARTS + 2):
            until(partial(has_said, one, "a worker has ended", deaths), one)
        store.start_again()
        until(whole, one)
        one.process.terminate()
        assert 0 == one.ended()


def test_what_keeps_the_first_worker_from_starting_is_said_once(tmp_path: Path) -> None:
    """The exit code is that of a service with one process, and no process is left."""
    with service(tmp_path) as one:
        assert SERVING == one.status()
        one.process.terminate()
        assert 0 == one.ended()
    (tmp_path / "token.key").chmod(0o644)
    done = refused("--data", str(tmp_path), "--listen", "127.0.0.1:0", *TWO)
    assert 1 == done.returncode
    assert 1 == done.stderr.count("only its owner may reach a key file (chmod 600)")
    assert "rollbook serve: worker 1 does not start: it ended with exit code 1" in done.stderr
    assert "Traceback" not in done.stderr
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in str(p.info["cmdline"])]


def test_after_a_kill_of_the_supervisor_everything_ends_and_a_new_start_works_at_once(tmp_path: Path) -> None:
    """The new start uses the same data directory and port; the store never runs twice and no data is lost."""
    with service(tmp_path, *TWO) as one, connections(one) as channels:
        assert SERVING == one.status()
        assert CONNECTIONS == max(call(channel, "Write") for channel in channels)
        left = [*workers(one).values(), one.store]
        one.process.kill()
        one.process.wait()
        with started([*PROGRAM, "--data", str(tmp_path), "--listen", one.address, *TWO]) as two:
            with two.channel() as channel:
                assert CONNECTIONS == call(channel, "Read")
                assert [] == psutil.wait_procs(left, timeout=READY_SECONDS)[1]
                assert CONNECTIONS + 1 == call(channel, "Write")
            assert one.address == two.address


def test_nobody_else_gets_a_share_of_a_port(tmp_path: Path) -> None:
    """Workers share the port among themselves, but with no other service, with or without workers."""
    with service(tmp_path / "one", *TWO) as one:
        why = f"cannot listen on {one.address}: Address already in use; --listen names another place"
        for flags in ((), TWO):
            second = refused("--data", str(tmp_path / "two"), "--listen", one.address, *flags)
            assert (1, True) == (second.returncode, why in second.stderr)
            assert not [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path / "two") in str(p.info["cmdline"])]
        with connections(one) as channels:
            assert CONNECTIONS == max(call(channel, "Write") for channel in channels)


def test_a_drain_lets_the_calls_of_all_workers_finish(tmp_path: Path) -> None:
    """Streams at both workers get their last message without a second signal."""
    with service(tmp_path, *TWO) as one, connections(one) as channels:
        follows = [begin(channel, "Follow") for channel in channels]
        assert {1} == {next(follow).value for follow in follows}
        slow = begin(channels[0], "Slowly", "under way")
        assert 0 == next(slow).value
        one.process.send_signal(signal.SIGINT)
        assert [[-1]] * CONNECTIONS == [[word.value for word in follow] for follow in follows]
        assert [1] == [answer.value for answer in slow]
        assert 0 == one.ended()


def test_a_second_signal_ends_all_workers_at_once(tmp_path: Path) -> None:
    """Streams without end hold up the drain at both workers."""
    with service(tmp_path, *TWO) as one, connections(one) as channels:
        stays = [begin(channel, "Stay") for channel in channels]
        assert {1} == {next(stay).value for stay in stays}
        left = [*workers(one).values(), one.store]
        one.process.terminate()
        until(lambda: sum(line["event"] == "draining" for line in one.lines) == 3, one)
        assert one.process.poll() is None
        one.process.terminate()
        assert 130 == one.ended()
        assert not any(process.is_running() for process in left)


def test_numbers_of_all_workers_are_summed_and_never_go_back(tmp_path: Path) -> None:
    """The counts of a dead worker stay, and those of its successor are added."""
    words = [*SERVE, "--data", str(tmp_path), "--metrics", "127.0.0.1:0"]
    keys = {"method": "/rollbook.v1.IdentityService/GetKeys", "code": "OK"}
    with started(words) as one:
        assert SERVING == one.status()
        address = str(one.line("metrics")["address"])

        def asked() -> float:
            return number(read(scrape(address)), "rollbook_call_seconds_count", **keys)

        asyncio.run(ask_for_keys(one.address, CONNECTIONS))
        numbers = read(scrape(address))
        assert CONNECTIONS == number(numbers, "rollbook_call_seconds_count", **keys)
        assert (2, 0) == (number(numbers, "rollbook_workers"), number(numbers, "rollbook_worker_deaths_total"))
        for process in ("1", "2", "supervisor"):
            assert number(numbers, "process_resident_memory_bytes", process=process) > 2**20
            assert number(numbers, "process_cpu_seconds_total", process=process) > 0
        assert 1 == number(numbers, "rollbook_archiving")
        busy = number(numbers, "process_cpu_seconds_total", process="1")
        workers(one)[1].kill()
        while number(numbers := read(scrape(address)), "rollbook_worker_deaths_total") < 1:
            assert CONNECTIONS == number(numbers, "rollbook_call_seconds_count", **keys)
        until(lambda: asked() == CONNECTIONS and number(read(scrape(address)), "rollbook_workers") == 2, one)
        asyncio.run(ask_for_keys(one.address, CONNECTIONS))
        assert 2 * CONNECTIONS == asked()
        assert number(read(scrape(address)), "process_cpu_seconds_total", process="1") > busy
        one.process.terminate()
        assert 0 == one.ended()


async def ask_for_keys(address: str, times: int) -> None:
    """Make each call over a new connection."""
    for _ in range(times):
        line = Line(address)
        await line.identity.GetKeys(identity_pb2.GetKeysRequest(), timeout=20, wait_for_ready=True)
        await line.channel.close()


def test_players_and_watchers_of_a_match_may_sit_in_different_workers(tmp_path: Path) -> None:
    """All watchers receive the same bytes from each worker."""

    async def scenario() -> None:
        with started([*SERVE, "--data", str(tmp_path)]) as one:
            lines = [Line(one.address) for _ in range(CONNECTIONS)]
            rng = random.Random(SEED)
            match_id, people = await seated(lines[0], 2, rng, cant_stop={})
            watchers = [Stranger(line, "Watcher", rng) for line in lines[2:]]
            people[1].line = lines[1]
            for watcher in watchers:
                await watcher.sign_in()
            await asyncio.gather(
                *[person.watch(match_id, play=True) for person in people],
                *[watcher.watch(match_id, play=False) for watcher in watchers],
            )
            for watcher in watchers:
                assert_proved(match_id, watcher, people)
            for line in lines:
                await line.channel.close()
            one.process.terminate()
            assert 0 == one.ended()
            watched = [line for line in one.lines if line.get("method", "").endswith("/WatchMatch")]
            assert {1, 2} == {line["worker"] for line in watched}

    run(scenario)


STANDING_STILL = """
import sys, time
from rollbook.processes import frame, read_frame
read_frame(sys.stdin.buffer, 1 << 20)
sys.stdout.buffer.write(frame(b'{"key": "a-key"}') + frame(b'{"rounds": 1}'))
sys.stdout.buffer.flush()
time.sleep(1_000)
"""


def test_a_worker_that_hangs_is_killed_and_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that accepts calls without answering must not stay."""
    monkeypatch.setattr(worker_processes, "LOOK_SECONDS", 0.01)

    async def scenario() -> None:
        all_of_them = worker_processes.Staff(
            Settings.read(workers=2), [sys.executable, "-c", STANDING_STILL], Tallies(), lambda *_: None
        )
        assert "a-key" == await all_of_them.start()
        watching = asyncio.create_task(all_of_them.watch())
        while all_of_them.deaths < 2 or all_of_them.size < 2:  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.01)
        watching.cancel()
        all_of_them.signal(signal.SIGTERM)
        await all_of_them.wait_ended()

    run(scenario)


def test_every_match_is_archived_by_exactly_one_of_the_workers() -> None:
    """Each match has exactly one worker, and the workers have about equal shares."""
    settings = Settings.read(workers=3)
    each = [replace(settings, worker=number) for number in (1, 2, 3)]
    archived = Counter(tuple(one.archives(f"match-{number}") for one in each) for number in range(300))
    assert {(True, False, False), (False, True, False), (False, False, True)} == set(archived)
    assert min(archived.values()) > 50
    assert settings.archives("match-1")


def test_auto_is_as_many_workers_as_the_process_may_use_cores() -> None:
    """Containers and task sets may use only a part of the machine's cores."""
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert 1 == cores() == Settings.read(workers="auto").workers
    finally:
        os.sched_setaffinity(0, allowed)
    assert len(allowed) == Settings.read(workers="auto").workers
    assert (1, 5) == (Settings.read().workers, Settings.read(workers=5).workers)


def test_elsewhere_there_is_one_worker_and_whoever_asks_for_more_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only Linux shares the port fairly and ends workers with their supervisor."""
    assert serve.is_supervised(Settings.read(workers=2))
    assert not serve.is_supervised(Settings.read())
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not serve.is_supervised(Settings.read(workers=2))
    assert "--workers: there is one worker; only on Linux there can be more" in capsys.readouterr().err
    assert not serve.is_supervised(Settings.read(workers="auto"))
    assert not capsys.readouterr().err
