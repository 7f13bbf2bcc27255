"""A process of the service as `rollbook serve` assembles it, without gRPC; it can be killed at any step.

All its calls and loops run in tasks that belong to the process. A kill cancels them, and from then on the process
cannot reach the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sqlite3
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message

from rollbook.identity.service_keys import SigningKey
from rollbook.identity.tokens import OWN_ISSUER, Role, TrustedIssuer, Verifier
from rollbook.match.chain import Entry, HeadKeys
from rollbook.replay_file.key_lines import key_id
from rollbook.server.app import Parts
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.given import Given
from rollbook.server.health.metrics import MeasuredLog, Metrics
from rollbook.server.lobby.archive_index import ArchiveIndex
from rollbook.server.lobby.finished_matches import Finished
from rollbook.server.refusals import Refusal, refusal_of
from rollbook.server.rpc.errors import detail_of
from rollbook.storage.archive.log import ArchivedLog
from rollbook.storage.port import MatchStore
from rollbook.v1.feed_pb2 import LobbyFrame, MatchFrame
from rollbook.v1.refusals_pb2 import RefusalDetail
from tests.sim.clock import Clock
from tests.sim.observations import Decided, History
from tests.sim.store import SimulatedLog

SERVICE_KEY: Final = b"s" * 32
ARCHIVE_AFTER_SECONDS: Final = 5
PLENTY: Final = Limits(requests_at_once=10**6)
FRAMES: Final[dict[str, type[Message]]] = {"WatchMatch": MatchFrame, "WatchLobby": LobbyFrame}
"""The messages of streams whose handlers also yield serialised frames."""


def signing_key(seed: bytes) -> SigningKey:
    """A key that is the same in all processes and simulations."""
    private = Ed25519PrivateKey.from_private_bytes(seed * 32)
    return SigningKey(private, {key_id(private.public_key()): private.public_key()})


HEAD_KEY: Final = signing_key(b"h")
REPLAY_KEY: Final = signing_key(b"r")
TOKEN_KEY: Final = signing_key(b"t")


class Refused(Exception):
    """The refusal of a call as its client reads it."""

    def __init__(self, status: str, reason: str, why: str, detail: RefusalDetail) -> None:
        """Keep status name, reason, sentence and details."""
        super().__init__(status, reason, why)
        self.status = status
        self.reason = reason
        self.why = why
        self.detail = detail


class Gone(Exception):
    """The process died before it answered."""


_RUNS_IN: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


def running_process() -> Process | None:
    """The process whose task is running, or None for clients and faults."""
    return _RUNS_IN.get()


def owned_task(loop: asyncio.AbstractEventLoop, work: Any, **how: Any) -> asyncio.Task[Any]:
    """Task factory of the loop: the task belongs to the process that creates it."""
    task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **how)
    owner = (how.get("context") or contextvars.copy_context()).get(_RUNS_IN)
    if owner is not None:
        owner.own(task)
    return task


@dataclass(frozen=True, slots=True)
class _Call:
    """The parts of gRPC's context that handlers use."""

    token: str

    def peer(self) -> str:
        """A loopback address, which has no limit by address."""
        return "ipv4:127.0.0.1:4711"

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """The caller's token."""
        return (("authorization", f"Bearer {self.token}"),)


class _IndexInMemory(ArchiveIndex):
    """An index that disappears with its process."""

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(":memory:", check_same_thread=False)

    def _files(self) -> Iterator[Path]:
        return iter(())


