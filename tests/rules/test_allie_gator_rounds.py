"""Allie Gator: the end of a round, places, and the caretaker."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from rollbook.rules.allie_gator import GAME
from rollbook.rules.allie_gator.moves import Choice, Drawn, Snap
from rollbook.rules.chance import Draw, FirstSeat
from rollbook.rules.game import OVER
from rollbook.rules.refusals import Invalid, Reason
from tests.rules import naive_allie_gator as naive
from tests.rules.positions_allie_gator import (
    after,
    number,
    random_position,
    snap,
    target,
)
from tests.rules.questions_allie_gator import PLAIN, judged, last_snap, table

# The end of a round


@pytest.mark.parametrize(
    ("penalties", "teeth"),
    [
        pytest.param([(), (1, 2), (1, 2, 3)], [2, 1, 0], id="first and second"),
        pytest.param([(71,), (1, 2), (1, 2, 3)], [1, 2, 0], id="fewer special cards are better"),
        pytest.param([(1,), (2, 3), (1, 2, 3)], [2, 2, 1], id="a shared first place"),
        pytest.param([(), (1, 2), (3, 4)], [2, 1, 1], id="a shared second place"),
        pytest.param([(1,), (2, 3), (4, 5)], [2, 2, 2], id="all alike"),
        pytest.param([(1, 2, 3), (71, 72), (71, 4), (5, 6), (7,) * 3], [0, 0, 1, 2, 0], id="special cards break ties"),
        pytest.param([(1,), (2, 3), (4, 5, 6), (7, 8, 9), (71, 7, 8)], [2, 2, 1, 1, 0], id="both places shared"),
        pytest.param([(), (1, 2)], [2, 0], id="two seats: only the best"),
        pytest.param([(1,), (2, 3)], [2, 2], id="two seats: shared"),
    ],
)
def test_ruling_the_fewest_penalty_cards_get_two_teeth_and_the_next_group_one(
    penalties: list[tuple[int, ...]], teeth: list[int]
) -> None:
    """Ties are broken by special cards; seats that are still equal share the place, and each gets all its teeth."""
    assert teeth == last_snap(penalties).teeth


@pytest.mark.parametrize(
    ("before", "to_end", "expected"),
    [(0, 3, 2), (1, 3, 3), (2, 3, 4), (2, 6, 4), (3, 4, 5), (3, 6, 5), (4, 5, 6), (4, 6, 6), (5, 6, 6)],
)
def test_golden_teeth_teeth_add_up_to_at_most_six(before: int, to_end: int, expected: int) -> None:
    """Two teeth with room for one are a golden one, which counts double: three golden teeth are the most."""
    assert expected == last_snap([(), (1, 2)], teeth=(before, 0), teeth_to_end=to_end).teeth[0]


@pytest.mark.parametrize("to_end", [3, 4, 5, 6])
def test_every_option_value_ends_the_match_after_the_round_in_which_a_seat_reaches_it(to_end: int) -> None:
    """With one tooth fewer another round is played."""
    short = last_snap([(), (1, 2)], teeth=(to_end - 3, 0), teeth_to_end=to_end)
    assert Draw("target", tuple(range(1, 71))) == GAME.awaited(short)
    reached = last_snap([(), (1, 2)], teeth=(to_end - 2, 0), teeth_to_end=to_end)
    assert OVER == GAME.awaited(reached)
    assert not GAME.legal(reached)
    assert [] == list(GAME.legal(reached))


@pytest.mark.parametrize("wrong", [2, 7, True, "3", None])
def test_other_option_values_are_refused(wrong: Any) -> None:
    """At least three teeth, at most six."""
    with pytest.raises(Invalid) as caught:
        GAME.start({"teeth_to_end": wrong}, 3)
    assert Reason.OPTION_VALUE_UNKNOWN == caught.value.reason


@pytest.mark.parametrize("seats", [0, 1, 6])
def test_two_to_five_seats_play(seats: int) -> None:
    """Other numbers of seats are refused."""
    with pytest.raises(Invalid) as caught:
        GAME.start({}, seats)
    assert Reason.SEATS_OUT_OF_RANGE == caught.value.reason


def test_a_new_round_begins_with_all_cards_in_the_stock() -> None:
    """Except for teeth, round and starting seat the state is as before the first round; no starting seat is drawn."""
    state = table(
        hands=[PLAIN, (), ()],
        stock=(),
        clockwise=False,
        penalties=[(1, 2), (3, 4), ()],
        teeth=(0, 1, 0),
        round=4,
    )
    begun = after(state, Snap())
    fresh = after(GAME.start({}, 3), FirstSeat(2))
    fresh.teeth = [0, 2, 2]
    fresh.round = 5
    assert fresh == begun


@pytest.mark.parametrize(
    ("starter", "penalties", "expected"),
    [
        pytest.param(1, [(), (1, 2), (1, 2, 3), (1, 2, 3)], 0, id="the winner alone"),
        pytest.param(2, [(1,), (2, 3), (1, 2, 3), (1, 2, 3)], 0, id="the first clockwise"),
        pytest.param(1, [(1,), (2, 3), (1, 2, 3), (1, 2, 3)], 1, id="the last starting seat itself"),
        pytest.param(3, [(1, 2, 3), (2, 3), (4, 5), (1, 2, 3)], 1, id="round the table"),
    ],
)
def test_ruling_the_first_winner_clockwise_from_the_last_starting_seat_starts(
    starter: int, penalties: list[tuple[int, ...]], expected: int
) -> None:
    """The rulebook assumes one winner; of several the nearest starts, the last starting seat included."""
    begun = after(last_snap(penalties, starter=starter, clockwise=False), target(0, 1), target(1, 2))
    dealt = GAME.outcome(begun, (3, 4, 5, 6, 7))
    assert isinstance(dealt, Drawn)
    assert expected == dealt.seat


# Places


@pytest.mark.parametrize(
    ("teeth", "penalties", "expected"),
    [
        pytest.param((2, 0, 0), [(), (1, 2), (1, 2, 3)], (1, 2, 3), id="most teeth"),
        pytest.param((2, 3, 0), [(), (1, 72), (1, 2, 3)], (1, 2, 3), id="teeth: 4, 4, 0: special cards"),
        pytest.param((2, 3, 2), [(), (1, 2), (1, 2, 3)], (1, 1, 3), id="a shared victory"),
        pytest.param((2, 0, 0, 0), [(), (1, 2, 3), (4, 71), (5, 72)], (1, 4, 2, 2), id="further places"),
        pytest.param((2, 0, 0, 0), [(), (1, 2), (71, 2, 3), (72, 73, 5, 6)], (1, 2, 3, 4), id="specials, not cards"),
        pytest.param(
            (2, 0, 0, 0), [(), (1, 2), (3, 4, 5, 6), (3, 4, 5)], (1, 2, 3, 3), id="more cards, as many specials"
        ),
    ],
)
def test_ruling_places_go_by_teeth_then_by_special_cards_of_the_last_round(
    teeth: tuple[int, ...], penalties: list[tuple[int, ...]], expected: tuple[int, ...]
) -> None:
    """All places follow the order that decides the victory; equal seats share a place."""
    ended = last_snap(penalties, teeth=teeth, teeth_to_end=4)
    assert OVER == GAME.awaited(ended)
    assert expected == GAME.places(ended)


def test_the_standing_goes_by_teeth_then_penalty_cards_then_special_cards() -> None:
    """During a round its own order counts: few penalty cards before few special ones."""
    state = table(hands=[()] * 5, teeth=(1, 1, 1, 2, 1), penalties=[(71,), (1, 2), (1,), (1, 2, 3), (2, 3)], stock=())
    assert (3, 4, 2, 1, 4) == GAME.places(state)


# Caretaker


@pytest.mark.parametrize(
    ("hand", "rest", "expected"),
    [
        pytest.param((20, 30), {"targets": ((40,), (60,))}, number(20, 1), id="most room"),
        pytest.param((20, 30), {"targets": ((60,), (40,))}, number(20, 0), id="most room on pile 0"),
        pytest.param((20, 30), {"targets": ((40,), (60,)), "laid": ((), (25,))}, number(20, 0), id="lowest card first"),
        pytest.param((20, 30, 71, 74), {"targets": ((10,), (11,))}, snap(30), id="snap before special cards"),
        pytest.param((20, 30), {"targets": ((10,), (11,)), "stock": ()}, Snap(), id="no target for an empty stock"),
        pytest.param((71, 74), {}, Snap(), id="no number card to give"),
        pytest.param((), {"stock": ()}, Snap(), id="an empty hand"),
    ],
)
def test_the_caretaker_lays_the_lowest_card_with_most_room_or_snaps(
    hand: tuple[int, ...], rest: dict[str, Any], expected: Choice
) -> None:
    """It plays for a seat that does not choose, always legally and always the same."""
    state = table(hands=[hand, (2, 3, 4, 5, 6)], **rest)
    assert expected == GAME.caretaker(state)
    assert expected in GAME.legal(state)


def test_the_caretaker_agrees_with_the_naive_reference() -> None:
    """Brute force over all number cards and piles must come to the same choice."""
    random = Random(5)
    for index in range(400):
        state = random_position(random)
        expected = naive.caretaker(judged(state))
        assert expected == GAME.caretaker(state), f"seed 5, position {index}"
