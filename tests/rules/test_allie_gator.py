"""Allie Gator: the rulebook's examples, the rulings, every special card, scoring, secrecy and refusals."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from rollbook.rules.allie_gator import COPIES, GAME, SPECIALS, Card, View
from rollbook.rules.allie_gator_table import (
    GIFT,
    RAISE,
    REVERSE,
    STEAL,
    Choice,
    Drawn,
    Gift,
    Number,
    Raise,
    Reverse,
    Snap,
    State,
    Steal,
    Stolen,
    Target,
)
from rollbook.rules.chance import Draw, FirstSeat
from rollbook.rules.game import OVER, Perspective, ToChoose, Watcher
from rollbook.rules.refusals import Illegal, Invalid, Reason, Refused
from tests.rules import naive_allie_gator as naive
from tests.rules.positions_allie_gator import (
    Position,
    after,
    all_cards,
    cards,
    drawn,
    last_state,
    number,
    raising,
    random_outcome,
    random_play,
    random_position,
    snap,
    stolen,
    target,
)

MATCHES = [(seats, seed) for seats in GAME.seats for seed in range(4)]
PLAIN = (43, 44, 45, 46, 47)
"""The hand of a seat that does nothing in a test."""


def refusal(state: State, move: Any) -> Refused:
    """The refusal of a move; the state must be what it was."""
    untouched = GAME.copy(state)
    with pytest.raises(Refused) as caught:
        GAME.play(state, move)
    assert untouched == state
    assert str(caught.value)
    return caught.value


def seen_by(state: State, perspective: Perspective) -> View:
    """The table as this pair of eyes sees it."""
    view = GAME.view(state, perspective)
    assert isinstance(view, View)
    return view


def judged(state: State) -> View:
    """The table as a judge sees it."""
    return seen_by(state, Watcher.JUDGE)


def table(*, hands: list[tuple[int, ...]], **rest: Any) -> State:
    """A position whose hands are the point."""
    return Position(hands=hands, **rest).state()


def last_snap(penalties: list[tuple[int, ...]], **rest: Any) -> State:
    """Seat 0 has just ended the round by a snap that brought it number card 70, besides these penalty cards."""
    position = Position(hands=[()] * len(penalties), stock=(), targets=((70,), (69,)), penalties=penalties, **rest)
    return after(position.state(), Snap())


# The rulebook's examples


def lay_a_number_card() -> State:
    """The rulebook's picture: 26 below 28 on the left, 49 below 65 on the right, 51 in the hand."""
    return table(
        hands=[(27, 50, 51, 64, 66), PLAIN, (7, 8, 9, 10, 11)],
        targets=((28,), (65,)),
        laid=((26,), (49,)),
    )


def test_example_lay_a_number_card() -> None:
    """Left only the 27 fits, right anything from 50 to 64; the 51 is laid on the right and one card is drawn."""
    state = lay_a_number_card()
    laying = [choice for choice in GAME.legal(state) if isinstance(choice, Number)]
    assert [number(27, 0), number(50, 1), number(51, 1), number(64, 1)] == laying
    laid = after(state, number(51, 1))
    assert cards((49, 51)) == laid.laid[1]
    awaited = GAME.awaited(laid)
    assert isinstance(awaited, Draw)
    assert ("draw", 1) == (awaited.name, awaited.count)
    assert ToChoose(1) == GAME.awaited(after(laid, drawn(0, 70)))


def test_example_raise_a_target() -> None:
    """With a raise and the 70 both targets can be raised; the left one is, and two cards refill the hand."""
    state = table(hands=[(1, 2, 3, 70, RAISE), (4, 5, 6, 7, 8)], targets=((40,), (55,)), laid=((31,), (20,)))
    raises = [choice for choice in GAME.legal(state) if isinstance(choice, Raise)]
    assert [raising(70, 0), raising(70, 1)] == raises
    raised = after(state, raising(70, 0))
    assert cards((40, 70)) == raised.targets[0]
    assert cards((31,)) == raised.laid[0]
    assert [RAISE] == raised.penalties[0]
    awaited = GAME.awaited(raised)
    assert isinstance(awaited, Draw)
    assert 2 == awaited.count
    refilled = after(raised, drawn(0, 60, 61))
    assert cards((1, 2, 3, 60, 61)) == refilled.hands[0]
    assert ToChoose(1) == GAME.awaited(refilled)


# Setup


