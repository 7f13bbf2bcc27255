"""Two processes of a service with PlayNow over one store, whose periods a test shortens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

from rollbook.match.chain import entropy_commitment
from rollbook.server.access.house_bots import HouseBot
from rollbook.server.app import Parts
from rollbook.server.lobby.pools import LIVE, Periods
from rollbook.server.timers.sweeper import Sweeper
from rollbook.storage.redis.here import RedisPresence
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.now import RedisPools
from tests.server.feeds.watching import Theatre
from tests.server.pairs import PLENTY, run_pair
from tests.server.rpc.talking import Person, entropy
from tests.storage.servers import Server

SHORT = Periods(
    absent=1_500, seen_within=1_000, look=250, touch=300, bots=750, pause=3_000, live=LIVE._replace(ready=1)
)
"""The long periods at 1/20 and less."""


class Hall(Theatre):
    """A process with feeds, pools and, if wanted, bots."""

    periods = Periods()
    has_bots = False

    def process(self, keys: dict[str, Any] | None = None) -> Parts:
        """A process of the service over the same store."""
        self.invited: list[HouseBot] = []
        invite = (lambda _match, bot: self.invited.append(bot)) if self.has_bots else None
        given = replace(self.given(keys), periods=self.periods, invite=invite)
        if isinstance(self.log, RedisLog):
            given = replace(given, pools=RedisPools(self.log), presence=RedisPresence(self.log))
        return Parts(given)

    async def seek(self, name: str, game: str = "cant_stop", **fields: Any) -> tuple[Person, Any]:
        """PlayNow and TakeSeat of one person; returns the person and the answer of PlayNow."""
        person = self.person(name)
        found = await person.call("PlayNow", game=game, **fields)
        await person.call("TakeSeat", match_id=found.match_id, entropy_commitment=entropy_commitment(entropy(1)))
        return person, found

    @cached_property
    def sweeper(self) -> Sweeper:
        """The sweeper of this process."""
        return self.service.sweeper()

    async def sweep(self) -> None:
        """One sweep at the store's present time."""
        await self.service.clock.compare()
        await self.sweeper.sweep()

    async def sweep_until(self, condition: Callable[[], Awaitable[Any]]) -> Any:
        """Sweep until the condition holds; returns its value."""
        while not (found := await condition()):
            await self.sweep()
            await asyncio.sleep(0.05)
        return found


def run(
    store: Server,
    scenario: Callable[[Hall, Hall], Awaitable[None]],
    *,
    periods: Periods | None = None,
    has_bots: bool = False,
    **fields: int,
) -> None:
    """Run the scenario at two processes, on an emptied store."""
    kind = type("Hall", (Hall,), {"periods": periods or Periods(), "has_bots": has_bots})
    fields = {"play_now_per_minute": PLENTY, "play_now_per_address_per_minute": PLENTY, **fields}
    run_pair(store, scenario, kind, **fields)
