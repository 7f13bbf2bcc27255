"""A table of PlayNow that comes to nothing because another player is not ready: the page looks for another table."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.clients.sdk.tables import tables
from tests.clients.web.browsing import chromium, needs_chromium, served_page
from tests.clients.web.test_play_now import PATIENCE_MS, play

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

SAID = "Ben did not answer. Looking for another table."


@pytest.mark.parametrize("has_scripts", [True, False])
def test_the_player_who_was_ready_gets_another_table(tmp_path: Path, has_scripts: bool) -> None:
    """By itself, or without scripts by one button, with the same wish; a page that is opened later does not search."""

    async def scenario() -> None:
        async with (
            served_page(tmp_path) as (served, web),
            chromium() as browser,
            tables(served.address, "Ben", "Carla") as (ben, carla),
        ):
            anna = await (await browser.new_context(java_script_enabled=has_scripts, locale="en")).new_page()
            await anna.goto(web.url)
            await play(anna, "Anna", "cant_stop", "people")
            before = anna.url
            match = await ben.sit_now("cant_stop")
            assert match.id in before
            await anna.get_by_text(SAID).first.wait_for(timeout=PATIENCE_MS)
            if not has_scripts:
                await anna.click("#now button")
            await anna.wait_for_url(lambda url: url.startswith(web.url) and match.id not in url, timeout=PATIENCE_MS)
            found = anna.url
            assert await anna.locator("#bots").count() == 0, "still with people only"
            assert found.partition("?")[0].endswith((await carla.sit_now("cant_stop")).id)
            later = await anna.context.new_page()
            await later.goto(before)
            assert SAID in await later.inner_text("#end")
            if has_scripts:
                await later.clock.install()
                await later.reload()
                await later.clock.run_for(60_000)
                assert later.url == before

    asyncio.run(scenario())
