"""The queue: boards one after the other, long enough to be felt, while turn, clocks and choices are never late."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from playwright.async_api import Page

from rollbook.rules.catalogue import current
from rollbook_clients.sdk import Match
from tests.clients.sdk.tables import pick, running, table, tables, turn
from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import of_every_game

pytestmark = [needs_chromium, pytest.mark.timeout(600)]

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "7"))
FELT_MS: Final = 1_100
MOST_BEHIND_MS: Final = 2_500
STEP_MS: Final = 50

RECORD: Final = """() => {
  window.records = [];
  const root = document.documentElement;
  const look = () => {
    const banner = document.getElementById("banner");
    const [line] = banner?.getAnimations() ?? [];
    const record = { at: performance.now(), shown: Number(root.dataset.shown), banner: banner?.textContent ?? "",
      lasts: line?.effect.getTiming().duration ?? 0,
      moving: document.getAnimations().filter((each) => each.effect.target?.closest("#board svg, .flight")).length };
    if (record.shown !== window.records.at(-1)?.shown) window.records.push(record);
  };
  new MutationObserver(look).observe(root, { attributes: true, attributeFilter: ["data-shown"] });
}"""
"""Script that records when each board is shown, by the page's clock, with what moves on it."""

BEHIND: Final = "document.documentElement.classList.contains('behind')"
REACHED: Final = "wanted => Number(document.getElementById('table').dataset.position) >= wanted"
MOVING: Final = """() => document.getAnimations().filter((each) => each.playState === "running"
  && each.effect.target?.closest("#board svg, .flight, #banner")).length"""


@dataclass
class Show:
    """A match between players of the SDK, watched in a browser whose clock is stopped."""

    page: Page
    person: Person
    matches: list[Match]
    random: Random

    async def choose(self, times: int = 1) -> int:
        """Choices by the players; returns when the page has the events."""
        position = 0
        for _ in range(times):
            match, moment = await turn(self.matches)
            assert moment.legal
            position = (await match.choose(pick(moment.legal, self.random))).position.sequence
        await self.page.wait_for_function(REACHED, arg=position)
        return position

    async def catch_up(self) -> int:
        """Let time pass until the board shows the newest event; returns the milliseconds."""
        passed = 0
        while await self.page.evaluate(BEHIND):
            await self.page.clock.run_for(STEP_MS)
            passed += STEP_MS
        return passed

    async def until_behind(self, *, felt: bool = False) -> None:
        """Play until the board is behind the newest event, with a banner if `felt`."""
        while True:
            await self.choose()
            is_behind = await self.page.evaluate(BEHIND)
            if is_behind and (not felt or await self.page.locator("#banner").count()):
                return
            await self.catch_up()
            await self.page.clock.run_for(1_300)


async def stop_clock(page: Page) -> None:
    """Stop the page's clock; from now on time passes only by `run_for`."""
    await page.clock.install(time=0)
    await page.clock.pause_at(1_000)


@asynccontextmanager
async def show(tmp_path: Path, game: str, **context: Any) -> AsyncIterator[Show]:
    """Serve a match of this game."""
    print("seed", SEED)
    tmp_path.mkdir(exist_ok=True)
    async with served_page(tmp_path) as (service, web), chromium() as browser:
        names = ("Anna", "Ben", "Cora")[: current()[game].seats[0]]
        async with tables(service.address, *names) as players:
            matches = await running(players, game)
            person = await Person.within(
                await browser.new_context(viewport={"width": 1280, "height": 800}, locale="en", **context)
            )
            await stop_clock(person.page)
            await person.goto(f"{web.url}/matches/{matches[0].id}")
            await person.page.evaluate(RECORD)
            yield Show(person.page, person, matches, Random(SEED))
            assert [] == person.errors


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario."""
    asyncio.run(scenario())  # type: ignore[arg-type]  # it is a coroutine


@of_every_game
def test_what_hurts_stays_long_enough_to_be_felt(game: str, tmp_path: Path) -> None:
    """At least 1.1 s by the page's clock and by the animation of its line, however much happens meanwhile."""

    async def scenario() -> None:
        async with show(tmp_path, game) as at:
            felt = 0
            while felt < 2:
                await at.choose(3)
                assert await at.catch_up() <= MOST_BEHIND_MS + STEP_MS
                records = await at.page.evaluate("window.records")
                pairs = [(one, other) for one, other in pairwise(records) if one["banner"]]
                for one, other in pairs:
                    assert other["at"] - one["at"] >= FELT_MS, (one, other)
                    assert one["lasts"] >= FELT_MS, one
                felt = len(pairs)
                await at.page.clock.run_for(1_300)
            assert any(each["moving"] for each in records)

    run(scenario)