def test_the_first_round_is_set_up_in_the_order_of_the_page() -> None:
    """Starting seat, target of pile 0, target of pile 1, then five cards each, clockwise from the starting seat."""
    state = GAME.start({}, 3)
    assert Draw("first_seat", (0, 1, 2)) == GAME.awaited(state)
    state = after(state, FirstSeat(2))
    assert Draw("target", tuple(range(1, 71))) == GAME.awaited(state)
    assert target(0, 40) == GAME.outcome(state, (40,))
    state = after(state, target(0, 40))
    assert Draw("target", tuple(card for card in range(1, 71) if card != 40)) == GAME.awaited(state)
    assert target(1, 50) == GAME.outcome(state, (50,))
    state = after(state, target(1, 50))
    for seat in (2, 0, 1):
        awaited = GAME.awaited(state)
        assert isinstance(awaited, Draw)
        assert ("draw", 5, tuple(state.stock)) == (awaited.name, awaited.count, awaited.items)
        dealt = GAME.outcome(state, awaited.items[:5])
        assert isinstance(dealt, Drawn)
        assert seat == dealt.seat
        state = after(state, dealt)
    assert ToChoose(2) == GAME.awaited(state)


def test_a_draw_names_the_stock_in_its_canonical_order_with_like_cards_side_by_side() -> None:
    """Fair dice number the items from 0, so the order is part of the rules."""
    state = after(GAME.start({}, 2), FirstSeat(0), target(0, 1), target(1, 2))
    specials = (71,) * 6 + (72,) * 5 + (73,) * 4 + (74,) * 3
    assert Draw("draw", (*range(3, 71), *specials), 5) == GAME.awaited(state)


def test_the_components_are_those_of_the_page() -> None:
    """A log's header names the material, and must be the same bytes for ever."""
    components = {"numbers": list(range(1, 71)), "reverse": 6, "steal": 5, "raise": 4, "gift": 3}
    assert list(components.items()) == list(GAME.components.items())
    assert {71: "reverse", 72: "steal", 73: "raise", 74: "gift"} == SPECIALS
    assert 18 == sum(COPIES.values())


def test_ruling_the_chip_starts_at_pile_0_and_play_goes_clockwise() -> None:
    """The rulebook leaves the chip's first place open; the arrow starts clockwise."""
    view = seen_by(after(GAME.start({}, 4), FirstSeat(3)), Watcher.PUBLIC)
    assert 0 == view.chip
    assert view.clockwise


# Number cards and the turn


@pytest.mark.parametrize(("card", "fits"), [(29, False), (30, False), (31, True), (49, True), (50, False), (51, False)])
def test_a_number_card_is_higher_than_the_top_card_and_lower_than_the_target(card: int, fits: bool) -> None:
    """Equal is neither higher nor lower; the other pile stays out of it."""
    state = table(hands=[(card,), PLAIN], targets=((50,), (1,)), laid=((30,), ()), stock=(70,))
    assert fits == (number(card, 0) in GAME.legal(state))
    assert number(card, 1) not in GAME.legal(state)


def test_any_lower_card_goes_onto_a_bare_pile() -> None:
    """Only a card that lies there already asks for a higher one."""
    state = table(hands=[(1, 67), PLAIN])
    assert {number(1, 0), number(67, 0)} <= set(GAME.legal(state))


def test_after_an_ordinary_turn_the_next_seat_clockwise_is_on() -> None:
    """The order of play goes by seat numbers and from the last seat to the first."""
    state = table(hands=[PLAIN, PLAIN, (7, 8, 9, 10, 11)], seat=2, stock=(70,))
    assert ToChoose(0) == GAME.awaited(after(state, number(7, 0), drawn(2, 70)))


def test_drawing_ends_where_the_stock_ends() -> None:
    """A seat that is short of two draws one where there is only one, and none where there is none."""
    state = table(hands=[(1, 2, 3, 70, RAISE), PLAIN], stock=(66,))
    raised = after(state, raising(70, 0))
    assert Draw("draw", (66,), 1) == GAME.awaited(raised)
    last = after(raised, drawn(0, 66))
    assert [] == last.stock
    assert ToChoose(0) == GAME.awaited(after(last, number(43, 1)))


def test_a_seat_without_cards_can_only_snap() -> None:
    """With the stock empty hands run out; the turn of an empty hand ends the round."""
    state = table(hands=[(), PLAIN], stock=())
    assert [Snap()] == list(GAME.legal(state))


# Reverse


def test_reverse_gives_the_turn_to_the_seat_before() -> None:
    """It takes effect at once, and a second reverse turns the order back."""
    state = table(hands=[(REVERSE, 1), (REVERSE, 2), (REVERSE, 3), (REVERSE, 4)], seat=1, stock=())
    once = after(state, Reverse())
    assert ToChoose(0) == GAME.awaited(once)
    assert [REVERSE] == once.penalties[1]
    assert ToChoose(3) == GAME.awaited(after(once, number(1, 0)))
    assert ToChoose(1) == GAME.awaited(after(once, Reverse()))


