"""The Rule of 28 by hand: every value, every adjustment, and when it stops."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import pytest

from rollbook.rules import cant_stop
from rollbook.rules.cant_stop.moves import LENGTHS, Advance, Roll, Rolled, Stop
from rollbook.rules.cant_stop.state import GO_ON, ROLL, State
from rollbook.rules.cant_stop.view import View
from rollbook.rules.catalogue import find
from rollbook_clients.bots.bot import Seat, Unsuited
from rollbook_clients.bots.rule_of_28 import RuleOf28, count, move_value

Markers: TypeAlias = tuple[dict[int, int], dict[int, int]]
"""Of both seats, the heights by their columns."""


def board(
    runners: dict[int, int],
    *,
    dice: tuple[int, ...] = (),
    markers: Markers = ({}, {}),
    options: dict[str, Any] | None = None,
) -> State:
    """Seat 0 on turn, its runners at these heights; an advance is awaited if dice lie there, else roll or stop."""
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
    """What the rule does here."""
    game = cant_stop.GAME
    bot = RuleOf28(Seat(game, game.settle(options or {}, 2), 2, 0, seed=0))
    return bot.choose(cast("View", game.view(state, 0)), game.legal(state))


@pytest.mark.parametrize(
    ("column", "progress"), list(zip(range(2, 13), (6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6), strict=True))
)
def test_the_first_step_in_a_column_counts_twice_every_other_once(column: int, progress: int) -> None:
    """The values of the columns 2 to 12 as they are published."""
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
    """Odd +2, even -2, one side +4, and what applies together adds up."""
    alone = sum(count({column: 1}) for column in columns)
    assert alone + adjusted == count(dict.fromkeys(columns, 1))


def test_two_columns_are_not_adjusted() -> None:
    """How columns go together matters when no fourth can come."""
    assert count({3: 1}) + count({5: 1}) == count({3: 1, 5: 1})


def test_it_stops_at_28_and_not_at_27() -> None:
    """Columns 6, 7 and 8, of which 6 and 8 count 2 a step and 7 counts 1."""
    assert 28 == count({6: 5, 7: 3, 8: 5})
    assert Stop() == chosen(board({6: 5, 7: 3, 8: 5}))
    assert 27 == count({6: 5, 7: 2, 8: 5})
    assert Roll() == chosen(board({6: 5, 7: 2, 8: 5}))


def test_only_the_steps_of_this_turn_count() -> None:
    """The height of a runner is not its progress: what was marked before cannot be lost."""
    assert Roll() == chosen(board({6: 5, 7: 3, 8: 5}, markers=({6: 4}, {})))


def test_it_never_stops_while_a_runner_is_off_the_board() -> None:
    """Even at 28 and beyond: nearly every throw can be used."""
    assert 28 < count({6: 9, 8: 9})
    assert Roll() == chosen(board({6: 9, 8: 9}))


def test_it_stops_at_once_if_that_wins() -> None:
    """Whatever is counted, and with a runner off the board: there is nothing left to gain."""
    markers: Markers = ({2: 3, 3: 5, 7: 12}, {})
    assert Stop() == chosen(board({7: 13}, markers=markers))
    assert Roll() == chosen(board({7: 13}, markers=({2: 3, 7: 12}, {})))
    options = {"columns_to_win": 5}
    assert Roll() == chosen(board({7: 13}, markers=markers, options=options), options)


def test_it_stops_with_all_runners_on_number_fields() -> None:
    """No throw could be used any more."""
    markers: Markers = ({5: 8, 6: 10, 8: 10}, {})
    assert 14 == count({5: 1, 6: 1, 8: 1})
    options = {"columns_to_win": 5}
    assert Stop() == chosen(board({5: 9, 6: 11, 8: 11}, markers=markers, options=options), options)


def test_it_rolls_where_the_rules_forbid_to_stop() -> None:
    """With free fields another seat's marker may stand where a runner stands."""
    options = {"free_fields": True}
    state = board({6: 5, 7: 3, 8: 5}, markers=({}, {6: 5}), options=options)
    assert Roll() == chosen(state, options)


def test_a_step_counts_by_its_column_and_a_new_runner_costs_six() -> None:
    """The move values: 6 in the middle, one less for every column away from it."""
    assert [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1] == [move_value(Advance((column,)), {column: 1}) for column in LENGTHS]
    assert 6 + 6 - 6 == move_value(Advance((7, 7)), {})
    assert 5 + 4 - 6 == move_value(Advance((6, 9)), {6: 2})
    assert 5 + 4 - 12 == move_value(Advance((6, 9)), {})


def test_it_moves_runners_rather_than_placing_new_ones() -> None:
    """2, 2, 6, 6 is 4 and 12 or 8 twice: with a runner in 8 that is two steps, without one the cheaper placing."""
    assert Advance((8, 8)) == chosen(board({8: 1}, dice=(2, 6, 2, 6)))
    assert Advance((8, 8)) == chosen(board({}, dice=(2, 6, 2, 6)))
    assert Advance((4, 12)) == chosen(board({4: 1, 12: 1, 3: 1}, dice=(2, 6, 2, 6)))


def test_of_equal_pairings_it_takes_the_first() -> None:
    """With one runner left, 2, 3, 3 and 6 offer 5, 6, 8 or 9, of which 6 and 8 are worth most and the same."""
    assert Advance((6,)) == chosen(board({2: 1, 12: 1}, dice=(2, 3, 3, 6)))


def test_it_plays_nothing_else() -> None:
    """A seat at another table is refused by name."""
    game = find("raffzahn")
    with pytest.raises(Unsuited, match="rule_of_28 plays cant_stop only, not raffzahn"):
        RuleOf28(Seat(game, game.settle({}, 3), 3, 0, seed=0))
