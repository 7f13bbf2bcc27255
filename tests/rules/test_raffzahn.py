"""Raffzahn: the rulebooks' examples in both editions, the rulings, the options, the refusals and a second opinion."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rollbook.rules.chance import Draw, FirstSeat, Throw
from rollbook.rules.game import OVER, Over, ToChoose, Watcher
from rollbook.rules.raffzahn import GAME, Choice, Outcome, Pass, Roll, Rolled, Surrender, Take, View
from rollbook.rules.raffzahn_table import FINISHED, TEETH, TILES, State
from rollbook.rules.refusals import Illegal, Invalid, Reason, Refused
from tests.rules import naive_raffzahn as naive
from tests.rules.positions_raffzahn import (
    after_throw,
    middle_of,
    open_of,
    out_of,
    owned_by,
    position,
    safe_of,
)

WILLI, ANNA, TOM = 0, 1, 2
HUGE = 10**5000
TILES_WITH_COUNTABLE_SUBSETS = 12

both_editions = pytest.mark.parametrize("edition", ["original", "revised"])


def after(state: State, *moves: Choice | Outcome) -> State:
    """The state after the moves."""
    return GAME.fold(state, moves)


def kinds(state: State) -> set[str]:
    """Which kinds of choice are legal."""
    return {type(choice).__name__.lower() for choice in GAME.legal(state)}


def tiles_to_take(state: State) -> set[int]:
    """The tiles that `take` may name."""
    return {choice.tile for choice in GAME.legal(state) if isinstance(choice, Take)}


def surrenders(state: State) -> list[tuple[int, ...]]:
    """The legal surrenders in their order."""
    return [choice.tiles for choice in GAME.legal(state) if isinstance(choice, Surrender)]


def refusal(state: State, move: object) -> Refused:
    """The refusal of the move; the state stays as it is."""
    before = GAME.copy(state)
    with pytest.raises(Refused) as refused:
        GAME.play(state, move)  # type: ignore[arg-type]  # whatever a stranger sends
    assert before == state
    return refused.value


# The examples of the rulebooks


@both_editions
def test_example_1_willi_takes_the_15_from_the_middle_and_has_to_lay_it_open(edition: str) -> None:
    """Two open tiles are too few to lay the third one safe."""
    state = after_throw(1, "10", "5", "star", on=position(edition=edition, open_tiles={WILLI: [8, 20]}))
    assert [Take(15, safe=False)] == [choice for choice in GAME.legal(state) if isinstance(choice, Take)]
    assert Reason.SAFE_NOT_ALLOWED == refusal(state, Take(15, safe=True)).reason
    state = after(state, Take(15, safe=False))
    assert ({8, 15, 20}, ANNA) == (open_of(state, WILLI), state.seat)
    assert 15 not in middle_of(state)


@both_editions
def test_example_1_willi_takes_annas_open_39_and_lays_it_safe(edition: str) -> None:
    """With three open tiles he may; Anna is left with two and has to lay her next tile open."""
    start = position(edition=edition, open_tiles={WILLI: [8, 15, 20], ANNA: [3, 26, 39]})
    state = after(after_throw(2, "30", "5", "4", on=start), Take(39, safe=True))
    assert ({39}, {3, 26}) == (safe_of(state, WILLI), open_of(state, ANNA))
    assert Reason.SAFE_NOT_ALLOWED == refusal(after_throw(1, "10", "1", "1", on=state), Take(12, safe=True)).reason


@both_editions
def test_example_2_willis_safe_32_is_turned_open_at_once(edition: str) -> None:
    """An own hit is no choice and ends the turn on any throw; so more than three tiles can lie open."""
    start = position(edition=edition, open_tiles={WILLI: [8, 15, 20]}, safe_tiles={WILLI: [32]})
    for number in (1, 2, 3):
        state = after_throw(number, "30", "2", "star", on=start)
        assert ({8, 15, 20, 32}, set(), ANNA) == (open_of(state, WILLI), safe_of(state, WILLI), state.seat)
        assert GAME.awaited(start) == GAME.awaited(state)


def test_example_2_original_20_and_two_stars_is_an_own_hit_that_costs_the_open_20() -> None:
    """Original: an own hit ranks above a star throw, and an open tile leaves the game."""
    start = position(edition="original", open_tiles={WILLI: [8, 15, 20]})
    state = after_throw(1, "20", "star", "star", on=start)
    assert ({8, 15}, {20}, ANNA) == (open_of(state, WILLI), out_of(state), state.seat)


def test_example_2_revised_10_and_two_fives_is_an_own_hit_that_costs_the_open_20() -> None:
    """Revised: the example has other dice, because with two stars nothing is added up."""
    state = after_throw(1, "10", "5", "5", on=position(open_tiles={WILLI: [8, 15, 20]}))
    assert ({8, 15}, {20}, ANNA) == (open_of(state, WILLI), out_of(state), state.seat)


def test_example_2_revised_20_and_two_stars_is_no_own_hit() -> None:
    """Revised: the 20 is ignored, and the lowest tile of the middle is offered."""
    state = after_throw(1, "20", "star", "star", on=position(open_tiles={WILLI: [1, 15, 20]}))
    assert ({2}, {"take", "roll"}) == (tiles_to_take(state), kinds(state))


def willi_in_example_3(edition: str) -> State:
    """The lowest tile of the middle is the 2, the highest the 37; Tom has the 40, Anna the 1, Willi 35 and 39."""
    return position(
        edition=edition,
        open_tiles={WILLI: [8, 15, 35], TOM: [40], ANNA: [1]},
        safe_tiles={WILLI: [39], TOM: [38]},
    )


def test_example_3_original_10_and_two_stars_offers_the_10_and_not_the_2() -> None:
    """Original: the hit ranks above the star throw, which is not on offer then; another throw is."""
    state = after_throw(2, "10", "star", "star", on=willi_in_example_3("original"))
    assert ({10}, {"take", "roll", "pass"}) == (tiles_to_take(state), kinds(state))
    assert Reason.TILE_NOT_OFFERED == refusal(state, Take(2, safe=False)).reason


def test_example_3_original_a_third_star_offers_the_37_of_the_middle() -> None:
    """Original: Willi throws the yellow die again; he may take the 37, safe, but not Tom's 40, and need not."""
    state = after_throw(2, "10", "star", "star", on=willi_in_example_3("original"))
    state = after(state, Roll((0,)), Rolled(("star", "star", "star")))
    assert ({37}, {"take", "pass"}) == (tiles_to_take(state), kinds(state))
    assert {37, 39} == safe_of(after(state, Take(37, safe=True)), WILLI)


