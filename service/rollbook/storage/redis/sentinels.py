"""Follows which server the Sentinels name as master: asks once a second and in doubt, and listens for changes.

A master that was suspended and resumes accepts writes until a Sentinel demotes it: for ten seconds everything that it
acknowledges is lost. Asking the master itself does not help, because it still considers itself the master.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from redis.asyncio import Connection, ConnectionPool, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.address import Address, Host
from rollbook.storage.redis.connection import Unanswered, Unsent, Wire
from rollbook.storage.redis.credibility import UNCONTESTED

LOOK_SECONDS: Final = 1.0
"""How often the Sentinels are asked."""

ANSWER_SECONDS: Final = 1.0
"""How long a Sentinel may take to answer."""

_SWITCHED: Final = b"+switch-master"


class Sentinels:
    """The Sentinels of a store, and the master that they named last."""

    def __init__(self, address: Address, changed: Callable[[Host | None], Awaitable[None]]) -> None:
        """`changed` is called with the previous master whenever the Sentinels name another."""
        self._service = address.service
        self._changed = changed
        self._wires = [_wire(address, host) for host in address.hosts]
        self._looking = asyncio.Lock()
        self._looked_at = -1.0
        self._epoch = -1
        self._host: Host | None = None
        self._doubtful = True
        self._news = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Ask regularly and listen, until `close`."""
        self._tasks = [
            asyncio.create_task(self._follow()),
            *(asyncio.create_task(self._subscribe(w)) for w in self._wires),
        ]

    def doubt(self) -> None:
        """Ask again before the next command, because something went wrong."""
        self._doubtful = True
        self._news.set()

    async def master(self) -> Host:
        """The address of the master; raises StoreUnavailable if it is in doubt and no Sentinel answers."""
        if self._doubtful or self._host is None:
            await self.look()
        if self._host is None:
            raise StoreUnavailable(f"No Sentinel knows a master called {self._service}")
        return self._host

    async def names(self, host: Host) -> bool:
        """Whether the Sentinels, asked now, name this server as the master."""
        with suppress(StoreUnavailable):
            await self.look()
            return self._host == host
        return False

    async def look(self) -> None:
        """Ask all Sentinels and take the newest answer; raises StoreUnavailable if none of them answers."""
        asked_at = time.monotonic()
        async with self._looking:
            if self._looked_at > asked_at:
                return
            looked_at = time.monotonic()
            said = await asyncio.gather(*(self._ask(wire) for wire in self._wires))
            heard = [one for one in said if one is not None]
            if not heard:
                raise StoreUnavailable(f"No Sentinel knows which server is the master of {self._service}")
            self._looked_at = looked_at
            epoch, host = max(heard)
            # A Sentinel that was cut off may still name the old master; all of them may have been reset to epoch 0.
            if epoch >= self._epoch or len(heard) == len(said):
                self._doubtful = False
                before, self._epoch, self._host = self._host, epoch, host
                if before != host:
                    await self._changed(before)

    async def close(self) -> None:
        """Stop asking and close all connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for wire in self._wires:
            await wire.close()

    async def _ask(self, wire: Wire) -> tuple[int, Host] | None:
        """The configuration epoch of a Sentinel and its master; None if it does not answer or has no master."""
        # Near the end of a failover only the first of the two commands names the new master.
        questions = [("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._service), ("SENTINEL", "MASTER", self._service)]
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                found, facts = await wire.converse(questions)
        except (TimeoutError, Unsent, Unanswered):
            return None
        if not isinstance(found, list) or not isinstance(facts, list):
            return None
        epoch = dict(zip(facts[::2], facts[1::2], strict=False)).get(b"config-epoch", b"0")
        return int(epoch), (found[0].decode(), int(found[1]))

    async def _follow(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), LOOK_SECONDS)
            self._news.clear()
            with suppress(StoreUnavailable):
                await self.look()

    async def _subscribe(self, wire: Wire) -> None:
        while True:
            with suppress(Unsent, Unanswered):
                await wire.subscribe(_SWITCHED, self._news.set, lambda _message: self._news.set())
            await asyncio.sleep(LOOK_SECONDS)


def _wire(address: Address, host: Host) -> Wire:
    options: dict[str, Any] = dict(address.sentinel_options or {})
    kind = SSLConnection if options.pop("ssl", False) else Connection
    pool = ConnectionPool(
        connection_class=kind,
        host=host[0],
        port=host[1],
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        driver_info=None,
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=ANSWER_SECONDS,
        max_connections=2,
        **options,
    )
    return Wire(pool, 1, UNCONTESTED)
