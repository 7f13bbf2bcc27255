"""Whole matches by keys of the page only, by the accessibility tree only, and by forms without scripts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from rollbook.rules.catalogue import current
from tests.clients.web.browsing import STEADY, Person, chromium, needs_chromium, served_page
from tests.clients.web.test_listening import LANGUAGES, Listener, settled
from tests.clients.web.test_page import of_every_game, sat_down

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "3"))
ARROWS: Final = ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp")
MOST_TRIES: Final = 12
ROWS_AT: Final = (1, 4, 9)
"""The turns in which the board in words is compared."""

pytestmark = [needs_chromium, pytest.mark.timeout(900)]

NOW: Final = """() => {
  const shown = (each) => each.checkVisibility() && !each.hidden;
  const menu = [...document.querySelectorAll("#choices-list details[open]")].at(-1);
  const entries = (menu?.querySelector(".buttons") ?? document.getElementById("choices-list")).children;
  const named = [...entries].filter((each) => shown(each) && each.localName !== "p");
  return {
    digits: named.map((each) => each.id.split("-").at(-1)).filter((each) => each.length === 1),
    lit: document.querySelectorAll("#board .lit, #pieces input").length > 0,
  };
}"""
ROWS: Final = (
    "[...document.querySelectorAll('#in-words tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
)
AT_REST: Final = """([before]) => Number(document.getElementById("table").dataset.position) > before
  || !document.querySelector("#choices-list[aria-busy], #live[aria-busy]")"""


class ByKeys(Listener):
    """Plays by the keys of the page: arrows, Enter and the space bar on the board, digits for the list."""

    sent: dict[str, int]

    async def choose(self, random: Random) -> None:
        """Try arrows or a digit until something has happened; the Tab key helps where neither does."""
        page, before = self.person.page, await self.person.position
        self.sent = getattr(self, "sent", {"arrows": 0, "digits": 0, "tab": 0})
        await page.wait_for_function(STEADY)
        for _ in range(MOST_TRIES):
            now: dict[str, Any] = await page.evaluate(NOW)
            way = "arrows" if now["lit"] and (random.random() < 0.7 or not now["digits"]) else "digits"
            if way == "arrows":
                for _ in range(random.randrange(1, 5)):
                    await page.keyboard.press(random.choice(ARROWS))
                for key in random.choice((("Enter", "Enter"), ("Space", "Space"), ("Enter",))):
                    if await self._is_unmoved(before):
                        await page.keyboard.press(key)
            elif now["digits"]:
                await page.keyboard.press(random.choice(now["digits"]))
            if not await self._is_unmoved(before):
                self.sent[way] += 1
                return
        await page.keyboard.press("Escape")
        assert not await page.locator("#board .held").count()
        self.sent["tab"] += 1
        await super().choose(random)

    async def _is_unmoved(self, before: int) -> bool:
        await self.person.page.wait_for_function(AT_REST, arg=[before])
        return await self.person.position == before


class ByTree(Listener):
    """Plays by the accessibility tree: finds the heading of the choices, and activates a control below it."""

    async def choose(self, random: Random) -> None:
        """Activate a control by its role and name, as assistive software does, until something has happened."""
        page, before = self.person.page, await self.person.position
        if self.turns in ROWS_AT:
            assert await self._rows() == await page.evaluate(ROWS)
        while await self.person.position == before:
            control = random.choice(list(self._controls(await self._tree())))
            role, name = _said(control)
            if role != "DisclosureTriangle":
                assert await page.get_by_role(role, name=name, exact=True).count()  # type: ignore[arg-type]  # a role
            # Assistive software activates a control by its node.
            found = await self._session.send("DOM.resolveNode", {"backendNodeId": control["backendDOMNodeId"]})
            click = {"objectId": found["object"]["objectId"], "functionDeclaration": "function () { this.click(); }"}
            await self._session.send("Runtime.callFunctionOn", click)
            await page.wait_for_function(AT_REST, arg=[before])

    async def _tree(self) -> dict[str, Any]:
        tree: dict[str, Any] = await self._session.send("Accessibility.getFullAXTree")
        return {node["nodeId"]: node for node in tree["nodes"]}

    def _controls(self, tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The controls beside the heading of the choices."""
        title = self._words("table.choices")
        (heading,) = (node for node in tree.values() if _said(node) == ("heading", title))
        for node in _below(tree, tree[heading["parentId"]]):
            if _said(node)[0] in {"button", "checkbox", "DisclosureTriangle"}:
                yield node

    async def _rows(self) -> list[list[str]]:
        """The board in words, from the tree."""
        tree = await self._tree()
        rows = [
            [
                _text(tree, cell)
                for cell in _below(tree, node)
                if _said(cell)[0] in {"cell", "rowheader", "columnheader"}
            ]
            for node in _below(tree, next(iter(tree.values())))
            if _said(node)[0] == "row"
        ]
        return [row for row in rows if row]


