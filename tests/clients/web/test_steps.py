"""The page sends a table for every event, also if several happen at once, with the kind of the event and its seat."""

from __future__ import annotations

import re

from rollbook_clients.web.app import create_app
from rollbook_clients.web.visit import PageOptions
from tests.clients.sdk.tables import address, run, running, tables, turn
from tests.clients.web.streaming import listening, stream_of
from tests.server.feeds.watching import Theatre

CHOICES = 12


def positions(states: list[str]) -> list[int]:
    """The positions of these tables."""
    return [int(found[1]) for each in states if (found := re.search(r'data-position="(\d+)"', each))]


def test_every_event_is_a_message() -> None:
    """A choice and the throw after it are two tables."""

    async def scenario(theatre: Theatre) -> None:
        app = create_app(PageOptions(address(theatre), token=theatre.token("Page")))
        async with tables(theatre, "Anna", "Ben") as players, app.router.lifespan_context(app):
            matches = await running(players)
            states: list[str] = []
            async with listening(app, stream_of(matches[0].id)) as stream:
                while not positions(states):
                    states.append(str(await stream.get()))
                for _ in range(CHOICES):
                    match, moment = await turn(matches)
                    assert moment.legal
                    made = await match.choose(next(iter(moment.legal)))
                    while positions(states)[-1] < made.position.sequence:
                        states.append(str(await stream.get() or ""))
            seen = positions(states)
            assert [*range(seen[0], seen[-1] + 1)] == sorted(set(seen))
            assert {"throw", "step"} <= set(re.findall(r'data-motion="(\w+)" data-by="\d"', "".join(states)))

    run(scenario)
