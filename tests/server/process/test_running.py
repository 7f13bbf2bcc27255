"""A service as a real process: what it starts, what it survives, how it ends."""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
import redis
from google.protobuf import wrappers_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from rollbook.server.process.lifecycle import MOST_STREAMS_A_CONNECTION
from rollbook.storage.embedded.server import find_server
from tests.server.rpc.talking import refused as told_by
from tests.server.serving import DIARY, PROGRAM, READY_SECONDS, another, begin, call, health, service, until
from tests.storage.servers import running
from tests.storage.terminating import certificate

SERVING = health_pb2.HealthCheckResponse.SERVING
KEY_FILES = ("head.key", "replay.key", "token.key", "service.key")
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def refused(*flags: str) -> subprocess.CompletedProcess[str]:
    """Run a service that must not start."""
    return subprocess.run(
        [*PROGRAM, *flags], capture_output=True, text=True, encoding="utf-8", check=False, timeout=READY_SECONDS
    )


def test_a_service_is_healthy_and_says_what_it_offers(tmp_path: Path) -> None:
    """Health for the whole and for each service; reflection lists all services."""
    with service(tmp_path / "data") as one, one.channel() as channel:
        assert SERVING == one.status()
        of = health(channel)
        assert SERVING == of.Check(health_pb2.HealthCheckRequest(service=DIARY), timeout=10).status
        with pytest.raises(grpc.RpcError) as failure:
            of.Check(health_pb2.HealthCheckRequest(service="nobody"), timeout=10)
        assert grpc.StatusCode.NOT_FOUND == failure.value.code()
        listed = set(ProtoReflectionDescriptorDatabase(channel).get_services())
        assert {DIARY, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"} == listed


def test_a_service_makes_its_keys_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """Two starts use the same keys; only the owner can read the files."""
    data = tmp_path / "data"
    ids, keys = [], []
    for _ in range(2):
        with service(data) as one:
            ids.append(one.line("listening")["head_key_id"])
            keys.append([(data / name).read_bytes() for name in KEY_FILES])
            one.process.terminate()
            assert 0 == one.ended()
    assert ids[0] == ids[1]
    assert keys[0] == keys[1]
    assert 32 == len(keys[0][-1])
    assert {0o600} == {(data / name).stat().st_mode & 0o777 for name in KEY_FILES}


def test_a_second_service_on_the_same_data_is_refused(tmp_path: Path) -> None:
    """The message names the directory and the process; the first service is not affected."""
    with service(tmp_path) as one, one.channel() as channel:
        assert 1 == call(channel, "Write")
        second = refused("--data", str(tmp_path), "--listen", "127.0.0.1:0")
        assert 1 == second.returncode
        assert f"{tmp_path} is in use by the service with process id {one.process.pid}" in second.stderr
        assert "Traceback" not in second.stderr
        assert 2 == call(channel, "Write")


def test_a_second_service_on_the_same_port_is_refused(tmp_path: Path) -> None:
    """A shared port would split the calls; the second service also stops the store that it had started."""
    with service(tmp_path / "one") as one:
        second = refused("--data", str(tmp_path / "two"), "--listen", one.address)
        assert 1 == second.returncode
        said = second.stderr.splitlines()[-1]
        assert (
            f"rollbook serve: cannot listen on {one.address}: Address already in use; --listen names another place"
            == said
        )
        assert not [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path / "two") in str(p.info["cmdline"])]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_service_and_its_store(tmp_path: Path, number: signal.Signals) -> None:
    """The exit code is 0, and no process is left."""
    with service(tmp_path) as one:
        assert SERVING == one.status()
        store = one.store
        one.process.send_signal(number)
        assert 0 == one.ended()
        assert not store.is_running()
        assert "drained" == one.line_after_end("ended")["how"]


