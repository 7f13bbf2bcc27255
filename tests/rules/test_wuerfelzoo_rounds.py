"""Würfelzoo: the end of a round and of a match, and the effects of the options."""

from __future__ import annotations

import random

import pytest

from rollbook.rules.chance import Draw, FirstSeat, Throw
from rollbook.rules.game import OVER, Over
from rollbook.rules.options import OptionValue
from rollbook.rules.refusals import Invalid, Reason
from rollbook.rules.wuerfelzoo import GAME
from rollbook.rules.wuerfelzoo.moves import FACES, Bear, Drawn, Fox, Play, Reroll, Rolled, Squirrel
from tests.rules import naive_wuerfelzoo as naive
from tests.rules.positions_wuerfelzoo import after, bag, box, dice, die, position, unthrown
from tests.rules.questions_wuerfelzoo import HUGE, any_move, illegal

# End of a round ("Spielende und gewinnen")


def test_every_die_left_counts_its_penalty() -> None:
    """Elephant 6, bear 5, boar 4, fox 3, squirrel 2, worm 1, trap 0, x2 7."""
    for face, points in naive.PENALTIES.items():
        state = position("elephant", face)
        assert [0, points] == after(state, Play(dice(state, 0))).points, face


def test_the_round_ends_only_after_the_ability_was_used() -> None:
    """The words "nachdem die Eigenschaft der Tierart verwendet wurde": a bear laid last still throws, which counts."""
    state = position("bear", "elephant")
    elephant = die(state, 1, "elephant")
    state = after(state, Play(dice(state, 0)), Bear(elephant))
    assert isinstance(GAME.awaited(state), Throw)
    state = after(state, Rolled((elephant,), ("worm",)))
    assert [0, 1] == state.points


def test_others_share_a_place_when_their_points_are_equal() -> None:
    """Equal points of one round share the place; the winner stays alone, even beside others without points."""
    state = position("elephant", "worm worm", "squirrel", "fox", "trap")
    state = after(state, Play(dice(state, 0)))
    assert [0, 2, 2, 3, 0] == state.points
    assert (1, 3, 3, 5, 2) == GAME.places(state)


def test_standing_of_a_single_round_is_the_penalty_of_the_dice_now() -> None:
    """Before the end the places follow from the current penalty points."""
    assert (1, 1, 1) == GAME.places(GAME.start({}, 3))
    assert (3, 1, 1) == GAME.places(position("elephant", "worm", "trap worm"))
    state = after(GAME.start({}, 2), FirstSeat(0), Drawn(0, tuple(range(12))))
    assert (1, 1) == GAME.places(state)


def test_nothing_is_awaited_or_legal_after_the_end() -> None:
    """A finished match accepts neither choices nor chance."""
    state = position("elephant", "trap")
    state = after(state, Play(dice(state, 0)))
    assert OVER == GAME.awaited(state)
    assert not GAME.legal(state)
    for move in (Play((0,)), Reroll((0,)), Fox(0), Drawn(0, (0,)), Rolled((0,), ("trap",)), FirstSeat(0)):
        assert Reason.MATCH_OVER == illegal(state, move)


# Options


def test_options_have_their_defaults_and_all_their_values() -> None:
    """rounds_to is 0 to 999, and box a flag; the defaults are one round without box."""
    assert {"rounds_to": 0, "box": False} == GAME.settle({}, 2)
    assert {"rounds_to": 999, "box": True} == GAME.settle({"rounds_to": 999, "box": True}, 5)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"rounds_to": 1000}, Reason.OPTION_VALUE_UNKNOWN),
        ({"rounds_to": -1}, Reason.OPTION_VALUE_UNKNOWN),
        ({"rounds_to": HUGE}, Reason.OPTION_VALUE_UNKNOWN),
        ({"rounds_to": True}, Reason.OPTION_VALUE_UNKNOWN),
        ({"box": 1}, Reason.OPTION_VALUE_UNKNOWN),
        ({"bag": True}, Reason.OPTION_UNKNOWN),
    ],
)
def test_other_options_are_refused(given: dict[str, OptionValue], reason: Reason) -> None:
    """A value needs the option's type and range."""
    with pytest.raises(Invalid) as caught:
        GAME.start(given, 2)
    assert reason == caught.value.reason