def _said(node: dict[str, Any]) -> tuple[str, str]:
    role = "" if node["ignored"] else node["role"]["value"]
    return role, node.get("name", {}).get("value", "")


def _below(tree: dict[str, Any], node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for child in node.get("childIds", ()):
        if child in tree:
            yield tree[child]
            yield from _below(tree, tree[child])


def _text(tree: dict[str, Any], node: dict[str, Any]) -> str:
    return "".join(name for role, name in map(_said, _below(tree, node)) if role == "StaticText")


async def play(url: str, game: str, listeners: list[Any]) -> None:
    """Play a match to its end; everything is announced once."""
    random = Random(SEED)
    await sat_down(url, game, [each.person for each in listeners])
    await settled(listeners)
    for each in listeners:
        await each.begin()
    while (mover := await settled(listeners)) is not None:
        for each in listeners:
            await each.look()
        await mover.choose(random)
    for each in listeners:
        await each.look()
        await each.heard_everything()


@of_every_game
def test_a_match_is_played_by_keys_of_the_page(game: str, tmp_path: Path) -> None:
    """Arrows and digits make choices in every game; the Tab key is the exception."""
    print("seed", SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            seats = current()[game].seats[0]
            listeners = [await ByKeys.arrive(browser, LANGUAGES[seat % 2]) for seat in range(seats)]
            await play(web.url, game, listeners)
            sent = {
                way: sum(each.sent[way] for each in listeners if isinstance(each, ByKeys))
                for way in ("arrows", "digits", "tab")
            }
            print(sent)
            assert sent["arrows"] > sent["tab"]
            assert sent["digits"]

    asyncio.run(scenario())


@of_every_game
def test_a_match_is_played_by_the_accessibility_tree(game: str, tmp_path: Path) -> None:
    """Every choice is a named control below a heading, and the tables of the board are in the tree."""
    print("seed", SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            seats = current()[game].seats[0]
            listeners = [await ByTree.arrive(browser, LANGUAGES[seat % 2]) for seat in range(seats)]
            await play(web.url, game, listeners)

    asyncio.run(scenario())


async def choose_by_form(person: Person, address: str, random: Random) -> bool:
    """Make a choice in the form of a page without scripts, if it is the person's turn; whether one was made."""
    page = person.page
    await person.goto(address)
    if not await page.locator("#choose").count():
        return False
    if (count := await page.locator("#pieces input").count()) and random.random() < 0.6:
        await page.locator("#pieces input").nth(random.randrange(count)).check()
        await page.click("#pick")
    for menu in await page.locator("#choices-list summary").all():
        await menu.click()
    buttons = page.locator("#choices-list button[name=choice]")
    if await buttons.count():
        await buttons.nth(random.randrange(await buttons.count())).click()
        await page.wait_for_load_state()
    return True


@of_every_game
def test_a_match_is_played_by_forms_without_scripts(game: str, tmp_path: Path) -> None:
    """To its end, with the words of the board and the result on the page."""
    print("seed", SEED)
    random = Random(SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            contexts = [await browser.new_context(java_script_enabled=False) for _ in range(current()[game].seats[0])]
            people = [await Person.within(context) for context in contexts]
            address = await sat_down(web.url, game, people)
            while not await people[0].is_over():
                for person in people:
                    while await choose_by_form(person, address, random):
                        pass
            assert await people[0].page.locator("#in-words table").count() >= 2
            assert await people[0].page.locator("#end .places li").count() == len(people)

    asyncio.run(scenario())
