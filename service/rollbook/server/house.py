"""The house: bots of the service itself, in a process that is a client like any other.

It is the command `rollbook house`, of which the service knows only the name and what is said over its pipes. One frame
goes in first, a JSON object: where the service is and how it proves itself, and for a demo how fast to play, and of
each bot the name, a token, and the secret from which its entropy follows. Behind it comes a frame for each seat that a
bot was asked to, with the same, the match and the strategy. Frames come out, a JSON object each: what is to be logged,
and which of these seats are over. When its standard input ends, the house finishes what is under way. If it ends by
itself it is started again, and told of its seats anew.

The secrets follow from the service key, so that a house that was killed carries on with the matches it finds. Without a
demo it is started when the first bot is asked to a table.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import structlog
from cryptography import x509

from rollbook import processes
from rollbook.identity.tokens import HOUSE, Issuer, Role
from rollbook.server.house_bots import NAMES, HouseBot, secret_of
from rollbook.server.settings import Listen, Tls

COMMAND: Final = "house"

TOKEN_SECONDS: Final = 7 * 24 * 3_600
"""A house whose tokens have expired ends, and is started again with others."""

DRAIN_SECONDS: Final = 5.0
LAST_WORDS_SECONDS: Final = 2.0
"""Between the end of what a house says and its own."""

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
STEADY_SECONDS: Final = 60.0
"""A house that has lived so long is started again soon."""

MOST_LOGGED_BYTES: Final = 64 << 10

_LEVELS: Final = {"debug", "info", "warning", "error"}
_log = structlog.get_logger()


def is_installed() -> bool:
    """Whether some installed package has house bots."""
    return processes.command(COMMAND) is not None


class HouseMissing(Exception):
    """No installed package has house bots."""


class HouseProcess:
    """The process of the house: started, kept going, and ended with the service."""

    def __init__(
        self, issuer: Issuer, service_key: bytes, tls: Tls | None, pause_seconds: float | None, command: str = COMMAND
    ) -> None:
        """Be ready to start the command of this name; HouseMissing if there is none.

        The service trusts the issuer; before every choice the bots of a demo make this pause, without which there is
        no demo.
        """
        words = processes.command(command)
        if words is None:
            raise HouseMissing(f"--demo needs the command `rollbook {command}`, which no installed package offers")
        self._words = words
        self._issuer = issuer
        self._service_key = service_key
        self._certificates = None if tls is None else tls.certificate.read_bytes()
        self._pause_seconds = pause_seconds
        self._child: processes.Child | None = None
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._address: Listen | None = None
        self._seats: dict[tuple[str, str], HouseBot] = {}
        """Where bots were asked to, by match and subject, and have not finished."""

    def start(self, address: Listen) -> None:
        """Play from now on at the service that listens here."""
        self._address = address
        if self._pause_seconds is not None or self._seats:
            self._task = asyncio.create_task(self._keep_going(address))

    def sit(self, match_id: str, bot: HouseBot) -> None:
        """Have a bot play where it sits; twice is the same as once."""
        if (match_id, bot.sub) in self._seats:
            return
        self._seats[match_id, bot.sub] = bot
        if self._child is not None:
            self._say(self._child, self._seat(match_id, bot))
        elif self._task is None and self._address is not None:
            self.start(self._address)

    async def drain(self) -> None:
        """Play no more; what is under way is finished."""
        self._ending.set()
        if self._child is not None:
            self._child.stdin.close()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=DRAIN_SECONDS)
        await self.close()

    async def close(self) -> None:
        """End it, finished or not."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _keep_going(self, address: Listen) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            began = time.monotonic()
            code = await self._run(address)
            if self._ending.is_set():
                return
            if time.monotonic() - began > STEADY_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            _log.warning("the house has ended, and is started again", code=code, in_seconds=pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ending.wait()
                    return
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _run(self, address: Listen) -> int | None:
        """Run the process once, and give its exit code; none if it had to be killed."""
        async with processes.running(self._words, env=_environment(address)) as child:
            self._child = child
            self._say(child, self._instructions(address))
            for (match_id, _), bot in self._seats.items():
                self._say(child, self._seat(match_id, bot))
            if self._ending.is_set():
                child.stdin.close()
            try:
                with suppress(processes.CutOff):
                    while True:
                        self._hear(await processes.receive_frame(child.stdout, MOST_LOGGED_BYTES))
            finally:
                self._child = None
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    return await child.wait()
            return None

    @staticmethod
    def _say(child: processes.Child, words: Mapping[str, Any]) -> None:
        if not child.stdin.is_closing():
            child.stdin.write(processes.frame(json.dumps(words).encode()))

    def _hear(self, data: bytes) -> None:
        """Log what the house says, or note that a seat is over."""
        try:
            said = json.loads(data)
            if "over" in said:
                match_id, sub = said["over"]
                self._seats.pop((match_id, sub), None)
                return
            level, event = str(said.pop("level")), str(said.pop("event"))
        except (ValueError, AttributeError, KeyError, TypeError):
            _log.warning("the house is not understood")
            return
        getattr(_log, level if level in _LEVELS else "warning")(event, **said)

    def _instructions(self, address: Listen) -> Mapping[str, Any]:
        certificates = self._certificates
        return {
            "address": str(_reachable(address)),
            "certificates": None if certificates is None else certificates.decode("ascii", "replace"),
            "server_name": "" if certificates is None else certified_name(certificates),
            "pause_seconds": self._pause_seconds,
            "bots": [self._bot(f"{HOUSE}{name.lower()}", f"{name} (bot)") for name in NAMES],
        }

    def _seat(self, match_id: str, bot: HouseBot) -> Mapping[str, Any]:
        return {
            "match": match_id,
            "sub": bot.sub,
            "strategy": bot.strategy,
            "bot": self._bot(bot.sub, bot.shown),
        }

    def _bot(self, sub: str, shown: str) -> Mapping[str, str]:
        token = self._issuer.mint(
            sub, Role.PLAYER, name=shown, issued_at=int(time.time()), lifetime_seconds=TOKEN_SECONDS
        )
        return {"name": shown, "token": token, "secret": secret_of(self._service_key, sub).hex()}


def certified_name(certificates: bytes) -> str:
    """A name that the first of these certificates, PEM, is good for; empty if it has none."""
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
    """Where somebody on this machine finds a service that may listen on all its addresses."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked for, not listened on
    return Listen(everywhere.get(address.host, address.host), address.port)


def _environment(address: Listen) -> Mapping[str, str]:
    """What is around the house: no proxy between it and its own machine."""
    return os.environ | {"no_grpc_proxy": _reachable(address).host}