def test_example_3_revised_10_and_two_stars_is_no_own_hit_and_offers_the_2() -> None:
    """Revised: Willi owns the 10, but beside two stars it is ignored; he takes the 2 or throws again."""
    start = position(open_tiles={WILLI: [8, 10, 35], TOM: [40], ANNA: [1]}, safe_tiles={WILLI: [39], TOM: [38]})
    state = after_throw(2, "10", "star", "star", on=start)
    assert ({2}, {"take", "roll"}) == (tiles_to_take(state), kinds(state))
    assert {10, 8, 35} == open_of(state, WILLI)


def test_example_3_revised_a_third_star_makes_willi_take_the_37() -> None:
    """Revised: three stars leave him nothing but the 37 of the middle, open or safe."""
    state = after_throw(2, "10", "star", "star", on=willi_in_example_3("revised"))
    state = after(state, Roll((0,)), Rolled(("star", "star", "star")))
    assert (Take(37, safe=False), Take(37, safe=True)) == tuple(GAME.legal(state))
    assert {37, 39} == safe_of(after(state, Take(37, safe=True)), WILLI)


@both_editions
def test_example_4_willi_misses_annas_safe_25_and_gives_up_8_and_9_or_the_20(edition: str) -> None:
    """8 and 9 have two teeth each and the 20 has four: there is no change, so either way four are lost."""
    start = position(edition=edition, open_tiles={WILLI: [8, 20]}, safe_tiles={WILLI: [9], ANNA: [25]})
    state = after_throw(3, "20", "5", "star", on=start)
    assert [(8, 9), (20,)] == surrenders(state)
    assert ({20}, {8, 9}, ANNA) == (
        owned_by(after(state, Surrender((9, 8))), WILLI),
        out_of(after(state, Surrender((9, 8)))),
        after(state, Surrender((9, 8))).seat,
    )
    assert ({8, 9}, {20}) == (
        owned_by(after(state, Surrender((20,))), WILLI),
        out_of(after(state, Surrender((20,)))),
    )


# The table of throws


def test_10_and_two_stars_with_the_10_in_the_middle_differs_between_the_editions() -> None:
    """Original: the 10, or on. Revised: the lowest tile, or on."""
    throw = ("10", "star", "star")
    original, revised = (after_throw(1, *throw, on=position(edition=edition)) for edition in ("original", "revised"))
    assert ({10}, {"take", "roll", "pass"}) == (tiles_to_take(original), kinds(original))
    assert ({1}, {"take", "roll"}) == (tiles_to_take(revised), kinds(revised))


def test_20_and_two_stars_with_the_20_owned_differs_between_the_editions() -> None:
    """Original: an own hit, at once. Revised: the lowest tile, or on."""
    throw = ("20", "star", "star")
    original, revised = (
        after_throw(2, *throw, on=position(edition=edition, safe_tiles={WILLI: [20]}))
        for edition in ("original", "revised")
    )
    assert ({20}, ANNA) == (open_of(original, WILLI), original.seat)
    assert ({1}, {"take", "roll"}, {20}) == (tiles_to_take(revised), kinds(revised), safe_of(revised, WILLI))


@both_editions
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("blues", [("1", "2"), ("star", "star")])
def test_a_rotten_tooth_ends_the_turn_without_penalty(edition: str, number: int, blues: tuple[str, str]) -> None:
    """Whatever else was thrown, also two stars, and also on the third throw, where it is no miss (ruling)."""
    start = position(edition=edition, open_tiles={WILLI: [3, 20]}, out=[2])
    state = after_throw(number, "rotten", *blues, on=start)
    assert (ANNA, 0, (), {3, 20}) == (state.seat, state.throws, state.dice, open_of(state, WILLI))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_three_stars_revised_have_to_be_taken_on_any_throw(number: int) -> None:
    """Revised, great star throw: no other throw and no pass, and the turn is over afterwards."""
    state = after_throw(number, "star", "star", "star", on=position())
    assert (Take(40, safe=False),) == tuple(GAME.legal(state))
    assert ANNA == after(state, Take(40, safe=False)).seat


@pytest.mark.parametrize("number", [1, 2, 3])
def test_three_stars_original_may_be_taken_or_left(number: int) -> None:
    """Original: their sum is 0, which no tile has, so only the star throw is left, and it is a "may"."""
    state = after_throw(number, "star", "star", "star", on=position(edition="original", out=[3]))
    assert {40} == tiles_to_take(state)
    assert ({"take", "pass"} | ({"roll"} if number < 3 else set())) == kinds(state)


def test_two_stars_revised_on_the_third_throw_have_to_be_taken() -> None:
    """Revised, small star throw: without another throw the lowest tile is the only way."""
    state = after_throw(3, "30", "star", "star", on=position(out=[1, 30]))
    assert (Take(2, safe=False),) == tuple(GAME.legal(state))


def test_two_stars_with_the_yellow_one_original_hit_by_the_blue_number() -> None:
    """Original: star, star and a 4 add up to 4, and a hit ranks first."""
    state = after_throw(1, "star", "star", "4", on=position(edition="original"))
    assert {4} == tiles_to_take(state)


def test_two_stars_original_that_miss_offer_the_lowest_tile_even_on_the_third_throw() -> None:
    """Original: a star throw ranks above a miss, so it may be passed on without giving up teeth."""
    start = position(edition="original", open_tiles={WILLI: [20]}, safe_tiles={ANNA: [10]}, out=[1])
    state = after_throw(3, "10", "star", "star", on=start)
    assert (Take(2, safe=False), Pass()) == tuple(GAME.legal(state))
    assert ({20}, ANNA) == (owned_by(after(state, Pass()), WILLI), after(state, Pass()).seat)


def test_an_open_tile_of_another_seat_outranks_a_star_throw_in_the_original() -> None:
    """Original: the hit need not lie in the middle to rank first."""
    state = after_throw(1, "20", "star", "star", on=position(edition="original", open_tiles={TOM: [20]}))
    assert {20} == tiles_to_take(state)


