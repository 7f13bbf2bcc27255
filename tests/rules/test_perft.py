"""The pinned counts and orders of `replays/perft/`."""

from __future__ import annotations

import pytest

from rollbook.rules.catalogue import current
from tests.rules.perft import Counted, order, perft, positions

POSITIONS = list(positions())


def _id(counted: Counted) -> str:
    return f"{counted.game.name}: {counted.name}"


@pytest.mark.parametrize("counted", [counted for counted in POSITIONS if counted.counts], ids=_id)
def test_the_number_of_continuations_is_as_pinned(counted: Counted) -> None:
    """An accidental change of a rule changes one of these numbers."""
    depths = range(1, len(counted.counts) + 1)
    assert counted.counts == [perft(counted.game, counted.state(), depth) for depth in depths]


@pytest.mark.parametrize("counted", [counted for counted in POSITIONS if counted.order], ids=_id)
def test_the_order_of_legal_choices_is_as_pinned(counted: Counted) -> None:
    """Bots and caretakers pick by position, so another order would change the matches of old seeds."""
    assert counted.order == order(counted.game, counted.state())


def test_every_game_and_every_option_has_a_counted_position_and_an_order() -> None:
    """A game or an option without a position is not pinned."""
    counted = {
        (position.game.name, option) for position in POSITIONS for option in _options_of(position) if position.counts
    }
    assert {(game.name, option.name) for game in current().values() for option in game.options} <= counted
    assert set(current()) == {position.game.name for position in POSITIONS if position.order}


def _options_of(position: Counted) -> set[str]:
    return {*position.setup, *position.setup.get("options", {})}
