"""A service of several workers: one process that has what there is one of, and starts the others.

It has the store, the port, the address of metrics, the page and the house, and never a call: gRPC is not even imported
here. The workers are started anew and never forked, and each is a whole service over that store. They end with this
process, however that ends, since the kernel kills them then.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Metric, ProcessCollector
from prometheus_client.registry import Collector

from rollbook.server.access.house_bots import HouseBot
from rollbook.server.configuration.settings import Listen, Settings
from rollbook.server.health.own_store import LOOK_SECONDS, OwnStore
from rollbook.server.process.metrics_http import exposed
from rollbook.server.process.ports import Listening, held
from rollbook.server.process.signals import Shutdown, Signals, ending_signals
from rollbook.server.process.worker_metrics import Tallies, samples_of
from rollbook.server.process.workers import Staff

if TYPE_CHECKING:
    from rollbook.identity.service_keys import ServiceKeys
    from rollbook.server.process.house import HouseProcess
    from rollbook.server.process.page_process import PageProcess

DRAIN_SECONDS: Final = 40.0
"""How long workers may take to end, which bound everything that they wait for themselves."""

FORCED_SECONDS: Final = 5.0
"""How long they may take when nobody wants to wait."""

SCRAPE_SECONDS: Final = 5.0


async def supervise(settings: Settings, words: Sequence[str], listening: Callable[[Listening], None]) -> Shutdown:
    """Run a service whose workers these words start, until a signal ends it; call it on the main thread.

    What makes a start impossible is raised: DataDirectoryRefused, ServerNotFound, ServerFailed, KeyFileRefused,
    CompanionMissing, NotListening and WorkerFailed, which also ends a service with a worker that starts no more.
    """
    with ending_signals() as signals:
        async with AsyncExitStack() as stack:
            service = await signals.unless_asked_to_end(_start(settings, words, stack))
            if service is None:
                return Shutdown.DRAINED
            listening(service.listening)
            tasks: Sequence[Coroutine[Any, Any, None]]
            tasks = service.staff.failed(), service.staff.watch(), service.keep_store()
            watching = {asyncio.create_task(task) for task in tasks}
            try:
                await asyncio.wait({*watching, signals.first}, return_when=asyncio.FIRST_COMPLETED)
                ended = await service.drain(signals)
            finally:
                failures = await _cancelled(watching)
            for failure in failures:
                raise failure
        structlog.get_logger().info("ended", how=ended.name.lower())
        return ended


@dataclass(frozen=True, slots=True)
class _Service:
    """Everything that a start brings about."""

    listening: Listening
    staff: Staff
    store: OwnStore | None
    page: PageProcess | None
    house: _House

    async def keep_store(self) -> None:
        """Start a store of our own again whenever it dies."""
        while True:
            if self.store is not None and self.store.has_ended:
                await self.store.start_again()
            await asyncio.sleep(LOOK_SECONDS)

    async def drain(self, signals: Signals) -> Shutdown:
        """Let the workers finish what is under way, unless somebody does not want to wait."""
        structlog.get_logger().info("draining", workers=self.staff.size)
        draining = asyncio.create_task(self._let_finish())
        await asyncio.wait({draining, signals.second}, return_when=asyncio.FIRST_COMPLETED)
        if draining.done():
            draining.result()
            return Shutdown.DRAINED
        await _cancelled({draining})
        await _end(self.staff, FORCED_SECONDS)
        return Shutdown.FORCED

    async def _let_finish(self) -> None:
        # As long as their calls are answered.
        drained = [self.house.drain(), *([] if self.page is None else [self.page.drain()])]
        await asyncio.gather(*drained)
        await _end(self.staff, DRAIN_SECONDS)


async def _start(settings: Settings, words: Sequence[str], stack: AsyncExitStack) -> _Service:
    """Start everything, in an order in which nothing is reachable before what it needs is there."""
    registry, tallies = CollectorRegistry(), Tallies()
    if settings.metrics is not None:
        await stack.enter_async_context(exposed(registry, lambda: _serves(registry), settings.metrics))
    store = None if settings.redis is not None else await OwnStore.start(settings)
    if store is not None:
        stack.push_async_callback(store.stop)
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    house = _House(settings)
    page = await _page(settings)
    address = await stack.enter_async_context(held(settings.listen))
    url = settings.redis if store is None else store.url
    of_workers = replace(settings, listen=address, redis=url, metrics=None, web=None, demo_seconds=None)
    staff = Staff(of_workers, words, tallies, house.sit)
    stack.push_async_callback(_end, staff, FORCED_SECONDS)
    registry.register(_Sum(staff, tallies))
    head_key_id = await staff.start()
    stack.push_async_callback(house.close)
    house.start(address)
    if page is not None:
        stack.push_async_callback(page.close)
        page.start(address)
    return _Service(Listening(address, settings, head_key_id), staff, store, page, house)


def _serves(registry: CollectorRegistry) -> bool:
    """Whether a worker does."""
    return bool(registry.get_sample_value("rollbook_serving"))


async def _page(settings: Settings) -> PageProcess | None:
    if settings.web is None:
        return None
    from rollbook.identity.tokens import Issuer  # noqa: PLC0415 - only for a page
    from rollbook.server.process.page_process import page_of  # noqa: PLC0415 - only for a page

    return await page_of(settings, Issuer(_keys(settings).token.private))


class _House:
    """The house, which is made when it is needed: for a demo at once, else when a bot is asked to a table."""

    def __init__(self, settings: Settings) -> None:
        """Make it for a demo; CompanionMissing if there is none."""
        self._settings = settings
        self._address: Listen | None = None
        self._process = None if settings.demo_seconds is None else _house(settings)

    def start(self, address: Listen) -> None:
        """Let it play at the service that listens here."""
        self._address = address
        if self._process is not None:
            self._process.start(address)

    def sit(self, match_id: str, sub: str) -> None:
        """Have a bot play where it sits."""
        if self._process is None:
            self._process = _house(self._settings)
            if self._address is not None:
                self._process.start(self._address)
        self._process.sit(match_id, HouseBot.of(sub))

    async def drain(self) -> None:
        """Let it finish what is under way."""
        if self._process is not None:
            await self._process.drain()

    async def close(self) -> None:
        """End it."""
        if self._process is not None:
            await self._process.close()


def _house(settings: Settings) -> HouseProcess:
    from rollbook.identity.tokens import Issuer  # noqa: PLC0415 - only for a house
    from rollbook.server.process.house import HouseProcess  # noqa: PLC0415 - only for a house

    keys = _keys(settings)
    return HouseProcess(Issuer(keys.token.private), keys.service, settings.tls, settings.demo_seconds)


def _keys(settings: Settings) -> ServiceKeys:
    from rollbook.identity.service_keys import ServiceKeys  # noqa: PLC0415 - only for a page or a house

    return ServiceKeys.in_directory(settings.data, settings.head_key)


async def _end(staff: Staff, seconds: float) -> None:
    """Have all workers end, and kill what has not ended by then; a second time they are told not to wait."""
    staff.signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(seconds):
            await staff.ended()
    except TimeoutError:
        structlog.get_logger().warning("workers did not end in time")
        staff.signal(signal.SIGKILL)
        await staff.ended()


async def _cancelled(tasks: set[asyncio.Task[None]]) -> list[BaseException]:
    """End these tasks; what they have failed with before."""
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    return [result for result in results if isinstance(result, Exception)]


class _Sum(Collector):
    """The numbers of all processes, as whoever scrapes gets them."""

    def __init__(self, staff: Staff, tallies: Tallies) -> None:
        self._staff = staff
        self._tallies = tallies
        self._loop = asyncio.get_running_loop()
        self._own = CollectorRegistry()
        ProcessCollector(registry=self._own)
        size = Gauge("rollbook_workers", "Workers that can be called.", registry=self._own)
        size.set_function(lambda: staff.size)
        self._deaths = Counter("rollbook_worker_deaths", "Workers that ended unasked.", registry=self._own)
        self._counted = 0

    def collect(self) -> Iterator[Metric]:
        """Ask all of them; this is called on threads that wait."""
        return iter(asyncio.run_coroutine_threadsafe(self._collected(), self._loop).result(SCRAPE_SECONDS))

    def describe(self) -> list[Any]:
        """Ask nobody when this is registered."""
        return []

    async def _collected(self) -> list[Metric]:
        await self._staff.count()
        self._deaths.inc(self._staff.deaths - self._counted)
        self._counted = self._staff.deaths
        self._tallies.update("supervisor", samples_of(self._own, "supervisor"))
        return list(self._tallies.collect())
