"""Würfelzoo: what the animals do, and the rulebook's questions and answers."""

from __future__ import annotations

import pytest

from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import OVER, Listed, ToChoose
from rollbook.rules.refusals import Reason
from rollbook.rules.wuerfelzoo import GAME
from rollbook.rules.wuerfelzoo.moves import FACES, Bear, Boar, Drawn, Fox, Play, Rolled, Squirrel, Worm
from tests.rules.positions_wuerfelzoo import after, bag, deal, dice, die, position, shows, unthrown
from tests.rules.questions_wuerfelzoo import illegal, plays

# "Die Tiere und ihre Eigenschaften"


def test_an_elephant_has_no_ability() -> None:
    """The turn ends when elephants are laid."""
    state = position("elephant trap", "trap")
    assert ToChoose(1) == GAME.awaited(after(state, Play(dice(state, 0, "elephant"))))


def test_a_bear_throws_one_die_again_own_or_not() -> None:
    """Section "Der Bär": any die in front of any seat, but none in the middle."""
    state = position("bear trap worm", "fox", "boar")
    state = after(state, Play(dice(state, 0, "bear")))
    in_front = sorted(dice(state, 0) + dice(state, 1) + dice(state, 2))
    assert Listed(Bear(die) for die in in_front) == GAME.legal(state)
    fox = die(state, 1, "fox")
    state = after(state, Bear(fox))
    assert Throw("roll", (FACES[fox],)) == GAME.awaited(state)
    state = after(state, Rolled((fox,), ("x2",)))
    assert ["x2"] == shows(state, 1)
    assert ToChoose(1) == GAME.awaited(state)


def test_a_boar_exchanges_two_dice_as_they_lie() -> None:
    """Section "Das Wildschwein": an own die against another seat's, and neither is thrown."""
    state = position("boar trap worm", "fox elephant", "bear")
    state = after(state, Play(dice(state, 0, "boar")))
    others = sorted(dice(state, 1) + dice(state, 2))
    assert [Boar(own, other) for own in dice(state, 0) for other in others] == list(GAME.legal(state))
    state = after(state, Boar(die(state, 0, "worm"), die(state, 1, "elephant")))
    assert (["elephant", "trap"], ["fox", "worm"]) == (shows(state, 0), shows(state, 1))
    assert ToChoose(1) == GAME.awaited(state)


def test_a_fox_sends_another_seats_die_into_the_bag() -> None:
    """Section "Der Fuchs": one die of another seat, never an own one."""
    state = position("fox trap", "elephant boar", "bear")
    state = after(state, Play(dice(state, 0, "fox")))
    assert [Fox(die) for die in sorted(dice(state, 1) + dice(state, 2))] == list(GAME.legal(state))
    bear = die(state, 2, "bear")
    state = after(state, Fox(bear))
    assert bear in bag(state)
    assert unthrown(state)
    assert [] == shows(state, 2)


def test_a_squirrel_gives_another_seat_a_die_from_the_bag() -> None:
    """Section "Das Eichhörnchen": the target draws, throws and keeps the die; two events of chance."""
    state = position("squirrel trap", "elephant", "bear")
    state = after(state, Play(dice(state, 0, "squirrel")))
    assert Listed((Squirrel(1), Squirrel(2))) == GAME.legal(state)
    state = after(state, Squirrel(2))
    assert Draw("draw", bag(state), 1) == GAME.awaited(state)
    drawn = bag(state)[3]
    assert Drawn(2, (drawn,)) == GAME.outcome(state, (drawn,))
    state = after(state, Drawn(2, (drawn,)))
    assert Throw("roll", (FACES[drawn],)) == GAME.awaited(state)
    state = after(state, Rolled((drawn,), (FACES[drawn][0],)))
    assert sorted(["bear", FACES[drawn][0]]) == shows(state, 2)
    assert ToChoose(1) == GAME.awaited(state)


def test_a_worm_gives_a_die_away_as_it_lies() -> None:
    """Section "Der Regenwurm": an own die to another seat, not thrown again."""
    state = position("worm elephant trap", "trap", "trap")
    state = after(state, Play(dice(state, 0, "worm")), Worm(die(state, 0, "elephant"), 1))
    assert (["trap"], ["elephant", "trap"]) == (shows(state, 0), shows(state, 1))


