"""Presses on the board: a tap previews and a second one sends, keys do the same, and no press comes too early."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Final

import pytest
from playwright.async_api import Page

from tests.clients.web.browsing import STEADY, Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import sat_down

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "5"))

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

MOVED: Final = "before => Number(document.getElementById('table').dataset.position) > before"
STOPPABLE: Final = """{
  const now = performance.now.bind(performance);
  performance.now = () => window.stopped ?? now();
}"""
"""The clock by which the page measures how long something has been there can be stopped."""

TWO_STEPS: Final = "[...document.querySelectorAll('#choices-list button')].some((each) => each.dataset.touches)"


def at_the_own_turn(tmp_path: Path, scenario: Callable[[Person], Awaitable[None]]) -> None:
    """Somebody with a phone is to choose fields in a match of Can't Stop."""
    print("seed", SEED)
    random = Random(SEED)

    async def run() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, locale="en")
            person = await Person.within(context)
            other = await Person.arrive(browser)
            await person.page.context.add_init_script(STOPPABLE)
            await sat_down(web.url, "cant_stop", [person, other])
            while not await person.page.evaluate(TWO_STEPS):
                await other.choose(random)
                await asyncio.sleep(0.02)
            await person.page.wait_for_function(STEADY)
            await scenario(person)
            assert [] == person.errors + other.errors

    asyncio.run(run())


def sent_by(page: Page) -> list[str]:
    """The choices that a page sends from now on."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/choose") else None)
    return sent


def test_a_tap_previews_and_a_second_one_sends(tmp_path: Path) -> None:
    """On a field and on a choice of the list alike; the primary button names the previewed choice."""

    async def scenario(person: Person) -> None:
        page, before = person.page, await person.position
        sent = sent_by(page)
        choice = page.locator("#choices-list button").first
        await choice.tap()
        await page.wait_for_selector("#primary[data-choice=choice-1]")
        assert [] == sent
        await page.keyboard.press("Escape")
        await page.wait_for_selector("#primary[data-choice=choice-1] :not(.again)")
        [field, *_] = (await choice.get_attribute("data-touches") or "").split()
        await page.locator(f"#{field}").tap()
        await page.wait_for_selector(f"#{field}.held")
        assert [] == sent
        if await page.locator("#primary[data-choice]").count():
            assert field in (await page.locator("#choices-list .previewed").get_attribute("data-touches") or "")
        await choice.tap()
        await page.wait_for_selector("#primary[data-choice=choice-1]")
        await choice.tap()
        await page.wait_for_function(MOVED, arg=before)
        assert 1 == len(sent)

    at_the_own_turn(tmp_path, scenario)


def test_arrows_and_enter_play_on_the_board(tmp_path: Path) -> None:
    """An arrow goes to the next thing that glows, Enter presses it, and once more sends."""

    async def scenario(person: Person) -> None:
        page, before = person.page, await person.position
        for _ in range(4):
            await page.keyboard.press("ArrowRight")
            await page.wait_for_selector("#board svg .previewed")
            await page.keyboard.press("Enter")
            await page.wait_for_selector("#board svg .held")
            if await page.locator("#choices-list button:visible").count() == 1:
                break
        await page.keyboard.press("Enter")
        await page.wait_for_function(MOVED, arg=before)

    at_the_own_turn(tmp_path, scenario)


def test_a_press_right_after_a_change_is_ignored(tmp_path: Path) -> None:
    """It was meant for the table before; a quarter of a second later the same press counts."""

    async def scenario(person: Person) -> None:
        page, before = person.page, await person.position
        sent = sent_by(page)
        await page.evaluate("window.stopped = performance.now()")
        await page.keyboard.press("1")
        await page.wait_for_function(MOVED, arg=before)
        then = await person.position
        await page.locator("#primary").click()
        is_busy = await page.evaluate("document.getElementById('live').hasAttribute('aria-busy')")
        assert (False, then, 1) == (is_busy, await person.position, len(sent))
        await page.evaluate("window.stopped += 300")
        await page.locator("#primary").click()
        await page.wait_for_function(MOVED, arg=then)
        assert 2 == len(sent)

    at_the_own_turn(tmp_path, scenario)