def test_one_star_counts_0_in_the_sum() -> None:
    """Revised, "Würfelergebnis": 30, star and 3 hit the 33."""
    assert {33} == tiles_to_take(after_throw(1, "30", "star", "3", on=position()))


@both_editions
def test_a_safe_tile_of_another_seat_cannot_be_taken(edition: str) -> None:
    """Tiles that lie face down are out of reach."""
    state = after_throw(1, "10", "5", "star", on=position(edition=edition, safe_tiles={ANNA: [15]}))
    assert {"roll", "pass"} == kinds(state)
    assert Reason.TAKE_NOT_OFFERED == refusal(state, Take(15, safe=False)).reason


# Rulings


def test_ruling_the_teeth_divide_evenly_and_fit_the_rulebooks() -> None:
    """They never fall, run from 1 to 7, and 8 and 9 have two, 20 has four."""
    teeth = [TEETH[tile] for tile in TILES]
    assert sorted(teeth) == teeth
    assert (1, 7, 2, 2, 4) == (teeth[0], teeth[-1], TEETH[8], TEETH[9], TEETH[20])
    assert [5, 6, 6, 6, 6, 6, 5] == [teeth.count(number) for number in range(1, 8)]


@both_editions
@pytest.mark.parametrize("number", [1, 2])
def test_ruling_a_miss_before_the_third_throw_is_nothing(edition: str, number: int) -> None:
    """The seat throws again or passes, and passing is not punished."""
    start = position(edition=edition, open_tiles={WILLI: [20]}, safe_tiles={ANNA: [25]})
    state = after_throw(number, "20", "5", "star", on=start)
    assert {"roll", "pass"} == kinds(state)
    assert ({20}, ANNA) == (owned_by(after(state, Pass()), WILLI), after(state, Pass()).seat)


@both_editions
def test_a_tile_out_of_the_game_is_missed_like_a_safe_one(edition: str) -> None:
    """On the third throw it costs teeth."""
    state = after_throw(3, "20", "5", "star", on=position(edition=edition, open_tiles={WILLI: [20]}, out=[25]))
    assert [(20,)] == surrenders(state)


@both_editions
@pytest.mark.parametrize("number", [1, 2, 3])
def test_ruling_a_hit_may_be_passed_on(edition: str, number: int) -> None:
    """Taking is "may", and leaving a hit is no miss, also on the third throw."""
    state = after_throw(number, "20", "5", "star", on=position(edition=edition, open_tiles={WILLI: [20]}))
    assert {"take", "pass"} <= kinds(state)
    assert ({20}, ANNA) == (owned_by(after(state, Pass()), WILLI), after(state, Pass()).seat)


@pytest.mark.parametrize(("number", "faces"), [(1, "10"), (3, "10"), (1, "star"), (3, "star")])
def test_ruling_nobody_passes_on_a_star_throw_of_the_revised_edition(number: int, faces: str) -> None:
    """Take or throw again: there is no third way."""
    state = after_throw(number, faces, "star", "star", on=position())
    assert Reason.PASS_NOT_ALLOWED == refusal(state, Pass()).reason


def test_ruling_three_stars_on_the_third_throw_are_never_a_miss() -> None:
    """Original: passing on them costs nothing, though no tile has the number 0."""
    state = after_throw(3, "star", "star", "star", on=position(edition="original", open_tiles={WILLI: [20]}))
    assert {20} == owned_by(after(state, Pass()), WILLI)


def test_ruling_a_set_of_exactly_three_teeth_need_not_be_chosen() -> None:
    """The 12 has three teeth; 8 and 9 with four, or the 40 with seven, are legal as well."""
    start = position(open_tiles={WILLI: [8, 9, 12, 40]}, out=[25])
    assert [(8, 9), (12,), (40,)] == surrenders(after_throw(3, "20", "5", "star", on=start))


def test_ruling_no_tile_is_given_up_that_is_not_needed() -> None:
    """8 and 1 have three teeth together; a 2 beside them, or beside a 20, is spare."""
    start = position(open_tiles={WILLI: [1, 2, 8, 20]}, out=[25])
    state = after_throw(3, "20", "5", "star", on=start)
    assert [(1, 8), (2, 8), (20,)] == surrenders(state)
    for tiles in [(1, 2, 8), (2, 20), (20, 8)]:
        assert Reason.TILE_NOT_NEEDED == refusal(state, Surrender(tiles)).reason


def test_tiles_of_one_tooth_go_in_threes() -> None:
    """Four of them can be combined in four ways, listed in sorted order."""
    start = position(open_tiles={WILLI: [1, 3]}, safe_tiles={WILLI: [2, 4]}, out=[25])
    state = after_throw(3, "20", "5", "star", on=start)
    assert [(1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4)] == surrenders(state)


@both_editions
@pytest.mark.parametrize("tiles", [[], [1], [7], [1, 2]])
def test_ruling_a_seat_with_less_than_three_teeth_gives_up_all_without_a_choice(edition: str, tiles: list[int]) -> None:
    """The next seat's throw is awaited at once."""
    start = position(edition=edition, open_tiles={WILLI: tiles[:1]}, safe_tiles={WILLI: tiles[1:]}, out=[25])
    state = after_throw(3, "20", "5", "star", on=start)
    assert (set(), {25, *tiles}, ANNA, 0) == (owned_by(state, WILLI), out_of(state), state.seat, state.throws)
    assert isinstance(GAME.awaited(state), Throw)


def test_ruling_a_surrender_is_a_choice_also_where_only_one_set_is_legal() -> None:
    """With exactly three teeth in two tiles the seat still says so itself."""
    state = after_throw(3, "20", "5", "star", on=position(open_tiles={WILLI: [1, 8]}, out=[25]))
    assert (ToChoose(WILLI), [(1, 8)]) == (GAME.awaited(state), surrenders(state))


# The turn


def test_the_match_begins_with_the_starting_seat_and_a_forced_throw_of_all_dice() -> None:
    """Chance names the seat, and nobody is asked whether to throw."""
    state = GAME.start({}, 5)
    assert Draw("first_seat", (0, 1, 2, 3, 4)) == GAME.awaited(state)
    state = after(state, GAME.outcome(state, (3,)))
    yellow, blue = ("10", "20", "30", "star", "star", "rotten"), ("1", "2", "3", "4", "5", "star")
    assert (3, Throw("roll", (yellow, blue, blue))) == (state.seat, GAME.awaited(state))
    assert () == tuple(GAME.legal(state))


