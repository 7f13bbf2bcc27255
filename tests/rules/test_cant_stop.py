"""Can't Stop: the rulebook's examples, the rulings, the variants and the numbers that follow from them."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from rollbook.rules.cant_stop import GAME
from rollbook.rules.cant_stop.moves import LENGTHS, Advance, Roll, Rolled, Stop
from rollbook.rules.cant_stop.state import State
from rollbook.rules.cant_stop.view import View
from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import OVER, ToChoose, Watcher
from rollbook.rules.refusals import Illegal, Invalid, Reason, RefusedByRules
from tests.rules import naive_cant_stop
from tests.rules.positions_cant_stop import choosing_to_go_on, markers_of, position, runners_of, won_columns


def offered(state: State, *dice: int) -> list[tuple[int, ...]]:
    """The columns of the legal advances after this throw."""
    after = GAME.apply(state, Rolled(dice))
    return [choice.columns for choice in GAME.legal(after) if isinstance(choice, Advance)]


def after(state: State, *moves: Advance | Roll | Stop | Rolled) -> State:
    """The state after the moves."""
    return GAME.fold(state, moves)


def refusal(state: State, move: object) -> RefusedByRules:
    """The refusal of the move; the state stays as it is."""
    before = GAME.copy(state)
    with pytest.raises(RefusedByRules) as refused:
        GAME.play(state, move)  # type: ignore[arg-type]  # any value that a stranger can send
    assert before == state
    return refused.value


def test_heikes_first_throw_puts_runners_on_the_lowest_fields_of_7_and_8() -> None:
    """Example in "Das Einsetzen": dice that pair to 7 and 8 place two runners at the bottom."""
    state = after(position(), Rolled((3, 4, 2, 6)), Advance((7, 8)))
    assert {7: 1, 8: 1} == runners_of(state)


def test_heikes_second_throw_moves_7_and_places_9() -> None:
    """Example in "Das Einsetzen": with runners on 7 and 8 she may take 7 and 9."""
    state = after(position(runners={7: 1, 8: 1}), Rolled((2, 5, 3, 6)), Advance((7, 9)))
    assert {7: 2, 8: 1, 9: 1} == runners_of(state)


def test_heike_with_one_runner_left_places_it_on_6_or_on_10_and_the_other_pair_lapses() -> None:
    """Example in "Das Einsetzen": 6 and 10 are both new, only one runner is free, so one pair lapses."""
    columns = offered(position(runners={7: 1, 8: 1}), 1, 5, 4, 6)
    assert [(6,), (10,)] == [choice for choice in columns if choice in {(6,), (10,), (6, 10)}]


def test_heike_is_bust_when_no_pair_makes_7_8_or_9() -> None:
    """Example in "Gefahr erkannt?": with runners on 7, 8 and 9 such a throw takes the runners off and ends the turn."""
    state = after(position(runners={7: 3, 8: 1, 9: 1}), Rolled((1, 1, 2, 2)))
    assert ({}, {}, 1) == (runners_of(state), markers_of(state, 0), state.seat)


@pytest.mark.parametrize(("seat", "following"), [(0, 1), (1, 2), (2, 0)])
def test_a_turn_passes_to_the_next_seat_after_a_bust_and_after_a_stop(seat: int, following: int) -> None:
    """Clockwise, also with more than two seats."""
    start = position(seats=3, seat=seat, runners={7: 3, 8: 1, 9: 1})
    assert following == after(start, Rolled((1, 1, 2, 2))).seat
    assert following == after(choosing_to_go_on(start), Stop()).seat


def test_heike_stops_and_marks_4_7_and_9_also_on_an_opponents_marker() -> None:
    """Example in "Gefahr gebannt!": new marker on the second field of 4, those on 7 and 9 go up by four and five."""
    start = position(markers={0: {7: 2, 9: 1}, 1: {9: 6}}, runners={4: 2, 7: 6, 9: 6})
    state = after(choosing_to_go_on(start), Stop())
    assert {4: 2, 7: 6, 9: 6} == markers_of(state, 0)
    assert {9: 6} == markers_of(state, 1)


def test_a_runner_starts_above_the_seats_own_marker() -> None:
    """A runner starts above the seat's marker in its column."""
    state = after(position(markers={0: {7: 2}}), Rolled((3, 4, 2, 6)), Advance((7, 8)))
    assert {7: 3, 8: 1} == runners_of(state)


def test_the_first_throw_of_a_turn_is_no_choice() -> None:
    """The turn begins with a forced throw."""
    assert "roll" == getattr(GAME.awaited(position()), "name", None)
    assert Reason.CHANCE_AWAITED == refusal(position(), Roll()).reason


