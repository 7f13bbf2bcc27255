"""The rules on the page: for every game, in both languages, with boards by the renderer, small and accessible."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Callable
from typing import Any
from xml.dom.minidom import parseString

import pytest

from rollbook.rules.catalogue import current
from rollbook_clients.web import rules_pages
from rollbook_clients.web.rules_pages import rules_of
from rollbook_clients.web.words import words_in
from rollbook_replays.games import presentation
from rollbook_replays.games.plain import PLAIN
from rollbook_replays.games.presentation import option_name
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium
from tests.clients.web.test_accessible import found

LARGEST = 15_000
BOARD = re.compile(r"<svg[^>]*zone-board.*?</svg>", re.DOTALL)
MARKS = re.compile(r"<defs>.*?</defs>| (?:id=\"[^\"]*\"|data-lit='')")
SIZES = ((1440, 900), (390, 844), (320, 640))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_every_game_has_its_rules(game: str, language: str, pages: str) -> None:
    """Aim, steps, every option, odds and rulings, in at most 15 kB compressed."""
    answer = Reader(pages, language).get(f"/rules/{game}")
    shown = presentation(game)
    words = words_in(language).also(shown.texts)
    assert 200 == answer.status
    assert len(gzip.compress(answer.body)) < LARGEST
    assert 5 <= answer.text.count("<li><p>") <= 8
    assert all(option_name(option, words) in answer.text for option in current()[game].options)
    assert shown.lesson is not None
    assert all(chart.title in answer.text for chart in shown.lesson.odds(words))
    assert ("Rulings" if language == "en" else "Festlegungen") in answer.text
    assert " style" not in answer.text


@pytest.mark.parametrize("game", current())
def test_its_boards_are_those_of_the_renderer(game: str, pages: str) -> None:
    """The same pictures as at a table, without ids, which would not be unique on the page; some things are lit."""
    text = Reader(pages).get(f"/rules/{game}").text
    shown = presentation(game)
    assert shown.picture is not None
    assert shown.lesson is not None
    words = words_in("en").also(shown.texts)
    boards = [shown.picture(view, words).zone("board") for _, view, _ in shown.lesson.views(current()[game])]
    assert [MARKS.sub("", board) for board in boards] == [MARKS.sub("", board) for board in BOARD.findall(text)]
    assert all(parseString(board).documentElement is not None for board in BOARD.findall(text))  # noqa: S318 - ours
    assert "data-lit" in text


def test_a_game_from_outside_has_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without guide, lesson and picture, its page has the title, the seats, and the options by their names."""
    rules = next(game for game in current().values() if game.options)
    named: Callable[[str], Any] = lambda _: PLAIN  # noqa: E731 - a stand-in
    monkeypatch.setattr(rules_pages, "presentation", named)
    monkeypatch.setattr(rules_pages, "current", lambda: {"pig": rules})
    rules_of.cache_clear()
    shown = rules_of("pig", "en")
    rules_of.cache_clear()
    assert (rules.title, (), ()) == (shown.title, shown.steps, shown.odds)
    assert [option.name for option in rules.options] == [name for name, _, _ in shown.options]


def test_links_lead_to_rules_and_nowhere_else(pages: str) -> None:
    """From every page, the list of games, and the form for a match; an unknown game gets the usual 404."""
    reader = Reader(pages)
    for path in ("/replays", "/rules", "/open"):
        assert 'href="/rules"' in reader.get(path).text
    for path in ["/rules", "/open", *(f"/rules/{game}" for game in current())]:
        for link in re.findall(r'href="(/(?:rules|open)[^"]*)"', reader.get(path).text):
            assert 200 == reader.get(link).status, link
    assert all(f'href="/rules/{game}"' in reader.get(f"/open?game={game}").text for game in current())
    assert 404 == reader.get("/rules/nothing").status


@needs_chromium
@pytest.mark.timeout(300)
def test_they_are_accessible_and_fit_every_screen(pages: str) -> None:
    """No finding of axe in light and dark, and no page wider than its screen."""

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            for path in ["/rules", *(f"/rules/{game}" for game in current())]:
                await person.goto(pages + path)
                assert [] == await found(person), path
                for width, height in SIZES:
                    await person.page.set_viewport_size({"width": width, "height": height})
                    assert width >= await person.page.evaluate("document.documentElement.scrollWidth"), (path, width)
            await person.goto(f"{pages}/rules")
            style = "getComputedStyle(document.querySelector('.rules-games')).listStyleType"
            assert "none" == await person.page.evaluate(style)
            assert [] == person.errors

    asyncio.run(scenario())