def test_the_turn_goes_round_to_seat_0() -> None:
    """After the last seat the first one follows."""
    assert 0 == after(position(seat=2), Rolled(("rotten", "1", "1"))).seat


def test_only_the_dice_thrown_again_are_thrown_and_those_kept_lie_among_them() -> None:
    """Chance is asked for the named dice only, yellow first, and answers with all three."""
    state = after(after_throw(1, "10", "1", "1", on=position()), Roll((2, 0)))
    yellow, blue = ("10", "20", "30", "star", "star", "rotten"), ("1", "2", "3", "4", "5", "star")
    assert Throw("roll", (yellow, blue)) == GAME.awaited(state)
    assert Rolled(("30", "1", "4")) == GAME.outcome(state, ("30", "4"))


def test_dice_that_were_kept_before_can_be_thrown_again() -> None:
    """The yellow die is kept in the second throw and thrown in the third ("Würfeln")."""
    state = after(after_throw(1, "10", "1", "1", on=position()), Roll((1,)), Rolled(("10", "5", "1")))
    state = after(state, Roll((0, 1)), Rolled(("20", "2", "1")))
    assert (3, ("20", "2", "1")) == (state.throws, state.dice)
    assert {"take", "pass"} == kinds(state)


def test_legal_choices_are_listed_in_a_fixed_order() -> None:
    """Take before roll before pass, open before safe, dice as sorted tuples, no announcement before announced tiles."""
    start = position(open_tiles={WILLI: [1, 2, 3]})
    dice = [(0,), (0, 1), (0, 1, 2), (0, 2), (1,), (1, 2), (2,)]
    expected = [Take(12, safe=False), Take(12, safe=True), *map(Roll, dice), Pass()]
    assert expected == list(GAME.legal(after_throw(1, "10", "1", "1", on=start)))
    few = position(announce=True, middle=[12, 30], open_tiles={TOM: [5]})
    rolls = [choice for choice in GAME.legal(after_throw(2, "10", "1", "1", on=few)) if isinstance(choice, Roll)]
    assert [Roll(named, tile) for named in dice for tile in (None, 5, 12, 30)] == rolls


def test_lists_in_choices_are_accepted_in_any_order() -> None:
    """The order of dice and tiles means nothing, so the states are equal."""
    state = after_throw(1, "10", "1", "1", on=position())
    assert after(state, Roll((0, 1, 2))) == after(state, Roll((2, 0, 1)))
    state = after_throw(3, "20", "5", "star", on=position(open_tiles={WILLI: [1, 2, 8]}, out=[25]))
    assert after(state, Surrender((1, 8))) == after(state, Surrender((8, 1)))


# Announcements


def announcing(edition: str, tile: int | None, *faces: str, **wanted: object) -> State:
    """The state after tile was announced before the second throw and these faces came up."""
    start = position(edition=edition, announce=True, **wanted)  # type: ignore[arg-type]  # as the helper takes them
    return after(after_throw(1, "10", "1", "1", on=start), Roll((0, 1, 2), tile), Rolled(faces))


@both_editions
def test_taking_the_announced_tile_gives_an_extra_turn_of_three_throws(edition: str) -> None:
    """The same seat throws all dice, and has three throws again."""
    state = after(announcing(edition, 25, "20", "5", "star"), Take(25, safe=False))
    assert (WILLI, 0, (), None) == (state.seat, state.throws, state.dice, state.announced)
    assert GAME.awaited(position()) == GAME.awaited(state)


@both_editions
def test_taking_another_tile_than_the_announced_one_gives_none(edition: str) -> None:
    """It may be taken all the same."""
    assert ANNA == after(announcing(edition, 24, "20", "5", "star"), Take(25, safe=False)).seat


@both_editions
def test_a_tile_that_was_not_announced_gives_no_extra_turn(edition: str) -> None:
    """Silence is no announcement, also where the option is on."""
    assert ANNA == after(announcing(edition, None, "20", "5", "star"), Take(25, safe=False)).seat


@both_editions
def test_passing_on_the_announced_tile_gives_none(edition: str) -> None:
    """Only taking it counts."""
    assert ANNA == after(announcing(edition, 25, "20", "5", "star"), Pass()).seat


@pytest.mark.parametrize(("tile", "faces"), [(1, ("30", "star", "star")), (40, ("star", "star", "star"))])
def test_a_star_throw_fulfils_an_announcement_in_the_original_only(tile: int, faces: tuple[str, ...]) -> None:
    """Original: however the tile is won. Revised: with a number hit, and not by stars."""
    original = after(announcing("original", tile, *faces, out=[30]), Take(tile, safe=False))
    revised = after(announcing("revised", tile, *faces, out=[30]), Take(tile, safe=False))
    assert (WILLI, ANNA) == (original.seat, revised.seat)


@both_editions
def test_ruling_only_a_tile_that_can_be_won_may_be_announced(edition: str) -> None:
    """In the middle or open in front of another seat; not one's own, not safe, not out of the game."""
    start = position(
        edition=edition, announce=True, open_tiles={WILLI: [1], TOM: [2]}, safe_tiles={WILLI: [3], TOM: [4]}, out=[5]
    )
    state = after_throw(1, "10", "1", "1", on=start)
    announced = {choice.announce for choice in GAME.legal(state) if isinstance(choice, Roll)}
    assert {None, *TILES} - {1, 3, 4, 5} == announced
    for tile in (1, 3, 4, 5):
        assert Reason.ANNOUNCEMENT_NOT_ALLOWED == refusal(state, Roll((0,), tile)).reason
    assert 2 == after(state, Roll((0,), 2)).announced


@both_editions
def test_an_announced_open_tile_of_another_seat_gives_an_extra_turn(edition: str) -> None:
    """It is won like one of the middle."""
    state = announcing(edition, 25, "20", "5", "star", open_tiles={TOM: [25]})
    state = after(state, Take(25, safe=False))
    assert (WILLI, {25}, set()) == (state.seat, open_of(state, WILLI), open_of(state, TOM))


