"""Companions: client programs that the service starts, restarts when they exit, and ends when it ends.

A companion is a command of which the service knows only the name. Its first input frame is a JSON object with the
address of the service, credentials, and the program's own parameters. Its output frames are JSON objects with log
entries. When its standard input closes, it finishes its calls and exits.
"""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import structlog
from cryptography import x509

from rollbook import processes
from rollbook.server.configuration.settings import Listen, Tls
from rollbook.server.health.restarts import RestartPauses

DRAIN_SECONDS: Final = 5.0
LAST_WORDS_SECONDS: Final = 2.0
"""How long the program may run after its output has closed."""

MOST_LOGGED_BYTES: Final = 64 << 10

_LEVELS: Final = {"debug", "info", "warning", "error"}
_log = structlog.get_logger()


class CompanionMissing(Exception):
    """No installed package offers the companion's command."""


class CompanionProcess(ABC):
    """Runs one companion as long as the service runs."""

    def __init__(self, name: str, command: str, needs: str, tls: Tls | None, pass_fds: Sequence[int] = ()) -> None:
        """Prepare to start `command`, which logs call `name`; raises CompanionMissing if the command is not installed.

        The program inherits `pass_fds`. `needs` is the flag that requires it, for the error message.
        """
        words = processes.command(command)
        if words is None:
            raise CompanionMissing(f"{needs} needs the command `rollbook {command}`, which no installed package offers")
        self._name = name
        self._words = words
        self._pass_fds = tuple(pass_fds)
        self._certificates = None if tls is None else tls.certificate.read_bytes()
        self._child: processes.Child | None = None
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, address: Listen) -> None:
        """Start the program, which calls the service at this address."""
        self._task = asyncio.create_task(self._keep_going(address))

    async def drain(self) -> None:
        """Ask the program to stop and wait until it has finished its calls; kill it after DRAIN_SECONDS."""
        self._ending.set()
        if self._child is not None:
            self._child.stdin.close()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=DRAIN_SECONDS)
        await self.close()

    async def close(self) -> None:
        """Kill the program."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def renew(self, certificates: bytes) -> None:
        """Restart the program after its calls in flight, so that it trusts these certificates of the service."""
        self._certificates = certificates
        if self._child is not None:
            self._child.stdin.close()

    @abstractmethod
    def _instructions(self) -> Mapping[str, Any]:
        """The program's own parameters, sent with the address of the service."""

    def _news(self) -> Iterable[Mapping[str, Any]]:
        """Messages to send after the parameters at every start of the program."""
        return ()

    def _receive(self, _said: Mapping[str, Any]) -> bool:
        """Handle a message from the program; returns False if the message is a log entry."""
        return False

    def _send(self, message: Mapping[str, Any]) -> None:
        """Send another message to the program, if it is running."""
        if self._child is not None and not self._child.stdin.is_closing():
            self._child.stdin.write(processes.frame(json.dumps(message).encode()))

    async def _keep_going(self, address: Listen) -> None:
        pauses = RestartPauses(first_seconds=1.0, longest_seconds=60.0, lived_seconds=60.0)
        while True:
            began = time.monotonic()
            code = await self._run(address)
            if self._ending.is_set():
                return
            pause = pauses.after(time.monotonic() - began)
            _log.warning(f"{self._name} has ended, and is started again", code=code, in_seconds=pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ending.wait()
                    return

    async def _run(self, address: Listen) -> int | None:
        """Run the program once and return its exit code; None if it had to be killed."""
        async with processes.running(self._words, pass_fds=self._pass_fds) as child:
            self._child = child
            self._send({**self._service(address), **self._instructions()})
            for more in self._news():
                self._send(more)
            if self._ending.is_set():
                child.stdin.close()
            try:
                with suppress(processes.CutOff):
                    while True:
                        self._relay(await processes.receive_frame(child.stdout, MOST_LOGGED_BYTES))
            finally:
                self._child = None
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    return await child.wait()
            return None

    def _service(self, address: Listen) -> Mapping[str, Any]:
        certificates = self._certificates
        return {
            "address": str(_reachable(address)),
            "certificates": None if certificates is None else certificates.decode("ascii", "replace"),
            "server_name": "" if certificates is None else certified_name(certificates),
        }

    def _relay(self, data: bytes) -> None:
        """Handle or log a message from the program."""
        try:
            said = json.loads(data)
            if self._receive(said):
                return
            level, event = str(said.pop("level")), str(said.pop("event"))
        except (ValueError, AttributeError, KeyError, TypeError):
            _log.warning(f"{self._name} is not understood")
            return
        getattr(_log, level if level in _LEVELS else "warning")(event, **said)


def certified_name(certificates: bytes) -> str:
    """A name for which the first of these PEM certificates is valid; empty if the certificate has none."""
    certificate, *_ = x509.load_pem_x509_certificates(certificates)
    names: Sequence[object] = ()
    with suppress(x509.ExtensionNotFound):
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names = [
            *alternatives.get_values_for_type(x509.DNSName),
            *alternatives.get_values_for_type(x509.IPAddress),
        ]
    if not names:
        names = [name.value for name in certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)]
    return str(names[0]).replace("*", "house", 1) if names else ""


def _reachable(address: Listen) -> Listen:
    """An address at which a client on this machine reaches a service that may listen on all interfaces."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not listened on
    return Listen(everywhere.get(address.host, address.host), address.port)
