"""The clients of a simulation: they open matches, sit down through different processes, play and watch."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final

from rollbook.identity.tokens import Role
from tests.sim.client import Client
from tests.sim.people import Follower, Player, Visitor
from tests.sim.process import Process, Refused
from tests.sim.tables import Table, draw_table

MATCHES: Final = (2, 4)
PLAYERS: Final = 6
LATE_SECONDS: Final = 8.0
"""Seconds until the last match is opened."""

PATIENCE_SECONDS: Final = 20.0
"""Seconds for which a client finally watches a match that is not over."""

MakeClient = Callable[[str, Role], Client]


class Workload:
    """All clients of the service, each with its own source of numbers."""

    def __init__(self, chance: random.Random, make_client: MakeClient) -> None:
        """Draw the tables and create the clients."""
        self.tables = [draw_table(chance) for _ in range(chance.randint(*MATCHES))]
        self._chance = chance
        self._players = [make_client(f"player{number}", Role.PLAYER) for number in range(PLAYERS)]
        self._watchers = [make_client(f"watcher{number}", Role.PLAYER) for number in range(3)]
        self._operator = make_client("operator", Role.OPERATOR)
        self._visitor = make_client("visitor", Role.PLAYER)
        self._followers: list[Follower] = []

    async def play(self) -> None:
        """Play all matches."""
        visiting = asyncio.ensure_future(Visitor(self._visitor, self.tables).look_around())
        async with asyncio.TaskGroup() as group:
            for table in self.tables:
                seats = self._chance.sample(self._players, table.seats)
                watchers = self._chance.sample(self._watchers, table.watchers)
                group.create_task(self._play(table, seats, watchers, self._chance.uniform(0.0, LATE_SECONDS)))
        visiting.cancel()
        await asyncio.wait([visiting])

    async def _play(self, table: Table, seats: list[Client], watchers: list[Client], after_seconds: float) -> None:
        await asyncio.sleep(after_seconds)
        if not await self._open(table, seats[0]):
            return
        players = [
            Player(client, table, choices=choices, resigns=resigns)
            for client, choices, resigns in zip(seats, table.choices, table.resigns, strict=True)
        ][: table.seats - table.is_deserted]
        followers = [Follower(client, table, slow_seconds=self._chance.choice((0.0, 0.0, 1.0))) for client in watchers]
        self._followers += [*players, *followers]
        async with asyncio.TaskGroup() as group:
            for player in players:
                group.create_task(player.play())
            for follower in followers:
                group.create_task(follower.follow())
            if table.abort_after_seconds is not None:
                group.create_task(_abort(self._operator, table, table.abort_after_seconds))
            if table.withdraw_after_seconds is not None:
                group.create_task(_abort(seats[0], table, table.withdraw_after_seconds))

    async def _open(self, table: Table, opener: Client) -> bool:
        try:
            opened = await opener.call("OpenMatch", seats=table.seats, **table.terms, options={table.game: {}})
        except Refused:
            return False
        table.match_id, table.invitation_code = opened.match_id, opened.invitation_code
        return True

    async def come_back(self) -> None:
        """Let all clients resume from their last position, so that a loss is noticed.

        Clients also repeat a command of each kind that they have sent.
        """
        for follower in self._followers:
            await _quietly(follower.follow_once())
        for client in (*self._players, self._operator):
            await _quietly(client.repeat())

    async def look_at_everything(self, processes: Sequence[Process]) -> None:
        """Read every match and the whole list through every process."""
        for process in processes:
            self._operator.go_to(process)
            self._visitor.go_to(process)
            await _quietly(Visitor(self._visitor, self.tables).list_all())
            for table in self.tables:
                if table.match_id:
                    await _quietly(self._operator.call("GetMatch", match_id=table.match_id))
                    await _quietly(Follower(self._operator, table).follow_once())


async def _abort(client: Client, table: Table, after_seconds: float) -> None:
    """Abort the match, as an operator or as its opener."""
    await asyncio.sleep(after_seconds)
    with suppress(Refused):
        await client.call("AbortMatch", match_id=table.match_id)


async def _quietly(asking: Coroutine[Any, Any, object]) -> None:
    """Call with a time limit; refusals are already recorded."""
    with suppress(Refused, TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asking