@both_editions
def test_ruling_an_announcement_holds_for_the_throw_it_was_made_for(edition: str) -> None:
    """The 25 was announced before the second throw; hit with the third one, it gives nothing unless announced anew."""
    state = announcing(edition, 25, "20", "1", "star")
    silent, anew = (after(state, Roll((1,), tile), Rolled(("20", "5", "star"))) for tile in (None, 25))
    assert ANNA == after(silent, Take(25, safe=False)).seat
    assert WILLI == after(anew, Take(25, safe=False)).seat


@both_editions
def test_ruling_an_extra_turn_may_earn_another(edition: str) -> None:
    """There is no end to a lucky series but the last tile."""
    state = after(announcing(edition, 25, "20", "5", "star"), Take(25, safe=False), Rolled(("10", "1", "1")))
    state = after(state, Roll((0, 1, 2), 33), Rolled(("30", "3", "star")), Take(33, safe=False))
    assert (WILLI, 0) == (state.seat, state.throws)


@both_editions
def test_ruling_no_extra_turn_is_played_when_the_middle_is_empty(edition: str) -> None:
    """The match ends with the last tile, announced or not."""
    state = after(announcing(edition, 25, "20", "5", "star", middle=[25]), Take(25, safe=False))
    assert OVER == GAME.awaited(state)


def test_without_the_option_nothing_can_be_announced() -> None:
    """The variant is off by default, and then no choice names a tile."""
    state = after_throw(1, "10", "1", "1", on=position())
    assert {None} == {choice.announce for choice in GAME.legal(state) if isinstance(choice, Roll)}
    assert "without announcements" in refusal(state, Roll((0,), 25)).why


# The end


@both_editions
def test_the_match_ends_at_once_when_the_last_tile_leaves_the_middle(edition: str) -> None:
    """Nothing is awaited any more, and nobody's turn it is."""
    start = position(edition=edition, middle=[25], open_tiles={WILLI: [1], ANNA: [40]})
    state = after(after_throw(1, "20", "5", "star", on=start), Take(25, safe=False))
    assert (OVER, (2, 1, 3)) == (GAME.awaited(state), GAME.places(state))
    shown = GAME.view(state, Watcher.PUBLIC)
    assert isinstance(shown, View)
    assert (None, ()) == (shown.seat, shown.middle)


def test_the_match_goes_on_when_a_tile_of_another_seat_is_taken() -> None:
    """Only the middle counts for the end."""
    start = position(middle=[2], open_tiles={ANNA: [25]})
    assert ANNA == after(after_throw(1, "20", "5", "star", on=start), Take(25, safe=False)).seat


def test_most_teeth_win_open_and_safe_alike() -> None:
    """All teeth count the same ("Spielende")."""
    state = position(middle=[], open_tiles={WILLI: [40], ANNA: [20]}, safe_tiles={ANNA: [19], TOM: [36]})
    assert (2, 1, 3) == GAME.places(state)


def test_equal_teeth_go_by_the_highest_tile() -> None:
    """Four teeth each: 18 in one tile, 8 and 9 in two, 1 to 4 in four."""
    state = position(middle=[], open_tiles={WILLI: [8, 9], ANNA: [18], TOM: [1, 2, 3, 4]})
    assert (2, 1, 3) == GAME.places(state)


def test_seats_without_a_tile_share_a_place() -> None:
    """There is no tile to tell them apart by."""
    assert (2, 2, 1, 2) == GAME.places(position(seats=4, open_tiles={TOM: [1]}))
    assert (1, 1, 1) == GAME.places(GAME.start({}, 3))


# Caretaker


def test_the_caretaker_takes_what_is_offered_and_lays_it_safe_where_it_may() -> None:
    """Safe needs three open tiles."""
    assert Take(25, safe=False) == GAME.caretaker(after_throw(1, "20", "5", "star", on=position()))
    start = position(open_tiles={WILLI: [1, 2, 3]})
    assert Take(25, safe=True) == GAME.caretaker(after_throw(1, "20", "5", "star", on=start))
    assert Take(40, safe=True) == GAME.caretaker(after_throw(1, "star", "star", "star", on=start))


def test_the_caretaker_passes_where_nothing_is_offered() -> None:
    """It never throws again."""
    assert Pass() == GAME.caretaker(after_throw(1, "20", "5", "star", on=position(out=[25])))


def test_the_caretaker_gives_up_the_set_worth_least_and_of_these_the_first() -> None:
    """1 and 8 have three teeth like 1 and 9 and the 12, and come first in sorted order."""
    start = position(open_tiles={WILLI: [40, 9, 12]}, safe_tiles={WILLI: [8, 1]}, out=[25])
    assert Surrender((1, 8)) == GAME.caretaker(after_throw(3, "20", "5", "star", on=start))


# Refusals


def deciding(**wanted: object) -> State:
    """Willi has thrown 12 with his first throw; the 1, the 2 and the 20 are his."""
    wanted.setdefault("open_tiles", {WILLI: [1, 2, 20]})
    return after_throw(1, "10", "1", "1", on=position(**wanted))  # type: ignore[arg-type]  # as the helper takes them


def missed() -> State:
    """Willi has to give up teeth and owns 1, 2, 8 and 20."""
    return after_throw(3, "20", "5", "star", on=position(open_tiles={WILLI: [1, 2, 8, 20]}, out=[25]))


def finished() -> State:
    """The middle is empty."""
    state = position(middle=[])
    state.stage = FINISHED
    return state


def keeping_the_yellow_die() -> State:
    """The blue dice are thrown again, the yellow one lies with 10 up."""
    return after(deciding(), Roll((1, 2)))


