"""The lessons of the rules pages: legal moves, boards by the renderer, and odds that agree with counting."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from rollbook.rules.catalogue import current
from rollbook_replays.games import presentation
from rollbook_replays.games.chart import Chart
from rollbook_replays.games.guide import sections
from rollbook_replays.games.lesson import Lesson, chance
from rollbook_replays.games.words import Words


def lesson_of(game: str) -> Lesson:
    """Return the lesson of a game, which every listed game has."""
    lesson = presentation(game).lesson
    assert lesson is not None
    return lesson


@pytest.mark.parametrize("game", current())
def test_a_turn_is_shown_in_legal_moves(game: str) -> None:
    """Five to eight steps; each is played by the rules, which refuse an illegal move, and each has both languages."""
    steps = list(lesson_of(game).views(current()[game]))
    assert 5 <= len(steps) <= 8
    assert len(steps) == len({str(view) for _, view, _ in steps})
    assert all(step.english and step.german and step.english != step.german for step, _, _ in steps)


@pytest.mark.parametrize("game", current())
def test_the_next_choice_is_marked_on_some_board(game: str) -> None:
    """What glows is in the picture."""
    rules, shown, marked = current()[game], presentation(game), 0
    assert shown.picture is not None
    for _, view, following in lesson_of(game).views(rules):
        if isinstance(following, tuple(rules.choices.values())):
            picture = shown.picture(view, Words("en", shown.texts))
            zones = "".join(picture.zone(zone.name) for zone in picture.zones)
            marked += sum(f'id="{thing}"' in zones for thing in shown.touched(view, following))
    assert marked >= 2


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_the_aim_is_said_in_three_sentences_and_rulings_are_there(game: str, language: str) -> None:
    """The page begins with the aim; the last section is what was decided where the rulebook is silent."""
    first, *_, last = sections(presentation(game), language)
    (aim,) = (text for _, text in first.parts)
    assert 3 == sum(aim.count(end) for end in (". ", "? ", "! ")) + 1
    assert ("Rulings" if language == "en" else "Festlegungen") == last.heading
    assert sum(is_item for is_item, _ in last.parts) >= 3


@pytest.mark.parametrize("game", current())
def test_odds_are_tables_of_chances(game: str) -> None:
    """Both languages have the same numbers; every cell of a chance is one."""
    english, german = (list(lesson_of(game).odds(Words(each, presentation(game).texts))) for each in ("en", "de"))
    assert english
    assert [chart.name for chart in english] == [chart.name for chart in german]
    for one, other in zip(english, german, strict=True):
        assert {len(one.head)} == {len(row) for row in one.rows}
        assert [row[-1] for row in one.rows] == [row[-1] for row in other.rows]
        assert all("%" in cell or cell in {"", row[0]} or cell.isdecimal() for row in one.rows for cell in row[1:])


def _table(chart: Chart) -> dict[str, str]:
    return {row[0]: row[1] for row in chart.rows}


def test_odds_agree_with_counting_every_throw() -> None:
    """Examples, counted here by other means: two dice of four that make 7, and the rotten tooth."""
    dice = list(product(range(1, 7), repeat=4))
    seven = sum(any(a + b == 7 for at, a in enumerate(throw) for b in throw[at + 1 :]) for throw in dice)
    one, _ = lesson_of("cant_stop").odds(Words("en", presentation("cant_stop").texts))
    assert f"{100 * seven // len(dice)} %" == _table(one)["7"]
    of_throws, of_tiles = lesson_of("raffzahn").odds(Words("en", presentation("raffzahn").texts))
    assert f"{int(100 * Fraction(1, 6))} %" == _table(of_throws)["a rotten tooth"]
    yellow, blue = (10, 20, 30, None, None, "rotten"), (1, 2, 3, 4, 5, None)
    sums = Counter(
        sum(face or 0 for face in throw if isinstance(face, int))
        for throw in product(yellow, blue, blue)
        if "rotten" not in throw and throw.count(None) < 2
    )
    assert {str(tile): chance(sums[tile], 216) for tile in range(1, 41)} == _table(of_tiles)