def test_a_drain_tells_watchers_and_lets_commands_finish(tmp_path: Path) -> None:
    """Health is NOT_SERVING, streams get their last message, and running calls are answered and stored."""
    with service(tmp_path) as one, one.channel() as channel:
        watch: Any = health(channel).Watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert SERVING == next(watch).status
        follow = begin(channel, "Follow")
        assert 1 == next(follow).value
        slow = begin(channel, "Slowly", "under way")
        assert 0 == next(slow).value
        one.process.terminate()
        assert NOT_SERVING == next(watch).status
        assert [] == list(watch)
        assert [-1] == [word.value for word in follow]
        assert [1] == [answer.value for answer in slow]
        assert 0 == one.ended()
    with service(tmp_path) as one, one.channel() as channel:
        assert 1 == call(channel, "Read")


def test_a_drain_ends_streams_that_only_the_client_could_end(tmp_path: Path) -> None:
    """A player's stream stays open on the client's side; the drain ends it with OK, long before its time limit."""
    words: queue.Queue[wrappers_pb2.StringValue | None] = queue.Queue()
    words.put(wrappers_pb2.StringValue(value="first"))
    with service(tmp_path) as one, one.channel() as channel:
        ask: Any = channel.stream_stream(
            f"/{DIARY}/Chat",
            request_serializer=wrappers_pb2.StringValue.SerializeToString,
            response_deserializer=wrappers_pb2.Int64Value.FromString,
        )
        chat = ask(iter(words.get, None), timeout=60)
        assert 1 == next(chat).value
        one.process.terminate()
        assert [] == list(chat)
        assert grpc.StatusCode.OK == chat.code()
        assert 0 == one.ended(5)
    words.put(None)


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    """The second signal ends a drain that a stream holds up; the store still ends cleanly."""
    with service(tmp_path) as one, one.channel() as channel:
        stay = begin(channel, "Stay")
        assert 1 == next(stay).value
        store = one.store
        one.process.terminate()
        one.line("draining")
        assert one.process.poll() is None
        one.process.terminate()
        assert 130 == one.ended(5)
        assert not store.is_running()


def test_signals_after_the_end_change_nothing(tmp_path: Path) -> None:
    """Signals that arrive while the process exits do not change its exit code."""
    with service(tmp_path) as one:
        assert SERVING == one.status()
        one.process.terminate()
        while not any('"ended"' in line for line in one.said):
            assert one.process.poll() is None
        while one.process.poll() is None:
            one.process.terminate()
        assert 0 == one.ended()


def test_whoever_calls_during_a_drain_is_refused_by_name_and_health_answers_to_the_end(tmp_path: Path) -> None:
    """Commands and streams on old and new connections get DRAINING, so the client knows that it may retry elsewhere."""
    with service(tmp_path) as one, one.channel() as channel:
        stay = begin(channel, "Stay")
        assert 1 == next(stay).value
        one.process.terminate()
        until(lambda: one.status() == NOT_SERVING, one)
        with one.channel() as another:
            for line in (channel, another):
                for late in (lambda line=line: call(line, "Write"), lambda line=line: next(begin(line, "Follow"))):
                    with pytest.raises(grpc.RpcError) as failure:
                        late()
                    told = told_by(failure.value)  # type: ignore[arg-type]  # it has the same methods
                    assert (grpc.StatusCode.UNAVAILABLE, "DRAINING") == (told.code, told.reason)
            assert NOT_SERVING == one.status()
        assert one.process.poll() is None
        one.process.terminate()
        assert 130 == one.ended()
    with service(tmp_path) as one, one.channel() as channel:
        assert 0 == call(channel, "Read")


