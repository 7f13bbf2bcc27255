"""A service from start to end: store, keys, servicers, and a drain of bounded length.

The servicers are injected: this module runs a gRPC server and contains nothing about matches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

import grpc
import structlog
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from rollbook import event_loop
from rollbook.identity.service_keys import ServiceKeys
from rollbook.server.access.house_bots import Invite
from rollbook.server.access.limits import Held, Strangers
from rollbook.server.addresses import Addresses
from rollbook.server.configuration.settings import Listen, Settings
from rollbook.server.health.fullness import fullness
from rollbook.server.health.metrics import Metrics
from rollbook.server.health.store_health import Store, connect, is_replaced, recognise, start_store
from rollbook.server.process.certificates import Certificates
from rollbook.server.process.metrics_http import expose
from rollbook.server.process.ports import Listening, NotListening, why_not
from rollbook.server.process.secured import Secured
from rollbook.server.process.shared_keys import SharedKeys
from rollbook.server.process.signals import Shutdown, Signals, ending_signals
from rollbook.server.rpc.health import SERVICE_NAME as HEALTH
from rollbook.server.rpc.health import Health
from rollbook.server.rpc.lasting_server import lasting_server
from rollbook.server.rpc.layers import CallLog, Layer, OpenCalls
from rollbook.server.rpc.open_methods import LimitedOpenMethods
from rollbook.server.rpc.requests import Reading
from rollbook.storage.redis.log import RedisLog

MOST_REQUEST_BYTES: Final = 64 * 1024 + 64
"""The largest part of a replay file, and the message around it."""

MOST_METADATA_BYTES: Final = 16 * 1024
MOST_STREAMS_A_CONNECTION: Final = 12_000
"""Above the limit of feeds of one connection, so that a client with too many feeds receives a refusal with a reason."""

MOST_OTHER_CALLS: Final = 2_000
"""Concurrent calls besides feeds and Play streams, whose own limits are reached first."""

DRAIN_SECONDS: Final = 10.0
"""How long commands in flight and watchers may take to finish."""

LAST_ANSWERS_SECONDS: Final = 1.0
"""How long gRPC may take to send answers that are already written."""

LOOP_LOOK_SECONDS: Final = 0.5

CLOSE_SECONDS: Final = 5.0
"""How long appends may take after their callers have gone."""


@dataclass(frozen=True, slots=True)
class Foundation:
    """The dependencies from which servicers are built."""

    settings: Settings
    log: RedisLog
    keys: ServiceKeys
    metrics: Metrics = field(default_factory=Metrics)
    invite: Invite | None = None
    """Reports to the supervisor, whose process runs the house bots, the seats that bots take; None: a service of one
    process, which runs the house bots itself."""


async def _at_once() -> None:
    """The default for servicers that have nothing to end."""


@dataclass(frozen=True, slots=True)
class Servicer:
    """One gRPC service."""

    name: str
    """Its full name, for health and reflection."""
    add: Callable[[grpc.aio.Server], None]
    """Registers the servicer; calls `add_…Servicer_to_server`."""
    drain: Callable[[], Awaitable[None]] = _at_once
    """Ends long streams with a final message; afterwards the remaining calls end by themselves."""
    close: Callable[[], Awaitable[None]] = _at_once
    """Ends the servicer's tasks, after the last call."""


class Companion(Protocol):
    """A client of the service that the service runs itself; it starts after the service listens, and ends before it."""

    def start(self, address: Listen) -> None:
        """Begin to call the service at this address."""

    async def drain(self) -> None:
        """Finish the calls in flight; when this returns, the companion makes no further calls."""

    async def close(self) -> None:
        """End it, even in the middle of a call."""

    def renew(self, certificates: bytes) -> None:
        """Trust these certificates of the service from now on."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """All parts of a service."""

    servicers: Sequence[Servicer]
    layers: Sequence[Layer] = ()
    """Layers around every call, outermost first; the call log is outside all of them."""
    companions: Sequence[Companion] = ()
    works: Callable[[], bool] = lambda: True
    """Whether the background loops of the service run; if not, health reports the whole service as not serving."""
    apart: Mapping[str, Callable[[], bool]] = field(default_factory=dict)
    """Additional health checks by name: whether each part works."""


Assemble = Callable[[Foundation], Awaitable[Assembly]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a worker shares with its supervisor; the defaults are for a service of one process."""

    metrics: Metrics = field(default_factory=Metrics)
    apart: Mapping[str, Callable[[], bool]] = field(default_factory=dict)
    """Health checks that concern other processes, by name."""
    invite: Invite | None = None
    """Reports to the process that runs the house bots the seats that bots take."""


