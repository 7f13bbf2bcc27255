"""Health as gRPC defines it: services share one store, and serve or do not serve together; the archive is apart.

The library's own servicer keeps whoever watches waiting for ever, so that no server with a watcher could be drained.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

SERVICE_NAME: Final = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


class Health(health_pb2_grpc.HealthServicer):
    """Says whether the service serves; the empty name asks for the whole of it."""

    def __init__(self, services: Iterable[str], apart: Iterable[str] = ()) -> None:
        """Know these services, and those that are told of apart, and serve none of them yet."""
        self._services = ("", *services)
        self._serving = dict.fromkeys((*self._services, *apart), False)
        self._draining = False
        self._changed = asyncio.Condition()

    async def set_serving(self, *, serving: bool, apart: Mapping[str, bool] = MappingProxyType({})) -> None:
        """Say from now on whether it serves, and what is apart; after `drain` nothing ever does again."""
        async with self._changed:
            self._serving |= dict.fromkeys(self._services, serving) | dict(apart)
            self._changed.notify_all()

    async def drain(self) -> None:
        """Say for good that it does not serve, and let whoever watches go."""
        self._draining = True
        await self.set_serving(serving=False)

    async def Check(  # noqa: N802 - as the contract calls it
        self, request: health_pb2.HealthCheckRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> health_pb2.HealthCheckResponse:
        """Answer once."""
        if request.service not in self._serving:
            await context.abort(grpc.StatusCode.NOT_FOUND, "there is no such service here; reflection lists them")
        return health_pb2.HealthCheckResponse(status=self._status(request.service))

    async def List(  # noqa: N802 - as the contract calls it
        self, _request: Any, _context: grpc.aio.ServicerContext[Any, Any]
    ) -> Any:
        """Return the status of every service, under the names that Check accepts."""
        statuses = {name: health_pb2.HealthCheckResponse(status=self._status(name)) for name in self._serving}
        return health_pb2.HealthListResponse(statuses=statuses)  # type: ignore[attr-defined]  # its types are older

    async def Watch(  # noqa: N802 - as the contract calls it
        self, request: health_pb2.HealthCheckRequest, _context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Answer at once and on every change, up to the drain."""
        told: int | None = None
        while True:
            async with self._changed:
                while (status := self._status(request.service)) == told and not self._draining:
                    await self._changed.wait()
                last = self._draining
            if status != told:
                yield health_pb2.HealthCheckResponse(status=status)
                told = status
            if last:
                return

    def _status(self, service: str) -> int:
        if service not in self._serving:
            return health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        if self._serving[service] and not self._draining:
            return health_pb2.HealthCheckResponse.SERVING
        return health_pb2.HealthCheckResponse.NOT_SERVING