def test_playing_the_last_worms_ends_the_round_without_giving() -> None:
    """Section "Der Regenwurm": a seat that gets rid of all its dice by laying worms gives nothing and wins."""
    state = position("worm worm", "elephant")
    assert OVER == GAME.awaited(after(state, Play(dice(state, 0))))


def test_a_trap_is_never_laid_and_x2_never_alone() -> None:
    """Section "Die Falle", "Das X2-Symbol": neither is an animal."""
    state = position("trap x2 worm", "trap")
    trap, double, worm = die(state, 0, "trap"), die(state, 0, "x2"), die(state, 0, "worm")
    assert Reason.SPECIES_MISSING == illegal(state, Play((trap,)))
    assert Reason.SPECIES_MISSING == illegal(state, Play((worm, trap)))
    assert Reason.SPECIES_MISSING == illegal(state, Play((double,)))
    assert [Play((worm,)), Play(tuple(sorted((worm, double))))] == plays(state)


def test_each_x2_allows_one_more_use_and_counts_for_nothing_else() -> None:
    """Section "Das X2-Symbol": a use more for each; the number of animals stays what it is."""
    state = position("fox fox x2 x2 trap", "worm worm worm worm worm", middle="squirrel squirrel")
    doubles = dice(state, 0, "x2")
    foxes = dice(state, 0, "fox")
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play((foxes[0], doubles[0])))
    state = after(state, Play(foxes + doubles))
    assert foxes == state.middle
    for uses in (3, 2, 1):
        assert uses == state.uses
        assert not set(doubles) & set(bag(state))
        state = after(state, Fox(dice(state, 1)[0]))
    assert set(doubles) <= set(bag(state))
    assert ["worm", "worm"] == shows(state, 1)
    assert ToChoose(1) == GAME.awaited(state)


def test_x2_dice_go_into_the_bag_only_after_the_last_use() -> None:
    """Section "Nach dem Ausführen der Tiereigenschaft": a squirrel cannot draw the x2 that were played with it."""
    state = position("squirrel x2 trap", "trap", bag=3)
    double = die(state, 0, "x2")
    state = after(state, Play(dice(state, 0, "squirrel", "x2")))
    for _ in range(2):
        assert double not in bag(state)
        state = after(state, Squirrel(1))
        drawn = bag(state)[0]
        state = after(state, Drawn(1, (drawn,)), Rolled((drawn,), (FACES[drawn][0],)))
    assert double in bag(state)


def test_replaced_dice_are_in_the_bag_before_the_ability_is_used() -> None:
    """Replaced dice go back at once, so with an empty bag the squirrel draws just that die."""
    state = position("squirrel trap", "trap", middle="worm", bag=0)
    (replaced,) = state.middle
    state = after(state, Play(dice(state, 0, "squirrel")), Squirrel(1))
    assert Draw("draw", (replaced,), 1) == GAME.awaited(state)


def test_x2_may_be_played_with_elephants_and_with_abilities_that_lapse() -> None:
    """Section "Das X2-Symbol": the dice are spent even without an effect to double."""
    state = position("elephant x2 trap", "trap")
    double = die(state, 0, "x2")
    state = after(state, Play(dice(state, 0, "elephant", "x2")))
    assert double in bag(state)
    state = position("worm x2 x2", "trap")
    assert OVER == GAME.awaited(after(state, Play(dice(state, 0))))


def test_a_bear_lapses_when_nobody_has_a_die() -> None:
    """The ability needs a die in front of a seat."""
    state = position("bear", "", "")
    assert OVER == GAME.awaited(after(state, Play(dice(state, 0))))


def test_a_boar_lapses_when_nobody_else_has_a_die() -> None:
    """Without dice of others the exchange is impossible, and the turn ends."""
    state = position("boar trap", "")
    state = after(state, Play(dice(state, 0, "boar")))
    assert OVER == GAME.awaited(state)
    assert (2, 1) == GAME.places(state)


def test_a_fox_lapses_when_nobody_else_has_a_die_left() -> None:
    """The second use of a fox with x2 lapses when the first took the only die."""
    state = position("fox x2 trap", "worm", "")
    state = after(state, Play(dice(state, 0, "fox", "x2")), Fox(die(state, 1, "worm")))
    assert OVER == GAME.awaited(state)