def test_a_connection_carries_so_many_streams_and_the_next_one_waits(tmp_path: Path) -> None:
    """It waits until a stream has ended; other connections are not affected."""

    async def crowd(address: str) -> None:
        async with grpc.aio.insecure_channel(address) as channel, grpc.aio.insecure_channel(address, ALONE) as other:
            streams = [follow(channel) for _ in range(MOST_STREAMS_A_CONNECTION)]
            assert {1} == {(await stream.read()).value for stream in streams}
            late = follow(channel)
            waiting = asyncio.ensure_future(late.read())
            for _ in range(20):
                assert 1 == (await follow(other).read()).value
            assert not waiting.done()
            streams[0].cancel()
            assert 1 == (await waiting).value
            for stream in (*streams, late):
                stream.cancel()

    with service(tmp_path) as one:
        asyncio.run(crowd(one.address))


WORDS = 300
LONG_WORD = "w" * 32_000
MOST_WAITING_BYTES = 1_000_000
"""The size of two buffers and one window; gRPC would let the window grow to several times this size."""


def test_what_a_stream_sends_ahead_of_its_answers_is_bounded(tmp_path: Path) -> None:
    """A client that sends without reading has to wait, so that the service's memory stays bounded."""

    async def talk(address: str) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            ask: Any = channel.stream_stream(
                f"/{DIARY}/Chat",
                request_serializer=wrappers_pb2.StringValue.SerializeToString,
                response_deserializer=wrappers_pb2.Int64Value.FromString,
            )
            chat, sent, furthest = ask(timeout=2 * READY_SECONDS), 0, 0

            async def send() -> None:
                nonlocal sent
                while True:
                    await chat.write(wrappers_pb2.StringValue(value=LONG_WORD))
                    sent += 1

            sending = asyncio.create_task(send())
            for answered in range(1, WORDS + 1):
                assert answered == (await chat.read()).value
                furthest = max(furthest, sent - answered)
            sending.cancel()
            assert furthest * len(LONG_WORD) < MOST_WAITING_BYTES

    with service(tmp_path) as one:
        asyncio.run(talk(one.address))


ALONE = [("grpc.use_local_subchannel_pool", 1)]


def follow(channel: grpc.aio.Channel) -> Any:
    """A stream of the diary that lasts until the drain."""
    ask: Any = channel.unary_stream(
        f"/{DIARY}/Follow",
        request_serializer=wrappers_pb2.StringValue.SerializeToString,
        response_deserializer=wrappers_pb2.Int64Value.FromString,
    )
    return ask(wrappers_pb2.StringValue(), timeout=READY_SECONDS)


def test_a_drain_is_bounded(tmp_path: Path) -> None:
    """A stream without end is cut off after the time limit, without a second signal."""
    with service(tmp_path) as one, one.channel() as channel:
        stay = begin(channel, "Stay")
        assert 1 == next(stay).value
        one.process.terminate()
        assert 0 == one.ended(25)
        with pytest.raises(grpc.RpcError):
            next(stay)


def test_after_a_kill_of_the_service_the_next_start_has_everything(tmp_path: Path) -> None:
    """The next start succeeds even if the orphaned store server is still running."""
    with service(tmp_path) as one, one.channel() as channel:
        assert [1, 2, 3] == [call(channel, "Write") for _ in range(3)]
        one.process.kill()
        one.process.wait()
        with service(tmp_path) as two, two.channel() as second:
            assert 3 == call(second, "Read")
            assert 4 == call(second, "Write")


def test_after_a_kill_of_both_the_next_start_has_everything(tmp_path: Path) -> None:
    """As after a crash of the machine."""
    with service(tmp_path) as one, one.channel() as channel:
        assert [1, 2, 3] == [call(channel, "Write") for _ in range(3)]
        store = one.store
        one.process.kill()
        store.kill()
        one.process.wait()
        with service(tmp_path) as two, two.channel() as second:
            assert 3 == call(second, "Read")


