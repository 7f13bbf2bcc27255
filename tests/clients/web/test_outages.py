"""Service and page are killed under players: no choice is lost, doubled or out of order, and no reload is needed."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from playwright.async_api import Browser
from playwright.async_api import TimeoutError as BrowserTimeout

from rollbook.replay_file.container import read
from rollbook.v1.events_pb2 import Event
from tests.clients.web.browsing import (
    STEADY,
    WAIT_MS,
    Person,
    Reader,
    WebProcess,
    chromium,
    needs_chromium,
    served_page,
)
from tests.clients.web.test_page import sat_down
from tests.server.serving import until
from tests.server.test_whole_service import Serving

SEED = int(os.environ.get("ROLLBOOK_SEED", "3"))
ROUNDS = 4

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

ANSWERED = """() => document.getElementById("answer").textContent !== "" &&
  !document.getElementById("live").hasAttribute("aria-busy")"""
"""Script: the sent choice is settled; until then the browser sends it again."""

SHOWS = "position => Number(document.getElementById('table').dataset.position) === position"
UNCLEAN = """addEventListener("DOMContentLoaded", () => {
  window.unclean = [];
  const look = () => {
    const others = [...document.body.children].filter((each) => each.id !== "live");
    if (others.length || !document.querySelector("#board svg") || !document.querySelector("#players li")) {
      window.unclean.push(document.body.innerHTML);
    }
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true });
  look();
});"""
"""Script that records the board and the players after every change."""

STREAMS = """() => JSON.stringify([document.getElementById("table").dataset, document.hidden, performance.now(),
  performance.getEntriesByType("resource").map((each) => [each.name, each.startTime, each.duration])])"""
"""Script that returns the shown position and the requests of a browser."""

LOG = "() => [...document.querySelectorAll('#log li')].map((line) => line.dataset.event + ' ' + line.textContent)"


async def dies(service: Serving, web: WebProcess, what: str) -> None:
    """Kill the service, the page or both, and start them again."""
    if what in {"page", "both"}:
        web.kill()
    if what in {"service", "both"}:
        await asyncio.to_thread(service.kill_service)
    if what in {"page", "both"}:
        web.process = web.start()


async def until_alike(people: list[Person], position: int) -> None:
    """Wait until all browsers show the same position, at least this one, with a player to choose."""
    while True:
        positions = {await person.position for person in people}
        up_to = [await person.page.locator("#choose").count() for person in people]
        if len(positions) == 1 and min(positions) >= position and any(up_to):
            logs = [tuple(await person.page.evaluate(LOG)) for person in people]
            if len(set(logs)) == 1:
                return
        await asyncio.sleep(0.1)


async def overlaid(browser: Browser, address: str) -> Person:
    """Open the overlay of a match, and record everything that it shows besides the board."""
    person = await Person.arrive(browser)
    await person.page.context.add_init_script(UNCLEAN)
    await person.goto(f"{address}/overlay")
    return person


def logged(web: WebProcess, address: str) -> list[Event]:
    """Read the events of the match from the store's log."""
    while True:
        with suppress(OSError):
            answer = Reader(web.url).get(f"{address.removeprefix(web.url)}/file")
            if answer.status == 200:
                return [Event.FromString(event) for event in read(answer.body).replay.events]
        time.sleep(0.1)


def choices(log: list[Event]) -> int:
    """Count the choices in a log."""
    return sum(event.HasField("chosen") for event in log)


async def _clicked(person: Person, random: Random) -> None:
    await person.page.wait_for_function(STEADY)
    buttons = person.page.locator("#choices-list button")
    await buttons.nth(random.randrange(await buttons.count())).click()


async def _three(browser: Browser) -> list[Person]:
    return [await Person.arrive(browser) for _ in range(3)]


def test_a_choice_is_made_once_or_said_not_to_have_arrived(tmp_path: Path) -> None:
    """Three browsers end with the same position and log without a reload, after choices sent during outages.

    The overlay shows only the last board meanwhile.
    """
    print("seed", SEED)
    random = Random(SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), chromium() as browser:
            people = await _three(browser)
            address = await sat_down(web.url, "cant_stop", people[:2])
            await people[2].goto(address)
            overlay = await overlaid(browser, address)
            for person in (*people, overlay):
                await person.page.evaluate("window.marked = 'never loaded again'")
            for number in range(ROUNDS):
                before = await asyncio.to_thread(logged, web, address)
                await until_alike(people, len(before))
                up_to = [person for person in people if await person.page.locator("#choose").count()]
                death = asyncio.create_task(dies(service, web, ("service", "page", "both")[number % 3]))
                await _clicked(up_to[0], random)
                await death
                await up_to[0].page.wait_for_function(ANSWERED)
                now = await asyncio.to_thread(logged, web, address)
                await until_alike(people, len(now))
                made = choices(now) - choices(before)
                said = await up_to[0].page.locator("#answer").text_content()
                arrived = (said or "").strip() == "Sent."
                assert made == arrived or (not arrived and made in {0, 1}), (len(before), said)
                await up_to[0].page.evaluate("document.getElementById('answer').textContent = ''")
            end = len(await asyncio.to_thread(logged, web, address))
            await until_alike(people, end)
            try:
                # In the worst case the browser waits for a heartbeat and then until its next attempt.
                await overlay.page.wait_for_function(SHOWS, arg=end, timeout=2 * WAIT_MS)
            except BrowserTimeout:
                pytest.fail(f"{end} is not shown: {await overlay.page.evaluate(STREAMS)}, {web.said()}")
            assert [] == await overlay.page.evaluate("window.unclean")
            for person in (*people, overlay):
                assert "never loaded again" == await person.page.evaluate("window.marked")
                assert [] == person.errors

    asyncio.run(scenario())


def test_a_browser_never_waits_long_before_it_asks_again(tmp_path: Path) -> None:
    """After an outage of any length the browser shows the page again within some ten seconds."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            person = await Person.arrive(browser)
            # A worker would have a clock of its own.
            await person.page.context.add_init_script("delete globalThis.SharedWorker")
            await person.page.clock.install(time=0)
            await person.goto(web.url)
            await person.page.clock.pause_at(3_600)
            web.kill()
            for _ in range(8):
                async with person.page.expect_event("requestfailed"):
                    await person.page.clock.run_for(11_000)
            web.process = web.start()
            async with person.page.expect_event("response", lambda response: "event-stream" in str(response.headers)):
                await asyncio.to_thread(until, web.is_up)
                await person.page.clock.run_for(11_000)

    asyncio.run(scenario())
