"""Würfelzoo: the compact description of a turn's choices."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from rollbook.rules.wuerfelzoo import GAME
from rollbook.rules.wuerfelzoo.moves import Fox, Play, Reroll, Squirrel
from rollbook.rules.wuerfelzoo.turn_choices import PlayOffer, TurnChoices
from tests.rules import naive_wuerfelzoo as naive
from tests.rules.positions_wuerfelzoo import dice, die, position
from tests.rules.questions_wuerfelzoo import HUGE, plays, turn

# The compact description of a turn


def test_choices_of_a_turn_come_in_the_promised_order() -> None:
    """Worms before foxes, few animals before many, few x2 before many, and rerolls last."""
    state = position("worm worm fox x2 x2", "trap")
    worms, (fox,), doubles = dice(state, 0, "worm"), dice(state, 0, "fox"), dice(state, 0, "x2")
    subsets = [(), doubles[:1], doubles[1:], doubles]
    animals = [worms[:1], worms[1:], worms, (fox,)]
    assert [Play(tuple(sorted(laid + subset))) for laid in animals for subset in subsets] == plays(state)
    choices = list(GAME.legal(state))
    assert choices[len(plays(state)) :] == [
        Reroll(subset) for subset in naive.rerolls(dict.fromkeys(dice(state, 0), ""))
    ]


def test_a_turn_names_what_may_be_laid_without_listing_it() -> None:
    """It has each fitting species with the fitting numbers; clients build their buttons from it."""
    state = position("worm fox fox fox bear bear bear elephant x2", "trap", middle="fox fox")
    foxes, bears = dice(state, 0, "fox"), dice(state, 0, "bear")
    assert TurnChoices(
        (PlayOffer("fox", foxes, 3, 3), PlayOffer("bear", bears, 2, 2)), dice(state, 0, "x2"), dice(state, 0)
    ) == turn(state)


def test_the_choices_of_a_full_hand_are_walked_through_lazily() -> None:
    """Forty dice have more than a million million choices; the first ones and membership tests are immediate."""
    state = position(" ".join(["elephant"] * 20 + ["bear"] * 20), "trap")
    choices = turn(state)
    assert [Play((number,)) for number in dice(state, 0, "bear")[:5]] == list(islice(choices, 5))
    assert Play(dice(state, 0, "elephant")) in choices
    assert Reroll(dice(state, 0)) in choices
    assert choices.sample(random.Random(1).randrange) in choices


@pytest.mark.parametrize(
    "stranger", [None, 3, "play", Fox(0), Squirrel(1), Play(()), Reroll(()), Play((HUGE,)), Reroll((-1,))]
)
def test_strange_things_are_not_among_the_choices(stranger: object) -> None:
    """Membership tests accept any value that a caller sends."""
    state = position("worm worm fox x2", "trap")
    assert stranger not in turn(state)
    worm, double = die(state, 0, "worm"), die(state, 0, "x2")
    assert Play((worm, double)) in turn(state)
    assert Play((worm, double, double)) not in turn(state)
    assert Play((worm, worm)) not in turn(state)
    assert Play((worm, *dice(state, 1))) not in turn(state)
    assert Reroll((worm, worm)) not in turn(state)
    assert Play((True,)) not in turn(state)
    assert Reroll((False,)) not in turn(state)


def test_a_sample_reaches_every_legal_choice() -> None:
    """Random play must reach every legal choice, else simulations omit positions."""
    for state in (
        position("worm worm fox x2", "trap"),
        position("worm worm worm fox x2 trap", "trap", middle="worm"),
        position("worm trap x2", "trap", middle="elephant"),
    ):
        rng = random.Random(3)
        choices = turn(state)
        assert set(choices) == {choices.sample(rng.randrange) for _ in range(6000)}