def test_a_store_that_is_killed_comes_back_with_everything(tmp_path: Path) -> None:
    """Meanwhile health reports it and appends are UNAVAILABLE; the service keeps running."""
    with service(tmp_path) as one, one.channel() as channel:
        watch: Any = health(channel).Watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert SERVING == next(watch).status
        assert [1, 2, 3] == [call(channel, "Write") for _ in range(3)]
        killed = one.store
        killed.kill()
        acknowledged = 3
        try:
            acknowledged = call(channel, "Write")
        except grpc.RpcError as failure:
            # If the store is back first, the client does not notice.
            assert grpc.StatusCode.UNAVAILABLE == failure.code()
        assert NOT_SERVING == next(watch).status
        assert SERVING == next(watch).status
        assert acknowledged == call(channel, "Read")
        assert acknowledged + 1 == call(channel, "Write")
        assert killed.pid != one.store.pid
        one.process.terminate()
        assert 0 == one.ended()


def test_a_service_whose_server_ends_by_itself_ends_as_well(tmp_path: Path) -> None:
    """It exits with an error, so that a supervisor can restart it."""
    with service(tmp_path) as one, one.channel() as channel:
        with suppress(grpc.RpcError):
            call(channel, "Collapse")
        assert 1 == one.ended()
        assert any("the server has ended by itself" in line for line in one.said)


def test_a_store_that_hangs_makes_the_service_unhealthy_until_it_goes_on(tmp_path: Path) -> None:
    """The store is not killed: what it is doing may be what keeps the data."""
    with service(tmp_path) as one, one.channel() as channel:
        watch: Any = health(channel).Watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert SERVING == next(watch).status
        store = one.store
        store.suspend()
        try:
            assert NOT_SERVING == next(watch).status
        finally:
            store.resume()
        assert SERVING == next(watch).status
        assert store.pid == one.store.pid


def test_logs_are_json_in_a_pipe_and_hold_no_secret(tmp_path: Path) -> None:
    """Tokens in metadata, texts and exceptions are not logged; the call itself is."""
    token = "eyJhbGciOiJFZDI1NTE5In0.eyJzdWIiOiJhbm5hLXRoZS1ncmVhdCJ9.c2lnbmF0dXJlLW9mLWFubmE"  # noqa: S105 - nobody's
    with service(tmp_path, "--log-level", "debug") as one, one.channel() as channel:
        ask: Any = channel.unary_unary(f"/{DIARY}/Fail")
        with pytest.raises(grpc.RpcError):
            ask(b"\n" + bytes([len(token)]) + token.encode(), metadata=(("authorization", f"Bearer {token}"),))
        assert SERVING == one.status()
        told = until(lambda: [line for line in one.lines if line["event"] == "call"], one)[0]
        assert (f"/{DIARY}/Fail", "UNKNOWN", "error") == (told["method"], told["status"], told["level"])
        assert told["milliseconds"] >= 0
        one.process.terminate()
        assert 0 == one.ended()
        assert one.lines
        said = "".join(one.said)
        for part in token.split("."):
            assert part not in said
        assert "authorization" not in said


def test_a_store_elsewhere_is_used_and_left_alone(tmp_path: Path) -> None:
    """With --redis the service starts no server of its own.

    The URL's password is not on any command line, and the store outlives the service.
    """
    with service(tmp_path / "one") as one:
        url = f"unix://:@{tmp_path / 'one' / 'server.sock'}"
        assert SERVING == one.status()
        stranger = refused("--data", str(tmp_path / "three"), "--redis", url, "--listen", "127.0.0.1:0")
        assert 1 == stranger.returncode
        assert "copy head.key and head.key.public" in stranger.stderr
        with service(another(tmp_path / "one", one), "--redis", url) as two, two.channel() as channel:
            assert 1 == call(channel, "Write")
            assert not psutil.Process(two.process.pid).children()
            two.process.terminate()
            assert 0 == two.ended()
        with one.channel() as channel:
            assert 1 == call(channel, "Read")


