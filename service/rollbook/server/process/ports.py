"""Ports on which a service listens: why one is unavailable, and a port that several processes share."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from rollbook.server.configuration.settings import Listen, Settings

HANDOVER_SECONDS: Final = 2.0
"""How long the processes of a killed service may keep a port: they end shortly after it."""

_POLL_SECONDS: Final = 0.05

Taken = TypeVar("Taken")

_ABSENT: Final = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
"""A name such as localhost can resolve to addresses of a family that this machine does not have."""


class NotListening(Exception):
    """The service cannot listen on the address, or not with these certificates."""

    @classmethod
    def at(cls, address: Listen, why: str) -> NotListening:
        """A NotListening that names the address and the cause."""
        return cls(f"cannot listen on {address}: {why}; --listen names another place")


@dataclass(frozen=True, slots=True)
class Listening:
    """A running service and its address."""

    address: Listen
    """With the port that the system chose, if the configured port was 0."""
    settings: Settings
    head_key_id: str


def why_not(address: Listen) -> str:
    """The system's error message for listening on this address, which gRPC does not report."""
    try:
        with _alone(address):
            return "the port was taken a moment ago"
    except OSError as failure:
        return failure.strerror or str(failure)


@asynccontextmanager
async def hold_port(address: Listen) -> AsyncIterator[Listen]:
    """Reserve a port for this user's processes that listen with SO_REUSEPORT; raises NotListening if it is in use.

    Until the context exits, a process without SO_REUSEPORT cannot listen on the port. Yields the address with the port
    that the system chose, if the given port is 0.
    """
    with ExitStack() as stack:
        try:
            bound = await once_free(lambda: stack.enter_context(_hold(address)))
        except OSError as failure:
            raise NotListening.at(address, failure.strerror or str(failure)) from None
        yield bound


async def once_free(take: Callable[[], Taken]) -> Taken:
    """Call `take` until the port is free, for at most HANDOVER_SECONDS; raises OSError afterwards."""
    deadline = asyncio.get_running_loop().time() + HANDOVER_SECONDS
    while True:
        try:
            return take()
        except OSError as failure:
            if failure.errno != errno.EADDRINUSE or asyncio.get_running_loop().time() > deadline:
                raise
        await asyncio.sleep(_POLL_SECONDS)


@contextmanager
def _hold(address: Listen) -> Iterator[Listen]:
    with ExitStack() as stack:
        with _alone(address) as listeners:
            port: int = listeners[0].getsockname()[1]
            for listener in listeners:
                # Allows sharing of the port; a second socket that does not listen binds the port before this one is
                # closed.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                holder = stack.enter_context(socket.socket(listener.family, listener.type, listener.proto))
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                holder.bind(listener.getsockname())
                # SO_REUSEADDR was needed because of closed connections; without it, processes that want the port alone
                # are refused.
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        yield Listen(address.host, port)


@contextmanager
def _alone(address: Listen) -> Iterator[list[socket.socket]]:
    """Listen without sharing on every local address that the host name resolves to; raises OSError."""
    port = address.port
    with ExitStack() as stack:
        listeners: list[socket.socket] = []
        absent: OSError | None = None
        for family, kind, protocol, _, where in _resolve(address):
            try:
                listener = stack.enter_context(socket.socket(family, kind, protocol))
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((where[0], port, *where[2:]))
                listener.listen()
            except OSError as failure:
                if failure.errno not in _ABSENT:
                    raise
                absent = failure
                continue
            port = listener.getsockname()[1]
            listeners.append(listener)
        if absent is not None and not listeners:
            raise absent
        yield listeners


def _resolve(address: Listen) -> Sequence[tuple[Any, ...]]:
    return socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
