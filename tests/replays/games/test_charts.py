"""The board in words is complete: the position is rebuilt from the words alone, and hidden cards are not in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import make_dataclass, replace
from random import Random
from typing import Any, Final

import pytest

from rollbook.match.fold import MatchFold
from rollbook.rules.catalogue import current
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.refusals import Invalid
from rollbook_replays.games import presentation
from rollbook_replays.games.chart import Chart, chart_lines
from rollbook_replays.games.plain import PLAIN
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.text import plain
from tests.replays.games.reading_back import READERS, read_back, seen
from tests.replays.games.stage import after_each_event, match_at, seated

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "5"))
MATCHES: Final = 4
EVERY: Final = 3
ALIKE: Final = "Anna, ■ yes none"
"""A name for all seats that is made to be mistaken for something else."""


def positions(game: str) -> Iterator[tuple[MatchFold, Perspective]]:
    """Yield positions of random matches, each from a random perspective."""
    random, rules = Random(SEED), current()[game]
    for number in range(MATCHES):
        options = {option.name: random.choice(tuple(option.values)[:8]) for option in rules.options}
        seats = random.choice(rules.seats)
        try:
            rules.settle(options, seats)
        except Invalid:
            options = {}
        for sequence, _, match in after_each_event(game, seats, options, SEED + number):
            if sequence % EVERY == 0:
                yield match, random.choice([Watcher.PUBLIC, Watcher.JUDGE, *range(seats)])


def charts_of(match: MatchFold, view: Any, eyes: Perspective, language: str) -> tuple[tuple[Chart, ...], Seating]:
    """Return the board in words, and the seating, in which all names are equal."""
    seating = seated(match, eyes, language)
    seating = replace(seating, names=(ALIKE,) * len(seating.names))
    return tuple(presentation(match.game.name).charts(view, seating)), seating


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", READERS)
def test_the_position_is_rebuilt_from_the_words(game: str, language: str) -> None:
    """Every seat, spectator and judge learns everything that the picture shows, even if all names are equal."""
    print("seed", SEED)
    checked = 0
    for match, eyes in positions(game):
        view = match.game.view(match.state, eyes)
        charts, seating = charts_of(match, view, eyes, language)
        assert seen(game, view) == read_back(game, charts, seating.words), (match.sequence, eyes)
        checked += 1
    assert checked > 100


@pytest.mark.parametrize("game", current())
def test_the_tables_are_well_formed(game: str) -> None:
    """Names of charts are unique, so that their ids are; rows have a cell for each column, and none is empty."""
    for match, eyes in positions(game):
        charts, _ = charts_of(match, match.game.view(match.state, eyes), eyes, "en")
        assert len(charts) == len({chart.name for chart in charts})
        for chart in charts:
            assert {len(chart.head) or 2} >= {len(row) for row in chart.rows}
            assert all(cell for row in chart.rows for cell in row)


@pytest.mark.parametrize("game", current())
def test_hidden_cards_are_not_in_the_words(game: str) -> None:
    """The words differ from those with everything open where, and only where, a card is hidden from this seat."""
    for match, eyes in positions(game):
        if match.sealed is None and eyes is not Watcher.JUDGE:
            view, judge = (match.game.view(match.state, each) for each in (eyes, Watcher.JUDGE))
            said = {str(charts_of(match, each, eyes, "en")[0]) for each in (view, judge)}
            assert (len(said) == 1) == (seen(game, view) == seen(game, judge))


def test_a_game_without_charts_shows_its_fields() -> None:
    """A game from outside has a board in words without a line of code for it."""
    view = make_dataclass("View", ["seat", "points"])(0, (3, 4))
    (chart,) = PLAIN.charts(view, Seating((), None, {}, Words("en")))
    assert (("seat", "0"), ("points", "(3 4)")) == chart.rows


@pytest.mark.parametrize("game", current())
def test_the_words_fit_a_terminal(game: str) -> None:
    """As lines they name each cell, within the width."""
    match = match_at(0.5, game, current()[game].seats[-1])
    charts, _ = charts_of(match, match.game.view(match.state, 0), 0, "en")
    lines = chart_lines(charts, 60)
    assert all(line.width <= 60 for line in lines)
    assert all(chart.title in plain(lines) for chart in charts)
