"""Services in separate processes, as an operator has them, and a small service that they can run.

As a program: `python tests/server/serving.py FLAGS` is `rollbook serve FLAGS` with that small service alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import psutil
from google.protobuf import wrappers_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

READY_SECONDS = 40.0
POLL_SECONDS = 0.02

Foundation = Any

DIARY = "rollbook.test.Diary"
"""The small service keeps a match of one-word events in the service's log.

Write appends, Read counts, Follow lasts until the drain.
"""


LARGE_BYTES = 16 << 20
"""More than gRPC writes before the client reads."""


class Diary:
    """A small servicer over a real log: acknowledged events are durable."""

    def __init__(self, foundation: Foundation) -> None:
        self._log = foundation.log
        self._draining = asyncio.Event()

    def add(self, server: grpc.aio.Server) -> None:
        """Register the methods."""
        self._server = server
        text: dict[str, Any] = {
            "request_deserializer": wrappers_pb2.StringValue.FromString,
            "response_serializer": wrappers_pb2.Int64Value.SerializeToString,
        }
        large: dict[str, Any] = {**text, "response_serializer": wrappers_pb2.BytesValue.SerializeToString}
        methods: dict[str, Any] = {
            "Write": grpc.unary_unary_rpc_method_handler(self.write, **text),
            "Read": grpc.unary_unary_rpc_method_handler(self.read, **text),
            "Slowly": grpc.unary_stream_rpc_method_handler(self.slowly, **text),
            "Fail": grpc.unary_unary_rpc_method_handler(self.fail, **text),
            "Collapse": grpc.unary_unary_rpc_method_handler(self.collapse, **text),
            "Stay": grpc.unary_stream_rpc_method_handler(self.stay, **text),
            "Chat": grpc.stream_stream_rpc_method_handler(self.chat, **text),
            "Follow": grpc.unary_stream_rpc_method_handler(self.follow, **text),
            "Flood": grpc.unary_stream_rpc_method_handler(self.flood, **large),
            "Large": grpc.unary_unary_rpc_method_handler(self.large, **large),
        }
        server.add_registered_method_handlers(DIARY, methods)

    async def write(self, request: wrappers_pb2.StringValue, context: Any) -> wrappers_pb2.Int64Value:
        """Append one event."""
        from rollbook.match.chain import Entry  # noqa: PLC0415 - as serve does
        from rollbook.storage.port import Appended, AppendUnconfirmed, StoreUnavailable  # noqa: PLC0415 - as serve does

        try:
            head = await self._log.head("diary")
            result = await self._log.append("diary", head, [Entry(request.value.encode())])
        except (AppendUnconfirmed, StoreUnavailable) as failure:
            await context.abort(grpc.StatusCode.UNAVAILABLE, str(failure))
        assert isinstance(result, Appended)
        return wrappers_pb2.Int64Value(value=result.head)

    async def read(self, _request: wrappers_pb2.StringValue, _context: Any) -> wrappers_pb2.Int64Value:
        """Count the events."""
        return wrappers_pb2.Int64Value(value=await self._log.head("diary"))

    async def slowly(self, request: wrappers_pb2.StringValue, context: Any) -> AsyncIterator[wrappers_pb2.Int64Value]:
        """Answer once at the beginning, and append an event only when the service drains."""
        yield wrappers_pb2.Int64Value(value=0)
        await self._draining.wait()
        yield await self.write(request, context)

    async def fail(self, request: wrappers_pb2.StringValue, _context: Any) -> wrappers_pb2.Int64Value:
        """Fail with an exception that contains the request."""
        raise ValueError(f"cannot deal with Bearer {request.value}")

    async def collapse(self, _request: wrappers_pb2.StringValue, _context: Any) -> wrappers_pb2.Int64Value:
        """Stop the whole server under the service."""
        self._collapsing = asyncio.create_task(self._server.stop(None))
        return wrappers_pb2.Int64Value(value=0)

    async def stay(self, _request: wrappers_pb2.StringValue, _context: Any) -> AsyncIterator[wrappers_pb2.Int64Value]:
        """Never end, also not at a drain."""
        yield wrappers_pb2.Int64Value(value=1)
        await asyncio.Event().wait()

    async def follow(self, _request: wrappers_pb2.StringValue, _context: Any) -> AsyncIterator[wrappers_pb2.Int64Value]:
        """Send one message at first, and a last one when the service drains."""
        yield wrappers_pb2.Int64Value(value=1)
        await self._draining.wait()
        yield wrappers_pb2.Int64Value(value=-1)

    async def flood(self, _request: wrappers_pb2.StringValue, _context: Any) -> AsyncIterator[wrappers_pb2.BytesValue]:
        """Send more than any client reads, without end."""
        while True:
            yield wrappers_pb2.BytesValue(value=bytes(LARGE_BYTES))

    async def large(self, _request: wrappers_pb2.StringValue, _context: Any) -> wrappers_pb2.BytesValue:
        """Send one answer that takes a while to write."""
        return wrappers_pb2.BytesValue(value=bytes(LARGE_BYTES))

    async def chat(
        self, requests: AsyncIterator[wrappers_pb2.StringValue], context: Any
    ) -> AsyncIterator[wrappers_pb2.Int64Value]:
        """Append every word of the stream."""
        async for request in requests:
            yield await self.write(request, context)

    async def drain(self) -> None:
        """Let the streams send their last message."""
        self._draining.set()


async def only_the_diary(foundation: Foundation) -> Any:
    """Assemble a service with only the diary."""
    from rollbook.server.process.lifecycle import Assembly, Servicer  # noqa: PLC0415 - as serve does

    diary = Diary(foundation)
    return Assembly([Servicer(DIARY, diary.add, drain=diary.drain)])


class Service:
    """A service in a separate process, and its standard error."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)

    def hang_up(self) -> None:
        """Close the pipe of a service that has ended."""
        self._listener.join(READY_SECONDS)
        assert self.process.stderr is not None
        self.process.stderr.close()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The log lines as JSON, without lines of gRPC's core and reasons for a failed start."""
        return [json.loads(line) for line in self.said if not re.match(r"[IWE]\d{4} |rollbook serve: |$", line)]

    def line(self, event: str) -> dict[str, Any]:
        """Wait for a log line whose event begins like this."""
        found: dict[str, Any] = until(
            lambda: next((line for line in self.lines if line["event"].startswith(event)), None), self
        )
        return found

    def line_after_end(self, event: str) -> dict[str, Any]:
        """A log line of a service that has ended."""
        return next(line for line in self.lines if line["event"] == event)

    @property
    def address(self) -> str:
        """The address, once the service listens."""
        return str(self.line("listening")["address"])

    @property
    def store(self) -> psutil.Process:
        """The service's own store server, once it runs."""
        found: psutil.Process = until(lambda: next(iter(stores(self.process.pid)), None), self)
        return found

    def channel(self) -> grpc.Channel:
        """A new connection to the service."""
        return grpc.insecure_channel(self.address, options=[("grpc.use_local_subchannel_pool", 1)])

    def status(self) -> int:
        """The status from the health service."""
        with self.channel() as channel:
            answer = health(channel).Check(health_pb2.HealthCheckRequest(), timeout=10, wait_for_ready=True)
            return int(answer.status)

    def ended(self, seconds: float = READY_SECONDS) -> int:
        """Wait for the end, and return the exit code once all output is read."""
        code = self.process.wait(seconds)
        self._listener.join(seconds)
        return code


