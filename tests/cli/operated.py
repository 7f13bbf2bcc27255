"""A service as an operator has it: two processes over one store, and `rollbook admin`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc

from rollbook.identity.tokens import Issuer, Role
from rollbook.v1 import match_pb2
from rollbook.v1.cant_stop_pb2 import CantStopOptions
from rollbook.v1.games_pb2 import Options
from tests.server.rpc.talking import Refused, refused
from tests.server.serving import READY_SECONDS, Service
from tests.server.strangers import Line
from tests.storage.servers import Server

SERVE = [sys.executable, "-m", "rollbook", "serve", "--listen", "127.0.0.1:0", "--log-level", "error"]
IN_FORCE_SECONDS = 2.0
PATIENCE_SECONDS = 100
"""Each command is a separate process, which can take seconds to start on a busy machine."""


@dataclass
class Site:
    """Two replicas over one store, and the token of their operator."""

    store: Server
    services: tuple[Service, Service]
    token: str
    issuer: Issuer

    def admin(self, *words: str, code: int = 0, at: int = 0, token: str | None = None) -> str:
        """Run `rollbook admin` and return its output; fail unless the exit code is `code`."""
        command = [sys.executable, "-m", "rollbook", "admin", *words, "--service", self.services[at].address]
        done = subprocess.run(
            [*command, "--token", self.token if token is None else token],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert code == done.returncode, done.stderr
        return done.stdout if code == 0 else done.stdout + done.stderr

    def token_of(self, sub: str, role: Role = Role.PLAYER) -> str:
        """A valid token."""
        return self.issuer.mint(sub, role, name=sub, issued_at=int(time.time()), lifetime_seconds=3_600)

    def acts(self, what: str) -> list[dict[str, Any]]:
        """The log lines of operator acts of this kind."""
        lines = [line for each in self.services for line in each.lines]
        return [line for line in lines if line["event"] == "an operator has acted" and line["what"] == what]


def by(token: str) -> list[tuple[str, str]]:
    """Call metadata with this token."""
    return [("authorization", f"Bearer {token}")]


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run the scenario; fail after `PATIENCE_SECONDS`."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await scenario()

    asyncio.run(bounded())


async def opened(line: Line, token: str, request_id: str = "a-request") -> str:
    """Open a match with this token and return its id."""
    request = match_pb2.OpenMatchRequest(request_id=request_id, seats=2, options=Options(cant_stop=CantStopOptions()))
    return str((await line.matches.OpenMatch(request, metadata=by(token))).match_id)


async def is_refused(call: Callable[[], Awaitable[Any]], reason: str) -> Refused:
    """Retry the call until it is refused with this reason; fail after the time that a ban may take to apply."""
    deadline = time.monotonic() + IN_FORCE_SECONDS + READY_SECONDS / 2
    while True:
        try:
            await call()
        except grpc.aio.AioRpcError as error:
            assert reason == refused(error).reason
            return refused(error)
        assert time.monotonic() < deadline, "nothing is refused"
        await asyncio.sleep(0.05)