def test_two_equal_pairs_move_one_runner_two_steps() -> None:
    """Das Einsetzen: the runner is placed and moved on at once."""
    assert {7: 2} == runners_of(after(position(), Rolled((3, 4, 1, 6)), Advance((7, 7))))


def test_ruling_the_second_step_beyond_the_number_field_lapses() -> None:
    """Ruling: with one step left the choice is written with one step, and two are not offered."""
    columns = offered(position(runners={2: 2}), 1, 1, 1, 1)
    assert [(2,)] == columns


def test_a_pairing_that_can_place_two_runners_must_place_both() -> None:
    """If both pairs of a pairing can be used, one alone is not offered."""
    columns = offered(position(), 1, 2, 3, 4)
    assert [(3, 7), (4, 6), (5, 5)] == columns


def test_a_seat_may_choose_a_pairing_of_which_only_one_pair_can_be_used() -> None:
    """A pairing may be chosen of which one pair lapses, even if another pairing uses both."""
    columns = offered(position(runners={3: 1, 4: 1, 7: 1}), 1, 2, 3, 4)
    assert [(3, 7), (4,)] == columns


def test_ruling_a_runner_on_a_number_field_still_counts_as_one_of_the_three() -> None:
    """Ruling: a runner on the number field is not free again, so the seat cannot enter a fourth column."""
    columns = offered(position(runners={2: 3, 7: 1, 8: 1}), 1, 2, 2, 2)
    assert [] == columns


def test_ruling_a_seat_with_all_runners_on_number_fields_may_roll_and_is_bust_for_certain() -> None:
    """Ruling: rolling on is legal there, and no throw of 1,296 can be used."""
    state = choosing_to_go_on(position(runners={2: 3, 3: 5, 12: 3}))
    assert [Roll(), Stop()] == list(GAME.legal(state))
    rolling = after(state, Roll())
    assert all(GAME.apply(rolling, Rolled(dice)).seat == 1 for dice in product(range(1, 7), repeat=4))


def test_stopping_on_a_number_field_wins_the_column_and_returns_all_other_markers() -> None:
    """Spalte gewonnen!: the other seats get their markers back, and no seat places a runner there again."""
    state = after(choosing_to_go_on(position(markers={1: {2: 1, 7: 4}}, runners={2: 3})), Stop())
    assert ({2: 3}, {7: 4}, {2}) == (markers_of(state, 0), markers_of(state, 1), won_columns(state))
    assert all(2 not in columns for columns in offered(state, 1, 1, 5, 6))


def test_one_stop_can_win_several_columns_and_the_match() -> None:
    """Spielende: the third number field ends the match when the seat stops, however many it wins at once."""
    state = after(choosing_to_go_on(position(won={7: 0}, runners={2: 3, 12: 3})), Stop())
    assert OVER == GAME.awaited(state)
    assert (1, 2) == GAME.places(state)


def test_three_columns_reached_by_runners_win_nothing_before_the_stop() -> None:
    """The match is won by stopping; a seat that is bust with three runners on number fields has nothing."""
    state = after(position(runners={2: 3, 3: 5, 12: 3}), Rolled((1, 1, 1, 1)))
    assert (1, set()) == (state.seat, won_columns(state))


def test_ruling_the_others_rank_by_columns_then_by_heights_in_open_columns_and_share_places() -> None:
    """Ruling: markers in won columns do not count."""
    state = position(
        seats=4,
        markers={1: {4: 2, 5: 1}, 2: {4: 2, 5: 1}, 3: {4: 3, 5: 1}},
        won={7: 0, 8: 0, 9: 1},
        runners={2: 3},
    )
    assert (1, 2, 4, 3) == GAME.places(after(choosing_to_go_on(state), Stop()))
    equal = position(seats=3, markers={0: {3: 1}, 1: {4: 1}})
    assert (1, 1, 3) == GAME.places(equal)


@pytest.mark.parametrize(("columns", "seats"), [(4, 3), (5, 2)])
def test_variant_1_asks_for_more_columns(columns: int, seats: int) -> None:
    """Variant 1: the usual three columns do not end the match, the number that was agreed on does."""
    won = dict.fromkeys(range(4, 4 + columns - 2), 0)
    options = {"columns_to_win": columns}
    short = after(choosing_to_go_on(position(seats=seats, options=options, won=won, runners={2: 3})), Stop())
    assert OVER != GAME.awaited(short)
    enough = position(seats=seats, options=options, won=won, runners={2: 3, 12: 3})
    assert OVER == GAME.awaited(after(choosing_to_go_on(enough), Stop()))


