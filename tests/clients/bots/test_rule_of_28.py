"""The Rule of 28: every value, every adjustment, and its decisions to stop."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import pytest

from rollbook.rules import cant_stop
from rollbook.rules.cant_stop.moves import LENGTHS, Advance, Roll, Rolled, Stop
from rollbook.rules.cant_stop.state import GO_ON, ROLL, State
from rollbook.rules.cant_stop.view import View
from rollbook.rules.catalogue import find
from rollbook_clients.bots.bot import Seat, Unsuited
from rollbook_clients.bots.cant_stop.rule_of_28 import RuleOf28, count, move_value

Markers: TypeAlias = tuple[dict[int, int], dict[int, int]]
"""The heights of the markers by column, for both seats."""


def board(
    runners: dict[int, int],
    *,
    dice: tuple[int, ...] = (),
    markers: Markers = ({}, {}),
    options: dict[str, Any] | None = None,
) -> State:
    """Return a board with seat 0 on turn; an advance is awaited if dice are given, else roll or stop."""
    state = cant_stop.GAME.begin(find("cant_stop").settle(options or {}, 2), 2)
    for seat, heights in enumerate(markers):
        for column, height in heights.items():
            state.markers[seat][column] = height
            if height == LENGTHS[column]:
                state.winners[column] = seat
                state.won |= 1 << column
    state.reached = state.markers[0].copy()
    state.closed = state.won
    for column, height in runners.items():
        state.reached[column] = height
        state.runners |= 1 << column
        state.closed |= (height == LENGTHS[column]) << column
    state.stage = GO_ON
    if dice:
        state.stage = ROLL
        cant_stop.GAME.play(state, Rolled(dice))
    return state


def chosen(state: State, options: dict[str, Any] | None = None) -> Any:
    """Return the choice of the rule."""
    game = cant_stop.GAME
    bot = RuleOf28(Seat(game, game.settle(options or {}, 2), 2, 0, seed=0))
    return bot.choose(cast("View", game.view(state, 0)), game.legal(state))


@pytest.mark.parametrize(
    ("column", "progress"), list(zip(range(2, 13), (6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6), strict=True))
)
def test_the_first_step_in_a_column_counts_twice_every_other_once(column: int, progress: int) -> None:
    """The published values of columns 2 to 12."""
    assert 2 * progress == count({column: 1})
    assert 3 * progress == count({column: 2})


@pytest.mark.parametrize(
    ("columns", "adjusted"),
    [
        ((3, 7, 9), 2),  # all odd
        ((3, 5, 7), 2 + 4),  # all odd, and none above 7
        ((6, 8, 10), -2),  # all even
        ((2, 4, 6), -2 + 4),  # all even, and none above 7
        ((8, 10, 12), -2 + 4),  # all even, and none below 7
        ((5, 6, 7), 4),  # none above 7, which counts to both sides
        ((7, 8, 9), 4),  # none below 7
        ((6, 7, 8), 0),  # mixed, on both sides
        ((2, 7, 12), 0),
    ],
)
def test_three_columns_count_more_or_less_by_how_they_go_together(columns: tuple[int, ...], adjusted: int) -> None:
    """Odd +2, even -2, one side +4; adjustments add up."""
    alone = sum(count({column: 1}) for column in columns)
    assert alone + adjusted == count(dict.fromkeys(columns, 1))


def test_two_columns_are_not_adjusted() -> None:
    """The adjustment applies only when no fourth column can follow."""
    assert count({3: 1}) + count({5: 1}) == count({3: 1, 5: 1})


def test_it_stops_at_28_and_not_at_27() -> None:
    """Columns 6, 7 and 8: a step counts 2 in 6 and 8, and 1 in 7."""
    assert 28 == count({6: 5, 7: 3, 8: 5})
    assert Stop() == chosen(board({6: 5, 7: 3, 8: 5}))
    assert 27 == count({6: 5, 7: 2, 8: 5})
    assert Roll() == chosen(board({6: 5, 7: 2, 8: 5}))


def test_only_the_steps_of_this_turn_count() -> None:
    """Progress is counted from the seat's marker, not from the bottom, because marked steps cannot be lost."""
    assert Roll() == chosen(board({6: 5, 7: 3, 8: 5}, markers=({6: 4}, {})))


def test_it_never_stops_while_a_runner_is_off_the_board() -> None:
    """Even at 28 or more it rolls, because nearly every throw can be used."""
    assert 28 < count({6: 9, 8: 9})
    assert Roll() == chosen(board({6: 9, 8: 9}))


def test_it_stops_at_once_if_that_wins() -> None:
    """It stops at any count, even with a runner off the board, because a win has nothing left to gain."""
    markers: Markers = ({2: 3, 3: 5, 7: 12}, {})
    assert Stop() == chosen(board({7: 13}, markers=markers))
    assert Roll() == chosen(board({7: 13}, markers=({2: 3, 7: 12}, {})))
    options = {"columns_to_win": 5}
    assert Roll() == chosen(board({7: 13}, markers=markers, options=options), options)


def test_it_stops_with_all_runners_on_number_fields() -> None:
    """The bot stops, because it could use no further throw."""
    markers: Markers = ({5: 8, 6: 10, 8: 10}, {})
    assert 14 == count({5: 1, 6: 1, 8: 1})
    options = {"columns_to_win": 5}
    assert Stop() == chosen(board({5: 9, 6: 11, 8: 11}, markers=markers, options=options), options)


def test_it_rolls_where_the_rules_forbid_to_stop() -> None:
    """With the option free_fields a runner may not stop on another seat's marker."""
    options = {"free_fields": True}
    state = board({6: 5, 7: 3, 8: 5}, markers=({}, {6: 5}), options=options)
    assert Roll() == chosen(state, options)


def test_a_step_counts_by_its_column_and_a_new_runner_costs_six() -> None:
    """A step is worth 6 in column 7, and one less for every column away from it."""
    assert [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1] == [move_value(Advance((column,)), {column: 1}) for column in LENGTHS]
    assert 6 + 6 - 6 == move_value(Advance((7, 7)), {})
    assert 5 + 4 - 6 == move_value(Advance((6, 9)), {6: 2})
    assert 5 + 4 - 12 == move_value(Advance((6, 9)), {})


def test_it_moves_runners_rather_than_placing_new_ones() -> None:
    """2, 2, 6, 6 makes 4 and 12 or twice 8: with a runner in 8 it takes two steps, else the cheaper new runners."""
    assert Advance((8, 8)) == chosen(board({8: 1}, dice=(2, 6, 2, 6)))
    assert Advance((8, 8)) == chosen(board({}, dice=(2, 6, 2, 6)))
    assert Advance((4, 12)) == chosen(board({4: 1, 12: 1, 3: 1}, dice=(2, 6, 2, 6)))


def test_of_equal_pairings_it_takes_the_first() -> None:
    """With one runner left, 2, 3, 3 and 6 offer 5, 6, 8 or 9; 6 and 8 are worth most, and equal."""
    assert Advance((6,)) == chosen(board({2: 1, 12: 1}, dice=(2, 3, 3, 6)))


def test_it_plays_nothing_else() -> None:
    """A seat of another game is refused by its name."""
    game = find("raffzahn")
    with pytest.raises(Unsuited, match="rule_of_28 plays cant_stop only, not raffzahn"):
        RuleOf28(Seat(game, game.settle({}, 3), 3, 0, seed=0))
