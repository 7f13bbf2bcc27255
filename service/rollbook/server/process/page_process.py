"""The page (watch, play, replay and verify in a browser), in a separate process that uses the public API.

The process is the command `rollbook page`. The service keeps the listening socket, so that browsers wait during a
restart of the page instead of being refused.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from typing import Any, Final

import structlog

from rollbook.identity.tokens import Issuer, Role
from rollbook.server.configuration.settings import Listen, Settings
from rollbook.server.log_output import announce
from rollbook.server.process.child_process import CompanionMissing, CompanionProcess
from rollbook.server.process.ports import NotListening, once_free

COMMAND: Final = "page"
SUBJECT: Final = "page"

TOKEN_SECONDS: Final = 7 * 24 * 3_600
"""The page exits before its token expires, and is restarted with a new one."""

MOST_WAITING: Final = 1_024

_log = structlog.get_logger()


class PageProcess(CompanionProcess):
    """Runs the process of the page as long as the service runs."""

    def __init__(self, issuer: Issuer, settings: Settings, listener: socket.socket, command: str = COMMAND) -> None:
        """Prepare to serve connections to this listening socket; raises CompanionMissing if no page is installed."""
        super().__init__("the page", command, "--web", settings.tls, pass_fds=(listener.fileno(),))
        self._issuer = issuer
        self._hosts = {
            "hosts": settings.web_host,
            "https": settings.web_https,
            "proxies": [str(network) for network in settings.trust_proxy],
        }
        self._listener = listener

    def start(self, address: Listen) -> None:
        """Start the process, and log the URL of the page."""
        super().start(address)
        host, port = self._listener.getsockname()[:2]
        announce(f"the page is at http://{Listen(host, port)}/", page=f"http://{Listen(host, port)}/")

    async def close(self) -> None:
        """Kill the process and close the listening socket."""
        await super().close()
        self._listener.close()

    def _instructions(self) -> Mapping[str, Any]:
        token = self._issuer.mint(
            SUBJECT, Role.GATEWAY, name=SUBJECT, issued_at=int(time.time()), lifetime_seconds=TOKEN_SECONDS
        )
        return {"listener": self._listener.fileno(), "token": token, "seconds": TOKEN_SECONDS, **self._hosts}


async def page_of(settings: Settings, issuer: Issuer) -> PageProcess | None:
    """The page that the settings ask for; None if there is none.

    Raises NotListening or CompanionMissing if the page is required but cannot be started. If the page is optional, the
    cause is logged and the service runs without it.
    """
    if settings.web is None:
        return None
    try:
        listener = await _listener(settings.web)
    except OSError as failure:
        why = failure.strerror or str(failure)
        if settings.web_is_needed:
            raise NotListening(f"cannot listen on {settings.web} for the page: {why}") from None
        _log.warning(f"there is no page, because {settings.web} cannot be had; --web names another place", why=why)
        return None
    try:
        return PageProcess(issuer, settings, listener)
    except CompanionMissing:
        listener.close()
        if settings.web_is_needed:
            raise
        return None


async def _listener(address: Listen) -> socket.socket:
    """A listening socket, once a killed service has released the port; raises OSError if the port stays in use."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    return await once_free(
        lambda: socket.create_server((address.host, address.port), family=family, backlog=MOST_WAITING)
    )
