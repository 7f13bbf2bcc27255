"""Connections of browsers with time limits, so that half-sent requests cannot use up all connections."""

from __future__ import annotations

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from rollbook_clients.web.policy import HEADERS, POLICY

HEADER_SECONDS: Final = 10.0
"""Time for the complete header of a request, from the connection or the header's first byte on."""

BODY_SECONDS: Final = 5.0
"""How often the rate of a body is checked."""

BODY_BYTES_PER_SECOND: Final = 1_000

IDLE_SECONDS: Final = 15
"""Time for which a connection is kept open for another request."""


class BoundedConnection(H11Protocol):
    """A connection that is closed if a header is late, or a body is slower than 1 kB/s."""

    _phase: object = None
    """The state of the browser's side for which the timer runs: h11.IDLE before a header, h11.SEND_BODY in a body."""
    _timer: asyncio.TimerHandle | None = None
    _received = 0
    """Bytes received since the timer was set."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first header."""
        super().connection_made(transport)
        self._time(h11.IDLE)

    def data_received(self, data: bytes) -> None:
        """Pass data on, then wait for what comes next."""
        super().data_received(data)
        self._received += len(data)
        self._time(self.conn.their_state)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._time(h11.CLOSED)

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is no HTTP, with the headers of all responses."""
        headers = {"content-type": "text/plain; charset=utf-8", "connection": "close", **HEADERS}
        head = [*headers.items(), ("content-security-policy", POLICY), ("cache-control", "no-store")]
        for event in (h11.Response(status_code=400, headers=head), h11.Data(data=msg.encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _time(self, phase: object) -> None:
        """Set the timer if another phase has begun."""
        if phase is self._phase:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._phase, self._timer, self._received = phase, None, 0
        if phase is h11.IDLE:
            self._timer = self.loop.call_later(HEADER_SECONDS, self._close)
        elif phase is h11.SEND_BODY:
            self._timer = self.loop.call_later(BODY_SECONDS, self._check_rate)

    def _check_rate(self) -> None:
        # While the page does not read, or has not asked for the body yet, the browser cannot send.
        waits = self.flow.read_paused or self.conn.they_are_waiting_for_100_continue
        if self._received < BODY_BYTES_PER_SECOND * BODY_SECONDS and not waits:
            self._close()
            return
        self._phase = None
        self._time(h11.SEND_BODY)

    def _close(self) -> None:
        self.transport.abort()
