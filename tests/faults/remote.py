"""Clients of the simulation that call real processes over real sockets."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final

import grpc
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status

from rollbook.identity.tokens import OWN_ISSUER, Issuer, Role, Subject
from rollbook.v1 import feed_pb2_grpc, match_pb2_grpc
from rollbook.v1.refusals_pb2 import RefusalDetail, RefusalReason
from tests.sim.client import Client
from tests.sim.observations import History, Viewer
from tests.sim.process import Gone, Refused

CONNECT: Final[Sequence[tuple[str, int]]] = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
]
OWN_FAILURE: Final = "something is wrong with the service"
"""The details of an INTERNAL status that the service itself sends; any other INTERNAL comes from the connection."""

_DETAILS: Final = "grpc-status-details-bin"
_PREFIX: Final = "REFUSAL_REASON_"
_DAY_SECONDS: Final = 86_400


class RemoteProcess:
    """A process of the service reached by its address, with the interface that the simulation's clients use."""

    def __init__(self, name: str, address: str, options: Sequence[tuple[str, int]] = CONNECT) -> None:
        """Open a channel to this address."""
        self.name = name
        self.channel = grpc.aio.insecure_channel(address, options=options)
        channel: Any = self.channel
        self._stubs: tuple[Any, ...] = (
            match_pb2_grpc.MatchServiceStub(channel),
            feed_pb2_grpc.FeedServiceStub(channel),
        )

    @staticmethod
    def time_ms() -> int:
        """The clock that all clients share, in milliseconds."""
        return time.time_ns() // 1_000_000

    async def answer(self, method: str, request: Message, token: str, seconds: float) -> Message:
        """Return the answer to a call.

        Raises Refused, Gone if the connection breaks, TimeoutError if the deadline passes.
        """
        try:
            answer: Message = await self._method(method)(request, metadata=_metadata(token), timeout=seconds)
        except grpc.aio.AioRpcError as error:
            raise _raised(error) from error
        return answer

    @asynccontextmanager
    async def stream(self, method: str, request: Any, token: str, window: int) -> AsyncIterator[RemoteStream]:
        """Open a streaming call; cancel it at the end."""
        del window
        call = self._method(method)(request, metadata=_metadata(token))
        try:
            yield RemoteStream(call)
        finally:
            call.cancel()

    async def close(self) -> None:
        """Close the channel."""
        await self.channel.close()

    def _method(self, name: str) -> Any:
        return next(getattr(stub, name) for stub in self._stubs if hasattr(stub, name))


class RemoteStream:
    """The messages of a streaming call."""

    def __init__(self, call: Any) -> None:
        """Read from this call."""
        self._call = call

    async def next(self) -> tuple[Message, int] | None:
        """Return the next message and its time, or None at the end.

        Raises Refused, or Gone if the connection breaks.
        """
        try:
            message = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise _raised(error) from error
        return None if message is grpc.aio.EOF else (message, RemoteProcess.time_ms())


def _metadata(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


def _raised(error: grpc.aio.AioRpcError) -> Exception:
    detail = RefusalDetail()
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            for packed in Status.FromString(value).details:
                packed.Unpack(detail)
    if detail.reason == 0 and error.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}:
        return Gone(error.details())
    if detail.reason == 0 and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return TimeoutError(error.details())
    if error.code() is grpc.StatusCode.INTERNAL and error.details() != OWN_FAILURE:
        # gRPC reports a stream that was reset by a dying server as INTERNAL.
        return Gone(error.details())
    reason = RefusalReason.Name(detail.reason).removeprefix(_PREFIX) if detail.reason else ""
    return Refused(error.code().name, reason, error.details() or "", detail)


class Caller(Client):
    """A client with a token of a real service, which can reach all its processes."""

    def __init__(  # noqa: PLR0917 - who it is, and how it calls
        self,
        name: str,
        role: Role,
        issuer: Issuer,
        processes: Sequence[RemoteProcess],
        history: History,
        chance: random.Random,
    ) -> None:
        """Mint a token for a day."""
        now = int(time.time())
        self.token = issuer.mint(name, role, name=name, issued_at=now - 60, lifetime_seconds=_DAY_SECONDS)
        self.viewer = Viewer(name, Subject(OWN_ISSUER, name, role, (), name, 0).key)
        self.chance = chance
        self._processes: Any = processes
        self._history = history
        self._requests = count(1)
        self._watches = count(1)
        self._answered = {}
        self._process: Any = chance.choice(processes)

    async def _travel(self) -> None:
        """Does nothing: the network is real."""