def test_two_seats_reverse_has_no_effect() -> None:
    """The arrow stays in the box: the card only saves its seat from playing another, and counts against it."""
    state = table(hands=[(REVERSE, 1), PLAIN], stock=())
    reversed_ = after(state, Reverse())
    assert ToChoose(1) == GAME.awaited(reversed_)
    assert [REVERSE] == reversed_.penalties[0]
    assert seen_by(reversed_, Watcher.PUBLIC).clockwise


# Steal


def test_a_steal_takes_a_card_of_the_chosen_hand_and_the_robbed_seat_draws_at_once() -> None:
    """The thief is whole again by the stolen card, so only the robbed seat draws."""
    state = table(hands=[(1, 2, 3, 4, STEAL), (5, 6, 7, 8, 9), (10, 11, STEAL, STEAL, GIFT)])
    asked = after(state, Steal(2))
    assert Draw("steal", (10, 11, STEAL, STEAL, GIFT)) == GAME.awaited(asked)
    assert stolen(STEAL) == GAME.outcome(asked, (STEAL,))
    robbed = after(asked, stolen(STEAL))
    assert Draw("draw", tuple(state.stock), 1) == GAME.awaited(robbed)
    assert drawn(2, 70) == GAME.outcome(robbed, (70,))
    done = after(robbed, drawn(2, 70))
    assert cards((1, 2, 3, 4, STEAL)) == done.hands[0]
    assert cards((10, 11, 70, STEAL, GIFT)) == done.hands[2]
    assert [STEAL] == done.penalties[0]
    assert ToChoose(1) == GAME.awaited(done)


def test_a_robbed_seat_draws_nothing_from_an_empty_stock() -> None:
    """Once the stock is empty nobody draws any more."""
    state = table(hands=[(1, STEAL), (5,)], stock=())
    done = after(state, Steal(1), stolen(5))
    assert [cards((1, 5)), []] == done.hands
    assert ToChoose(1) == GAME.awaited(done)


def test_the_robbed_seat_draws_before_the_thief() -> None:
    """A thief that is short draws at the end of its turn, from what the robbed seat left."""
    state = table(hands=[(1, STEAL), (5,)], stock=(60, 61, 62))
    robbed = after(state, Steal(1), stolen(5), drawn(1, 61))
    assert Draw("draw", (60, 62), 2) == GAME.awaited(robbed)
    assert ToChoose(1) == GAME.awaited(after(robbed, drawn(0, 62, 60)))


def test_ruling_a_steal_without_a_seat_is_played_where_nobody_else_has_a_card() -> None:
    """The special card may be played all the same; it has no effect and ends the turn."""
    state = table(hands=[(STEAL, 70), (), ()], stock=())
    assert [Steal(), Snap()] == list(GAME.legal(state))
    done = after(state, Steal())
    assert ([STEAL], ToChoose(1)) == (done.penalties[0], GAME.awaited(done))


# Raise


def test_a_raise_has_to_be_higher_than_the_target_it_covers() -> None:
    """Equal does not come up, lower does not count: without such a card the special cannot be played."""
    state = table(hands=[(40, 60, RAISE), PLAIN], targets=((50,), (65,)))
    assert [raising(60, 0)] == [choice for choice in GAME.legal(state) if isinstance(choice, Raise)]
    without = table(hands=[(40, 49, RAISE), PLAIN], targets=((50,), (65,)))
    assert not [choice for choice in GAME.legal(without) if isinstance(choice, Raise)]


def test_a_snap_takes_the_covered_targets_too() -> None:
    """Raised targets lie on one another and go together, each a penalty card."""
    state = table(hands=[(1, 2), PLAIN], targets=((40, 50, 60), (65,)), laid=((30, 31), (7,)))
    assert cards((40, 50, 60, 30, 31)) == after(state, snap(1)).penalties[0]


# Gift


def test_a_gift_gives_the_top_card_of_a_pile_to_another_seat() -> None:
    """The card becomes a penalty card of that seat; the card beneath is on top again."""
    state = table(hands=[(GIFT, 1), PLAIN, ()], laid=((10, 20), (30,)), stock=())
    gifts = [choice for choice in GAME.legal(state) if isinstance(choice, Gift)]
    assert [Gift(), Gift(0, 1), Gift(0, 2), Gift(1, 1), Gift(1, 2)] == gifts
    given = after(state, Gift(0, 2))
    assert [[GIFT], [], cards((20,))] == given.penalties
    assert [cards((10,)), cards((30,))] == given.laid


def test_a_gift_alone_has_no_effect() -> None:
    """The seat may give but need not; where both piles are bare it cannot, and targets are never given."""
    state = table(hands=[(GIFT, 1), PLAIN], stock=())
    assert [Gift()] == [choice for choice in GAME.legal(state) if isinstance(choice, Gift)]
    alone = after(state, Gift())
    assert [[GIFT], []] == alone.penalties
    assert state.targets == alone.targets
    assert ToChoose(1) == GAME.awaited(alone)


