"""What a player sees while an answer takes long, the connection is lost, or another player lets turns pass."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Final

import pytest
from playwright.async_api import Route

from rollbook_clients.sdk import connect
from tests.clients.web.browsing import STEADY, Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import sat_down

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

SENDING: Final = """() => {
  const after = getComputedStyle(document.getElementById("status"), "::after");
  return after.visibility === "visible" && after.content.includes("Sending");
}"""
CHOICES: Final = """[...document.querySelectorAll("#choices-list button")].length > 1"""


async def until_own_turn(people: list[Person], random: Random) -> None:
    """Play until the first one has two choices."""
    while not await people[0].page.evaluate(CHOICES):
        for person in people:
            if not await people[0].page.evaluate(CHOICES):
                await person.choose(random)
        await asyncio.sleep(0.02)
    await people[0].page.wait_for_function(STEADY)


def test_a_preview_outlives_a_lost_connection_and_a_late_answer_is_waited_for(tmp_path: Path) -> None:
    """Choices are disabled meanwhile; "Sending …" appears after a moment and goes with the answer."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people = [await Person.arrive(browser, width=390, height=844), await Person.arrive(browser)]
            await sat_down(web.url, "cant_stop", people)
            await until_own_turn(people, Random(4))
            page, before = people[0].page, await people[0].position
            sent: list[str] = []
            page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
            await page.hover("#choices-list button >> nth=1")
            named = await page.inner_text("#primary")
            web.kill()
            await page.wait_for_selector("#away:not([hidden])")
            assert named == await page.inner_text("#primary")
            assert not await page.locator("#choose button:not([aria-disabled=true])").count()
            await page.evaluate("document.querySelector('#choices-list button').click()")
            await page.keyboard.press("1")
            assert [] == sent
            web.process = web.start()
            await page.wait_for_selector("#away", state="hidden")
            assert (named, before) == (await page.inner_text("#primary"), await people[0].position)
            free = asyncio.Event()

            async def hold(route: Route) -> None:
                await free.wait()
                await route.continue_()

            await page.route("**/choose", hold)
            await page.click("#primary")
            await page.wait_for_function(SENDING)
            free.set()
            await page.wait_for_selector("#live:not([aria-busy])")
            assert not await page.evaluate(SENDING)
            assert 1 == len(sent)

    asyncio.run(scenario())


def test_the_log_is_a_sheet_on_a_phone(tmp_path: Path) -> None:
    """The newest line above the board opens it; Escape and a press elsewhere close it."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            people = [await Person.arrive(browser, width=390, height=844), await Person.arrive(browser)]
            await sat_down(web.url, "cant_stop", people)
            page = people[0].page
            await page.wait_for_selector('#table[data-state="3"]')
            for close in ("Escape", "#players"):
                assert not await page.is_visible("#log li >> nth=0")
                await page.click("#ticker")
                await page.wait_for_selector("#log li >> nth=0", state="visible")
                await (page.keyboard.press(close) if close == "Escape" else page.click(close))
                await page.wait_for_selector("#log li >> nth=0", state="hidden")
            await page.set_viewport_size({"width": 1280, "height": 800})
            assert await page.is_visible("#log li >> nth=0")

    asyncio.run(scenario())


def test_players_read_when_a_bot_will_play_for_one_who_lets_turns_pass(tmp_path: Path) -> None:
    """After the first turn that timed out: two more."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), chromium() as browser:
            anna = await Person.arrive(browser)
            async with connect(service.address, name="Ben") as ben:
                match = await ben.open("cant_stop", 2, turn_seconds=5, reserve_seconds=0)
                await match.join()
                await anna.goto(f"{web.url}/matches/{match.id}")
                await anna.page.fill("#join input[name=name]", "Anna")
                await anna.page.click("#join button")
                await match.ready()
                random = Random(1)
                while not await anna.page.locator(
                    ".tray .note:has-text('A bot plays for Ben after 2 more turns.')"
                ).count():
                    await anna.choose(random)
                    await asyncio.sleep(0.05)

    asyncio.run(scenario())
