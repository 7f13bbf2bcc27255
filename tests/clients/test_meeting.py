"""People at the page, in terminals and with the SDK meet: by playing now, and by rematches."""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, aclosing
from itertools import product
from pathlib import Path
from typing import Protocol

import pytest

from rollbook.v1.feed_pb2 import MatchFrame
from rollbook_clients.sdk import Match, Table
from tests.clients.sdk.tables import tables
from tests.clients.terminal.pseudo import Pseudo, pseudo
from tests.clients.terminal.test_pseudo_terminal import joined
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium, served_page
from tests.clients.web.test_newcomers import shown_match

PAIRS = int(os.environ.get("ROLLBOOK_MEETING_PAIRS", "40"))
TERMINALS = 4
"""Of the pairs; starting one takes far longer than meeting."""

ACCEPTED = MatchFrame.Rematch.ANSWER_ACCEPTED
SAID = "said => document.getElementById('status').textContent.includes(said)"


class Client(Protocol):
    """A person with one kind of client."""

    name: str

    async def sit(self, match_id: str) -> None:
        """Take a seat and get ready."""

    async def resign(self) -> None:
        """Resign, once the match has begun."""

    async def end(self) -> None:
        """Wait for the end of the match."""

    async def ask(self) -> None:
        """Ask for a rematch."""

    async def see(self, name: str) -> None:
        """Wait until the client shows that this person wants to play again."""

    async def leave(self) -> None:
        """Leave the table."""


class OfSdk:
    """A program."""

    match: Match

    def __init__(self, table: Table, name: str) -> None:
        """Play at this table."""
        self._table, self.name = table, name

    async def sit(self, match_id: str) -> None:
        """Join; `resign` gets ready."""
        self.match = self._table.match(match_id)
        await self.match.join(name=self.name)
        self._getting_ready = asyncio.create_task(self.match.ready())

    async def resign(self) -> None:
        """Resign from the running match."""
        await self.match.begins()
        await self.match.resign()

    async def end(self) -> None:
        """Watch to the end."""
        await self._getting_ready
        async with aclosing(self.match.watch()) as frames:
            async for _ in frames:
                pass

    async def ask(self) -> None:
        """Open the rematch and sit down there."""
        await (await self.match.rematch()).join(name=self.name)

    async def see(self, name: str) -> None:
        """Wait for the offer; a program knows the seat of who asks, and not the name."""
        del name
        async with aclosing(self.match.rematches()) as offers:
            async for offer in offers:
                if offer.asks_you and ACCEPTED in offer.answers:
                    return

    async def leave(self) -> None:
        """Nothing is open."""


class OfTerminal:
    """A person at a terminal."""

    def __init__(self, terminal: Pseudo, name: str) -> None:
        """Type at this terminal, which shows the lobby."""
        self._terminal, self.name = terminal, name

    async def sit(self, match_id: str) -> None:
        """Join by the id."""
        await asyncio.to_thread(joined, self._terminal, match_id)

    async def resign(self) -> None:
        """Press the keys for that."""
        await self._until("turn")
        await asyncio.to_thread(self._terminal.resign)

    async def end(self) -> None:
        """Read the actions that are offered at the end."""
        await self._until("Play again")

    async def ask(self) -> None:
        """Press the key of the first action."""
        self._terminal.press("1")

    async def see(self, name: str) -> None:
        """Read the offer."""
        await self._until(f"{name} wants to play again.")

    async def leave(self) -> None:
        """Go back to the lobby."""
        self._terminal.press("\x1b")
        await self._until("My matches")

    async def _until(self, said: str) -> None:
        await asyncio.to_thread(self._terminal.until, said)