# Snap


def test_a_snap_takes_the_pile_at_the_chip_moves_the_chip_and_lays_a_new_target() -> None:
    """The other pile stays; the number card of the hand becomes the target of the emptied pile."""
    state = table(hands=[(1, 2, 3, 4, 5), PLAIN], laid=((10, 20), (30, 40)), chip=1)
    snapped = after(state, snap(3))
    assert cards((69, 30, 40)) == snapped.penalties[0]
    assert (0, [cards((68,)), cards((3,))]) == (snapped.chip, snapped.targets)
    assert [cards((10, 20)), []] == snapped.laid
    assert Draw("draw", tuple(state.stock), 1) == GAME.awaited(snapped)


def test_snap_may_be_chosen_although_a_card_could_be_laid() -> None:
    """Whoever does not want to play a card may snap at any time."""
    assert {number(1, 0), snap(1)} <= set(GAME.legal(table(hands=[(1,), PLAIN])))


def test_without_a_number_card_in_the_hand_the_stock_gives_the_new_target() -> None:
    """The first number card of the stock; special cards that come before it do not count."""
    state = table(hands=[(REVERSE,) * 5, PLAIN], stock=(50, 60, GIFT))
    assert [Reverse(), Snap()] == list(GAME.legal(state))
    snapped = after(state, Snap())
    assert Draw("target", (50, 60)) == GAME.awaited(snapped)
    assert target(0, 60) == GAME.outcome(snapped, (60,))
    done = after(snapped, target(0, 60))
    assert ([cards((60,)), cards((69,))], cards((50, GIFT))) == (done.targets, done.stock)
    assert ToChoose(1) == GAME.awaited(done)


def test_ruling_the_round_ends_when_neither_hand_nor_stock_has_a_number_card() -> None:
    """No new target can be laid, so it is as if the stock had been empty."""
    state = table(hands=[(REVERSE,) * 5, PLAIN], stock=(GIFT, GIFT), penalties=[(), (1,) * 5], teeth=(1, 0))
    ended = after(state, Snap())
    assert ([3, 0], OVER) == (ended.teeth, GAME.awaited(ended))


def test_a_snap_with_an_empty_stock_ends_the_round_at_once() -> None:
    """The snapped cards still count; no new target is laid, and cards left in hands do not count."""
    state = table(
        hands=[(1, 2, 3), (), PLAIN],
        stock=(),
        laid=((10,), ()),
        penalties=[(), (11, 12), (13, 14, 15)],
        teeth=(1, 0, 0),
    )
    assert [Snap()] == [choice for choice in GAME.legal(state) if isinstance(choice, Snap)]
    ended = after(state, Snap())
    assert cards((68, 10)) == ended.penalties[0]
    assert [] == ended.targets[0]
    assert ([3, 2, 1], OVER) == (ended.teeth, GAME.awaited(ended))


def test_a_snap_that_empties_the_stock_does_not_end_the_round() -> None:
    """The last card of the stock may be the new target, or be drawn: the round goes on to the next snap."""
    state = table(hands=[(REVERSE,) * 4, PLAIN], stock=(60,))
    last = after(state, Snap(), target(0, 60))
    assert ([], ToChoose(1)) == (last.stock, GAME.awaited(last))


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
    """Equal numbers are told apart by special cards; who is still equal shares the place and gets all its teeth."""
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
    """One tooth fewer and another round is played."""
    short = last_snap([(), (1, 2)], teeth=(to_end - 3, 0), teeth_to_end=to_end)
    assert Draw("target", tuple(range(1, 71))) == GAME.awaited(short)
    reached = last_snap([(), (1, 2)], teeth=(to_end - 2, 0), teeth_to_end=to_end)
    assert OVER == GAME.awaited(reached)
    assert not GAME.legal(reached)
    assert [] == list(GAME.legal(reached))


@pytest.mark.parametrize("wrong", [2, 7, True, "3", None])
def test_other_option_values_are_refused(wrong: Any) -> None:
    """Three teeth are the least, six the most that fit."""
    with pytest.raises(Invalid) as caught:
        GAME.start({"teeth_to_end": wrong}, 3)
    assert Reason.OPTION_VALUE_UNKNOWN == caught.value.reason


@pytest.mark.parametrize("seats", [0, 1, 6])
def test_two_to_five_seats_play(seats: int) -> None:
    """More or fewer are refused."""
    with pytest.raises(Invalid) as caught:
        GAME.start({}, seats)
    assert Reason.SEATS_OUT_OF_RANGE == caught.value.reason