def test_a_squirrel_lapses_when_bag_and_box_are_empty() -> None:
    """The ability needs a die to draw."""
    state = position("squirrel trap", "trap", bag=0)
    assert ToChoose(1) == GAME.awaited(after(state, Play(dice(state, 0, "squirrel"))))


# "Fragen und Antworten"


def test_question_fox_takes_the_last_die_of_another_seat_and_ends_the_round() -> None:
    """Question 1: the seat that laid foxes wins alone, the other only has no points."""
    state = position("fox", "trap", "worm")
    state = after(state, Play(dice(state, 0)), Fox(die(state, 1, "trap")))
    assert OVER == GAME.awaited(state)
    assert [0, 0, 1] == state.points
    assert (1, 2, 3) == GAME.places(state)


def test_question_worm_gives_the_last_die_away() -> None:
    """Question 2: the seat that gives its last die away with a worm wins."""
    state = position("worm elephant", "trap")
    state = after(state, Play(dice(state, 0, "worm")), Worm(die(state, 0, "elephant"), 1))
    assert OVER == GAME.awaited(state)
    assert [0, 6] == state.points
    assert (1, 2) == GAME.places(state)


@pytest.mark.parametrize("species", ["boar", "worm"])
def test_question_the_round_ends_with_only_boars_or_only_worms(species: str) -> None:
    """Question 3: nothing is exchanged or given without an own die, so the seat wins."""
    state = position(f"{species} {species}", "elephant")
    state = after(state, Play(dice(state, 0)))
    assert OVER == GAME.awaited(state)
    assert ["elephant"] == shows(state, 1)


def test_question_foxes_that_end_the_round_must_still_remove_a_die() -> None:
    """Question 4: the last foxes still remove a die, and a trap, which counts nothing, may be that die."""
    state = position("fox", "trap elephant")
    state = after(state, Play(dice(state, 0)))
    assert ToChoose(0) == GAME.awaited(state)
    assert Listed(Fox(die) for die in dice(state, 1)) == GAME.legal(state)
    state = after(state, Fox(die(state, 1, "trap")))
    assert OVER == GAME.awaited(state)
    assert [0, 6] == state.points


@pytest.mark.parametrize(
    ("species", "rest", "count"),
    [("bear", "", 2), ("fox", "", 2), ("squirrel", "", 1), ("boar", "trap", 2), ("worm", "trap", 1)],
)
def test_question_an_ability_must_be_used_when_it_can(species: str, rest: str, count: int) -> None:
    """Question 5: an ability cannot be skipped, not even at the end; only its uses are legal."""
    state = position(f"{species} {rest}", "trap worm")
    state = after(state, Play(dice(state, 0, species)))
    assert ToChoose(0) == GAME.awaited(state)
    assert count == len(list(GAME.legal(state)))
    assert {GAME.choices[species]} == {type(choice) for choice in GAME.legal(state)}


def test_question_more_x2_than_dice_left_uses_the_ability_as_often_as_possible() -> None:
    """Question 5, last paragraph: all x2 may be played; the ability is used until the own dice are gone."""
    state = position("worm x2 x2 x2 elephant bear", "trap")
    state = after(state, Play(dice(state, 0, "worm", "x2")))
    assert 4 == state.uses
    state = after(state, Worm(die(state, 0, "elephant"), 1), Worm(die(state, 0, "bear"), 1))
    assert OVER == GAME.awaited(state)
    assert (1, 2) == GAME.places(state)


def test_question_squirrels_laid_first_with_five_seats_lapse() -> None:
    """Question 6: all fifty dice are dealt, so nothing can be drawn."""
    hands = [[*range(10)], [*range(10, 20)], [*range(20, 30)], [*range(30, 40)], [*range(40, 50)]]
    state = deal(GAME.start({}, 5), 2, [hands[1], hands[0], *hands[2:]], face=2)
    assert () == bag(state)
    assert ToChoose(2) == GAME.awaited(state)
    state = after(state, Play((die(state, 2, "squirrel"),)))
    assert ToChoose(3) == GAME.awaited(state)