REFUSALS: list[tuple[str, State, object, type[Refused], Reason]] = [
    ("a string", deciding(), "roll", Invalid, Reason.MOVE_OF_ANOTHER_GAME),
    ("a throw instead of a choice", deciding(), Rolled(("10", "1", "1")), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a choice before the throw", position(), Pass(), Illegal, Reason.CHANCE_AWAITED),
    ("a choice before the start", GAME.start({}, 3), Roll((0,)), Illegal, Reason.CHANCE_AWAITED),
    ("a throw before the start", GAME.start({}, 3), Rolled(("10", "1", "1")), Illegal, Reason.CHANCE_AWAITED),
    ("a second start", position(), FirstSeat(1), Illegal, Reason.CHANCE_AWAITED),
    ("a surrender without a miss", deciding(), Surrender((20,)), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a pass after a miss", missed(), Pass(), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a throw after a miss", missed(), Roll((0,)), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a tile after a miss", missed(), Take(25, safe=False), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a choice after the end", finished(), Pass(), Illegal, Reason.MATCH_OVER),
    ("a throw after the end", finished(), Rolled(("10", "1", "1")), Illegal, Reason.MATCH_OVER),
    ("a seat too many", GAME.start({}, 3), FirstSeat(3), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("a negative seat", GAME.start({}, 3), FirstSeat(-1), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("a huge seat", GAME.start({}, 3), FirstSeat(HUGE), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("two dice", position(), Rolled(("10", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("no dice", position(), Rolled(()), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("an unknown face", position(), Rolled(("40", "1", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("a blue tooth", position(), Rolled(("10", "rotten", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("faces as numbers", position(), Rolled((10, 1, HUGE)), Illegal, Reason.OUTCOME_IMPOSSIBLE),  # type: ignore[arg-type]  # whatever a stranger sends
    ("a kept die", keeping_the_yellow_die(), Rolled(("20", "1", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("a kept die, rotten", keeping_the_yellow_die(), Rolled(("rotten", "1", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("roll no die", deciding(), Roll(()), Invalid, Reason.NOTHING_NAMED),
    ("roll four dice", deciding(), Roll((0, 1, 2, 2)), Invalid, Reason.TOO_MANY_NAMED),
    ("roll many dice", deciding(), Roll((0,) * 100_000), Invalid, Reason.TOO_MANY_NAMED),
    ("roll die 3", deciding(), Roll((0, 3)), Invalid, Reason.DIE_UNKNOWN),
    ("roll die -1", deciding(), Roll((-1,)), Invalid, Reason.DIE_UNKNOWN),
    ("roll a huge die", deciding(), Roll((HUGE,)), Invalid, Reason.DIE_UNKNOWN),
    ("roll a die twice", deciding(), Roll((1, 1)), Invalid, Reason.NAMED_TWICE),
    ("announce tile 0", deciding(announce=True), Roll((0,), 0), Invalid, Reason.TILE_UNKNOWN),
    ("announce tile 41", deciding(announce=True), Roll((0,), 41), Invalid, Reason.TILE_UNKNOWN),
    ("announce tile -1", deciding(announce=True), Roll((0,), -1), Invalid, Reason.TILE_UNKNOWN),
    ("announce a huge tile", deciding(announce=True), Roll((0,), HUGE), Invalid, Reason.TILE_UNKNOWN),
    ("announce one's own", deciding(announce=True), Roll((0,), 1), Illegal, Reason.ANNOUNCEMENT_NOT_ALLOWED),
    ("announce without the option", deciding(), Roll((0,), 30), Illegal, Reason.ANNOUNCEMENT_NOT_ALLOWED),
    (
        "a fourth throw",
        after_throw(3, "10", "1", "1", on=position()),
        Roll((0,)),
        Illegal,
        Reason.NO_THROWS_LEFT,
    ),
    (
        "a throw after three stars",
        after_throw(1, "star", "star", "star", on=position()),
        Roll((0,)),
        Illegal,
        Reason.OTHER_CHOICE_AWAITED,
    ),
    ("take another tile", deciding(), Take(13, safe=False), Illegal, Reason.TILE_NOT_OFFERED),
    ("take tile 0", deciding(), Take(0, safe=False), Invalid, Reason.TILE_UNKNOWN),
    ("take tile -12", deciding(), Take(-12, safe=False), Invalid, Reason.TILE_UNKNOWN),
    ("take a huge tile", deciding(), Take(HUGE, safe=False), Invalid, Reason.TILE_UNKNOWN),
    ("take no tile", deciding(out=[12]), Take(None, safe=False), Invalid, Reason.TILE_UNKNOWN),  # type: ignore[arg-type]  # whatever a stranger sends
    ("take a missed tile", deciding(out=[12]), Take(12, safe=False), Illegal, Reason.TAKE_NOT_OFFERED),
    ("lay safe too early", deciding(open_tiles={}), Take(12, safe=True), Illegal, Reason.SAFE_NOT_ALLOWED),
    (
        "pass on a star throw",
        after_throw(2, "star", "star", "1", on=position()),
        Pass(),
        Illegal,
        Reason.PASS_NOT_ALLOWED,
    ),
    ("surrender nothing", missed(), Surrender(()), Invalid, Reason.NOTHING_NAMED),
    ("surrender four tiles", missed(), Surrender((1, 2, 8, 20)), Invalid, Reason.TOO_MANY_NAMED),
    ("surrender many tiles", missed(), Surrender((1,) * 100_000), Invalid, Reason.TOO_MANY_NAMED),
    ("surrender tile 41", missed(), Surrender((8, 41)), Invalid, Reason.TILE_UNKNOWN),
    ("surrender tile -8", missed(), Surrender((-8,)), Invalid, Reason.TILE_UNKNOWN),
    ("surrender a huge tile", missed(), Surrender((HUGE,)), Invalid, Reason.TILE_UNKNOWN),
    ("surrender a tile twice", missed(), Surrender((8, 8)), Invalid, Reason.NAMED_TWICE),
    ("surrender another's", missed(), Surrender((40,)), Illegal, Reason.TILE_NOT_OWNED),
    ("surrender too little", missed(), Surrender((1, 2)), Illegal, Reason.TOO_FEW_TEETH),
    ("surrender too much", missed(), Surrender((8, 20)), Illegal, Reason.TILE_NOT_NEEDED),
]


@pytest.mark.parametrize(
    ("state", "move", "kind", "reason"), [case[1:] for case in REFUSALS], ids=[case[0] for case in REFUSALS]
)
def test_what_is_not_allowed_is_refused_for_its_reason_and_changes_nothing(
    state: State, move: object, kind: type[Refused], reason: Reason
) -> None:
    """Invalid is what no state would take, illegal what this one does not; both can be printed and stay short."""
    refused = refusal(state, move)
    assert (kind, reason) == (type(refused), refused.reason)
    assert 300 > len(str(refused))


def test_a_refusal_of_another_tile_names_the_tile_on_offer() -> None:
    """A client can show what would be right."""
    refused = refusal(deciding(), Take(13, safe=False))
    assert {"tile": 13, "offered": 12, "dice": ("10", "1", "1")} == refused.facts
    assert "legal now: take 12" == refused.learn


@pytest.mark.parametrize("seats", [2, 7, True, pytest.param(HUGE, id="huge")])
def test_only_3_to_6_seats_can_play(seats: int) -> None:
    """Both boxes say so."""
    with pytest.raises(Invalid) as refused:
        GAME.start({}, seats)
    assert Reason.SEATS_OUT_OF_RANGE == refused.value.reason


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"edition": "first"}, Reason.OPTION_VALUE_UNKNOWN),
        ({"announce": 1}, Reason.OPTION_VALUE_UNKNOWN),
        ({"ansage": True}, Reason.OPTION_UNKNOWN),
    ],
)
def test_options_are_refused_that_there_are_not(options: dict[str, bool | int | str], reason: Reason) -> None:
    """A misspelt option must not be a silent default."""
    with pytest.raises(Invalid) as refused:
        GAME.start(options, 3)
    assert reason == refused.value.reason


def test_the_defaults_are_the_revised_edition_without_announcements() -> None:
    """The reprint is what is sold today; the variant has to be asked for."""
    assert {"edition": "revised", "announce": False} == GAME.settle({}, 3)


# Contract


def test_the_components_are_the_material_of_the_header() -> None:
    """Names and order are what a log carries."""
    assert {
        "yellow": ["10", "20", "30", "star", "star", "rotten"],
        "blue": ["1", "2", "3", "4", "5", "star"],
        "teeth": [1] * 5 + [2] * 6 + [3] * 6 + [4] * 6 + [5] * 6 + [6] * 6 + [7] * 5,
    } == GAME.components


def test_the_view_shows_everything_to_everybody() -> None:
    """Nothing is hidden, and no tile is in two places or in none."""
    start = position(
        announce=True,
        open_tiles={WILLI: [3], TOM: [40]},
        safe_tiles={TOM: [38]},
        out=[7],
        throws=1,
        rerolled=(1, 2),
        announced=15,
    )
    shown = GAME.view(after(start, Rolled(("10", "5", "star"))), Watcher.PUBLIC)
    assert isinstance(shown, View)
    assert (WILLI, ("10", "5", "star"), 2, 15, (7,)) == (
        shown.seat,
        shown.dice,
        shown.throws,
        shown.announced,
        shown.out,
    )
    assert [((3,), (), 1), ((), (), 0), ((40,), (38,), 14)] == [
        (row.open_tiles, row.safe_tiles, row.teeth) for row in shown.rows
    ]
    assert (tuple(tile for tile in TILES if tile not in {3, 7, 38, 40}), (2, 3, 1)) == (shown.middle, shown.places)
    assert shown == GAME.view(after(start, Rolled(("10", "5", "star"))), TOM)


def test_before_the_start_it_is_nobodys_turn() -> None:
    """The starting seat is not known yet."""
    shown = GAME.view(GAME.start({}, 3), Watcher.JUDGE)
    assert isinstance(shown, View)
    assert (None, tuple(TILES)) == (shown.seat, shown.middle)


def test_other_teeth_can_be_played_with() -> None:
    """Teeth are data of the ruleset: with one tooth on every tile all surrenders are threes, and places follow it."""
    state = position(open_tiles={WILLI: [20, 40], ANNA: [1, 2, 3]}, safe_tiles={WILLI: [30, 31]}, out=[25])
    state.ruleset = replace(state.ruleset, teeth=dict.fromkeys(TILES, 1))
    assert (1, 2, 3) == GAME.places(state)
    state = after_throw(3, "20", "5", "star", on=state)
    assert [(20, 30, 31), (20, 30, 40), (20, 31, 40), (30, 31, 40)] == surrenders(state)
    assert Surrender((20, 30, 31)) == GAME.caretaker(state)
    assert Reason.TOO_FEW_TEETH == refusal(state, Surrender((40,))).reason
    assert {40} == owned_by(after(state, Surrender((20, 30, 31))), WILLI)


def test_a_surrender_among_forty_tiles_of_one_tooth_is_still_listed() -> None:
    """The worst case has a set for every three of forty tiles."""
    state = position(middle=[], safe_tiles={WILLI: range(1, 40)}, out=[40])
    state.ruleset = replace(state.ruleset, teeth=dict.fromkeys(TILES, 1))
    state = after_throw(3, "30", "5", "5", on=state)
    assert 39 * 38 * 37 // 6 == len(surrenders(state))


# A second opinion


def as_naive(state: State) -> naive.Position:
    """The same position as the naive reference writes it, by way of the view."""
    shown = GAME.view(state, Watcher.JUDGE)
    assert isinstance(shown, View)
    where: naive.Where = dict.fromkeys(TILES, ("out", None))
    where |= dict.fromkeys(shown.middle, ("middle", None))
    for seat, row in enumerate(shown.rows):
        where |= dict.fromkeys(row.open_tiles, ("open", seat))
        where |= dict.fromkeys(row.safe_tiles, ("safe", seat))
    awaited = GAME.awaited(state)
    if isinstance(awaited, ToChoose):
        waits_for = "surrender" if isinstance(GAME.legal(state)[0], Surrender) else "choice"  # type: ignore[index]  # listed
    else:
        waits_for = "end" if isinstance(awaited, Over) else "throw"
    return naive.Position(
        edition="original" if "original" in state.ruleset.result.__name__ else "revised",
        announce="tiles_to_win" == state.ruleset.to_announce.__name__,
        seats=len(shown.rows),
        teeth=dict(state.ruleset.teeth),
        where=where,
        seat=state.seat,
        throws=shown.throws,
        dice=shown.dice,
        announced=shown.announced,
        waits_for=waits_for,
    )


def as_named(choice: object) -> naive.Named:
    """A choice as the naive reference writes it."""
    if isinstance(choice, Take):
        return ("take", choice.tile, choice.safe)
    if isinstance(choice, Roll):
        return ("roll", choice.dice, choice.announce)
    return ("surrender", choice.tiles) if isinstance(choice, Surrender) else ("pass",)


def comparable(one: naive.Position) -> naive.Position:
    """Without what the end of a match leaves lying about."""
    return replace(one, seat=0, throws=0, dice=(), announced=None) if one.waits_for == "end" else one


def random_position(rng: random.Random) -> State:
    """Any seat about to make any throw, with few tiles of its own so that their subsets can be counted."""
    seats = rng.randint(3, 6)
    seat = rng.randrange(seats)
    tiles = rng.sample(TILES, len(TILES))
    mine, others, rest = tiles[:9], tiles[9:27], tiles[27:]
    mine = rng.sample(mine, rng.randint(0, 9))
    opened = rng.randint(0, len(mine))
    open_tiles: dict[int, list[int]] = {owner: [] for owner in range(seats)}
    safe_tiles: dict[int, list[int]] = {owner: [] for owner in range(seats)}
    open_tiles[seat], safe_tiles[seat] = mine[:opened], mine[opened:]
    for tile in others:
        owner = rng.choice([other for other in range(seats) if other != seat])
        rng.choice([open_tiles, safe_tiles])[owner].append(tile)
    throws = rng.randrange(3)
    announce = rng.random() < 0.5
    return position(
        seats=seats,
        edition=rng.choice(["original", "revised"]),
        announce=announce,
        seat=seat,
        middle=rng.sample(rest, rng.randint(1, len(rest))),
        open_tiles=open_tiles,
        safe_tiles=safe_tiles,
        throws=throws,
        announced=rng.choice(rest) if announce and throws else None,
    )


def random_outcome(state: State, rng: random.Random) -> Outcome:
    """What chance might do."""
    awaited = GAME.awaited(state)
    if isinstance(awaited, Throw):
        return GAME.outcome(state, tuple(rng.choice(faces) for faces in awaited.dice))
    assert isinstance(awaited, Draw)
    return GAME.outcome(state, (rng.choice(awaited.items),))


def agree(state: State, note: str) -> None:
    """Both opinions on the choices, each listed once and each taken by `play`; and on the places."""
    expected = as_naive(state)
    choices = [as_named(choice) for choice in GAME.legal(state)]
    assert len(set(choices)) == len(choices), note
    assert naive.choices(expected) == set(choices), note
    assert naive.placed(expected) == GAME.places(state), note
    for choice in GAME.legal(state):
        following = naive.chosen(expected, as_named(choice))
        if isinstance(choice, Roll):
            following = replace(following, announced=choice.announce)
        assert comparable(following) == comparable(as_naive(GAME.apply(state, choice))), note
    assert expected == as_naive(state), note
    if choices:
        assert as_named(GAME.caretaker(state)) in choices, note


@pytest.mark.parametrize("seed", range(40))
def test_random_positions_are_judged_as_by_the_naive_reference(seed: int) -> None:
    """A throw means, offers and causes the same, and so does every choice after it."""
    rng = random.Random(seed)
    for number in range(12):
        note = f"seed {seed}, position {number}"
        before = random_position(rng)
        rolled = random_outcome(before, rng)
        assert isinstance(rolled, Rolled)
        expected = naive.thrown(as_naive(before), rolled.dice)
        state = GAME.apply(before, rolled)
        assert expected == as_naive(state), note
        agree(state, note)


def playthrough(rng: random.Random) -> Iterator[tuple[State, Choice | Outcome, State]]:
    """A random match, move by move, each with the state before and after it."""
    state = GAME.start(
        {"edition": rng.choice(["original", "revised"]), "announce": rng.random() < 0.5}, rng.randint(3, 6)
    )
    while not isinstance(GAME.awaited(state), Over):
        choices = GAME.legal(state)
        takes = [choice for choice in choices if isinstance(choice, Take)]
        move: Choice | Outcome
        if takes and rng.random() < 0.5:
            move = rng.choice(takes)
        else:
            move = choices.sample(rng.randrange) if choices else random_outcome(state, rng)
        following = GAME.apply(state, move)
        yield state, move, following
        state = following


@pytest.mark.parametrize("seed", range(12))
def test_random_matches_are_played_as_by_the_naive_reference(seed: int) -> None:
    """From the empty table to the last tile of the middle, whatever the states are that a match really comes to."""
    for before, move, following in playthrough(random.Random(seed)):
        note = f"seed {seed}, {move}"
        expected = as_naive(before)
        if isinstance(move, Rolled):
            assert naive.thrown(expected, move.dice) == as_naive(following), note
        elif not isinstance(move, FirstSeat):
            if len(owned_by(before, before.seat)) <= TILES_WITH_COUNTABLE_SUBSETS:
                assert as_named(move) in naive.choices(expected), note
            assert comparable(naive.chosen(expected, as_named(move))) == comparable(as_naive(following)), note


@pytest.mark.parametrize("seed", range(6))
def test_apply_leaves_its_argument_unchanged_and_folding_comes_to_the_same(seed: int) -> None:
    """`play` may change what it is given, so `apply` and `fold` must work on a copy with nothing shared."""
    moves = []
    first = last = None
    for before, move, following in playthrough(random.Random(seed)):
        kept = GAME.copy(before)
        assert following == GAME.apply(before, move), f"seed {seed}, {move}"
        assert kept == before, f"seed {seed}, {move}"
        first = first or kept
        last = following
        moves.append(move)
    assert first is not None
    assert last == GAME.fold(first, moves), f"seed {seed}"


@pytest.mark.parametrize("seed", range(20))
def test_choices_that_are_not_legal_are_refused(seed: int) -> None:
    """`play` checks a choice without listing the legal ones, so both must draw the same line."""
    rng = random.Random(seed)
    guesses: list[Choice] = [
        *(Take(tile, safe) for tile in range(42) for safe in (False, True)),
        *(Roll(dice, tile) for dice in [(0,), (1, 2), (0, 1, 2)] for tile in [None, *range(42)]),
        Pass(),
        *(Surrender((tile,)) for tile in TILES),
        *(Surrender((low, high)) for high in TILES for low in range(1, high)),
    ]
    for number in range(5):
        state = random_position(rng)
        state = GAME.apply(state, random_outcome(state, rng))
        legal = set(GAME.legal(state))
        taken = set()
        for guess in guesses:
            try:
                GAME.apply(state, guess)
            except Refused:
                continue
            taken.add(guess)
        assert legal & set(guesses) == taken, f"seed {seed}, position {number}"