def test_a_new_round_begins_with_all_cards_in_the_stock() -> None:
    """Everything but teeth, round and starting seat is as before the first round, and no starting seat is drawn."""
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
    """The rulebook knows only one winner; of several it is the nearest, the last starting seat included."""
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
    """The order that decides the victory decides all places; who is equal shares one."""
    ended = last_snap(penalties, teeth=teeth, teeth_to_end=4)
    assert OVER == GAME.awaited(ended)
    assert expected == GAME.places(ended)


def test_the_standing_goes_by_teeth_then_penalty_cards_then_special_cards() -> None:
    """While a round lasts its own order counts: few penalty cards before few special ones."""
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
    """It plays on for a seat that does not choose, always legally and the same way."""
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


# Legal choices against brute force


def test_legal_agrees_with_the_naive_reference_on_odd_positions() -> None:
    """What the page allows is listed, once each and in order: short hands, bare piles, no stock, only special cards."""
    random = Random(1)
    for index in range(4000):
        state = random_position(random)
        assert naive.legal(judged(state)) == list(GAME.legal(state)), f"seed 1, position {index}"


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_legal_agrees_with_the_naive_reference_in_random_play(seats: int, seed: int) -> None:
    """In every state of a match, and no choice is legal while chance is awaited or nothing is."""
    for step, (state, _) in enumerate(random_play(seats, Random(seed), {"teeth_to_end": 6})):
        expected = naive.legal(judged(state)) if isinstance(GAME.awaited(state), ToChoose) else []
        assert expected == list(GAME.legal(state)), f"seed {seed}, step {step}"


def test_play_accepts_exactly_what_is_legal() -> None:
    """Play validates a choice without listing any, yet both have to agree; and refusals change nothing."""
    random = Random(2)
    for index in range(150):
        state = random_position(random)
        before = GAME.copy(state)
        seen = judged(state)
        for choice in naive.CONCEIVABLE:
            expected = naive.is_legal(seen, choice)
            try:
                GAME.apply(state, choice)
                accepted = True
            except (Invalid, Illegal):
                accepted = False
            assert expected == accepted, f"seed 2, position {index}, {choice}"
            assert before == state, f"seed 2, position {index}, {choice}"


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_apply_leaves_its_argument_unchanged_and_agrees_with_fold(seats: int, seed: int) -> None:
    """A state is a value to everyone but the fold that owns it."""
    start = GAME.start({}, seats)
    moves = []
    for state, move in random_play(seats, Random(seed)):
        before = GAME.copy(state)
        GAME.apply(state, move)
        assert before == state, f"seed {seed}, {move}"
        moves.append(move)
    assert last_state(seats, Random(seed)) == GAME.fold(start, moves), f"seed {seed}"
    assert GAME.start({}, seats) == start


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_no_card_is_ever_lost_or_doubled(seats: int, seed: int) -> None:
    """All 88 cards are somewhere, hands and stock stay sorted, nobody holds more than five."""
    deck = all_cards(GAME.start({}, seats))
    assert 88 == len(deck)
    for state, _ in random_play(seats, Random(seed), {"teeth_to_end": 6}):
        assert deck == all_cards(state), f"seed {seed}"
        assert [sorted(hand) for hand in state.hands] == state.hands, f"seed {seed}"
        assert sorted(state.stock) == state.stock, f"seed {seed}"
        assert 5 >= max(map(len, state.hands)), f"seed {seed}"


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_every_match_ends_with_enough_teeth(seats: int, seed: int) -> None:
    """Somebody has reached the number, nobody has more than six, and the best is first."""
    end = last_state(seats, Random(seed), {"teeth_to_end": 5})
    assert OVER == GAME.awaited(end)
    assert 5 <= max(end.teeth) <= 6
    assert max(end.teeth) == end.teeth[GAME.places(end).index(1)]


# What each pair of eyes sees


def test_a_hand_is_seen_by_its_seat_and_the_judge() -> None:
    """Everybody sees how many cards there are; strangers no more than that."""
    state = table(hands=[(1, 2), (3, 4, GIFT), (5,)])
    eyes: list[tuple[Perspective, list[tuple[int, ...] | None]]] = [
        (Watcher.PUBLIC, [None, None, None]),
        (0, [(1, 2), None, None]),
        (1, [None, (3, 4, GIFT), None]),
        (Watcher.JUDGE, [(1, 2), (3, 4, GIFT), (5,)]),
    ]
    for perspective, expected in eyes:
        players = seen_by(state, perspective).players
        assert expected == [player.hand for player in players]
        assert [2, 3, 1] == [player.hand_size for player in players]