class Process:
    """A process: its clock, its tasks, and its parts, which are created at every start."""

    def __init__(
        self,
        name: str,
        clock: Clock,
        history: History,
        connect: Callable[[Process], SimulatedLog],
        secret: Callable[[], bytes],
    ) -> None:
        """`connect` returns a log for the process, and `secret` draws the matches' secrets."""
        self._history = history
        self.name = name
        self.clock = clock
        self.time_ms: Callable[[], int] = clock.ms
        """The store's time as the process knows it."""
        self.is_up = False
        self.fuse: int | None = None
        """Number of steps after which the process dies, or None."""
        self._connect = connect
        self._draw_secret = secret
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._servicers: tuple[object, ...] = ()
        self._context = contextvars.Context()
        self._died: asyncio.Future[None]

    # Life cycle

    async def start(self) -> None:
        """Start without memory, and serve once assembled; without a store the process dies again."""
        self._context = contextvars.copy_context()
        self._context.run(_RUNS_IN.set, self)
        self._died = asyncio.get_running_loop().create_future()
        self.is_up, self.fuse = True, None
        assembling = self._task(self._assemble())
        await asyncio.wait([assembling])
        if not assembling.cancelled() and assembling.exception() is not None:
            self.kill()

    def kill(self) -> None:
        """Die at once: no task takes another visible step."""
        if not self.is_up:
            return
        self.is_up = False
        self._servicers = ()
        self._died.set_result(None)
        for task in tuple(self._tasks):
            task.cancel()

    def step(self) -> None:
        """Count a message; a dead process raises CancelledError."""
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse <= 0:
                self.kill()
        if _RUNS_IN.get() is self and not self.is_up:
            raise asyncio.CancelledError

    def connect(self) -> SimulatedLog:
        """A new log on the store."""
        return self._connect(self)

    def decides(self, match_id: str, expected: int, entries: Sequence[Entry]) -> None:
        """Record what is about to be appended."""
        self._history.note(Decided(self.name, match_id, expected, tuple(entries)))

    def own(self, task: asyncio.Task[Any]) -> None:
        """Register a task, to be cancelled with the process."""
        self._tasks[task] = None
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)

    def _task(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return asyncio.get_running_loop().create_task(work, context=self._context)

    # Parts

    async def _assemble(self) -> None:
        store = self.connect()
        log = ArchivedLog(store, None)
        finished = Finished(log, _IndexInMemory(Path()))
        own = TrustedIssuer(OWN_ISSUER, TOKEN_KEY.published, frozenset(Role))
        metrics = Metrics()
        parts = Parts(
            Given(
                log=MeasuredLog(log, metrics),
                store=cast("MatchStore", store),
                metrics=metrics,
                head_keys=HeadKeys(HEAD_KEY.private, HEAD_KEY.key_id, HEAD_KEY.published),
                replay_key=REPLAY_KEY,
                service_key=SERVICE_KEY,
                verifier=Verifier([own], self.clock.seconds),
                clock_ms=self.clock.ms,
                steady_ms=self.clock.steady_ms,
                draw_secret=self._draw_secret,
                limits=PLENTY,
                finished=finished,
            )
        )
        self.time_ms = parts.clock
        self._servicers = (parts.match_servicer(), parts.feed_servicer())
        parts.sweeper().loop.start()
        await parts.archivist(log, finished, "", after_seconds=ARCHIVE_AFTER_SECONDS).start()

    # Calls

    async def answer(self, method: str, request: Message, token: str, seconds: float) -> Message:
        """Answer a call; raises Refused, Gone if the process dies, or TimeoutError."""
        handler = self._handler(method)
        task = self._task(_answered(handler(self.hears(method, received(request)), _Call(token))))
        try:
            await asyncio.wait([task, self._died], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not self.is_up:
                raise Gone
            if not task.done():
                raise TimeoutError
            answer: Message = self.says(method, task.result())
            return answer
        finally:
            task.cancel()

    @contextlib.asynccontextmanager
    async def stream(self, method: str, request: Any, token: str, window: int) -> AsyncIterator[Stream]:
        """Open a streaming call; at most `window` messages are in flight."""
        handler = self._handler(method)
        heard = self.hears(method, received(request)) if isinstance(request, Message) else self._hears(method, request)
        stream = Stream(window, self.time_ms, lambda message: self.says(method, received(message, FRAMES.get(method))))
        task = self._task(stream.fill(handler(heard, _Call(token))))
        self._died.add_done_callback(stream.break_off)
        try:
            yield stream
        finally:
            task.cancel()
            self._died.remove_done_callback(stream.break_off)

    async def _hears(self, method: str, requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for request in requests:
            yield self.hears(method, received(request))

    def hears(self, method: str, request: Any) -> Any:
        """A request as it is handled; planted bugs override this."""
        del method
        return request

    def says(self, method: str, message: Any) -> Any:
        """A message as it is sent; planted bugs override this."""
        del method
        return message

    def _handler(self, method: str) -> Callable[[Any, Any], Any]:
        for servicer in self._servicers:
            handler: Callable[[Any, Any], Any] | None = getattr(servicer, method, None)
            if handler is not None:
                return handler
        raise Gone


class Stream:
    """Messages on their way from a handler to its client."""

    def __init__(self, window: int, time_ms: Callable[[], int], says: Callable[[Any], Message]) -> None:
        """At most `window` messages are in flight; the clock is that of the process, and `says` makes what arrives."""
        self._window = window
        self._says = says
        self._time_ms = time_ms
        self._under_way: deque[tuple[Message | Exception | None, int]] = deque()
        self._changed = asyncio.Event()
        self._broken = False

    async def fill(self, messages: AsyncGenerator[Any, None]) -> None:
        """Take the handler's messages as fast as the client reads."""
        try:
            async with contextlib.aclosing(messages) as given:
                async for message in given:
                    await self._send(self._says(message))
        except Exception as error:  # noqa: BLE001 - whatever it is, the client gets an answer
            await self._send(refused(error))
        else:
            await self._send(None)

    async def _send(self, message: Message | Exception | None) -> None:
        while len(self._under_way) >= self._window:
            await self._change()
        self._under_way.append((message, self._time_ms()))
        self._changed.set()

    def break_off(self, _died: object = None) -> None:
        """Notify the client that the stream is broken."""
        self._broken = True
        self._changed.set()

    async def next(self) -> tuple[Message, int] | None:
        """Return the next message and its time, or None at the end.

        Raises Refused, or Gone if the process has died.
        """
        while not self._under_way:
            if self._broken:
                raise Gone
            await self._change()
        message, sent_ms = self._under_way.popleft()
        self._changed.set()
        if isinstance(message, Exception):
            raise message
        return None if message is None else (message, sent_ms)

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


async def _answered(handling: Coroutine[Any, Any, Message]) -> Message:
    try:
        return received(await handling)
    except Exception as error:
        raise refused(error) from error


def refused(error: Exception) -> Refused:
    """The refusal for an error; INTERNAL with the error for the trace, if no client can cause it."""
    refusal = error if isinstance(error, Refusal) else refusal_of(error)
    if refusal is None:
        return Refused("INTERNAL", type(error).__name__, repr(error), RefusalDetail())
    return Refused(refusal.code.name, refusal.reason, refusal.why, detail_of(refusal))


def received(message: Any, kind: type[Message] | None = None) -> Message:
    """A copy of the message through its bytes, as it arrives at the other end; `kind` is that of serialised frames."""
    return (kind or type(message)).FromString(message.SerializeToString())