def test_a_key_or_a_press_on_the_board_ends_the_queue_in_one_frame(tmp_path: Path) -> None:
    """At once the board is the newest one and nothing moves any more; so does hiding the tab."""

    async def scenario() -> None:
        async with show(tmp_path, "cant_stop") as at:
            page = at.page
            hide = (
                "Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
                "document.dispatchEvent(new Event('visibilitychange')); delete document.hidden"
            )

            async def press() -> None:
                await page.mouse.click(640, 300)

            for act in (lambda: page.keyboard.press("x"), press, lambda: page.evaluate(hide)):
                await at.until_behind(felt=True)
                assert await page.evaluate(MOVING) > 0
                assert await page.evaluate("document.documentElement.dataset.shown") != str(await at.person.position)
                await act()
                assert not await page.evaluate(BEHIND)
                assert await page.evaluate("document.documentElement.dataset.shown") == str(await at.person.position)
                assert 0 == await page.evaluate(MOVING)
                assert 0 == await page.locator(".flight").count()

    run(scenario)


def test_the_own_turn_does_not_wait_for_the_queue(tmp_path: Path) -> None:
    """Status, plate, clock and choices are there while the board still shows the bust before; light comes with it."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), chromium() as browser:  # noqa: SIM117 - in this order
            async with table(service.address, "Ben") as player:
                ben = await player.open("cant_stop", 2, turn_seconds=3_600)
                await ben.join()
                person = await Person.arrive(browser)
                page = person.page
                await stop_clock(page)
                await person.goto(f"{web.url}/matches/{ben.id}")
                await page.fill("#join input[name=name]", "Anna")
                await page.click("#join button")
                await ben.ready()
                seen = 0
                while seen < 2:
                    moment = await ben.state()
                    await page.wait_for_function(REACHED, arg=moment.position.sequence)
                    mine = moment.summary.awaited_seat == 1
                    touching = await page.locator("#choices-list button:not([data-touches=''])").count()
                    if mine and touching and await page.evaluate(BEHIND):
                        seen += 1
                        assert "Your turn" in (await page.inner_text("#status"))
                        assert await page.locator("#player-1.on-turn .left").inner_text()
                        assert await page.locator("#choices-list button").count()
                        assert 0 == await page.locator("#board .lit").count()
                        if seen == 1:
                            while await page.evaluate(BEHIND):
                                await page.clock.run_for(STEP_MS)
                            assert await page.locator("#board .lit").count()
                    if not mine:
                        await page.clock.run_for(2_000)
                        assert moment.legal
                        await ben.choose(next(iter(moment.legal)), at=moment.position)
                        continue
                    # The key makes the choice although the board may be behind and no time passes.
                    await page.keyboard.press("1")
                    await page.wait_for_function(REACHED, arg=moment.position.sequence + 1)
                assert [] == person.errors

    run(scenario)


def test_with_motion_switched_off_every_board_is_the_newest_also_after_a_reload(tmp_path: Path) -> None:
    """The switch is remembered in the browser's storage, or in a cookie without it; sound is off at first."""

    async def scenario() -> None:
        for script in ("", "Object.defineProperty(window, 'localStorage', { get() { throw new Error('none'); } });"):
            async with show(tmp_path / str(len(script)), "cant_stop") as at:
                page = at.page
                await page.add_init_script(script)
                await page.reload()
                assert [True, False] == [await page.is_checked(f"#{name}") for name in ("motion", "sound")]
                await at.until_behind()
                await page.uncheck("#motion")
                assert not await page.evaluate(BEHIND)
                await page.check("#sound")
                await page.reload()
                assert [False, True] == [await page.is_checked(f"#{name}") for name in ("motion", "sound")]
                await page.evaluate(RECORD)
                for _ in range(8):
                    await at.choose()
                    assert not await page.evaluate(BEHIND)
                records = await page.evaluate("window.records")
                assert len(records) > 8
                assert [] == [each for each in records if each["moving"] or each["lasts"]]

    run(scenario)


def test_with_reduced_motion_what_has_changed_is_outlined(tmp_path: Path) -> None:
    """Nothing moves, the holds are the same, and the line over the board is there."""

    async def scenario() -> None:
        async with show(tmp_path, "cant_stop", reduced_motion="reduce") as at:
            await at.until_behind(felt=True)
            (record,) = [each for each in await at.page.evaluate("window.records") if each["banner"]]
            assert record["lasts"] >= FELT_MS
            assert 0 == await at.page.locator(".flight").count()
            assert await at.page.locator("#board .moved").count() > 0
            assert await at.catch_up() >= FELT_MS
            assert [] == [each for each in await at.page.evaluate("window.records") if each["moving"]]

    run(scenario)