def test_everybody_sees_the_table() -> None:
    """Piles, chip, direction, turn, penalty cards, sizes, teeth, round and places are open."""
    state = table(
        hands=[(1, 2), (3,), ()],
        seat=1,
        targets=((40, 50), (60,)),
        laid=((), (10, 11)),
        chip=1,
        clockwise=False,
        penalties=[(), (GIFT, 7), (8,)],
        teeth=(0, 1, 2),
        round=3,
    )
    seen = seen_by(state, Watcher.PUBLIC)
    assert (3, 1, False, 1, len(state.stock)) == (seen.round, seen.seat, seen.clockwise, seen.chip, seen.stock_size)
    assert [((40, 50), ()), ((60,), (10, 11))] == [(pile.targets, pile.cards) for pile in seen.piles]
    assert [(), (GIFT, 7), (8,)] == [player.penalties for player in seen.players]
    assert [0, 1, 2] == [player.teeth for player in seen.players]
    assert (3, 2, 1) == seen.places


def test_nobody_is_on_before_the_start_and_after_the_end() -> None:
    """The view names a seat only while there is a turn."""
    assert seen_by(GAME.start({}, 2), 0).seat is None
    assert seen_by(last_state(2, Random(0)), 0).seat is None


def test_when_the_match_is_over_all_hands_are_open() -> None:
    """There is nothing left to hide."""
    end = table(hands=[(1, 2), (3, 4)], stock=(), teeth=(2, 2))
    end = after(end, Snap())
    assert OVER == GAME.awaited(end)
    assert judged(end) == seen_by(end, Watcher.PUBLIC) == seen_by(end, 1)
    assert [(1, 2), (3, 4)] == [player.hand for player in judged(end).players]


def hidden_shuffled(state: State, perspective: Perspective, random: Random) -> State:
    """The same state to these eyes, with all cards that they cannot see dealt anew."""
    other = GAME.copy(state)
    hidden = [hand for seat, hand in enumerate(other.hands) if seat != perspective] + [other.stock]
    pool = [card for heap in hidden for card in heap]
    random.shuffle(pool)
    for heap in hidden:
        heap[:] = sorted(pool.pop() for _ in heap)
    return other


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_a_view_does_not_depend_on_hidden_cards(seats: int, seed: int) -> None:
    """Two states that differ only in what a pair of eyes may not see must look equal to it, in every stage."""
    random = Random(seed)
    differed = 0
    for step, (state, _) in enumerate(random_play(seats, Random(seed))):
        for perspective in (Watcher.PUBLIC, *range(seats)):
            other = hidden_shuffled(state, perspective, random)
            differed += other != state
            assert seen_by(state, perspective) == seen_by(other, perspective), f"seed {seed}, step {step}"
    assert differed > 100


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_an_outcome_as_seen_does_not_depend_on_hidden_cards(seats: int, seed: int) -> None:
    """Draws show strangers their number, thefts nothing; those concerned and the judge see the cards."""
    random = Random(seed)
    for step, (state, move) in enumerate(random_play(seats, Random(seed))):
        awaited = GAME.awaited(state)
        if not isinstance(move, Drawn | Stolen) or not isinstance(awaited, Draw):
            continue
        concerned = {state.seat, state.served} if isinstance(move, Stolen) else {state.served}
        for perspective in (Watcher.PUBLIC, *range(seats)):
            other = hidden_shuffled(state, perspective, random)
            awaited_there = GAME.awaited(other)
            assert isinstance(awaited_there, Draw)
            seen = GAME.seen(state, move, perspective)
            if perspective in concerned:
                assert move == seen, f"seed {seed}, step {step}"
            else:
                instead = GAME.seen(other, random_outcome(other, awaited_there, random), perspective)
                assert seen == instead, f"seed {seed}, step {step}"
        assert move == GAME.seen(state, move, Watcher.JUDGE), f"seed {seed}, step {step}"


def test_strangers_see_how_many_cards_are_drawn_and_that_one_is_stolen() -> None:
    """The hidden forms keep the number of cards; open outcomes stay as they are."""
    state = table(hands=[(1, 2, 3, 70, RAISE), PLAIN, (STEAL,)])
    raised = after(state, raising(70, 0))
    assert Drawn(0, (None, None)) == GAME.seen(raised, drawn(0, 10, 11), Watcher.PUBLIC)
    assert drawn(0, 10, 11) == GAME.seen(raised, drawn(0, 10, 11), 0)
    asked = after(table(hands=[(1, STEAL), PLAIN, (7, 8)]), Steal(1))
    assert Stolen(None) == GAME.seen(asked, stolen(43), 2)
    for concerned in (0, 1):
        assert stolen(43) == GAME.seen(asked, stolen(43), concerned)
    assert target(0, 4) == GAME.seen(state, target(0, 4), Watcher.PUBLIC)


# Refusals

