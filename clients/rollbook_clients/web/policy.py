"""Security headers of all pages, a limit on request bodies, and the check of form tokens."""

from __future__ import annotations

import hmac
import secrets
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rollbook_clients.web.hosts import Hosts
from rollbook_clients.web.words import prefer_language, words_in

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OVERLAY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors *"
)
"""Streaming programs show the overlay in a frame, and style it with their own style sheet."""

HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
HSTS: Final = "max-age=31536000"

MOST_BODY_BYTES: Final = 9 * 1024 * 1024
"""Limit for a replay file and the form around it."""

MOST_JUDGED_BYTES: Final = 64 * 1024 * 1024
"""Limit for a whole tournament, on the judge's page."""


class Policy:
    """Middleware that refuses hosts, sets the security headers and limits the size of bodies."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; reading a body above the limit raises TooLarge."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = MOST_JUDGED_BYTES if scope["path"] == "/judge" else MOST_BODY_BYTES
        is_overlay = scope["path"].endswith("/overlay")
        received = 0

        async def receive_bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise TooLarge
            return message

        async def send_headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["content-security-policy"] = OVERLAY if is_overlay else POLICY
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
                if self._hosts.is_secure:
                    headers["strict-transport-security"] = HSTS
            await send(message)

        asked = Headers(scope=scope)
        if self._hosts.allow(asked.get("host", "")):
            await self._app(scope, receive_bounded, send_headed)
        else:
            words = words_in(prefer_language(asked.get("accept-language", "")))
            await PlainTextResponse(words("error.host"), 421)(scope, receive, send_headed)


class TooLarge(Exception):
    """The request body is larger than any of our forms needs."""


def mask(token: str) -> str:
    """A form token in another form for each response, so that sizes of compressed pages reveal nothing about it."""
    noise = secrets.token_bytes(len(token) // 2)
    return (noise + _xor(noise, bytes.fromhex(token))).hex()


def is_ours(expected: str, given: object) -> bool:
    """Whether a form returned its token as `mask` wrote it, compared in constant time."""
    try:
        masked = bytes.fromhex(str(given))
    except ValueError:
        return False
    half = len(expected) // 2
    return len(masked) == 2 * half and hmac.compare_digest(_xor(masked[:half], masked[half:]).hex(), expected)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(one, other, strict=True))
