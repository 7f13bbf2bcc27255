"""Playing now on the page, in browsers without scripts: people meet, get ready, and read when bots join."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from tests.clients.web.browsing import chromium, needs_chromium, served_page

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

REFRESH = 'http-equiv="refresh"'
PATIENCE_MS = 60_000


async def visitor(browser: Browser, url: str) -> Page:
    """A browser without scripts, in the lobby."""
    page = await (await browser.new_context(java_script_enabled=False, locale="en")).new_page()
    await page.goto(url)
    return page


async def play(page: Page, name: str, game: str, *switches: str) -> None:
    """Fill in the form, and press the button of a game."""
    await page.fill("input[name=name]", name)
    for switch in switches:
        await page.check(f"input[name={switch}]")
    await page.click(f"button[value={game}]")
    await page.wait_for_selector("#table")


def test_two_browsers_without_scripts_meet_and_get_ready(tmp_path: Path) -> None:
    """Each page reloads itself until it is its visitor's turn; the second one reads who waits."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            anna, ben = await visitor(browser, web.url), await visitor(browser, web.url)
            await play(anna, "Anna", "cant_stop", "people")
            assert await anna.locator("#bots").count() == 0
            await ben.reload()
            while "1 waiting" not in await ben.inner_text("#waiting-cant_stop"):
                await ben.reload()
            await play(ben, "Ben", "cant_stop")
            assert anna.url == f"{ben.url}?people=yes"
            for page in (anna, ben):
                await page.wait_for_selector('#table[data-state="3"]', timeout=PATIENCE_MS)
            contents = [await page.content() for page in (anna, ben)]
            assert sorted([(True, False), (False, True)]) == sorted(
                (REFRESH in content, 'id="choose"' in content) for content in contents
            )

    asyncio.run(scenario())


def test_a_lone_visitor_reads_when_bots_join_and_plays_them(tmp_path: Path) -> None:
    """Without a further click; a table with a day a turn is another one."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            anna = await visitor(browser, web.url)
            await play(anna, "Anna", "allie_gator")
            assert "Bots join in" in await anna.inner_text("#bots")
            await anna.wait_for_selector('#table[data-state="3"]', timeout=PATIENCE_MS)
            before = anna.url
            await anna.goto(web.url)
            await play(anna, "Anna", "allie_gator", "slow", "people")
            assert before != anna.url

    asyncio.run(scenario())
