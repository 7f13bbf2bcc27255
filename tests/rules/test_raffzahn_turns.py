"""Raffzahn: turns, announcements, the end, and the caretaker."""

from __future__ import annotations

import pytest

from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import OVER, Watcher
from rollbook.rules.raffzahn import GAME
from rollbook.rules.raffzahn.moves import TILES, Pass, Roll, Rolled, Surrender, Take
from rollbook.rules.raffzahn.state import State
from rollbook.rules.raffzahn.view import View
from rollbook.rules.refusals import Reason
from tests.rules.positions_raffzahn import (
    after_throw,
    open_of,
    position,
)
from tests.rules.questions_raffzahn import (
    ANNA,
    TOM,
    WILLI,
    after,
    both_editions,
    kinds,
    refusal,
)

# The turn


def test_the_match_begins_with_the_starting_seat_and_a_forced_throw_of_all_dice() -> None:
    """Chance draws the seat, and the first throw is automatic."""
    state = GAME.start({}, 5)
    assert Draw("first_seat", (0, 1, 2, 3, 4)) == GAME.awaited(state)
    state = after(state, GAME.outcome(state, (3,)))
    yellow, blue = ("10", "20", "30", "star", "star", "rotten"), ("1", "2", "3", "4", "5", "star")
    assert (3, Throw("roll", (yellow, blue, blue))) == (state.seat, GAME.awaited(state))
    assert () == tuple(GAME.legal(state))


def test_the_turn_goes_round_to_seat_0() -> None:
    """Seat 0 follows the last seat."""
    assert 0 == after(position(seat=2), Rolled(("rotten", "1", "1"))).seat


def test_only_the_dice_thrown_again_are_thrown_and_those_kept_lie_among_them() -> None:
    """Chance throws only the named dice, yellow first; the outcome has all three."""
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
    """The order of dice and tiles has no meaning, so the states are equal."""
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
    """The same seat throws all dice and has three throws again."""
    state = after(announcing(edition, 25, "20", "5", "star"), Take(25, safe=False))
    assert (WILLI, 0, (), None) == (state.seat, state.throws, state.dice, state.announced)
    assert GAME.awaited(position()) == GAME.awaited(state)


@both_editions
def test_taking_another_tile_than_the_announced_one_gives_none(edition: str) -> None:
    """Another tile may be taken without an extra turn."""
    assert ANNA == after(announcing(edition, 24, "20", "5", "star"), Take(25, safe=False)).seat


@both_editions
def test_a_tile_that_was_not_announced_gives_no_extra_turn(edition: str) -> None:
    """Without an announcement there is no extra turn, also with the option on."""
    assert ANNA == after(announcing(edition, None, "20", "5", "star"), Take(25, safe=False)).seat


@both_editions
def test_passing_on_the_announced_tile_gives_none(edition: str) -> None:
    """Only taking the tile counts."""
    assert ANNA == after(announcing(edition, 25, "20", "5", "star"), Pass()).seat


@pytest.mark.parametrize(("tile", "faces"), [(1, ("30", "star", "star")), (40, ("star", "star", "star"))])
def test_a_star_throw_fulfils_an_announcement_in_the_original_only(tile: int, faces: tuple[str, ...]) -> None:
    """Original: with any winning throw. Revised: with a number hit, not by stars."""
    original = after(announcing("original", tile, *faces, out=[30]), Take(tile, safe=False))
    revised = after(announcing("revised", tile, *faces, out=[30]), Take(tile, safe=False))
    assert (WILLI, ANNA) == (original.seat, revised.seat)


@both_editions
def test_ruling_only_a_tile_that_can_be_won_may_be_announced(edition: str) -> None:
    """A tile in the middle or open in front of another seat; not one's own, not safe, not out of the game."""
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
    """The tile is won like one of the middle."""
    state = announcing(edition, 25, "20", "5", "star", open_tiles={TOM: [25]})
    state = after(state, Take(25, safe=False))
    assert (WILLI, {25}, set()) == (state.seat, open_of(state, WILLI), open_of(state, TOM))


@both_editions
def test_ruling_an_announcement_holds_for_the_throw_it_was_made_for(edition: str) -> None:
    """The 25 was announced for the second throw; the third throw needs a new announcement."""
    state = announcing(edition, 25, "20", "1", "star")
    silent, anew = (after(state, Roll((1,), tile), Rolled(("20", "5", "star"))) for tile in (None, 25))
    assert ANNA == after(silent, Take(25, safe=False)).seat
    assert WILLI == after(anew, Take(25, safe=False)).seat


@both_editions
def test_ruling_an_extra_turn_may_earn_another(edition: str) -> None:
    """A series of extra turns ends only with the last tile."""
    state = after(announcing(edition, 25, "20", "5", "star"), Take(25, safe=False), Rolled(("10", "1", "1")))
    state = after(state, Roll((0, 1, 2), 33), Rolled(("30", "3", "star")), Take(33, safe=False))
    assert (WILLI, 0) == (state.seat, state.throws)


@both_editions
def test_ruling_no_extra_turn_is_played_when_the_middle_is_empty(edition: str) -> None:
    """The match ends with the last tile, announced or not."""
    state = after(announcing(edition, 25, "20", "5", "star", middle=[25]), Take(25, safe=False))
    assert OVER == GAME.awaited(state)


def test_without_the_option_nothing_can_be_announced() -> None:
    """The variant is off by default, and then choices cannot name a tile."""
    state = after_throw(1, "10", "1", "1", on=position())
    assert {None} == {choice.announce for choice in GAME.legal(state) if isinstance(choice, Roll)}
    assert "without announcements" in refusal(state, Roll((0,), 25)).why


# The end


@both_editions
def test_the_match_ends_at_once_when_the_last_tile_leaves_the_middle(edition: str) -> None:
    """No move is awaited, and no seat is on turn."""
    start = position(edition=edition, middle=[25], open_tiles={WILLI: [1], ANNA: [40]})
    state = after(after_throw(1, "20", "5", "star", on=start), Take(25, safe=False))
    assert (OVER, (2, 1, 3)) == (GAME.awaited(state), GAME.places(state))
    shown = GAME.view(state, Watcher.PUBLIC)
    assert isinstance(shown, View)
    assert (None, ()) == (shown.seat, shown.middle)


def test_the_match_goes_on_when_a_tile_of_another_seat_is_taken() -> None:
    """Only the last tile of the middle ends the match."""
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
    """Without tiles there is no tie-break."""
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
