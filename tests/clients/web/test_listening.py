"""Whole matches by keyboard and screen reader: every control has a name, and every line is announced once, in order."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from playwright.async_api import Browser, CDPSession

from rollbook.rules.catalogue import current
from rollbook_clients.web.words import words_in
from rollbook_replays.games.words import Words
from tests.clients.web.browsing import Person, chromium, needs_chromium, served_page
from tests.clients.web.test_page import of_every_game, sat_down

SEED = int(os.environ.get("ROLLBOOK_SEED", "3"))
LANGUAGES: Final = ("en", "de")
NAMED: Final = {"button", "link", "checkbox", "combobox", "textbox", "heading", "image", "DisclosureTriangle"}

NAMES_AT: Final = (1, 2, 5, 10)
"""The turns in which the names of all controls are checked."""

pytestmark = [needs_chromium, pytest.mark.timeout(900)]

SPOKEN: Final = """document.addEventListener("readystatechange", () => {
  if (document.readyState !== "interactive") return;
  window.hadTurn = document.getElementById("choose") !== null;
  window.loaded = Math.max(0, ...[...document.querySelectorAll("#log li")].map((line) => Number(line.dataset.event)));
  window.spoken = { said: [], alarm: [], answer: [] };
  for (const [id, texts] of Object.entries(window.spoken)) {
    const region = document.getElementById(id);
    if (!region) continue;
    const hear = () => region.textContent && texts.push(region.textContent.trim());
    new MutationObserver(hear).observe(region, { childList: true, characterData: true, subtree: true });
  }
});"""
"""Script that records the text of live regions after every change."""

LOG: Final = """() => [...document.querySelectorAll("#log li")]
  .map((line) => [line.id, Number(line.dataset.event), line.dataset.alarm, line.querySelector("span").textContent])"""

FOCUSED: Final = """() => {
  const [at, form] = [document.activeElement, document.getElementById("choose")];
  if (!form?.contains(at)) return "outside";
  return at.name === "choice" ? "choice" : at.localName;
}"""


class Listener:
    """A player with a keyboard and without a screen."""

    def __init__(self, person: Person, session: CDPSession, words: Words) -> None:
        self.person = person
        self.turns = 0
        self._session = session
        self._words = words
        self._lines: dict[str, tuple[int, str, str]] = {}
        self._had_turn = False

    @classmethod
    async def arrive(cls, browser: Browser, language: str) -> Listener:
        """Open a browser that records all announcements."""
        person = await Person.arrive(browser, language=language)
        await person.page.context.add_init_script(SPOKEN)
        return cls(person, await person.page.context.new_cdp_session(person.page), words_in(language))

    async def begin(self) -> None:
        """Forget the texts that were on the page when it opened, because they are not announced."""
        self._had_turn = await self.person.page.evaluate("window.hadTurn")

    async def look(self) -> None:
        """Record the current lines of the log, and whether a turn has begun."""
        for name, event, alarm, text in await self.person.page.evaluate(LOG):
            self._lines[name] = (event, alarm, text.strip())
        has_turn = await self.person.page.locator("#choose").count() > 0
        self.turns += has_turn and not self._had_turn
        self._had_turn = has_turn

    async def _spoken(self, region: str) -> list[str]:
        """The announcements of this live region."""
        return list(await self.person.page.evaluate("region => window.spoken[region]", region))

    async def nameless(self) -> list[str]:
        """The controls without a name in the accessibility tree."""
        tree: dict[str, Any] = await self._session.send("Accessibility.getFullAXTree")
        roles = [(node["role"]["value"], node) for node in tree["nodes"] if not node["ignored"]]
        return [role for role, node in roles if role in NAMED and not node.get("name", {}).get("value", "").strip()]

    async def choose(self, random: Random) -> None:
        """Move through the controls and activate one by Enter or the space bar."""
        before, has_entered = await self.person.position, False
        while await self.person.position == before:
            at = await self._go("Tab")
            has_entered = has_entered or at != "outside"
            if at == "outside" and has_entered:
                # After the last control, use one before it.
                while at in {"outside", "button"}:
                    at = await self._go("Shift+Tab")
                await self._press(at, "Enter" if at == "choice" else "Space", before)
            elif at != "outside" and random.random() < 0.5:
                await self._press(at, random.choice(("Enter", "Space")) if at == "choice" else "Space", before)

    async def _go(self, key: str) -> str:
        await self.person.page.keyboard.press(key)
        return str(await self.person.page.evaluate(FOCUSED))

    async def _press(self, what: str, key: str, before: int) -> None:
        if what == "button":
            return
        await self.person.page.keyboard.press(key)
        if what == "choice":
            moved_on = "before => Number(document.getElementById('table').dataset.position) > before"
            await self.person.page.wait_for_function(moved_on, arg=before)
        else:
            await self.person.page.wait_for_selector("#choices-list:not([aria-busy])", state="attached")

    async def heard_everything(self) -> None:
        """Assert that each line, own loss, own turn, the end and each choice's fate were announced once, in order."""
        loaded = await self.person.page.evaluate("window.loaded")
        lines = sorted((line for line in self._lines.values() if line[0] > loaded), key=lambda line: line[0])
        own = await self.person.page.get_attribute("#table", "data-own")
        urgent = [text for _, alarm, text in lines if alarm in {own, "all"}]
        polite = [text for _, alarm, text in lines if alarm not in {own, "all"}]
        assert " ".join(polite) == " ".join(await self._spoken("said"))
        alarms = " ".join(await self._spoken("alarm"))
        assert self.turns == alarms.count(self._words("table.yours"))
        won = await self.person.page.locator("#won").all_inner_texts()
        assert [1] * len(won) == [alarms.count(said) for said in won]
        assert {text: urgent.count(text) for text in urgent} == {text: alarms.count(text) for text in urgent}
        assert 1 == alarms.count(self._words("told.over"))
        assert {self._words("table.sent")} == set(await self._spoken("answer"))
        assert [] == await self.nameless()
        assert [] == self.person.errors


async def settled(listeners: list[Listener]) -> Listener | None:
    """Wait until all players see the same moment; returns the player whose turn it is, or None at the end."""
    while True:
        positions = {await each.person.position for each in listeners}
        if len(positions) == 1:
            if await listeners[0].person.is_over():
                return None
            for each in listeners:
                if await each.person.page.locator("#table:not([data-goes-on]) #choose").count():
                    return each
        await asyncio.sleep(0.02)


@of_every_game
def test_a_match_is_played_by_keyboard_and_heard(game: str, tmp_path: Path) -> None:
    """In both languages each line, each own turn and the end are announced once, and every control has a name."""
    print("seed", SEED)
    random = Random(SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            seats = current()[game].seats[0]
            listeners = [await Listener.arrive(browser, LANGUAGES[seat % 2]) for seat in range(seats)]
            await sat_down(web.url, game, [each.person for each in listeners])
            await settled(listeners)
            for each in listeners:
                await each.begin()
            while (mover := await settled(listeners)) is not None:
                for each in listeners:
                    await each.look()
                if mover.turns in NAMES_AT:
                    assert [] == await mover.nameless()
                await mover.choose(random)
            for each in listeners:
                await each.look()
                await each.heard_everything()

    asyncio.run(scenario())
