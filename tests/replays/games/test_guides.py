"""The rules in words."""

from __future__ import annotations

import pytest

from rollbook.rules.catalogue import current
from rollbook_replays.games import presentation
from rollbook_replays.games.guide import guide
from rollbook_replays.games.plain import PLAIN
from rollbook_replays.text import plain


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_every_game_explains_itself_with_an_example(game: str, language: str) -> None:
    """The guide has the aim, a turn, the end, and an example."""
    text = plain(guide(presentation(game), language))
    assert len(text.split()) > 250
    assert ("Example: " if language == "en" else "Beispiel: ") in text


@pytest.mark.parametrize("wide", [40, 80, 120])
@pytest.mark.parametrize("game", current())
def test_a_guide_fits_into_its_room(game: str, wide: int) -> None:
    """No line is cut off, and no heading merges with its paragraph."""
    lines = guide(presentation(game), "de", wide)
    assert all(line.width <= wide for line in lines)
    headings = [line.plain for line in lines if line.spans[:1] and line.spans[0][1] == "strong"]
    assert "Worum es geht" == headings[0]
    assert len(headings) > 4


@pytest.mark.parametrize("game", current())
def test_both_languages_explain_the_same(game: str) -> None:
    """Both languages have equally many headings, items and paragraphs."""
    shapes = [
        [line[:2] if line[:2] in {"# ", "- "} else "" for line in text.splitlines() if line[:2] in {"# ", "- "}]
        for text in presentation(game).guide.values()
    ]
    assert ["en", "de"] == list(presentation(game).guide)
    assert shapes[0] == shapes[1]


def test_a_game_that_nobody_has_explained_has_an_empty_guide() -> None:
    """English replaces a missing language; a game without a guide gets none."""
    assert [] == guide(PLAIN, "en")
    some = presentation(next(iter(current())))
    assert guide(some, "en") == guide(some, "tlh")