def test_a_store_that_is_not_durable_is_refused(tmp_path: Path) -> None:
    """`--durability relaxed` allows it."""
    with running(find_server(), tmp_path / "store", {"appendonly": "no"}) as store:
        flags = ("--redis", store.url, "--listen", "127.0.0.1:0")
        done = refused("--data", str(tmp_path / "one"), *flags)
        assert 1 == done.returncode
        assert "appendonly is no" in done.stderr
        with service(tmp_path / "one", "--redis", store.url, "--durability", "relaxed") as one:
            assert SERVING == one.status()
            assert "relaxed" == one.line("listening")["durability"]


def test_requests_are_bounded(tmp_path: Path) -> None:
    """A request may have at most 64 KiB."""
    with service(tmp_path) as one, one.channel() as channel:
        with pytest.raises(grpc.RpcError) as failure:
            call(channel, "Write", "x" * 70_000)
        assert grpc.StatusCode.RESOURCE_EXHAUSTED == failure.value.code()


def test_a_signal_during_the_start_ends_it_cleanly(tmp_path: Path) -> None:
    """A signal ends the start cleanly even before the store runs."""
    with service(tmp_path) as one:
        until(lambda: psutil.Process(one.process.pid).children(), one)
        one.process.terminate()
        assert 0 == one.ended()
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in str(p.info["cmdline"])]


def test_tls_serves_who_trusts_the_certificate(tmp_path: Path) -> None:
    """Files that do not belong together are refused at the start, not at the first call."""
    certificate, key = self_signed(tmp_path)
    files = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with service(tmp_path / "data", *files) as one:
        trusted = grpc.ssl_channel_credentials(certificate.read_bytes())
        with grpc.secure_channel(one.address, trusted) as channel:
            assert 1 == call(channel, "Write")
    _, another = self_signed(tmp_path / "other")
    done = refused("--data", str(tmp_path / "data"), *files[:3], str(another), "--listen", "127.0.0.1:0")
    assert 1 == done.returncode
    assert "are not a certificate and its unencrypted key" in done.stderr
    done = refused("--data", str(tmp_path / "data"), *files[:3], str(tmp_path / "none"), "--listen", "127.0.0.1:0")
    assert 3 == done.returncode
    assert f"{tmp_path / 'none'}: No such file or directory" in done.stderr


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["one process", "workers"])
def test_the_pid_file_names_the_process_to_signal(tmp_path: Path, workers: tuple[str, ...]) -> None:
    """It is there as soon as the service listens, replaces a stale one, and goes with the service."""
    file = tmp_path / "run.pid"
    file.write_text("1\n", encoding="utf-8")
    with service(tmp_path / "data", "--pid-file", str(file), *workers) as one:
        assert one.address
        assert f"{one.process.pid}\n" == file.read_text(encoding="utf-8")
        os.kill(int(file.read_text(encoding="utf-8")), signal.SIGTERM)
        assert 0 == one.ended()
    assert not file.exists()
    done = refused("--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--pid-file", str(tmp_path / "no/pid"))
    assert 1 == done.returncode
    assert "No such file or directory" in done.stderr


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    folder.mkdir(exist_ok=True)
    made = certificate(folder, "certificate")
    return made.certificate, made.key


def test_the_durability_that_is_asked_for_is_that_of_its_own_store_too(tmp_path: Path) -> None:
    """A restarted store has the same durability; it is logged at the start."""
    for durability, appendfsync in (("relaxed", "everysec"), ("fsync", "always")):
        with service(tmp_path / "data", "--durability", durability) as one, one.channel() as channel:
            assert durability == one.line("listening")["durability"]
            assert appendfsync == setting(tmp_path / "data", "appendfsync")
            assert 0 < call(channel, "Write", "word")
            first = one.store
            first.kill()
            one.line("the store is back")
            assert appendfsync == setting(tmp_path / "data", "appendfsync")
            assert first.pid != one.store.pid
            one.process.terminate()
            assert 0 == one.ended()


def setting(data: Path, name: str) -> str:
    """A setting of the service's own store."""
    client: Any
    with redis.Redis(unix_socket_path=str(data / "server.sock"), protocol=2, decode_responses=True) as client:
        return str(client.config_get(name)[name])