REFUSALS: list[tuple[Choice, type[Refused], Reason]] = [
    (number(0, 0), Invalid, Reason.CARD_UNKNOWN),
    (number(71, 0), Invalid, Reason.CARD_UNKNOWN),
    (number(10, 2), Invalid, Reason.PILE_UNKNOWN),
    (number(11, 0), Illegal, Reason.CARD_NOT_IN_HAND),
    (number(60, 0), Illegal, Reason.CARD_TOO_HIGH),
    (number(50, 0), Illegal, Reason.CARD_TOO_HIGH),
    (number(10, 0), Illegal, Reason.CARD_TOO_LOW),
    (Reverse(), Illegal, Reason.CARD_NOT_IN_HAND),
    (Steal(3), Invalid, Reason.SEAT_UNKNOWN),
    (Steal(0), Illegal, Reason.TARGET_IS_ONESELF),
    (Steal(2), Illegal, Reason.TARGET_HAS_NONE),
    (Steal(), Illegal, Reason.TARGET_MISSING),
    (raising(71, 0), Invalid, Reason.CARD_UNKNOWN),
    (raising(60, -1), Invalid, Reason.PILE_UNKNOWN),
    (raising(61, 0), Illegal, Reason.CARD_NOT_IN_HAND),
    (raising(50, 0), Illegal, Reason.CARD_TOO_LOW),
    (Gift(0), Invalid, Reason.FIELDS_DO_NOT_COMBINE),
    (Gift(None, 1), Invalid, Reason.FIELDS_DO_NOT_COMBINE),
    (Gift(2, 1), Invalid, Reason.PILE_UNKNOWN),
    (Gift(0, 3), Invalid, Reason.SEAT_UNKNOWN),
    (Gift(0, 0), Illegal, Reason.TARGET_IS_ONESELF),
    (Gift(1, 1), Illegal, Reason.PILE_EMPTY),
    (snap(74), Invalid, Reason.CARD_UNKNOWN),
    (snap(11), Illegal, Reason.CARD_NOT_IN_HAND),
    (Snap(), Illegal, Reason.NEW_TARGET_NEEDED),
]


@pytest.mark.parametrize(("choice", "kind", "reason"), REFUSALS)
def test_a_refused_choice_says_why_and_changes_nothing(choice: Choice, kind: type[Refused], reason: Reason) -> None:
    """What cannot be read is invalid whatever the state, what is not allowed now is illegal."""
    state = table(
        hands=[(10, 50, 60, STEAL, RAISE, GIFT), PLAIN, ()],
        targets=((50,), (40,)),
        laid=((30,), ()),
        stock=(70,),
    )
    refused = refusal(state, choice)
    assert (kind, reason) == (type(refused), refused.reason)


@pytest.mark.parametrize("choice", [Reverse(), Steal(1), Steal(), raising(70, 0), Gift(), Gift(0, 1)])
def test_a_special_card_has_to_be_in_the_hand(choice: Choice) -> None:
    """The refusal names the missing card."""
    refused = refusal(table(hands=[(1, 70), PLAIN], laid=((2,), ())), choice)
    assert Reason.CARD_NOT_IN_HAND == refused.reason
    assert refused.facts["card"] in SPECIALS.values()


def test_no_new_target_may_be_named_when_the_stock_is_empty() -> None:
    """The round ends without one; a program that names it has misread the state."""
    state = table(hands=[(1, 2), PLAIN], stock=())
    assert Reason.NEW_TARGET_NOT_NEEDED == refusal(state, snap(1)).reason


def test_a_card_that_the_hand_does_not_hold_cannot_be_the_new_target() -> None:
    """Whether the stock could give one must not show in the refusal."""
    for stock in ((60, GIFT), (GIFT,)):
        assert Reason.CARD_NOT_IN_HAND == refusal(table(hands=[(REVERSE,), PLAIN], stock=stock), snap(60)).reason


def test_refusals_do_not_depend_on_hidden_cards() -> None:
    """A seat that tries everything learns nothing about other hands or the stock, not even in the facts."""
    random = Random(3)
    for index in range(60):
        state = random_position(random)
        other = hidden_shuffled(state, state.seat, random)
        seen = judged(state)
        for choice in naive.CONCEIVABLE:
            if naive.is_legal(seen, choice):
                continue
            here, there = refusal(state, choice), refusal(other, choice)
            assert (here.reason, here.why, here.facts) == (there.reason, there.why, there.facts), (
                f"seed 3, position {index}"
            )


WEIRD: list[Any] = [
    -1,
    75,
    2**63,
    10**5000,
    -(10**5000),
    True,
    False,
    1.0,
    float("nan"),
    "1",
    b"",
    [],
    {},
    (),
    object(),
]


