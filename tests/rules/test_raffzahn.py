"""Raffzahn: the rulebooks' examples in both editions, the table of throws, and the rulings."""

from __future__ import annotations

import pytest

from rollbook.rules.chance import Throw
from rollbook.rules.game import ToChoose
from rollbook.rules.raffzahn import GAME
from rollbook.rules.raffzahn.moves import TEETH, TILES, Pass, Roll, Rolled, Surrender, Take
from rollbook.rules.raffzahn.state import State
from rollbook.rules.refusals import Reason
from tests.rules.positions_raffzahn import (
    after_throw,
    middle_of,
    open_of,
    out_of,
    owned_by,
    position,
    safe_of,
)
from tests.rules.questions_raffzahn import (
    ANNA,
    TOM,
    WILLI,
    after,
    both_editions,
    kinds,
    refusal,
    surrenders,
    tiles_to_take,
)

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
    """With three open tiles he may; Anna keeps two and has to take her next tile open."""
    start = position(edition=edition, open_tiles={WILLI: [8, 15, 20], ANNA: [3, 26, 39]})
    state = after(after_throw(2, "30", "5", "4", on=start), Take(39, safe=True))
    assert ({39}, {3, 26}) == (safe_of(state, WILLI), open_of(state, ANNA))
    assert Reason.SAFE_NOT_ALLOWED == refusal(after_throw(1, "10", "1", "1", on=state), Take(12, safe=True)).reason


@both_editions
def test_example_2_willis_safe_32_is_turned_open_at_once(edition: str) -> None:
    """An own hit is automatic and ends the turn on any throw; so more than three tiles can lie open."""
    start = position(edition=edition, open_tiles={WILLI: [8, 15, 20]}, safe_tiles={WILLI: [32]})
    for number in (1, 2, 3):
        state = after_throw(number, "30", "2", "star", on=start)
        assert ({8, 15, 20, 32}, set(), ANNA) == (open_of(state, WILLI), safe_of(state, WILLI), state.seat)
        assert GAME.awaited(start) == GAME.awaited(state)


def test_example_2_original_20_and_two_stars_is_an_own_hit_that_costs_the_open_20() -> None:
    """Original: an own hit outranks a star throw, and an open tile leaves the game."""
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
    """Original: a hit outranks the star throw, which is not offered then; another throw is."""
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
    """Revised: three stars allow only the 37 of the middle, open or safe."""
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
    """With any other dice, also two stars, and also on the third throw, where it is no miss (ruling)."""
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
    """Original: a hit ranks first also outside the middle."""
    state = after_throw(1, "20", "star", "star", on=position(edition="original", open_tiles={TOM: [20]}))
    assert {20} == tiles_to_take(state)


def test_one_star_counts_0_in_the_sum() -> None:
    """Revised, "Würfelergebnis": 30, star and 3 hit the 33."""
    assert {33} == tiles_to_take(after_throw(1, "30", "star", "3", on=position()))


@both_editions
def test_a_safe_tile_of_another_seat_cannot_be_taken(edition: str) -> None:
    """Face-down tiles cannot be taken."""
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
    """The seat throws again or passes without a penalty."""
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
    """Taking is optional, and leaving a hit is no miss, also on the third throw."""
    state = after_throw(number, "20", "5", "star", on=position(edition=edition, open_tiles={WILLI: [20]}))
    assert {"take", "pass"} <= kinds(state)
    assert ({20}, ANNA) == (owned_by(after(state, Pass()), WILLI), after(state, Pass()).seat)


@pytest.mark.parametrize(("number", "faces"), [(1, "10"), (3, "10"), (1, "star"), (3, "star")])
def test_ruling_nobody_passes_on_a_star_throw_of_the_revised_edition(number: int, faces: str) -> None:
    """The seat takes the tile or throws again."""
    state = after_throw(number, faces, "star", "star", on=position())
    assert Reason.PASS_NOT_ALLOWED == refusal(state, Pass()).reason


def test_ruling_three_stars_on_the_third_throw_are_never_a_miss() -> None:
    """Original: passing costs nothing, although no tile has the number 0."""
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
    """With exactly three teeth in two tiles the seat still makes the choice."""
    state = after_throw(3, "20", "5", "star", on=position(open_tiles={WILLI: [1, 8]}, out=[25]))
    assert (ToChoose(WILLI), [(1, 8)]) == (GAME.awaited(state), surrenders(state))
