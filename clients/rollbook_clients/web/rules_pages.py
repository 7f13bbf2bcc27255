"""The rules of each game: its guide, a turn step by step with boards, every option, and the odds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response

from rollbook.rules.catalogue import current
from rollbook.rules.options import write_value
from rollbook_clients.web.surface import drawn, sign_of
from rollbook_clients.web.visit import Visit
from rollbook_clients.web.words import words_in
from rollbook_replays.games import presentation
from rollbook_replays.games.chart import Chart
from rollbook_replays.games.guide import Section, sections
from rollbook_replays.games.presentation import option_name, option_value
from rollbook_replays.games.seats import SIGNS
from rollbook_replays.games.words import Words

LONG: Final = 16
"""Rows from which on a table of odds is folded up."""

_ID: Final = re.compile(r' id="(?!face-)([^"]*)"')
_DEFINITIONS: Final = re.compile("<defs>.*?</defs>")


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One board of a turn step by step."""

    text: str
    zones: tuple[Markup, ...]
    """The board, and the dice or the hand."""
    fronts: tuple[tuple[Markup, Markup], ...]
    """Sign and things of each seat that has something in front of it."""


@dataclass(frozen=True, slots=True)
class ShownRules:
    """The page of one game in one language."""

    game: str
    title: str
    seats: str
    goal: str
    steps: tuple[ShownStep, ...]
    sections: tuple[Section, ...]
    options: tuple[tuple[str, str, str], ...]
    """Each option with its values and its default, in words."""
    odds: tuple[Chart, ...]


@cache
def rules_of(game: str, language: str) -> ShownRules:
    """The rules of a game of the catalogue; raises KeyError for any other."""
    rules, shown = current()[game], presentation(game)
    words = words_in(language).also(shown.texts)
    goal, *others = sections(shown, language) or [Section("", [(False, words("help") if "help" in words else "")])]
    return ShownRules(
        game=game,
        title=rules.title,
        seats=words("rules.range", least=rules.seats[0], most=rules.seats[-1]),
        goal=" ".join(text for _, text in goal.parts),
        steps=tuple(_steps(rules, words)),
        sections=tuple(others),
        options=tuple(_options(rules, words)),
        odds=() if shown.lesson is None else tuple(shown.lesson.odds(words)),
    )


def _options(rules: Any, words: Words) -> Iterator[tuple[str, str, str]]:
    for option in rules.options:
        said = ", ".join(_value(option, value, words) for value in option.values)
        if isinstance(option.values, range):
            said = words("rules.range", least=option.values[0], most=option.values[-1])
        yield option_name(option, words), said, _value(option, option.default, words)


def _value(option: Any, value: Any, words: Words) -> str:
    if isinstance(value, bool):
        return words("yes" if value else "no")
    return option_value(option, value, words) or write_value(value)


def _steps(rules: Any, words: Words) -> Iterator[ShownStep]:
    """The boards of the lesson; the things that the next choice affects are lit."""
    shown = presentation(rules.name)
    if shown.picture is None or shown.lesson is None:
        return
    choices = tuple(rules.choices.values())
    for number, (step, view, following) in enumerate(shown.lesson.views(rules)):
        lit = set(shown.touched(view, following)) if isinstance(following, choices) else set()
        picture = shown.picture(view, words)

        def still(name: str, lit: set[str] = lit, picture: Any = picture, number: int = number) -> Markup:
            """A zone of the picture without the ids of things, because the page has several pictures."""
            zone = picture.zone(name) if number == 0 else _DEFINITIONS.sub("", picture.zone(name))
            return drawn(_ID.sub(lambda found: " data-lit=''" * (found[1] in lit), zone))

        zones = tuple(still(name) for name in ("board", "hand", "dice") if picture.zone(name))
        seats = (int(zone.name.partition("-")[2]) for zone in picture.zones if zone.shapes and "front" in zone.name)
        fronts = tuple((sign_of(seat), still(f"front-{seat}")) for seat in seats)
        yield ShownStep(step.german if words.language == "de" else step.english, zones, fronts)


async def rules_index(visit: Visit) -> Response:
    """All games, each with its aim and a link to its rules."""
    return visit.show("rules.html", games=[rules_of(game, visit.words.language) for game in current()])


async def rules_page(visit: Visit) -> Response:
    """The rules of one game."""
    game = str(visit.request.path_params["game"])
    if game not in current():
        raise HTTPException(404, "error.no_page")
    return visit.show("rules_of_game.html", rules=rules_of(game, visit.words.language), signs=SIGNS, long=LONG)


ROUTES: Final = (
    ("GET", "/rules", rules_index),
    ("GET", "/rules/{game}", rules_page),
)