@pytest.mark.parametrize("weird", WEIRD, ids=lambda weird: type(weird).__name__)
def test_weird_values_are_refused_and_nothing_else(weird: Any) -> None:
    """Huge, negative, of another type, unset: a refusal that can be written down, and no other exception."""
    state = table(hands=[(REVERSE, STEAL, RAISE, GIFT, 7), (8,)], laid=((3,), (4,)), stock=(50, 60))
    moves: list[Any] = [
        Number(weird, 0),
        Number(weird, weird),
        Number(Card(7), weird),
        Raise(weird, 0),
        Raise(weird, weird),
        Raise(Card(7), weird),
        Steal(weird),
        Gift(weird),
        Gift(None, weird),
        Gift(weird, 1),
        Gift(0, weird),
        Snap(weird),
        weird,
    ]
    for move in moves:
        assert isinstance(refusal(state, move), Invalid)


@pytest.mark.parametrize("choice", [Number(None, 0), Number(Card(7), None), Raise(None, 0), Raise(Card(7), None)])  # type: ignore[arg-type]  # what an unset field may come to
def test_unset_fields_are_refused_where_they_are_needed(choice: Choice) -> None:
    """A message without card or pile is not a choice of card 0 or pile 0."""
    state = table(hands=[(RAISE, 7), (8,)])
    assert refusal(state, choice).reason in {Reason.CARD_UNKNOWN, Reason.PILE_UNKNOWN}


@pytest.mark.parametrize("weird", [*WEIRD, None], ids=lambda weird: type(weird).__name__)
def test_weird_outcomes_are_refused_and_nothing_else(weird: Any) -> None:
    """A log is checked like a choice; hidden forms (None) are views of outcomes and cannot be played."""
    start = GAME.start({}, 3)
    laying = after(start, FirstSeat(1))
    dealing = after(laying, target(0, 10), target(1, 20))
    stealing = after(table(hands=[(1, STEAL), (5, 9), (7,)]), Steal(1))
    outcomes: list[tuple[State, Any]] = [
        (start, FirstSeat(weird)),
        (laying, Target(weird, Card(11))),
        (laying, Target(0, weird)),
        (dealing, Drawn(weird, (Card(1),) * 5)),
        (dealing, Drawn(1, weird)),
        (dealing, Drawn(1, (weird,) * 5)),
        (dealing, Drawn(1, (Card(1), Card(2), Card(3), Card(4), weird))),
        (stealing, Stolen(weird)),
    ]
    for state, outcome in outcomes:
        refused = refusal(state, outcome)
        assert (Illegal, Reason.OUTCOME_IMPOSSIBLE) == (type(refused), refused.reason)


def test_outcomes_that_chance_cannot_give_are_refused() -> None:
    """Wrong pile, special card as a target, card that is elsewhere, too few or too many, more copies than there are."""
    laying = after(GAME.start({}, 2), FirstSeat(1), target(0, 10))
    dealing = after(laying, target(1, 20))
    impossible: list[tuple[State, Any]] = [
        (laying, target(0, 11)),
        (laying, target(1, 10)),
        (laying, target(1, GIFT)),
        (dealing, drawn(0, 1, 2, 3, 4, 5)),
        (dealing, drawn(1, 1, 2, 3, 4)),
        (dealing, drawn(1, 1, 2, 3, 4, 5, 6)),
        (dealing, drawn(1, 1, 2, 3, 4, 10)),
        (dealing, drawn(1, 1, 2, 3, 4, 4)),
        (dealing, drawn(1, GIFT, GIFT, GIFT, GIFT, 1)),
        (dealing, Drawn(1, (None,) * 5)),
        (after(table(hands=[(1, STEAL), (5,), (7,)]), Steal(1)), stolen(7)),
        (after(table(hands=[(1, STEAL), (5,), (7,)]), Steal(1)), Stolen(None)),
    ]
    for state, outcome in impossible:
        assert Reason.OUTCOME_IMPOSSIBLE == refusal(state, outcome).reason


def test_like_cards_may_be_drawn_as_often_as_there_are_some() -> None:
    """Three gifts are in the game, so three can be drawn at once."""
    dealing = after(GAME.start({}, 2), FirstSeat(0), target(0, 10), target(1, 20))
    assert cards((1, 2, GIFT, GIFT, GIFT)) == after(dealing, drawn(0, GIFT, 2, GIFT, 1, GIFT)).hands[0]


def test_only_what_is_awaited_can_be_played() -> None:
    """Chance where a choice is awaited, a choice where chance is, anything after the end, moves of no game."""
    choosing = table(hands=[(1, 2), PLAIN])
    drawing = after(choosing, number(1, 0))
    over = last_state(2, Random(0))
    assert Reason.CHANCE_AWAITED == refusal(drawing, number(2, 0)).reason
    assert isinstance(refusal(drawing, target(0, 30)), Illegal)
    assert isinstance(refusal(choosing, drawn(0, 30)), Illegal)
    for move in (number(1, 0), Snap(), drawn(0, 1), FirstSeat(0)):
        assert Reason.MATCH_OVER == refusal(over, move).reason
    assert Reason.MOVE_OF_ANOTHER_GAME == refusal(choosing, "snap").reason