def test_rounds_are_played_until_somebody_reached_the_points() -> None:
    """Option `rounds_to`: reaching the number is enough; fewest points win the match, not the last round."""
    for before, over in ((93, False), (94, True), (98, True)):
        state = position("elephant", "elephant", "trap", points=(50, before, 3), options={"rounds_to": 100})
        assert (2, 3, 1) == GAME.places(state)
        state = after(state, Play(dice(state, 0)))
        assert [50, before + 6, 3] == state.points
        assert over == isinstance(GAME.awaited(state), Over)
        assert (2, 3, 1) == GAME.places(state)


def test_fewest_points_over_all_rounds_may_be_shared() -> None:
    """Section "Mehrere Runden spielen": a tie gives several winners, also with the winner of the last round."""
    state = position("elephant", "elephant", "worm", points=(3, 2, 2), options={"rounds_to": 8})
    state = after(state, Play(dice(state, 0)))
    assert OVER == GAME.awaited(state)
    assert (1, 3, 1) == GAME.places(state)


def test_standing_over_several_rounds_leaves_the_dice_on_the_table_out() -> None:
    """With `rounds_to` only finished rounds count before the end."""
    state = position("elephant elephant", "trap", points=(1, 2), options={"rounds_to": 50})
    assert (1, 2) == GAME.places(state)


def test_box_takes_all_dice_that_leave_the_table() -> None:
    """Option `box`: replaced, removed, spent x2 and own dice of step 0 wait in the box."""
    state = position("fox x2 trap worm", "elephant bear trap", middle="squirrel", options={"box": True})
    full = bag(state)
    fox, double, elephant, bear = (
        die(state, 0, "fox"),
        die(state, 0, "x2"),
        die(state, 1, "elephant"),
        die(state, 1, "bear"),
    )
    expected = set(state.middle)
    state = after(state, Play((fox, double)))
    assert expected == set(box(state))
    state = after(state, Fox(elephant))
    assert expected | {elephant} == set(box(state))
    state = after(state, Fox(bear))
    assert expected | {elephant, bear, double} == set(box(state))
    trap = dice(state, 1)
    state = after(state, Reroll(trap), Rolled(trap, ("trap",)))
    assert expected | {elephant, bear, double, fox} == set(box(state))
    assert full == bag(state)
    assert unthrown(state)


def test_box_goes_into_the_bag_when_a_die_is_to_be_drawn_from_an_empty_bag() -> None:
    """Option `box`: only when a die is drawn from an empty bag, and then all its dice."""
    state = position("squirrel x2 trap", "trap", middle="worm", options={"box": True}, bag=1, box=2)
    double = die(state, 0, "x2")
    replaced = state.middle
    waiting = {*box(state), *replaced}
    state = after(state, Play(dice(state, 0, "squirrel", "x2")))
    assert waiting == set(box(state))
    state = after(state, Squirrel(1))
    assert waiting == set(box(state))
    (drawn,) = bag(state)
    assert Draw("draw", (drawn,), 1) == GAME.awaited(state)
    state = after(state, Drawn(1, (drawn,)), Rolled((drawn,), (FACES[drawn][0],)))
    assert (waiting, ()) == (set(box(state)), bag(state))
    state = after(state, Squirrel(1))
    assert Draw("draw", tuple(sorted(waiting)), 1) == GAME.awaited(state)
    assert () == box(state)
    drawn = bag(state)[0]
    state = after(state, Drawn(1, (drawn,)), Rolled((drawn,), (FACES[drawn][0],)))
    assert (double,) == box(state)


def test_without_the_option_nothing_ever_lies_in_the_box() -> None:
    """By the basic rule dice go into the bag at once, so any die can come again in the same turn."""
    rng = random.Random(4)
    state = GAME.start({}, 3)
    while not isinstance(GAME.awaited(state), Over):
        GAME.play(state, any_move(state, rng))
        assert () == box(state)
