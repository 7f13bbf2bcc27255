"""Allie Gator: the rulebook's examples, setup, and every card."""

from __future__ import annotations

import pytest

from rollbook.rules.allie_gator import GAME
from rollbook.rules.allie_gator.moves import (
    COPIES,
    GIFT,
    RAISE,
    REVERSE,
    SPECIALS,
    STEAL,
    Drawn,
    Gift,
    Number,
    Raise,
    Reverse,
    Snap,
    Steal,
)
from rollbook.rules.allie_gator.state import State
from rollbook.rules.chance import Draw, FirstSeat
from rollbook.rules.game import OVER, ToChoose, Watcher
from tests.rules.positions_allie_gator import (
    after,
    cards,
    drawn,
    number,
    raising,
    snap,
    stolen,
    target,
)
from tests.rules.questions_allie_gator import PLAIN, seen_by, table

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
    """Equal is neither higher nor lower; the other pile does not matter."""
    state = table(hands=[(card,), PLAIN], targets=((50,), (1,)), laid=((30,), ()), stock=(70,))
    assert fits == (number(card, 0) in GAME.legal(state))
    assert number(card, 1) not in GAME.legal(state)


def test_any_lower_card_goes_onto_a_bare_pile() -> None:
    """Only a card on the pile requires a higher one."""
    state = table(hands=[(1, 67), PLAIN])
    assert {number(1, 0), number(67, 0)} <= set(GAME.legal(state))


def test_after_an_ordinary_turn_the_next_seat_clockwise_is_on() -> None:
    """Play goes by seat numbers, and from the last seat to the first."""
    state = table(hands=[PLAIN, PLAIN, (7, 8, 9, 10, 11)], seat=2, stock=(70,))
    assert ToChoose(0) == GAME.awaited(after(state, number(7, 0), drawn(2, 70)))


def test_drawing_ends_where_the_stock_ends() -> None:
    """A seat short of two cards draws one if the stock has one, and none if it is empty."""
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
    """The card only saves its seat from playing another one, and counts as a penalty."""
    state = table(hands=[(REVERSE, 1), PLAIN], stock=())
    reversed_ = after(state, Reverse())
    assert ToChoose(1) == GAME.awaited(reversed_)
    assert [REVERSE] == reversed_.penalties[0]
    assert seen_by(reversed_, Watcher.PUBLIC).clockwise


# Steal


def test_a_steal_takes_a_card_of_the_chosen_hand_and_the_robbed_seat_draws_at_once() -> None:
    """The stolen card replaces the special card, so only the robbed seat draws."""
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
    """With an empty stock no seat draws."""
    state = table(hands=[(1, STEAL), (5,)], stock=())
    done = after(state, Steal(1), stolen(5))
    assert [cards((1, 5)), []] == done.hands
    assert ToChoose(1) == GAME.awaited(done)


def test_the_robbed_seat_draws_before_the_thief() -> None:
    """A thief with too few cards draws at the end of the turn, after the robbed seat."""
    state = table(hands=[(1, STEAL), (5,)], stock=(60, 61, 62))
    robbed = after(state, Steal(1), stolen(5), drawn(1, 61))
    assert Draw("draw", (60, 62), 2) == GAME.awaited(robbed)
    assert ToChoose(1) == GAME.awaited(after(robbed, drawn(0, 62, 60)))


def test_ruling_a_steal_without_a_seat_is_played_where_nobody_else_has_a_card() -> None:
    """The special card may still be played; it has no effect and ends the turn."""
    state = table(hands=[(STEAL, 70), (), ()], stock=())
    assert [Steal(), Snap()] == list(GAME.legal(state))
    done = after(state, Steal())
    assert ([STEAL], ToChoose(1)) == (done.penalties[0], GAME.awaited(done))


# Raise


def test_a_raise_has_to_be_higher_than_the_target_it_covers() -> None:
    """Without a higher number card in the hand the raise cannot be played."""
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
    """A seat may snap at any time, even with a playable card."""
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
    """No new target can be laid, so the round ends as with an empty stock."""
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
