"""New visitors: on a phone, from an invitation, and with many tabs."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route

from tests.clients.web.browsing import ENLARGED, STEADY, Answer, Person, Reader, chromium, needs_chromium, served_page
from tests.server.serving import until

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

NARROW = 360
BLOCKED_SECONDS = 3


async def phone(browser: Browser) -> Person:
    """Open a browser with a small touch screen."""
    context = await browser.new_context(
        viewport={"width": NARROW, "height": 740}, has_touch=True, is_mobile=True, locale="de"
    )
    return await Person.within(context)


async def fits(person: Person) -> bool:
    """Whether the page needs no horizontal scrolling."""
    return int(await person.page.evaluate("document.documentElement.scrollWidth")) <= NARROW


async def _late(route: Route) -> None:
    await asyncio.sleep(BLOCKED_SECONDS)
    await route.continue_()


def test_from_an_invitation_to_the_first_roll_it_takes_two_taps(tmp_path: Path) -> None:
    """On a phone, for a private match, with scripts that load late; no request contains the code."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            anna, ben = await Person.arrive(browser), await phone(browser)
            await anna.goto(f"{web.url}/open?game=cant_stop")
            await anna.page.fill("input[name=name]", "Anna")
            await anna.page.check("input[name=private]")
            await anna.page.click("button.main")
            await anna.page.wait_for_selector("#invitation")
            link = await anna.page.input_value("#invitation")
            assert "#" in link
            asked: list[str] = []
            ben.page.on("request", lambda request: asked.append(request.url))
            await ben.page.context.route("**/s/**/*.js", _late)
            await ben.page.goto(link)
            assert await fits(ben)
            await ben.page.wait_for_selector("#join")
            assert await fits(ben)
            await ben.page.fill("#join input[name=name]", "Ben")
            await ben.page.tap("#join button")
            await ben.page.wait_for_selector("#player-1")
            for person in (anna, ben):
                await person.page.wait_for_selector("#board .die")
            assert await fits(ben)
            await ben.page.evaluate(ENLARGED, 2)
            assert await fits(ben)
            code = link.partition("#")[2]
            assert [] == [url for url in asked if code in url.partition("#")[0]]
            assert code not in web.said()
            for path in ("/", "/me", "/open", "/open?game=raffzahn", "/replays", "/verify", "/judge", "/nowhere"):
                await ben.goto(web.url + path)
                assert await fits(ben), path
            assert [] == anna.errors + ben.errors

    asyncio.run(scenario())


def test_seven_tabs_of_one_browser_are_all_live(tmp_path: Path) -> None:
    """A browser opens six connections to a host; no tab may wait until another is closed."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            anna, ben = await Person.arrive(browser), await Person.arrive(browser)
            await anna.goto(f"{web.url}/open?game=cant_stop")
            await anna.page.fill("input[name=name]", "Anna")
            await anna.page.click("button.main")
            await anna.page.wait_for_selector("#invitation")
            tabs = [Person(await anna.page.context.new_page()) for _ in range(7)]
            for tab in tabs:
                await tab.page.goto(anna.page.url)
                await tab.page.wait_for_selector("#players")
            await ben.goto(anna.page.url)
            await ben.page.fill("#join input[name=name]", "Ben")
            await ben.page.click("#join button")
            for tab in [anna, *tabs]:
                await tab.page.wait_for_selector("#board .die")
            hidden = tabs[0].page
            await hidden.evaluate(
                "() => { Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
                " document.dispatchEvent(new Event('visibilitychange')); }"
            )
            before = await anna.position
            mover = anna if await anna.page.locator("#choose").count() else ben
            await mover.page.wait_for_function(STEADY)
            await mover.page.locator("#choices-list button").first.click()
            await anna.page.wait_for_function(
                "(before) => Number(document.getElementById('table').dataset.position) > before", arg=before
            )
            await hidden.evaluate(
                "() => { Object.defineProperty(document, 'hidden', { value: false, configurable: true });"
                " document.dispatchEvent(new Event('visibilitychange')); }"
            )
            for tab in tabs:
                await tab.page.wait_for_function(
                    "(before) => Number(document.getElementById('table').dataset.position) > before", arg=before
                )
            assert [] == [error for tab in (anna, ben, *tabs) for error in tab.errors]

    asyncio.run(scenario())


def test_whoever_is_alone_plays_against_bots_and_plays_again(tmp_path: Path) -> None:
    """With plain forms, as before scripts load: a bot takes a seat, the match ends, and its rematch is open."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web):
            await asyncio.to_thread(play_and_play_again, Reader(web.url))

    asyncio.run(scenario())


def play_and_play_again(reader: Reader) -> None:
    """Open a table, fill it with bots, resign, and open the rematch."""
    opened = reader.post("/play", {"game": "cant_stop", "name": "Anna"})
    match = shown_match(opened)
    assert 200 == reader.post(f"/matches/{match}/bot", {"all": "yes"}).status
    until(lambda: 'data-state="3"' in reader.get(f"/matches/{match}").text)
    assert 200 == reader.post(f"/matches/{match}/resign", {}).status
    until(lambda: 'id="after"' in reader.get(f"/matches/{match}").text)
    assert '<span class="note">resigned</span>' in reader.get(f"/matches/{match}").text
    again = reader.post(f"/matches/{match}/rematch", {})
    assert 200 == again.status
    assert match != shown_match(again)
    assert "Anna" in again.text


def shown_match(answer: Answer) -> str:
    """The match id that a page shows."""
    found = re.search(r'data-topic="(\w+)"', answer.text)
    assert found is not None, answer.text
    return found[1]
