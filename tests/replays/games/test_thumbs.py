"""Thumbs of tables are short, without text and names, and show nothing that the public may not see."""

from __future__ import annotations

import re
from xml.dom.minidom import parseString

import pytest

from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from rollbook_replays.games import presentation
from rollbook_replays.games.sheet import SHEET
from rollbook_replays.games.thumb import COMMON, Thumb
from tests.replays.games.stage import after_each_event

MOST_BYTES = 1_200
"""A patch of the lobby has 1,500: this, and the scores."""
NAMES_OF_THINGS = {"face", "x2", "zone", "thumb"}
USED = re.compile(r"#(t-[\w-]*)")


def thumb_of(game: str) -> Thumb:
    """The thumb of a game of the catalogue, which all have one."""
    thumb = presentation(game).thumb
    assert thumb is not None
    return thumb


@pytest.mark.parametrize("game", current())
def test_every_moment_is_drawn_small_and_without_letters(game: str) -> None:
    """All stamps that a drawing uses are defined, and every class has a style."""
    thumb, seats = thumb_of(game), current()[game].seats[-1]
    defined = set(re.findall(r' id="(t-[^"]*)"', f"{COMMON}{thumb.definitions}"))
    views = [match.game.view(match.state, Watcher.PUBLIC) for _, _, match in after_each_event(game, seats)]
    for view in (None, thumb.sample, *views):
        drawn = thumb.draw(view, "thumb-" + "a" * 24)
        assert parseString(drawn).documentElement is not None  # noqa: S318 - we wrote it
        assert len(drawn.encode()) <= MOST_BYTES
        assert "<text" not in f"{drawn}{thumb.definitions}{COMMON}"
        assert set(USED.findall(drawn)) <= defined
    for classes in re.findall(r' class="([^"]+)"', f"{drawn}{thumb.definitions}{COMMON}"):
        for name in set(classes.split()) - NAMES_OF_THINGS:
            assert re.search(rf"\.{name}\b", SHEET), name


@pytest.mark.parametrize("game", current())
def test_a_thumb_shows_only_what_the_public_sees(game: str) -> None:
    """The view of a judge, who sees all hidden cards, gives the same bytes as that of the public."""
    thumb = thumb_of(game)
    for _, _, match in after_each_event(game, current()[game].seats[0]):
        public, judge = (match.game.view(match.state, eyes) for eyes in (Watcher.PUBLIC, Watcher.JUDGE))
        assert thumb.draw(public) == thumb.draw(judge)