@pytest.mark.parametrize(("columns", "seats"), [(4, 2), (4, 4), (5, 3), (5, 4)])
def test_variant_1_is_refused_with_other_numbers_of_seats(columns: int, seats: int) -> None:
    """The rulebook gives it for three and for two only; the refusal has these numbers."""
    with pytest.raises(Invalid) as refused:
        GAME.start({"columns_to_win": columns}, seats)
    assert Reason.OPTIONS_DO_NOT_COMBINE == refused.value.reason
    assert "4 with three seats" in str(refused.value)


def test_variant_2_first_throw_must_place_two_runners() -> None:
    """Variant 2: of the pairings only those remain that place two runners."""
    hasty = position(options={"hasty": True})
    assert [(3, 7), (4, 6)] == offered(hasty, 1, 2, 3, 4)


def test_variant_2_second_throw_must_place_the_third_runner_where_it_can() -> None:
    """Variant 2: the pairing that moves two runners gives way to one that places the third."""
    hasty = position(options={"hasty": True}, runners={3: 1, 7: 1})
    assert [(4,), (5, 5), (6,)] == offered(hasty, 1, 2, 3, 4)
    both = position(options={"hasty": True}, runners={4: 1, 7: 1})
    assert [(3, 7), (4, 6)] == offered(both, 1, 2, 3, 4)


def test_variant_2_with_all_runners_on_the_board_moves_two_where_it_can() -> None:
    """Variant 2: afterwards a pairing that moves two runners goes before one that moves a single one."""
    hasty = position(options={"hasty": True}, runners={3: 1, 4: 1, 7: 1})
    assert [(3, 7)] == offered(hasty, 1, 2, 3, 4)


def test_ruling_variant_2_counts_two_equal_sums_as_one_runner() -> None:
    """Ruling: two steps of one runner and one step of another use one runner each, so both remain."""
    hasty = position(options={"hasty": True}, runners={4: 1, 5: 1, 10: 1})
    assert [(4,), (5, 5)] == offered(hasty, 1, 2, 3, 4)


def test_variant_3_forbids_stopping_on_anothers_marker_so_the_seat_must_roll() -> None:
    """Variant 3: every runner has to stand on a field without another seat's marker."""
    state = choosing_to_go_on(position(options={"free_fields": True}, markers={1: {7: 2}}, runners={7: 2, 8: 1}))
    assert [Roll()] == list(GAME.legal(state))
    assert Reason.STOP_ON_ANOTHERS_FIELD == refusal(state, Stop()).reason
    assert Roll() == GAME.caretaker(state)


def test_variant_3_lets_stop_above_or_below_anothers_marker() -> None:
    """Variant 3 concerns only the exact field."""
    for height in (1, 3):
        state = choosing_to_go_on(position(options={"free_fields": True}, markers={1: {7: 2}}, runners={7: height}))
        assert [Roll(), Stop()] == list(GAME.legal(state))


def test_the_caretaker_takes_the_first_advance_and_then_stops() -> None:
    """The caretaker takes no risk for an absent seat."""
    state = after(position(), Rolled((1, 2, 3, 4)))
    assert Advance((3, 7)) == GAME.caretaker(state)
    assert Stop() == GAME.caretaker(after(state, Advance((3, 7))))


def test_columns_are_accepted_in_any_order() -> None:
    """The order of the two columns has no meaning."""
    state = after(position(), Rolled((1, 2, 3, 4)))
    assert after(state, Advance((3, 7))) == after(state, Advance((7, 3)))


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ((), Reason.NOTHING_NAMED),
        ((3, 7, 7), Reason.TOO_MANY_NAMED),
        ((3,) * 100_000, Reason.TOO_MANY_NAMED),
        ((1, 7), Reason.COLUMN_UNKNOWN),
        ((-3,), Reason.COLUMN_UNKNOWN),
        ((10**5000,), Reason.COLUMN_UNKNOWN),
        ((3,), Reason.COLUMNS_NOT_OFFERED),
        ((2, 12), Reason.COLUMNS_NOT_OFFERED),
        ((3, 3), Reason.COLUMNS_NOT_OFFERED),
    ],
)
def test_a_wrong_advance_is_refused_with_its_reason(columns: tuple[int, ...], reason: Reason) -> None:
    """Every wrong choice gets a refusal with its reason, and the state is unchanged."""
    assert reason == refusal(after(position(), Rolled((1, 2, 3, 4))), Advance(columns)).reason


