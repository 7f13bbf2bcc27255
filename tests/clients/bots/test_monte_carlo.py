"""The strategy monte_carlo finds winning choices, keeps to its limits, and imagines no more states than needed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rollbook.rules import cant_stop
from rollbook.rules.cant_stop.moves import Stop
from rollbook.rules.catalogue import find
from rollbook.rules.game import Listed
from rollbook_clients.bots import monte_carlo
from rollbook_clients.bots.bot import Seat
from rollbook_clients.bots.monte_carlo import CANDIDATES, FIRST_COMPARISON, MonteCarlo
from rollbook_clients.bots.playbook import playbook
from tests.clients.bots.positions import seat_of, some_positions
from tests.clients.bots.test_rule_of_28 import board
from tests.rules.cases import CASES


def seat(seed: int) -> Seat:
    """Return seat 0 of two at Can't Stop."""
    game = cant_stop.GAME
    return Seat(game, game.settle({}, 2), 2, 0, seed)


@pytest.mark.parametrize("seed", range(5))
def test_it_stops_where_a_stop_wins(seed: int) -> None:
    """Two columns are won and the third runner is at the top of its column: a roll could only lose."""
    state = board({7: 13}, markers=({2: 3, 3: 5, 7: 12}, {}))
    bot = MonteCarlo(seat(seed), playouts=40)
    assert Stop() == bot.choose(cant_stop.GAME.view(state, 0), cant_stop.GAME.legal(state))


def test_it_stops_in_time_with_a_whole_column_at_stake() -> None:
    """Three runners are on bad columns, at or near the top: the next throw would most likely bust."""
    state = board({2: 3, 3: 5, 12: 2})
    bot = MonteCarlo(seat(1), playouts=200)
    assert Stop() == bot.choose(cant_stop.GAME.view(state, 0), cant_stop.GAME.legal(state))


def imagining(monkeypatch: pytest.MonkeyPatch, imagine: Callable[..., Any]) -> None:
    """Replace the function that imagines states, for every game."""
    monkeypatch.setattr(monte_carlo, "playbook", lambda game: replace(playbook(game), possible_state=imagine))


def test_a_forced_choice_takes_no_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    """No state is imagined for a forced choice, even with a long time limit."""

    def imagine(*_: Any) -> Any:
        raise AssertionError

    imagining(monkeypatch, imagine)
    bot = MonteCarlo(seat(1), think=3600)
    assert Stop() == bot.choose(None, Listed((Stop(),)))


@pytest.mark.parametrize("playouts", [1, 10, 75])
def test_it_plays_as_many_imagined_matches_as_it_may(monkeypatch: pytest.MonkeyPatch, playouts: int) -> None:
    """It plays whole lots of matches, at least one lot, and otherwise at most the given number."""
    case = next(case for case in CASES if str(case) == "raffzahn-3-seats")
    for state, number in some_positions(case, seed=3, count=5):
        legal = list(case.game.legal(state))
        imagined = 0
        possible_state = playbook("raffzahn").possible_state

        def imagine(*known: Any) -> Any:
            nonlocal imagined
            imagined += 1
            return possible_state(*known)  # noqa: B023 - the same every time

        imagining(monkeypatch, imagine)
        MonteCarlo(seat_of(case, number), playouts=playouts).choose(case.game.view(state, number), Listed(legal))
        monkeypatch.undo()
        tried = min(len(legal), CANDIDATES)
        assert (imagined == 0) == (len(legal) == 1)
        if imagined <= FIRST_COMPARISON:
            # No choice can have been eliminated.
            assert imagined * tried <= max(playouts, tried)
        assert imagined <= max(playouts, 1)


def test_among_thousands_of_choices_it_tries_some_that_are_legal() -> None:
    """A turn in Würfelzoo can have 4,095 rerolls and as many plays."""
    game = find("wuerfelzoo")
    case = next(case for case in CASES if str(case) == "wuerfelzoo-2-seats")
    state, number = max(
        some_positions(case, seed=2, count=40), key=lambda position: position[0].where.count(position[1])
    )
    legal = game.legal(state)
    assert legal.sample(random.Random(1).randrange) in legal
    assert MonteCarlo(seat_of(case, number), playouts=40).choose(game.view(state, number), legal) in legal