async def serve(
    settings: Settings, assemble: Assemble, listening: Callable[[Listening], None], around: Surroundings | None = None
) -> Shutdown:
    """Run a service, or one worker of it, until a signal ends it: the first signal drains, the second one forces.

    Call it on the main thread. Raises DataDirectoryRefused, ServerNotFound, ServerFailed, StoreUnavailable,
    KeyFileRefused or NotListening if the service cannot start; NotListening also if the gRPC server ends by itself.
    """
    with ending_signals() as signals:
        async with AsyncExitStack() as stack:
            running = await signals.unless_asked_to_end(_start(settings, assemble, stack, around or Surroundings()))
            if running is None:
                return Shutdown.DRAINED
            event_loop.settle()
            if running.certificates is not None:
                signals.hung_up = running.certificates.read_again
            listening(running.listening)
            watch = running.store.watch(running.log, running.say_whether_it_serves, running.metrics)
            watching = asyncio.create_task(watch)
            terminated = asyncio.create_task(running.server.wait_for_termination())
            either: set[asyncio.Future[Any]] = {watching, terminated, signals.first}
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if terminated.done():
                    raise NotListening("the server has ended by itself, and nothing can be called any more")
                ended = await running.drain(signals)
            finally:
                # If a watching task has ended by itself, its exception ends the service.
                for task in (watching, terminated):
                    if not task.done():
                        task.cancel()
                await asyncio.wait({watching, terminated})
            if not watching.cancelled():
                watching.result()
        structlog.get_logger().info("ended", how=ended.name.lower())
        return ended


@dataclass(frozen=True, slots=True)
class _Running:
    """A service that has started."""

    listening: Listening
    store: Store
    log: RedisLog
    server: grpc.aio.Server
    health: Health
    open_calls: OpenCalls
    assembly: Assembly
    shared_keys: SharedKeys
    metrics: Metrics
    certificates: Certificates | None

    async def say_whether_it_serves(self, answers: bool) -> None:  # noqa: FBT001 - the only argument
        """Update health and metrics; `answers` is whether the store answers."""
        apart = {name: works() for name, works in self.assembly.apart.items()}
        serves = answers and self.shared_keys.fit and self.assembly.works()
        self.metrics.serves(serves=serves)
        await self.health.set_serving(serving=serves, apart=apart)

    async def drain(self, signals: Signals) -> Shutdown:
        """Let calls in flight finish, until DRAIN_SECONDS have passed or a second signal forces the end."""
        structlog.get_logger().info("draining", most_seconds=DRAIN_SECONDS)
        self.metrics.serves(serves=False)
        await self.health.drain()
        draining = asyncio.create_task(self._let_finish())
        await asyncio.wait({draining, signals.second}, return_when=asyncio.FIRST_COMPLETED)
        if draining.done():
            draining.result()
            return Shutdown.DRAINED
        draining.cancel()
        await asyncio.wait({draining})
        await _stop(self.server)
        return Shutdown.FORCED

    async def _let_finish(self) -> None:
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                # Companions first, while their calls are still answered.
                await _drain(self.assembly.companions)
                self.open_calls.drain()
                await _drain(self.assembly.servicers)
                # The server closes only after the last call, so that clients receive a reason instead of a closed
                # connection.
                await self.open_calls.wait_finished()
        except TimeoutError:
            structlog.get_logger().warning("calls did not end in time")
        # gRPC sends the rest of the last answers.
        await _stop(self.server, LAST_ANSWERS_SECONDS)


async def _drain(parts: Sequence[Companion | Servicer]) -> None:
    for failure in await asyncio.gather(*(part.drain() for part in parts), return_exceptions=True):
        if isinstance(failure, Exception):
            structlog.get_logger().error("a drain has failed", exc_info=failure)