def test_a_refused_advance_says_why_and_what_is_legal() -> None:
    """The refusal has the legal choices, so the client need not guess."""
    state = after(position(runners={3: 5, 4: 1, 7: 1}), Rolled((1, 2, 3, 4)))
    assert "runner in column 3 stands on the number field" in str(refusal(state, Advance((3, 7))))
    assert "legal now: [4], [7]" in str(refusal(state, Advance((3, 7))))
    assert "no runner is left for column 6" in str(refusal(state, Advance((6,))))
    won = after(position(won={3: 1}), Rolled((1, 2, 3, 4)))
    assert "seat 1 has won column 3" in str(refusal(won, Advance((3, 7))))
    assert "no pair of them makes 12" in str(refusal(won, Advance((12,))))
    assert "as it is offered" in str(refusal(won, Advance((4,))))


@pytest.mark.parametrize("dice", [(1, 2, 3), (1, 2, 3, 7), (0, 1, 1, 1), ()])
def test_an_outcome_that_four_dice_cannot_give_is_refused(dice: tuple[int, ...]) -> None:
    """An audit must notice impossible dice."""
    assert Reason.OUTCOME_IMPOSSIBLE == refusal(position(), Rolled(dice)).reason


def test_what_is_not_awaited_is_refused() -> None:
    """Chance in place of a choice, a choice in place of chance, words of another game, any move after the end."""
    start = GAME.start({}, 2)
    assert Reason.OUTCOME_IMPOSSIBLE == refusal(start, FirstSeat(2)).reason
    assert Reason.CHANCE_AWAITED == refusal(start, Stop()).reason
    rolled = after(position(), Rolled((1, 2, 3, 4)))
    assert Reason.OTHER_CHOICE_AWAITED == refusal(rolled, Stop()).reason
    assert Reason.MOVE_OF_ANOTHER_GAME == refusal(rolled, "stop").reason
    over = after(choosing_to_go_on(position(won={7: 0, 8: 0}, runners={2: 3})), Stop())
    assert Reason.MATCH_OVER == refusal(over, Roll()).reason
    assert [] == list(GAME.legal(over))


def test_usable_throws_of_all_165_column_triples_by_enumeration_of_1296_rolls() -> None:
    """The published chances follow from the rules: {6,7,8} 1192, {2,3,12} 568, {2,7,12} 1012, all together 166,008."""
    usable = {}
    for triple in combinations(LENGTHS, 3):
        state = position(runners=dict.fromkeys(triple, 1))
        usable[triple] = sum(
            isinstance(GAME.awaited(GAME.apply(state, Rolled(dice))), ToChoose)
            for dice in product(range(1, 7), repeat=4)
        )
    assert (165, 1192, 568, 1012, 166_008) == (
        len(usable),
        usable[6, 7, 8],
        usable[2, 3, 12],
        usable[2, 7, 12],
        sum(usable.values()),
    )


@pytest.mark.parametrize("hasty", [False, True])
def test_advances_agree_with_the_naive_reference_over_random_states(hasty: bool) -> None:
    """The reference was written without looking at the game's code."""
    for seed in range(3_000):
        rng = random.Random(seed)
        markers = {column: rng.randrange(length) for column, length in LENGTHS.items()}
        won = set(rng.sample(sorted(LENGTHS), rng.randrange(3)))
        open_columns = [column for column in LENGTHS if column not in won]
        runners = {
            column: rng.randint(markers[column] + 1, LENGTHS[column])
            for column in rng.sample(open_columns, rng.randrange(4))
        }
        state = position(
            options={"hasty": hasty},
            markers={0: markers},
            won=dict.fromkeys(won, 1),
            runners=runners,
        )
        dice = tuple(rng.randint(1, 6) for _ in range(4))
        expected = naive_cant_stop.advances(dice, markers, runners, won)
        if hasty:
            expected = naive_cant_stop.hasty(expected, runners)
        assert sorted(expected) == offered(state, *dice), f"seed {seed}"


def test_the_view_shows_the_board_to_everybody() -> None:
    """Nothing is hidden, so public and seats have the same view."""
    state = after(position(markers={1: {7: 2}}), Rolled((3, 4, 2, 6)), Advance((7, 8)))
    public = GAME.view(state, Watcher.PUBLIC)
    assert isinstance(public, View)
    assert public == GAME.view(state, 0)
    seven = public.columns[5]
    assert (7, 13, None, (0, 2), 1) == (seven.number, seven.length, seven.winner, seven.markers, seven.runner)


def test_illegal_and_invalid_are_told_apart() -> None:
    """Invalid moves can never be read; illegal ones are only not allowed now."""
    state = after(position(), Rolled((1, 2, 3, 4)))
    assert isinstance(refusal(state, Advance((99,))), Invalid)
    assert isinstance(refusal(state, Advance((2, 12))), Illegal)
