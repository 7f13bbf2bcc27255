"""Pictures of tables are well-formed and without names, and their things have ids that choices refer to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any
from xml.dom.minidom import parseString
from xml.sax.saxutils import escape

import pytest

from rollbook.rules.catalogue import current
from rollbook.rules.game import Perspective, Watcher
from rollbook_replays.games import presentation
from rollbook_replays.games.picture import Picture
from rollbook_replays.games.sheet import SHEET
from rollbook_replays.games.words import Words
from tests.replays.games.stage import after_each_event, choosing

EVERY = 5
MOST_CHOICES = 300
NAMES_OF_THINGS = {"tile", "face", "x2", "zone-board", "zone-dice", "zone-hand", "zone-front"}
"""Classes that name things and have no style."""


def drawn(game: str, view: Any, language: str = "en") -> Picture:
    """Return the picture of a table."""
    shown = presentation(game)
    assert shown.picture is not None
    return shown.picture(view, Words(language, shown.texts))


def pictures(game: str, eyes: Perspective, language: str) -> Iterator[Picture]:
    """Yield the pictures of a match with the most seats."""
    for sequence, _, match in after_each_event(game, current()[game].seats[-1]):
        if sequence % EVERY == 0:
            yield drawn(game, match.game.view(match.state, eyes), language)


def inline(picture: Picture) -> str:
    """All zones, as a page has them."""
    return f"<div>{''.join(picture.zone(zone.name) for zone in picture.zones)}</div>"


def ids(picture: Picture) -> list[str]:
    """Return the ids of all things in a picture."""
    return re.findall(r' id="([^"]+)"', inline(picture))


@pytest.mark.parametrize("game", current())
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_moment_can_be_drawn(game: str, language: str) -> None:
    """The picture is XML with unique ids, an alternative text, and no style that a strict policy forbids."""
    for picture in pictures(game, Watcher.JUDGE, language):
        for text in (inline(picture), picture.standalone()):
            assert parseString(text).documentElement is not None  # noqa: S318 - we wrote it
        assert [] == [name for name, times in Counter(ids(picture)).items() if times > 1]
        assert picture.sentence
        assert "style" not in inline(picture)
        assert escape(SHEET) in picture.standalone()


@pytest.mark.parametrize("game", current())
def test_a_picture_holds_no_name_of_a_player(game: str) -> None:
    """Without names a picture never changes, and caches can keep it."""
    for sequence, _, match in after_each_event(game, current()[game].seats[-1]):
        if sequence % EVERY == 0:
            view = match.game.view(match.state, Watcher.PUBLIC)
            assert not any(name and name in inline(drawn(game, view)) for name in match.opened.names)


@pytest.mark.parametrize("game", current())
def test_what_a_choice_touches_is_in_the_picture(game: str) -> None:
    """The page can mark these things; every game has choices that refer to some."""
    shown = presentation(game)
    touching = 0
    for seat, match in choosing(game, current()[game].seats[-1]):
        view = match.game.view(match.state, seat)
        there = set(ids(drawn(game, view)))
        for choice in islice(match.game.legal(match.state), MOST_CHOICES):
            things = shown.touched(view, choice)
            assert {thing.removeprefix("+") for thing in things} <= there, choice
            touching += bool(things)
    assert touching


@pytest.mark.parametrize("game", current())
def test_every_class_is_painted_or_only_a_name(game: str) -> None:
    """A class without a style would be black on black in dark mode."""
    painted = set(re.findall(r"\.([a-z][a-z0-9-]*)", SHEET))
    for picture in pictures(game, Watcher.JUDGE, "en"):
        used = {name for classes in re.findall(r'class="([^"]+)"', inline(picture)) for name in classes.split()}
        assert set() == used - painted - NAMES_OF_THINGS


def test_every_animal_has_a_drawing_of_its_own() -> None:
    """Animals differ by their drawing, not only by colour."""
    from rollbook.rules.wuerfelzoo.moves import FACES  # noqa: PLC0415 - the only game that is named here
    from rollbook_replays.games.wuerfelzoo.drawings import face  # noqa: PLC0415

    names = {name for faces in FACES for name in faces}
    assert len(names) == len({face(name) for name in names})
    assert () == face("")