async def _start(settings: Settings, assemble: Assemble, stack: AsyncExitStack, around: Surroundings) -> _Running:
    """Start all parts; each part starts after the parts that it depends on."""
    metrics = around.metrics
    if settings.metrics is not None:
        page = expose(metrics.registry, lambda: metrics.vitals.serves, settings.metrics)
        await stack.enter_async_context(page)
    metrics.runs(settings.durability)
    stack.push_async_callback(_end, asyncio.create_task(_measure_the_loop(metrics)))
    secured = None if settings.tls is None else Secured(settings.tls, metrics)
    store = await start_store(settings)
    stack.push_async_callback(store.stop)
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    keys = ServiceKeys.in_directory(settings.data, settings.head_key, settings.name)
    log = await stack.enter_async_context(_connect(store, settings))
    measuring = fullness(log, settings.data, metrics)
    stack.push_async_callback(measuring.close)
    measuring.start()
    shared_keys = SharedKeys(log, keys, metrics.loop_failed)
    await shared_keys.settle()
    stack.push_async_callback(shared_keys.close)
    assembly = await assemble(Foundation(settings, log, keys, metrics, around.invite))
    assembly = replace(assembly, apart={**assembly.apart, **around.apart})
    servicers = assembly.servicers
    for servicer in servicers:
        stack.push_async_callback(servicer.close)
    names = [servicer.name for servicer in servicers]
    health = Health(names, assembly.apart)
    call_log, open_calls = CallLog(metrics.count_call, settings.log_calls), OpenCalls(metrics.count_refusal)
    strangers = Strangers(Addresses(settings.trust_proxy), settings.limits, lambda: time.monotonic_ns() // 1_000_000)
    reading = Reading(strangers, metrics.count_call, metrics.count_refusal)
    open_streams = Held(settings.limits.watches_per_subject, settings.limits.watches, "too many streams are open")
    server = lasting_server(
        [reading, call_log, open_calls, *assembly.layers, LimitedOpenMethods(strangers, open_streams)],
        [
            *_OPTIONS,
            # Only workers may share the port: a second service on a shared port would receive half of the calls.
            ("grpc.so_reuseport", int(bool(settings.worker))),
            ("grpc.max_allowed_incoming_connections", settings.limits.connections),
        ],
        settings.limits.watches + settings.limits.plays + MOST_OTHER_CALLS,
    )
    for servicer in servicers:
        servicer.add(server)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    reflection.enable_server_reflection([*names, HEALTH, reflection.SERVICE_NAME], server)
    bound = _listen(server, settings, None if secured is None else secured.credentials())
    # The store has just answered; without this, health would report NOT_SERVING until the first check.
    serves = not await is_replaced(log)
    metrics.serves(serves=serves)
    await health.set_serving(serving=serves, apart={name: works() for name, works in assembly.apart.items()})
    await server.start()
    stack.push_async_callback(_stop, server)
    for companion in assembly.companions:
        stack.push_async_callback(companion.close)
        companion.start(bound)
    certificates = None
    if secured is not None:
        secured.clients = [companion.renew for companion in assembly.companions]
        certificates = secured.certificates
        stack.push_async_callback(certificates.loop.close)
        certificates.loop.start()
    listening = Listening(bound, settings, keys.head.key_id)
    return _Running(listening, store, log, server, health, open_calls, assembly, shared_keys, metrics, certificates)


async def _measure_the_loop(metrics: Metrics) -> None:
    """Measure periodically by how much the event loop is late."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + LOOP_LOOK_SECONDS
        await asyncio.sleep(LOOP_LOOK_SECONDS)
        metrics.loop_lagged(max(0.0, loop.time() - due))


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


async def _stop(server: grpc.aio.Server, grace_seconds: float = 0) -> None:
    """Cancel the remaining calls, and log a warning if the server does not stop in time."""
    stopping = asyncio.ensure_future(server.stop(grace_seconds))
    done, _ = await asyncio.wait({stopping}, timeout=grace_seconds + CLOSE_SECONDS)
    if not done:
        structlog.get_logger().warning("the server does not stop")


_OPTIONS: Final = [
    ("grpc.max_receive_message_length", MOST_REQUEST_BYTES),
    ("grpc.max_metadata_size", MOST_METADATA_BYTES),
    ("grpc.absolute_max_metadata_size", MOST_METADATA_BYTES),
    ("grpc.max_concurrent_streams", MOST_STREAMS_A_CONNECTION),
    # Keeps the initial flow-control window of a stream: gRPC would let it grow to megabytes.
    ("grpc.http2.bdp_probe", 0),
    # Calls received but not yet accepted; above this gRPC cancels calls, below the hard limit at random.
    ("grpc.server.max_pending_requests", MOST_STREAMS_A_CONNECTION),
    ("grpc.server.max_pending_requests_hard_limit", 2 * MOST_STREAMS_A_CONNECTION),
    # A feed may be silent for long: the server detects clients that are gone, and accepts frequent keepalive pings.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
]


@asynccontextmanager
async def _connect(store: Store, settings: Settings) -> AsyncIterator[RedisLog]:
    log = await connect(store, settings)
    try:
        await recognise(log, settings.data)
        yield log
    finally:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await log.close()
        except TimeoutError:
            structlog.get_logger().warning("appends were broken off: the store does not answer")


def _listen(server: grpc.aio.Server, settings: Settings, credentials: grpc.ServerCredentials | None) -> Listen:
    address = settings.listen
    try:
        if credentials is None:
            port = server.add_insecure_port(str(address))
        else:
            port = server.add_secure_port(str(address), credentials)
    except RuntimeError:
        raise NotListening.at(address, why_not(address)) from None
    return Listen(address.host, port)