class OfPage:
    """A person in a browser."""

    def __init__(self, person: Person, url: str, name: str) -> None:
        """Use this browser."""
        self._page, self._goto, self._url, self.name = person.page, person.goto, url, name

    async def sit(self, match_id: str) -> None:
        """Fill in the name and join."""
        await self._goto(f"{self._url}/matches/{match_id}")
        await self._page.fill("#join input[name=name]", self.name)
        await self._page.click("#join button")

    async def resign(self) -> None:
        """Send the form."""
        await self._page.wait_for_selector('#table[data-state="3"]')
        await self._page.evaluate("document.querySelector('form[action$=\"/resign\"]').submit()")

    async def end(self) -> None:
        """Wait for the end card."""
        await self._page.wait_for_selector("#after")

    async def ask(self) -> None:
        """Press the button."""
        await self._page.click("#rematch button")

    async def see(self, name: str) -> None:
        """Wait for the sentence."""
        await self._page.wait_for_function(SAID, arg=f"{name} wants to play again.")

    async def leave(self) -> None:
        """The next match is another page."""


@needs_chromium
@pytest.mark.timeout(600)
def test_an_offer_is_shown_in_all_pairs_of_clients(tmp_path: Path) -> None:
    """The seconds from the wish to its sight are printed for each pair."""

    async def scenario() -> None:
        async with AsyncExitStack() as stack:
            service, web = await stack.enter_async_context(served_page(tmp_path))
            browser = await stack.enter_async_context(chromium())
            (host, sina, sven) = await stack.enter_async_context(tables(service.address, "Host", "Sina", "Sven"))
            seats = stack.enter_context(ExitStack())

            def at_terminal(name: str) -> OfTerminal:
                words = ["play", "--service", service.address, "--name", name, "--pace", "0"]
                return OfTerminal(seats.enter_context(pseudo(words, tmp_path / name)), name)

            async def in_browser(name: str) -> OfPage:
                return OfPage(await Person.arrive(browser), web.url, name)

            askers: list[Client] = [OfSdk(sina, "Sina"), at_terminal("Tina"), await in_browser("Pia")]
            others: list[Client] = [OfSdk(sven, "Sven"), at_terminal("Tom"), await in_browser("Paul")]
            for asker, other in product(askers, others):
                match = await host.open("cant_stop", seats=2)
                for client in (asker, other):
                    await client.sit(match.id)
                await asker.resign()
                for client in (asker, other):
                    await client.end()
                seeing = asyncio.create_task(other.see(asker.name))
                began = time.monotonic()
                await asker.ask()
                await seeing
                print(f"{type(asker).__name__} to {type(other).__name__}: {time.monotonic() - began:.2f} s")
                for client in (asker, other):
                    await client.leave()

    asyncio.run(scenario())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_pairs_who_play_now_with_any_client_meet(tmp_path: Path) -> None:
    """Both press at the same moment on a lobby without open tables; every pair is at one table."""
    seed = int(os.environ.get("ROLLBOOK_TEST_SEED") or random.randrange(1 << 32))
    print(f"ROLLBOOK_TEST_SEED={seed}")
    chance = random.Random(seed)

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web):

            async def by_sdk(name: str) -> str:
                async with tables(service.address, name) as (table,):
                    return (await table.sit_now("cant_stop", people_only=True)).id

            async def by_page(name: str) -> str:
                form = {"game": "cant_stop", "name": name, "people": "yes"}
                return shown_match(await asyncio.to_thread(Reader(web.url).post, "/play", form))

            async def by_terminal(name: str) -> str:
                words = ["play", "--service", service.address, "--name", name, "--now", "cant_stop", "--people"]

                def find() -> str:
                    with pseudo(words, tmp_path / name) as terminal:
                        text = terminal.until(lambda text: re.search(r"[a-z2-7]{24}", text[:80]) is not None)
                        return "".join(re.findall(r"[a-z2-7]{24}", text[:80])[:1])

                return await asyncio.to_thread(find)

            kinds: list[Callable[[str], Awaitable[str]]] = [by_sdk, by_page]
            for number in range(PAIRS):
                pair = [chance.choice(kinds), by_terminal if number < TERMINALS else chance.choice(kinds)]
                found = await asyncio.gather(*(seek(f"{number}-{n}") for n, seek in enumerate(pair)))
                assert found[0] == found[1], (seed, number, [seek.__name__ for seek in pair])

    asyncio.run(scenario())