def health(channel: grpc.Channel) -> Any:
    """The health service's stub, whose type stubs lack the methods."""
    return health_pb2_grpc.HealthStub(channel)


def stores(process: int) -> list[psutil.Process]:
    """The store servers below a service."""
    found = []
    for child in psutil.Process(process).children():
        try:
            if "server" in child.name():
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def until(condition: Callable[[], Any], service: Service | None = None) -> Any:
    """Wait until the condition is true, and return its value."""
    deadline = time.monotonic() + READY_SECONDS
    while not (found := condition()):
        said = "" if service is None else "".join(service.said)
        assert service is None or service.process.poll() is None, f"the service has ended:\n{said}"
        assert time.monotonic() < deadline, f"waited in vain:\n{said}"
        time.sleep(POLL_SECONDS)
    return found


PATHS = {"--data", "--tls-cert", "--tls-key", "--head-key", "--pid-file", "--redis-ca", "--redis-cert", "--redis-key"}
NUMBERS = {"--workers", "--store-wait"}
PROGRAM = [sys.executable, str(Path(__file__))]
WORKER = [*PROGRAM, "worker"]


@contextmanager
def service(data: Path, *flags: str) -> Iterator[Service]:
    """A service on a data directory and a free port; at the end its processes are killed."""
    with started([*PROGRAM, "--data", str(data), "--listen", "127.0.0.1:0", *flags]) as one:
        yield one


def another(data: Path, one: Service) -> Path:
    """Create a second data directory with the keys of this service."""
    assert one.address
    there = data.with_name(f"{data.name}-too")
    there.mkdir()
    for file in data.glob("*.key*"):
        shutil.copy2(file, there)
    return there


@contextmanager
def started(words: Sequence[str], env: dict[str, str] | None = None) -> Iterator[Service]:
    """A service started by this command."""
    process = subprocess.Popen(
        words,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **(env or {})},
    )
    one = Service(process)
    try:
        yield one
    finally:
        left = stores(process.pid) if process.poll() is None else []
        process.kill()
        process.wait()
        for child in left:
            child.kill()
            psutil.wait_procs([child], timeout=READY_SECONDS)
        one.hang_up()


def call(channel: grpc.Channel, method: str, text: str = "") -> int:
    """Call a unary method of the diary."""
    ask = channel.unary_unary(
        f"/{DIARY}/{method}",
        request_serializer=wrappers_pb2.StringValue.SerializeToString,
        response_deserializer=wrappers_pb2.Int64Value.FromString,
    )
    answer: wrappers_pb2.Int64Value = ask(wrappers_pb2.StringValue(value=text), timeout=30, wait_for_ready=True)
    return answer.value


def begin(channel: grpc.Channel, method: str, text: str = "") -> Any:
    """Begin a streaming call of the diary."""
    ask = channel.unary_stream(
        f"/{DIARY}/{method}",
        request_serializer=wrappers_pb2.StringValue.SerializeToString,
        response_deserializer=wrappers_pb2.Int64Value.FromString,
    )
    return ask(wrappers_pb2.StringValue(value=text), timeout=60)


def main(words: list[str]) -> int:
    """Run `rollbook serve` with the diary in place of matches; every flag needs a value."""
    from rollbook.cli.commands.serve import run, supervise  # noqa: PLC0415 - only in the process that serves
    from rollbook.cli.worker import work  # noqa: PLC0415 - only in the process that serves
    from rollbook.server.configuration.settings import Settings  # noqa: PLC0415 - only in the process that serves

    if words == ["worker"]:
        return work(only_the_diary)
    given: dict[str, Any] = {
        flag.removeprefix("--").replace("-", "_"): int(value)
        if flag in NUMBERS
        else Path(value)
        if flag in PATHS
        else value
        for flag, value in zip(words[::2], words[1::2], strict=True)
    }
    settings = Settings.read(web="off", **given)
    return supervise(settings, WORKER) if settings.workers > 1 else run(settings, only_the_diary)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
