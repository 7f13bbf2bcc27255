"""What a browser may do with our pages, and what it must bring to be heard."""

from __future__ import annotations

import hmac
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OVERLAY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors *"
)
"""Programs that mix pictures for a stream show it in a frame, and paint it by a sheet of their own."""

HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

MOST_BODY_BYTES: Final = 9 * 1024 * 1024
"""A replay file, and what a form says around it."""

MOST_JUDGED_BYTES: Final = 64 * 1024 * 1024
"""A tournament, for judges."""


class Policy:
    """Puts what every response has on it, and refuses bodies that are too large."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = MOST_JUDGED_BYTES if scope["path"] == "/judge" else MOST_BODY_BYTES
        is_overlay = scope["path"].endswith("/overlay")
        received = 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise TooLarge
            return message

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["content-security-policy"] = OVERLAY if is_overlay else POLICY
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, bounded, headed)


class TooLarge(Exception):
    """More was sent than any of our forms can have."""


def is_ours(expected: str, given: object) -> bool:
    """Whether a form brings back what it was given."""
    return isinstance(given, str) and hmac.compare_digest(expected.encode(), given.encode())
