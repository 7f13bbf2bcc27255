"""Ports that a service listens on: why one cannot be had, and one that several processes listen on together."""

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
"""How long processes of a service that was killed may still hold a port: they end with it, but not at once."""

_POLL_SECONDS: Final = 0.05

Taken = TypeVar("Taken")

_ABSENT: Final = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
"""A name such as localhost may stand for addresses of a family that this machine does not have."""


class NotListening(Exception):
    """The address cannot be listened on, or not with these certificates."""

    @classmethod
    def at(cls, address: Listen, why: str) -> NotListening:
        """Say which address, and why."""
        return cls(f"cannot listen on {address}: {why}; --listen names another place")


@dataclass(frozen=True, slots=True)
class Listening:
    """A service that can be called from now on."""

    address: Listen
    """With the port that the system chose, if it was asked to."""
    settings: Settings
    head_key_id: str


def why_not(address: Listen) -> str:
    """What the system has against it; gRPC does not tell."""
    try:
        with _alone(address):
            return "the port was taken a moment ago"
    except OSError as failure:
        return failure.strerror or str(failure)


@asynccontextmanager
async def held(address: Listen) -> AsyncIterator[Listen]:
    """Hold a port that nobody else listens on, for processes of this user that listen with SO_REUSEPORT; NotListening.

    Until it is let go of, whoever wants the port alone is refused it. The address comes with the port that the system
    chose, if it was asked to.
    """
    with ExitStack() as stack:
        try:
            bound = await once_free(lambda: stack.enter_context(_held(address)))
        except OSError as failure:
            raise NotListening.at(address, failure.strerror or str(failure)) from None
        yield bound


async def once_free(take: Callable[[], Taken]) -> Taken:
    """Take a port as soon as a service that was killed has let go of it; OSError."""
    deadline = asyncio.get_running_loop().time() + HANDOVER_SECONDS
    while True:
        try:
            return take()
        except OSError as failure:
            if failure.errno != errno.EADDRINUSE or asyncio.get_running_loop().time() > deadline:
                raise
        await asyncio.sleep(_POLL_SECONDS)


@contextmanager
def _held(address: Listen) -> Iterator[Listen]:
    with ExitStack() as stack:
        with _alone(address) as listeners:
            port: int = listeners[0].getsockname()[1]
            for listener in listeners:
                # From here on the port may be shared, and before it is let go of it is held anew, without listening.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                holder = stack.enter_context(socket.socket(listener.family, listener.type, listener.proto))
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                holder.bind(listener.getsockname())
                # What is left of closed connections did not stand in its way; whoever wants to listen alone it stops.
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        yield Listen(address.host, port)


@contextmanager
def _alone(address: Listen) -> Iterator[list[socket.socket]]:
    """Listen alone wherever the address is on this machine; OSError."""
    port = address.port
    with ExitStack() as stack:
        listeners: list[socket.socket] = []
        absent: OSError | None = None
        for family, kind, protocol, _, where in _resolved(address):
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


def _resolved(address: Listen) -> Sequence[tuple[Any, ...]]:
    return socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
