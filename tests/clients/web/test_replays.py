"""Replays in a browser: each moment looks the same on every path to it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from rollbook.replay_file.container import read
from tests.clients.web.browsing import Person, chromium, needs_chromium

SEED = int(os.environ.get("ROLLBOOK_SEED", "6"))
GOLDEN = sorted((Path(__file__).parents[3] / "replays" / "golden").glob("*.rollbook"))
KEYS = ("ArrowLeft", "ArrowRight", "ArrowRight", "PageUp", "PageDown", "PageDown", "Home", "End")
STEPS = 40

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

SHOWN = """() => JSON.stringify([
  document.getElementById("board").innerHTML,
  document.getElementById("log").innerHTML,
  document.getElementById("where").textContent,
])"""


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, id=file.stem, marks=[] if "eventful" in file.stem else [pytest.mark.slow]) for file in GOLDEN],
)
def test_scrubbing_in_any_order_shows_what_a_fresh_look_shows(file: Path, pages: str) -> None:
    """In random order over events, turns, ends and the slider, board, log and words depend on the moment alone."""
    print("seed", SEED)
    random = Random(f"{SEED} {file.name}")
    events = len(read(file.read_bytes()).replay.events)

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            await person.goto(f"{pages}/replays")
            await person.page.set_input_files("input[name=file]", file)
            await person.page.click("button.main")
            await person.page.wait_for_selector("#replay")
            await person.page.click("a[href*=spoilers]")
            await person.page.wait_for_selector("#slider")
            for step in range(STEPS):
                if random.random() < 0.4:
                    to = random.randrange(1, events + 1)
                    await person.page.evaluate(
                        "(to) => { const slider = document.getElementById('slider'); slider.value = to;"
                        " slider.dispatchEvent(new Event('input')); }",
                        to,
                    )
                else:
                    await person.page.keyboard.press(random.choice(KEYS))
                if step % 10 == 9:
                    await person.page.wait_for_load_state("networkidle")
                    scrubbed = await person.page.evaluate(SHOWN)
                    await person.page.reload()
                    assert scrubbed == await person.page.evaluate(SHOWN), person.page.url
            assert [] == person.errors

    asyncio.run(scenario())
