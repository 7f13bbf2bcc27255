"""A service of several workers: the supervisor runs what exists once per service, and starts the workers.

The supervisor has the store, the port, the metrics endpoint, the page and the house. It serves no calls and does not
import gRPC. Workers are new processes, not forks, and each is a complete service over the same store. When the
supervisor exits for any reason, the kernel kills them.
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
from rollbook.server.process.certificates import Certificates, KeyPair
from rollbook.server.process.metrics_http import expose
from rollbook.server.process.ports import Listening, hold_port
from rollbook.server.process.signals import Shutdown, Signals, ending_signals
from rollbook.server.process.worker_metrics import Tallies, samples_of
from rollbook.server.process.workers import Staff

if TYPE_CHECKING:
    from rollbook.identity.service_keys import ServiceKeys
    from rollbook.server.process.house import HouseProcess
    from rollbook.server.process.page_process import PageProcess

DRAIN_SECONDS: Final = 40.0
"""How long workers may take to drain; longer than all their own time limits together."""

FORCED_SECONDS: Final = 5.0
"""How long workers may take to end after a second signal."""

SCRAPE_SECONDS: Final = 5.0


async def supervise(settings: Settings, words: Sequence[str], listening: Callable[[Listening], None]) -> Shutdown:
    """Run a service until a signal ends it; `words` is the command that starts a worker. Call it on the main thread.

    Raises DataDirectoryRefused, ServerNotFound, ServerFailed, KeyFileRefused, CompanionMissing, NotListening or
    WorkerFailed if the service cannot start; WorkerFailed also if a worker fails to restart later.
    """
    with ending_signals() as signals:
        async with AsyncExitStack() as stack:
            service = await signals.unless_asked_to_end(_start(settings, words, stack))
            if service is None:
                return Shutdown.DRAINED
            if service.certificates is not None:
                signals.hung_up = service.certificates.read_again
            listening(service.listening)
            tasks: Sequence[Coroutine[Any, Any, None]]
            tasks = service.staff.wait_failed(), service.staff.watch(), service.keep_store()
            watching = {asyncio.create_task(task) for task in tasks}
            try:
                await asyncio.wait({*watching, signals.first}, return_when=asyncio.FIRST_COMPLETED)
                ended = await service.drain(signals)
            finally:
                failures = await _cancel(watching)
            for failure in failures:
                raise failure
        structlog.get_logger().info("ended", how=ended.name.lower())
        return ended


@dataclass(frozen=True, slots=True)
class _Service:
    """A service that has started."""

    listening: Listening
    staff: Staff
    store: OwnStore | None
    page: PageProcess | None
    house: _House
    certificates: Certificates | None

    async def keep_store(self) -> None:
        """Restart the service's own store whenever it exits."""
        while True:
            if self.store is not None and self.store.has_ended:
                await self.store.start_again()
            await asyncio.sleep(LOOK_SECONDS)

    async def drain(self, signals: Signals) -> Shutdown:
        """Let workers finish their calls, unless a second signal comes."""
        structlog.get_logger().info("draining", workers=self.staff.size)
        draining = asyncio.create_task(self._let_finish())
        await asyncio.wait({draining, signals.second}, return_when=asyncio.FIRST_COMPLETED)
        if draining.done():
            draining.result()
            return Shutdown.DRAINED
        await _cancel({draining})
        await _end(self.staff, FORCED_SECONDS)
        return Shutdown.FORCED

    async def _let_finish(self) -> None:
        # Companions first, while their calls are still answered.
        drained = [self.house.drain(), *([] if self.page is None else [self.page.drain()])]
        await asyncio.gather(*drained)
        await _end(self.staff, DRAIN_SECONDS)


async def _start(settings: Settings, words: Sequence[str], stack: AsyncExitStack) -> _Service:
    """Start all parts; each part starts after the parts that it depends on."""
    registry, tallies = CollectorRegistry(), Tallies()
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    house = _House(settings)
    page: PageProcess | None = None

    def renew(pair: KeyPair) -> None:
        """Let the page and the house trust what the workers show, which follow the files themselves."""
        for companion in (house, page):
            if companion is not None:
                companion.renew(pair.certificates)

    certificates = None if settings.tls is None else Certificates(settings.tls, renew, lambda _loop: None)
    if settings.metrics is not None:
        await stack.enter_async_context(expose(registry, lambda: _serves(registry), settings.metrics))
    store = None if settings.redis is not None else await OwnStore.start(settings)
    if store is not None:
        stack.push_async_callback(store.stop)
    page = await _page(settings)
    address = await stack.enter_async_context(hold_port(settings.listen))
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
    if certificates is not None:
        stack.push_async_callback(certificates.loop.close)
        certificates.loop.start()
    return _Service(Listening(address, settings, head_key_id), staff, store, page, house, certificates)


def _serves(registry: CollectorRegistry) -> bool:
    """Whether at least one worker serves."""
    return bool(registry.get_sample_value("rollbook_serving"))


async def _page(settings: Settings) -> PageProcess | None:
    if settings.web is None:
        return None
    from rollbook.identity.tokens import Issuer  # noqa: PLC0415 - only for a page
    from rollbook.server.process.page_process import page_of  # noqa: PLC0415 - only for a page

    return await page_of(settings, Issuer(_keys(settings).token.private))


class _House:
    """The house, whose process is created when it is needed: for a demo at once, else when a bot is invited."""

    def __init__(self, settings: Settings) -> None:
        """Create the process if there is a demo; raises CompanionMissing if it is not installed."""
        self._settings = settings
        self._address: Listen | None = None
        self._process = None if settings.demo_seconds is None else _house(settings)

    def start(self, address: Listen) -> None:
        """Let the house call the service at this address."""
        self._address = address
        if self._process is not None:
            self._process.start(address)

    def sit(self, match_id: str, sub: str) -> None:
        """Have the bot of this subject play in this match."""
        if self._process is None:
            self._process = _house(self._settings)
            if self._address is not None:
                self._process.start(self._address)
        self._process.sit(match_id, HouseBot.of(sub))

    async def drain(self) -> None:
        """Let the house finish its calls."""
        if self._process is not None:
            await self._process.drain()

    def renew(self, certificates: bytes) -> None:
        """Let the house trust these certificates of the service."""
        if self._process is not None:
            self._process.renew(certificates)

    async def close(self) -> None:
        """Kill the process."""
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
    """Send all workers SIGTERM, and SIGKILL after `seconds`; a second SIGTERM makes a worker end without draining."""
    staff.signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(seconds):
            await staff.wait_ended()
    except TimeoutError:
        structlog.get_logger().warning("workers did not end in time")
        staff.signal(signal.SIGKILL)
        await staff.wait_ended()


async def _cancel(tasks: set[asyncio.Task[None]]) -> list[BaseException]:
    """Cancel these tasks and return the exceptions with which they had failed."""
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    return [result for result in results if isinstance(result, Exception)]


class _Sum(Collector):
    """A Prometheus collector that sums the metrics of all processes."""

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
        """Collect the metrics of all workers; called on threads, which may block."""
        return iter(asyncio.run_coroutine_threadsafe(self._collect_metrics(), self._loop).result(SCRAPE_SECONDS))

    def describe(self) -> list[Any]:
        """Return no descriptions, so that registering the collector does not query the workers."""
        return []

    async def _collect_metrics(self) -> list[Metric]:
        await self._staff.count()
        self._deaths.inc(self._staff.deaths - self._counted)
        self._counted = self._staff.deaths
        self._tallies.update("supervisor", samples_of(self._own, "supervisor"))
        return list(self._tallies.collect())
