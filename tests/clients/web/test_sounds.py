"""Sounds: made by the browser for what is shown, off until the switch; counted through an instrumented AudioContext."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Page

from tests.clients.sdk.tables import table
from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.test_queue import BEHIND, REACHED, Show, show

pytestmark = [needs_chromium, pytest.mark.timeout(600)]

COUNTED: Final = """
window.made = { tones: 0, noises: 0, contexts: 0 };
window.AudioContext = class extends AudioContext {
  constructor(...options) { super(...options); window.made.contexts += 1; }
  createOscillator() { window.made.tones += 1; return super.createOscillator(); }
  createBufferSource() { window.made.noises += 1; return super.createBufferSource(); }
};"""

EXPECTED: Final = {
    "throw": (0, 3),
    "step": (1, 0),
    "place": (1, 0),
    "bust": (1, 1),
    "won": (2, 0),
    "seat": (2, 0),
    "end": (3, 0),
    "": (0, 0),
}
"""Tones and noises by the kind of an event in Can't Stop."""

WAITING: Final = """
let isPressed = false;
addEventListener("pointerdown", () => { isPressed = true; }, true);
window.AudioContext = class extends AudioContext {
  constructor(...options) { super(...options); if (!isPressed) super.suspend(); }
  get state() { return isPressed ? super.state : "suspended"; }
  resume() { return isPressed ? super.resume() : new Promise(() => {}); }
};"""
"""Script with which sounds wait for a press on the page, as in browsers with a window."""

SOUNDS = "() => window.made.contexts && document.getElementById('sound-later').hidden"
"""Whether the page makes sounds. A function: the page's policy refuses to evaluate an expression."""

SHOWN: Final = """() => {
  [window.motions, window.boards] = [{}, []];
  const [root, table] = [document.documentElement, document.getElementById("table")];
  const look = () => {
    window.motions[table.dataset.position] = table.dataset.motion;
    if (window.boards.at(-1) !== root.dataset.shown) window.boards.push(root.dataset.shown);
  };
  for (const each of [root, table]) new MutationObserver(look).observe(each, { attributes: true });
  look();
}"""
"""Script that records the kind of every event, and which events have been shown."""


async def made(page: Page) -> tuple[int, int]:
    """The tones and noises so far."""
    counts = await page.evaluate("window.made")
    return counts["tones"], counts["noises"]


async def expected(page: Page) -> tuple[int, int]:
    """The tones and noises of the boards that have been shown since SHOWN was evaluated."""
    first, *boards = await page.evaluate("window.boards")
    motions = await page.evaluate("window.motions")
    sounds = [EXPECTED[motions[each]] for each in boards if each != first]
    return sum(tones for tones, _ in sounds), sum(noises for _, noises in sounds)


async def play_one(at: Show) -> None:
    """One choice, shown to its end."""
    await at.choose()
    while await at.page.evaluate(BEHIND):
        await at.page.clock.run_for(50)
    await at.page.clock.run_for(1_300)


def test_each_shown_event_sounds_once_while_the_switch_is_on(tmp_path: Path) -> None:
    """None before the switch, and none after it is off again by the key M."""

    async def scenario() -> None:
        async with show(tmp_path, "cant_stop") as at:
            await at.page.add_init_script(COUNTED)
            await at.page.reload()
            await play_one(at)
            assert {"tones": 0, "noises": 0, "contexts": 0} == await at.page.evaluate("window.made")
            await at.page.check("#sound")
            await at.page.wait_for_function(
                "() => window.made.contexts && document.getElementById('sound-later').hidden"
            )
            await at.page.evaluate(SHOWN)
            for _ in range(15):
                await play_one(at)
            assert await expected(at.page) == await made(at.page)
            tones, noises = await made(at.page)
            assert tones > 3
            assert noises > 8
            await at.page.keyboard.press("m")
            assert not await at.page.is_checked("#sound")
            await play_one(at)
            assert (tones, noises) == await made(at.page)
            assert 1 == (await at.page.evaluate("window.made"))["contexts"]

    asyncio.run(scenario())


def test_after_a_reload_sound_waits_for_the_first_press(tmp_path: Path) -> None:
    """The switch has a note about it until then."""

    async def scenario() -> None:
        async with show(tmp_path, "cant_stop") as at:
            await at.page.check("#sound")
            await at.page.add_init_script(WAITING)
            await at.page.reload()
            assert await at.page.is_checked("#sound")
            await at.page.wait_for_selector("#sound-later")
            assert "on, after your first click" == (await at.page.inner_text("#sound-later")).strip()
            await at.page.mouse.click(5, 5)
            await at.page.wait_for_selector("#sound-later", state="hidden")

    asyncio.run(scenario())


def test_a_player_hears_who_sits_down_the_own_turn_and_the_end(tmp_path: Path) -> None:
    """The own turn sounds once when it begins, and not again after each throw."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), chromium() as browser:  # noqa: SIM117 - in this order
            async with table(service.address, "Ben") as player:
                ben = await player.open("cant_stop", 3)
                await ben.join()
                person = await Person.arrive(browser)
                page = person.page
                await page.add_init_script(COUNTED)
                await person.goto(f"{web.url}/matches/{ben.id}")
                await page.fill("#join input[name=name]", "Anna")
                await page.click("#join button")
                await page.wait_for_selector("#player-1 .name:text('Anna')")
                await page.check("#sound")
                await page.wait_for_function(
                    "() => window.made.contexts && document.getElementById('sound-later').hidden"
                )
                await page.evaluate(SHOWN)
                async with table(service.address, "Cora") as third:
                    cora = third.match(ben.id)
                    await cora.join()
                    await ben.ready()
                    await cora.ready()
                    turns = 0
                    while turns < 2:
                        moment = await ben.state()
                        await page.wait_for_function(REACHED, arg=moment.position.sequence)
                        if moment.summary.awaited_seat == 1:
                            turns += 1
                            while (await ben.state()).summary.awaited_seat == 1:
                                await page.wait_for_selector("#choices-list button")
                                at = await person.position
                                await page.evaluate(
                                    "[...document.querySelectorAll('#choose button[name=choice]')].at(-1)?.click()"
                                )
                                await page.wait_for_function(REACHED, arg=at + 1)
                        elif moment.summary.awaited_seat in {0, 2}:
                            mover = cora if moment.summary.awaited_seat else ben
                            now = await mover.state()
                            if now.legal:
                                await mover.choose([*now.legal][-1], at=now.position)
                    await ben.resign()
                    await cora.resign()
                    await page.wait_for_selector("#end")
                tones, noises = await expected(page)
                assert (tones + 2 * turns, noises) == await made(page)
                assert [] == person.errors

    asyncio.run(scenario())
