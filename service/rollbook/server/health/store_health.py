"""Watches the store under a service: an external one, or the service's own server, which is restarted.

While the store cannot be written to, the service reports that it does not serve; appends detect it themselves and are
refused. The log stays connected, since an own server comes back under the same address.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol

import structlog

from rollbook.files import write_file
from rollbook.server.configuration.settings import Settings
from rollbook.server.health.metrics import Metrics
from rollbook.server.health.own_store import LOOK_SECONDS, OwnStore
from rollbook.storage.port import STORE_REPLACED, StoreUnavailable
from rollbook.storage.redis.dispatch import may_pass
from rollbook.storage.redis.log import RedisLog

BEAT_SECONDS: Final = 1.0
"""Between two test writes on every master."""

FAILURES: Final = 2
SUCCESSES: Final = 3
"""So many results in a row change what is reported."""

SAY_SECONDS: Final = 1.0
"""How often the start logs what it waits for."""

NOTE: Final = "store.marker"
"""The file of the data directory that names the store by its marker."""

_MARKER: Final = re.compile(r"([0-9a-f]+)\n")

ANSWER_SECONDS: Final = 3.0
"""How long a test write may take."""

_logger: Any = structlog.get_logger()

Report = Callable[[bool], Awaitable[None]]


class Store(Protocol):
    """The store as the service's process uses it."""

    @property
    def url(self) -> str:
        """The URL for the log's connection."""

    async def watch(self, log: RedisLog, report: Report, metrics: Metrics) -> NoReturn:
        """Report periodically whether the store can be written to."""

    async def stop(self) -> None:
        """Stop the store if it is the service's own."""


async def connect(store: Store, settings: Settings) -> RedisLog:
    """Connect to a store, waiting while it starts, loads data or lacks replicas; raises StoreUnavailable after that."""
    loop = asyncio.get_running_loop()
    began, why = loop.time(), "no answer yet"

    async def say_why() -> NoReturn:
        while True:
            await asyncio.sleep(SAY_SECONDS)
            seconds = int(loop.time() - began)
            _logger.warning("waiting for the store", why=why, seconds=seconds, most_seconds=settings.store_wait_seconds)

    saying = asyncio.create_task(say_why())
    try:
        while True:
            try:
                return await RedisLog.connect(store.url, settings.durability, replicas=settings.replicas)
            except StoreUnavailable as failure:
                if not may_pass(failure) or loop.time() - began >= settings.store_wait_seconds:
                    raise
                why = str(failure)
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        saying.cancel()


async def recognise(log: RedisLog, data: Path) -> None:
    """Compare the store's marker with the note in the data directory, which this keeps up to date.

    Without a note, as in a new data directory, the marker of the store is noted. If the store is not the one of the
    note, `prove` reports it.
    """
    note = data / NOTE
    try:
        found = _MARKER.fullmatch(note.read_text("utf-8"))
    except (FileNotFoundError, UnicodeDecodeError):
        found = None
    noted = "" if found is None else found[1]

    def keep(marker: str) -> None:
        if marker != noted:
            write_file(note, f"{marker}\n".encode())

    await log.marker.settle(noted, keep)


async def is_replaced(log: RedisLog) -> bool:
    """Whether the store is not the one that it was; then every use except of its markers is refused from now on."""
    try:
        await log.marker.check()
    except StoreUnavailable as failure:
        if failure.cause != STORE_REPLACED:
            raise
        return True
    return False


async def start_store(settings: Settings) -> Store:
    """The store that the settings ask for."""
    if settings.redis is not None:
        return _Elsewhere(settings.redis)
    return _Own(await OwnStore.start(settings))


class _Elsewhere:
    """A store that is run elsewhere."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def watch(self, log: RedisLog, report: Report, metrics: Metrics) -> NoReturn:
        look = _Look(log, report, metrics)
        while True:
            await look.again()
            await asyncio.sleep(LOOK_SECONDS)

    async def stop(self) -> None:
        """Do nothing: the store is run elsewhere."""


class _Own:
    """The service's own server."""

    def __init__(self, store: OwnStore) -> None:
        self._store = store
        self.url = store.url

    async def watch(self, log: RedisLog, report: Report, metrics: Metrics) -> NoReturn:
        """Watch, and restart the server when it exits; raises DataDirectoryRefused if that is impossible."""
        look = _Look(log, report, metrics)
        while True:
            if self._store.has_ended:
                await look.report(serves=False)
                await self._store.start_again()
            await look.again()
            await asyncio.sleep(LOOK_SECONDS)

    async def stop(self) -> None:
        await self._store.stop()


class _Look:
    """Checks whether a store can be written to, and reports changes; a single result changes nothing."""

    def __init__(self, log: RedisLog, report: Report, metrics: Metrics) -> None:
        self._log = log
        self._report = report
        self._metrics = metrics
        metrics.store_found(is_up=True)
        self._serves = True
        self._in_a_row = 0
        """Results in a row that differ from what was reported."""
        self._next_beat = 0.0
        self._logger: Any = structlog.get_logger()

    async def again(self) -> None:
        """Check if BEAT_SECONDS have passed."""
        now = asyncio.get_running_loop().time()
        if now < self._next_beat:
            return
        self._next_beat = now + BEAT_SECONDS
        why = await self._prove()
        self._in_a_row = self._in_a_row + 1 if bool(why) is self._serves else 0
        if self._in_a_row >= (FAILURES if why else SUCCESSES):
            await self.report(serves=not why, why=why)
        else:
            await self._report(self._serves)

    async def _prove(self) -> str:
        """Write on every master; returns the cause of a failure, or an empty text."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._log.prove()
        except Exception as failure:  # noqa: BLE001 - any failure may be gone at the next beat
            self._metrics.store_failed(failure)
            if isinstance(failure, StoreUnavailable) and failure.cause == STORE_REPLACED:
                # Known for certain, so that it is reported without a second result.
                self._in_a_row = FAILURES
            if isinstance(failure, TimeoutError):
                return f"no answer within {ANSWER_SECONDS:g} s"
            return str(failure) if isinstance(failure, StoreUnavailable) else f"{type(failure).__name__}: {failure}"
        self._metrics.store_proved(time.perf_counter() - began)
        return ""

    async def report(self, *, serves: bool, why: str = "") -> None:
        """Report at once."""
        self._metrics.store_found(is_up=serves)
        self._in_a_row = 0
        if why:
            self._logger.error("the store cannot be written to", why=why)
        elif serves:
            self._logger.info("the store can be written to again")
        self._serves = serves
        await self._report(serves)
