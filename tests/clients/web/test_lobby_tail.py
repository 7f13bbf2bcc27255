"""The lobby that the page follows once for all visitors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, cast

from rollbook_clients.sdk import Lobby
from rollbook_clients.web import visit
from rollbook_clients.web.lobby import LobbyTail


def test_the_lobby_is_not_followed_on_behalf_of_the_first_visitor() -> None:
    """The service counts calls by the visitor's address, but this feed serves all visitors."""

    class Table:
        """A service that records for which address it is called."""

        async def lobby(self) -> AsyncGenerator[Lobby, None]:
            """Record the address and yield an empty lobby."""
            addresses.append(visit._ADDRESS.get())
            yield Lobby((), is_away=False)

    async def scenario() -> None:
        visit._ADDRESS.set("203.0.113.7")
        tail = LobbyTail(cast("Any", Table()))
        await tail.beyond(0)
        await tail.close()

    addresses: list[str] = []
    asyncio.run(scenario())
    assert [""] == addresses
