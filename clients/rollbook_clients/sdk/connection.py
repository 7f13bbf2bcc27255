"""Calls to a service, each with a deadline; repeated with the same content until a reply arrives or `patience` ends.

A failed connection is replaced at once, and closed when the calls that still use it have ended. So only this module
decides how attempts are spaced, and a silent server costs one deadline in all instead of one per call.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

import grpc
from grpc.aio import AioRpcError, UnaryStreamMultiCallable, UnaryUnaryMultiCallable

from rollbook.v1.admin_pb2_grpc import AdminServiceStub
from rollbook.v1.feed_pb2_grpc import FeedServiceStub
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from rollbook.v1.replay_pb2_grpc import ReplayServiceStub
from rollbook_clients.sdk.patience import Attempts, Deadline, Patience
from rollbook_clients.sdk.refusals import Refused, RollbookError, Unreachable, refusal_of

Metadata: TypeAlias = tuple[tuple[str, str], ...]

Q = TypeVar("Q")
A = TypeVar("A")

MOST_ANSWER_BYTES: Final = 64 * 1_024 * 1_024
"""Limit for one message; a frame that catches up may hold a whole match."""

_OPTIONS: Final = [
    # Each channel has its own transport; with a shared pool a new channel would get the broken transport of the old
    # one.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.max_receive_message_length", MOST_ANSWER_BYTES),
]

_LOST: Final = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    # Statuses for HTTP/2 streams that a proxy has reset.
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
}

_LATER: Final = {
    "STORE_UNAVAILABLE",
    "NOT_DURABLE",
    "STORE_REPLACED",
    "ARCHIVE_UNAVAILABLE",
    "EVENT_BODY_UNKNOWN",
    "RULESET_UNKNOWN",
    "CONTENDED",
}
"""Reasons of refusals that are temporary: the same call is repeated after a pause."""


class Lost(Exception):
    """The attempt failed; the same call can be repeated after a pause."""

    def __init__(self, why: str, pause: float = 0.0, *, in_order: bool = False) -> None:
        super().__init__(why)
        self.pause = pause
        """Seconds that the service asks the client to wait before the next attempt."""
        self.in_order = in_order
        """Whether the service ended the stream on purpose and expects the client to start it again at once."""


class Closed(RollbookError):
    """The table was closed while a call was waiting, or before the call."""


class Line:
    """A channel, its stubs, and the number of calls that are using it."""

    def __init__(self, address: str, authorities: bytes | None, server_name: str) -> None:
        """Create the channel; it connects at the first call."""
        if authorities is None:
            self.channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        else:
            credentials = grpc.ssl_channel_credentials(authorities or None)
            named = [("grpc.ssl_target_name_override", server_name)] if server_name else []
            self.channel = grpc.aio.secure_channel(address, credentials, options=[*_OPTIONS, *named])
        self.matches = MatchServiceStub(self.channel)
        self.feeds = FeedServiceStub(self.channel)
        self.identity = IdentityServiceStub(self.channel)
        self.replays = ReplayServiceStub(self.channel)
        self.admin = AdminServiceStub(self.channel)
        self.users = 0


class Connection:
    """A service at an address."""

    def __init__(  # noqa: PLR0913 - address, credentials, timing
        self,
        address: str,
        authorities: bytes | None,
        patience: Patience,
        random: Random,
        server_name: str = "",
        *,
        around: Callable[[], Metadata] = lambda: (),
    ) -> None:
        """`around` returns metadata for each call, in addition to the caller's own. Connects at the first call."""
        self._around = around
        self.address = address
        self.patience = patience
        self._authorities = authorities
        self._server_name = server_name
        self._random = random
        self._line: Line | None = None
        self._used: set[Line] = set()
        """Channels with running calls, including replaced ones."""
        self._closed = False

    def attempts(self) -> Attempts:
        """A new series of pauses between attempts."""
        return Attempts(self.patience, self._random)

    async def call(
        self,
        of: Callable[[Line], UnaryUnaryMultiCallable[Q, A]],
        request: Q,
        metadata: Metadata = (),
        seconds: float | None = None,
    ) -> A:
        """Call with retries and return the reply; raises Unreachable if none arrives within `seconds`."""
        deadline = Deadline(self.patience.call if seconds is None else seconds)
        attempts = self.attempts()
        while True:
            try:
                async with self._using() as line:
                    timeout = min(self.patience.answer, max(deadline.left, 0.01))
                    return await of(line)(request, timeout=timeout, metadata=(*metadata, *self._around()))
            except Lost as lost:
                if not await deadline.sleep(max(lost.pause, attempts.pause())):
                    raise Unreachable(f"no service answers at {self.address} ({lost})") from None

    async def stream(
        self,
        of: Callable[[Line], UnaryStreamMultiCallable[Q, A]],
        request: Q,
        metadata: Metadata = (),
    ) -> AsyncGenerator[A, None]:
        """Yield the messages of one stream until the service ends it; raises Lost if it breaks or goes silent."""
        async with self._using() as line:
            call = of(line)(request, metadata=(*metadata, *self._around()))
            try:
                while True:
                    try:
                        async with asyncio.timeout(self.patience.silence):
                            message: Any = await call.read()
                    except TimeoutError:
                        self._replace(line)
                        raise Lost(f"nothing was received for {self.patience.silence:g} seconds") from None
                    if message is grpc.aio.EOF:
                        return
                    yield message
            finally:
                call.cancel()

    def renew(self) -> None:
        """Use a new channel from now on, because this server is shutting down."""
        if self._line is not None:
            self._replace(self._line)

    async def close(self) -> None:
        """Close all channels; running calls raise Closed."""
        self._closed = True
        lines = self._used if self._line is None else self._used | {self._line}
        for line in tuple(lines):
            await line.channel.close()

    @asynccontextmanager
    async def _using(self) -> AsyncIterator[Line]:
        """The channel to call on; converts errors of gRPC into Lost, Refused or Closed."""
        if self._closed:
            raise Closed("the table was left")
        if self._line is None:
            self._line = Line(self.address, self._authorities, self._server_name)
        line = self._line
        line.users += 1
        self._used.add(line)
        try:
            yield line
        except AioRpcError as error:
            raise self._convert_error(line, error) from None
        except asyncio.CancelledError:
            if self._was_hung_up():
                raise Closed("the table was left") from None
            raise
        finally:
            line.users -= 1
            if not line.users:
                self._used.discard(line)
                if line is not self._line:
                    await line.channel.close()

    def _was_hung_up(self) -> bool:
        """Whether the call was cancelled by closing its channel rather than by cancelling the waiting task."""
        task = asyncio.current_task()
        return self._closed and task is not None and not task.cancelling()

    def _convert_error(self, line: Line, error: AioRpcError) -> Lost | Refused:
        refusal = refusal_of(error)
        if (not refusal.reason and error.code() in _LOST) or refusal.reason == "DRAINING":
            self._replace(line)
            return Lost(refusal.why)
        if refusal.reason in _LATER:
            return Lost(str(refusal))
        if refusal.reason == "RATE_LIMITED":
            return Lost(str(refusal), int(refusal.facts.get("retry_after_ms", "0")) / 1_000)
        return refusal

    def _replace(self, line: Line) -> None:
        """Drop the channel if it is still the current one; the next call creates a new one."""
        if self._line is line:
            self._line = None
