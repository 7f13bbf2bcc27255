"""The gRPC health service: all services share one store and one status; other checks have names of their own.

The library's servicer never ends its watches, so a server with a watcher could not be drained.
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
    """Reports whether the service serves; the empty name means the whole service."""

    def __init__(self, services: Iterable[str], apart: Iterable[str] = ()) -> None:
        """Start with NOT_SERVING for these services and for the separate checks in `apart`."""
        self._services = ("", *services)
        self._serving = dict.fromkeys((*self._services, *apart), False)
        self._draining = False
        self._changed = asyncio.Condition()

    async def set_serving(self, *, serving: bool, apart: Mapping[str, bool] = MappingProxyType({})) -> None:
        """Set the status of all services and of the separate checks; after `drain` the status stays NOT_SERVING."""
        async with self._changed:
            self._serving |= dict.fromkeys(self._services, serving) | dict(apart)
            self._changed.notify_all()

    async def drain(self) -> None:
        """Report NOT_SERVING for good, and end all watches."""
        self._draining = True
        await self.set_serving(serving=False)

    async def Check(  # noqa: N802 - named by the contract
        self, request: health_pb2.HealthCheckRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> health_pb2.HealthCheckResponse:
        """The status of one service; aborts with NOT_FOUND if the name is unknown."""
        if request.service not in self._serving:
            await context.abort(grpc.StatusCode.NOT_FOUND, "there is no such service here; reflection lists them")
        return health_pb2.HealthCheckResponse(status=self._status(request.service))

    async def List(  # noqa: N802 - named by the contract
        self, _request: Any, _context: grpc.aio.ServicerContext[Any, Any]
    ) -> Any:
        """Return the status of every service, under the names that Check accepts."""
        statuses = {name: health_pb2.HealthCheckResponse(status=self._status(name)) for name in self._serving}
        return health_pb2.HealthListResponse(statuses=statuses)  # type: ignore[attr-defined]  # its types are older

    async def Watch(  # noqa: N802 - named by the contract
        self, request: health_pb2.HealthCheckRequest, _context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Send the status at once and after every change, until the drain."""
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
