"""Allie Gator: every refusal has its reason and changes nothing."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from rollbook.rules.allie_gator import GAME
from rollbook.rules.allie_gator.moves import (
    GIFT,
    RAISE,
    REVERSE,
    SPECIALS,
    STEAL,
    Card,
    Choice,
    Drawn,
    Gift,
    Number,
    Raise,
    Reverse,
    Snap,
    Steal,
    Stolen,
    Target,
)
from rollbook.rules.allie_gator.state import State
from rollbook.rules.chance import FirstSeat
from rollbook.rules.refusals import Illegal, Invalid, Reason, RefusedByRules
from tests.rules import naive_allie_gator as naive
from tests.rules.positions_allie_gator import (
    after,
    cards,
    drawn,
    last_state,
    number,
    raising,
    random_position,
    snap,
    stolen,
    target,
)
from tests.rules.questions_allie_gator import PLAIN, hidden_shuffled, judged, refusal, table

# Refusals

REFUSALS: list[tuple[Choice, type[RefusedByRules], Reason]] = [
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
def test_a_refused_choice_says_why_and_changes_nothing(
    choice: Choice, kind: type[RefusedByRules], reason: Reason
) -> None:
    """Unreadable choices are invalid in any state, choices not allowed now are illegal."""
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
    """The round ends without a new target; a program that names one has misread the state."""
    state = table(hands=[(1, 2), PLAIN], stock=())
    assert Reason.NEW_TARGET_NOT_NEEDED == refusal(state, snap(1)).reason


def test_a_card_that_the_hand_does_not_hold_cannot_be_the_new_target() -> None:
    """The refusal must not reveal whether the stock could give a target."""
    for stock in ((60, GIFT), (GIFT,)):
        assert Reason.CARD_NOT_IN_HAND == refusal(table(hands=[(REVERSE,), PLAIN], stock=stock), snap(60)).reason


def test_refusals_do_not_depend_on_hidden_cards() -> None:
    """A seat that tries every choice learns nothing about other hands or the stock, not even from the facts."""
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
    """Huge, negative, unset and wrongly typed values give a printable refusal, and no other exception."""
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
    """Outcomes of a log are checked like choices; hidden forms (None) are views and cannot be played."""
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
    """Wrong pile, special card as target, card elsewhere, too few or too many cards, too many copies."""
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
    """Chance in place of a choice, a choice in place of chance, any move after the end, moves of other games."""
    choosing = table(hands=[(1, 2), PLAIN])
    drawing = after(choosing, number(1, 0))
    over = last_state(2, Random(0))
    assert Reason.CHANCE_AWAITED == refusal(drawing, number(2, 0)).reason
    assert isinstance(refusal(drawing, target(0, 30)), Illegal)
    assert isinstance(refusal(choosing, drawn(0, 30)), Illegal)
    for move in (number(1, 0), Snap(), drawn(0, 1), FirstSeat(0)):
        assert Reason.MATCH_OVER == refusal(over, move).reason
    assert Reason.MOVE_OF_ANOTHER_GAME == refusal(choosing, "snap").reason
