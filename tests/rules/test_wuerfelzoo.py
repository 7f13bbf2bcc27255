"""Würfelzoo: the rulebook's examples and answers, rulings, options, every refusal, and a naive second opinion."""

from __future__ import annotations

import random
from collections import Counter
from copy import deepcopy
from itertools import islice

import pytest

from rollbook.rules.chance import Draw, FirstSeat, Throw
from rollbook.rules.game import OVER, Listed, Over, Perspective, ToChoose, Watcher
from rollbook.rules.options import OptionValue
from rollbook.rules.refusals import Illegal, Invalid, Reason, Refused
from rollbook.rules.wuerfelzoo import GAME, DieInFront, Drawn, Rolled, View
from rollbook.rules.wuerfelzoo_choices import (
    Bear,
    Boar,
    Choice,
    Fox,
    Play,
    PlayOffer,
    Reroll,
    Squirrel,
    TurnChoices,
    Worm,
)
from rollbook.rules.wuerfelzoo_table import FACES, SPECIES, State
from tests.rules import naive_wuerfelzoo as naive
from tests.rules.positions_wuerfelzoo import after, bag, box, deal, dice, die, position, shows, unthrown

HUGE = 10**5000
"""Python refuses to write such a number out, so a message must not try."""


def refusal(state: State, move: object) -> Refused:
    """How the move is refused, and proof that nothing has changed by it."""
    before = deepcopy(state)
    with pytest.raises(Refused) as caught:
        GAME.play(state, move)  # type: ignore[arg-type]  # whatever a stranger sends
    assert before == state, f"refused, but the state has changed: {move}"
    assert str(caught.value)
    return caught.value


def illegal(state: State, move: object) -> Reason:
    """The reason why the move, which can be read, is refused."""
    refused = refusal(state, move)
    assert Illegal is type(refused)
    return refused.reason


def invalid(state: State, move: object) -> Reason:
    """The reason why the move cannot be read."""
    refused = refusal(state, move)
    assert Invalid is type(refused)
    return refused.reason


def seen(state: State, eyes: Perspective = Watcher.PUBLIC) -> View:
    """What that pair of eyes sees."""
    view = GAME.view(state, eyes)
    assert isinstance(view, View)
    return view


def turn(state: State) -> TurnChoices:
    """What the seat may choose at the beginning of its turn."""
    choices = GAME.legal(state)
    assert isinstance(choices, TurnChoices)
    return choices


def plays(state: State) -> list[Play]:
    """Every legal play."""
    return [choice for choice in GAME.legal(state) if isinstance(choice, Play)]


# Components ("Spielzubehör", "Hinweis zu den Würfeln", and the ruling on kinds)


def test_the_box_holds_fifty_dice_in_five_kinds_of_ten() -> None:
    """Identities run 0 to 49, ten of a kind, in the order of the ruling's table, because logs name dice by them."""
    material = GAME.components["dice"]
    assert isinstance(material, list)
    assert 50 == len(material)
    assert [["elephant", "elephant"], ["worm", "worm"], ["trap", "trap"]] == material[0] == material[9]
    assert [["bear", "bear"], ["squirrel", "squirrel"], ["trap", "trap"]] == material[10] == material[19]
    assert [["boar", "boar"], ["fox", "fox"], ["trap", "x2"]] == material[20] == material[29]
    assert [["elephant", "elephant"], ["fox", "fox"], ["squirrel", "squirrel"]] == material[30] == material[39]
    assert [["bear", "bear"], ["boar", "boar"], ["worm", "worm"]] == material[40] == material[49]


def test_every_animal_is_on_two_kinds_of_dice() -> None:
    """The published count: two kinds with two faces for each animal; 50 trap faces and 10 x2 among all dice."""
    count = Counter(face for faces in FACES for face in faces)
    assert dict.fromkeys(SPECIES, 40) | {"trap": 50, "x2": 10} == dict(count)


def test_two_to_five_seats_can_play_and_others_cannot() -> None:
    """The title says two to five, and the refusal says so too."""
    assert [2, 3, 4, 5] == list(GAME.seats)
    for seats in (1, 6, True):
        with pytest.raises(Invalid) as caught:
            GAME.start({}, seats)
        assert Reason.SEATS_OUT_OF_RANGE == caught.value.reason


def test_every_choice_and_outcome_has_the_name_that_notation_gives_it() -> None:
    """Notation is derived from these names and fields, so they are part of the contract with old logs."""
    assert {
        "play": ["dice"],
        "reroll": ["dice"],
        "bear": ["die"],
        "boar": ["own", "other"],
        "fox": ["die"],
        "squirrel": ["target"],
        "worm": ["own", "target"],
        "first_seat": ["seat"],
        "draw": ["seat", "dice"],
        "roll": ["dice", "faces"],
    } == {name: list(kind.__dataclass_fields__) for name, kind in [*GAME.choices.items(), *GAME.outcomes.items()]}


# Setup of a round ("Spielvorbereitung")


@pytest.mark.parametrize(("seats", "dealt"), [(2, 12), (3, 12), (4, 12), (5, 10)])
def test_each_seat_draws_and_throws_its_dice_from_the_first_seat_on(seats: int, dealt: int) -> None:
    """Twelve dice a seat, ten with five seats; each draw and each throw is one event; faces are thrown by identity."""
    state = GAME.start({}, seats)
    assert Draw("first_seat", tuple(range(seats))) == GAME.awaited(state)
    state = after(state, GAME.outcome(state, (seats - 1,)))
    left = list(range(50))
    for number in range(seats):
        seat = (seats - 1 + number) % seats
        assert Draw("draw", tuple(left), dealt) == GAME.awaited(state)
        drawn = tuple(reversed(left[-dealt:]))
        assert Drawn(seat, drawn) == GAME.outcome(state, drawn)
        state = after(state, GAME.outcome(state, drawn))
        del left[-dealt:]
        thrown = tuple(sorted(drawn))
        assert Throw("roll", tuple(FACES[die] for die in thrown)) == GAME.awaited(state)
        faces = tuple(FACES[die][2] for die in thrown)
        assert Rolled(thrown, faces) == GAME.outcome(state, faces)
        state = after(state, GAME.outcome(state, faces))
        assert thrown == dice(state, seat)
    assert ToChoose(seats - 1) == GAME.awaited(state)
    assert tuple(left) == bag(state)
    assert turn(state)


def test_dice_are_open_to_everybody_and_a_drawn_die_shows_nothing_before_it_is_thrown() -> None:
    """Nothing is hidden: all pairs of eyes see the same, and a die under way has no face yet."""
    state = after(GAME.start({}, 2), FirstSeat(1), Drawn(1, tuple(range(12))))
    view = seen(state, Watcher.PUBLIC)
    assert view == seen(state, 0) == seen(state, 1) == seen(state, Watcher.JUDGE)
    assert ((), tuple(DieInFront(die, None) for die in range(12))) == view.dice
    assert tuple(range(12)) == view.thrown
    outcome = Rolled((1,), ("worm",))
    assert outcome == GAME.seen(state, outcome, Watcher.PUBLIC)


def test_view_shows_the_whole_table() -> None:
    """Seats' dice with faces, the middle with its owner, played x2, bag, box, uses left, points, round, places."""
    state = position(
        "boar x2 trap elephant",
        "bear worm",
        middle="fox",
        box=2,
        bag=3,
        points=(4, 9),
        options={"rounds_to": 50, "box": True},
    )
    view = seen(state, Watcher.PUBLIC)
    assert (1, 0, (4, 9), 0, ()) == (view.round, view.seat, view.points, view.uses, view.doubles)
    assert ("fox", state.middle, 1) == (view.species, view.middle, view.owner)
    assert (3, 2) == (len(view.bag), len(view.box))
    assert (1, 2) == view.places
    assert tuple(DieInFront(die, state.faces[die]) for die in dice(state, 1)) == view.dice[1]
    state = after(state, Play((die(state, 0, "boar"), die(state, 0, "x2"))))
    view = seen(state, 1)
    assert (2, 1, "boar", 0) == (view.uses, len(view.doubles), view.species, view.owner)


def test_view_names_no_seat_before_the_start_and_after_the_end() -> None:
    """Nobody is to act then."""
    assert seen(GAME.start({}, 2), 0).seat is None
    state = position("elephant", "trap")
    assert seen(after(state, Play(dice(state, 0)))).seat is None


# "Würfel ausspielen"


def test_an_empty_middle_takes_any_number_of_one_species() -> None:
    """Section "Es liegen keine Würfel in der Tischmitte": at least one, all of one species."""
    state = position("worm worm worm fox trap", "trap")
    worms = dice(state, 0, "worm")
    assert [
        *[Play((worm,)) for worm in worms],
        Play(worms[:2]),
        Play((worms[0], worms[2])),
        Play(worms[1:]),
        Play(worms),
        Play(dice(state, 0, "fox")),
    ] == plays(state)


def test_example_michaela_replaces_one_elephant_by_three_of_four() -> None:
    """Example under "Die gleiche Tierart spielen": more of the same replace fewer, which go into the bag."""
    state = position("elephant elephant elephant elephant", "trap", middle="elephant")
    elephants = dice(state, 0)
    (lying,) = state.middle
    assert {2, 3, 4} == {len(play.dice) for play in plays(state)}
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play(elephants[:1]))
    state = after(state, Play(elephants[:3]))
    assert elephants[:3] == state.middle
    assert lying in bag(state)
    assert elephants[3:] == dice(state, 0)


def test_example_peter_michaela_and_rita_raise_two_squirrels_to_elephants() -> None:
    """Example under "Tiere einer größeren Art spielen": two bears, two elephants, and then nothing is larger."""
    state = position("bear bear worm", "elephant elephant worm", "boar boar bear bear", middle="squirrel squirrel")
    squirrels = state.middle
    state = after(state, Play(dice(state, 0, "bear")))
    assert set(squirrels) <= set(bag(state))
    worm = die(state, 0, "worm")
    state = after(state, Bear(worm), Rolled((worm,), (FACES[worm][0],)))
    bears = state.middle
    state = after(state, Play(dice(state, 1, "elephant")))
    assert set(bears) <= set(bag(state))
    assert ToChoose(2) == GAME.awaited(state)
    assert [] == plays(state)
    assert all(isinstance(choice, Reroll) for choice in GAME.legal(state))


def test_example_three_worms_give_one_die_away_once() -> None:
    """Example under "Die Eigenschaft der ausgespielten Tierart nutzen": once, however many animals were laid."""
    state = position("worm worm worm fox", "trap", "trap")
    fox = die(state, 0, "fox")
    state = after(state, Play(dice(state, 0, "worm")))
    assert Listed((Worm(fox, 1), Worm(fox, 2))) == GAME.legal(state)
    state = position("worm worm worm fox bear", "trap", "trap")
    state = after(state, Play(dice(state, 0, "worm")))
    state = after(state, Worm(die(state, 0, "bear"), 2))
    assert ["bear", "trap"] == shows(state, 2)
    assert ToChoose(1) == GAME.awaited(state)


def test_example_michaela_lays_four_boars_on_two_and_wins() -> None:
    """Example there: without a die to exchange the boars' ability lapses, and the seat wins."""
    state = position("boar boar boar boar", "bear", middle="boar boar")
    state = after(state, Play(dice(state, 0)))
    assert OVER == GAME.awaited(state)
    assert (1, 2) == GAME.places(state)


def test_a_larger_species_must_have_exactly_as_many_dice() -> None:
    """Neither more nor fewer of a larger species replace what lies there."""
    state = position("bear bear bear", "trap", middle="fox fox")
    bears = dice(state, 0)
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play(bears))
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play(bears[:1]))
    assert [Play(bears[:2]), Play((bears[0], bears[2])), Play(bears[1:])] == plays(state)


def test_dice_may_be_named_in_any_order() -> None:
    """Lists in choices are written ascending and accepted in any order, with the same effect."""
    state = position("worm worm x2 fox", "trap")
    named = (*dice(state, 0, "x2"), *dice(state, 0, "worm"))
    assert Play(named[::-1]) in turn(state)
    assert after(state, Play(tuple(sorted(named)))) == after(state, Play(named)) == after(state, Play(named[::-1]))
    assert after(state, Reroll(tuple(sorted(named)))) == after(state, Reroll(named[::-1]))


# "Neu würfeln"


def test_example_rita_throws_her_traps_and_one_of_two_squirrels_again() -> None:
    """Example under "Neu würfeln": any own dice may be thrown again, the middle stays, and the turn ends."""
    state = position(
        "elephant elephant trap trap squirrel squirrel",
        "elephant elephant elephant",
        "bear",
        middle="elephant elephant",
    )
    lying = state.middle
    assert [] == plays(state)
    thrown = tuple(sorted((*dice(state, 0, "trap"), die(state, 0, "squirrel"))))
    state = after(state, Reroll(thrown))
    assert Throw("roll", tuple(FACES[die] for die in thrown)) == GAME.awaited(state)
    assert not GAME.legal(state)
    state = after(state, Rolled(thrown, tuple(FACES[die][4] for die in thrown)))
    assert lying == state.middle
    assert ToChoose(1) == GAME.awaited(state)


def test_example_peter_throws_again_although_he_could_play() -> None:
    """Example there: a seat that could replace the middle may throw dice again all the same."""
    state = position("elephant elephant elephant worm", "trap", middle="elephant elephant")
    assert [Play(dice(state, 0, "elephant"))] == plays(state)
    worm = die(state, 0, "worm")
    assert Reroll((worm,)) in turn(state)
    state = after(state, Reroll((worm,)), Rolled((worm,), (FACES[worm][0],)))
    assert ToChoose(1) == GAME.awaited(state)


# "Die eigenen Tiere sind noch da!"


def test_own_animals_still_in_the_middle_go_into_the_bag_when_the_turn_begins() -> None:
    """The seat begins as at the start of a round: anything may be laid on the empty middle, or dice thrown again."""
    state = position("elephant worm", "trap", middle="")
    elephant, worm, trap = die(state, 0, "elephant"), die(state, 0, "worm"), die(state, 1, "trap")
    state = after(state, Play((elephant,)))
    assert (elephant,) == state.middle
    state = after(state, Reroll((trap,)), Rolled((trap,), ("trap",)))
    assert () == state.middle
    assert elephant in bag(state)
    assert ToChoose(0) == GAME.awaited(state)
    assert [Play((worm,)), Reroll((worm,))] == list(GAME.legal(state))


def test_animals_that_somebody_else_replaced_stay_replaced() -> None:
    """Only the seat's own animals leave the middle when its turn begins."""
    state = position("elephant worm", "elephant elephant trap")
    elephant = die(state, 0, "elephant")
    state = after(state, Play((elephant,)), Play(dice(state, 1, "elephant")))
    assert 2 == len(state.middle)
    assert ToChoose(0) == GAME.awaited(state)
    assert [] == plays(state)


# "Die Tiere und ihre Eigenschaften"


def test_an_elephant_has_no_ability() -> None:
    """The turn is over as soon as elephants are laid."""
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
    """What is replaced goes back at once, so with an otherwise empty bag a squirrel gives just that die."""
    state = position("squirrel trap", "trap", middle="worm", bag=0)
    (replaced,) = state.middle
    state = after(state, Play(dice(state, 0, "squirrel")), Squirrel(1))
    assert Draw("draw", (replaced,), 1) == GAME.awaited(state)


def test_x2_may_be_played_with_elephants_and_with_abilities_that_lapse() -> None:
    """Section "Das X2-Symbol": also where there is nothing to double, and the dice are gone afterwards."""
    state = position("elephant x2 trap", "trap")
    double = die(state, 0, "x2")
    state = after(state, Play(dice(state, 0, "elephant", "x2")))
    assert double in bag(state)
    state = position("worm x2 x2", "trap")
    assert OVER == GAME.awaited(after(state, Play(dice(state, 0))))


def test_a_bear_lapses_when_nobody_has_a_die() -> None:
    """The ability needs a die in front of somebody."""
    state = position("bear", "", "")
    assert OVER == GAME.awaited(after(state, Play(dice(state, 0))))


def test_a_boar_lapses_when_nobody_else_has_a_die() -> None:
    """There is nothing to exchange for, so the turn goes on to its end."""
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
    """Question 2: who gives the last die away with a worm wins."""
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
    """Question 4: yes; a trap, which counts nothing, may be the one."""
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
    """Question 5: no ability can be passed over, not even at the end; nothing but its uses is legal."""
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


# Rulings of the page


def test_ruling_the_first_seat_is_drawn_anew_for_every_round() -> None:
    """Every round begins with chance naming the seat that starts, and with all dice in the bag."""
    state = position("worm", "elephant", options={"rounds_to": 7, "box": True}, middle="worm", owner=0, box=3)
    state = GAME.fold(state, [Reroll(dice(state, 0)), Rolled(dice(state, 0), ("worm",))])
    elephant = dice(state, 1)
    state = after(state, Play(elephant))
    assert Draw("first_seat", (0, 1)) == GAME.awaited(state)
    assert tuple(range(50)) == bag(state)
    assert ((), ()) == (box(state), state.middle)
    assert unthrown(state)
    assert [1, 0] == state.points
    assert 2 == state.round
    assert seen(state, 0).seat is None
    state = deal(state, 1, [range(12), range(12, 24)])
    assert ToChoose(1) == GAME.awaited(state)


def test_ruling_a_robbed_seat_wins_nothing_before_its_own_turn() -> None:
    """A seat that loses its last die to a fox goes on until its turn begins, and then the round ends with it."""
    state = position("fox trap", "elephant bear", "worm")
    state = after(state, Play(dice(state, 0, "fox")), Fox(die(state, 2, "worm")))
    assert ToChoose(1) == GAME.awaited(state)
    state = after(state, Play((die(state, 1, "elephant"),)))
    assert OVER == GAME.awaited(state)
    assert (2, 3, 1) == GAME.places(state)
    assert [0, 5, 0] == state.points


def test_ruling_a_robbed_seat_with_own_animals_in_the_middle_still_wins() -> None:
    """Step 0 comes first: its animals leave the middle, and then the round ends."""
    state = position("fox trap", "", "elephant", middle="worm", owner=1)
    lying = state.middle
    state = after(state, Reroll(dice(state, 0, "trap")), Rolled(dice(state, 0, "trap"), ("trap",)))
    assert OVER == GAME.awaited(state)
    assert () == state.middle
    assert set(lying) <= set(bag(state))
    assert (2, 1, 3) == GAME.places(state)


def test_ruling_a_robbed_seat_that_was_given_a_die_plays_on() -> None:
    """What counts is the beginning of its own turn: a die it has got by then keeps the round going."""
    state = position("squirrel trap", "", bag=1)
    state = after(state, Play(dice(state, 0, "squirrel")), Squirrel(1))
    (drawn,) = bag(state)
    state = after(state, Drawn(1, (drawn,)), Rolled((drawn,), (FACES[drawn][0],)))
    assert ToChoose(1) == GAME.awaited(state)


def test_ruling_the_squirrels_target_is_another_seat() -> None:
    """The short table's "any player" means what the long text says: somebody else."""
    state = position("squirrel trap", "trap")
    state = after(state, Play(dice(state, 0, "squirrel")))
    assert Listed((Squirrel(1),)) == GAME.legal(state)
    assert Reason.TARGET_IS_ONESELF == illegal(state, Squirrel(0))


def test_ruling_a_seat_with_only_traps_and_x2_can_only_reroll() -> None:
    """Neither can be laid without an animal."""
    state = position("trap trap x2", "worm")
    assert TurnChoices((), dice(state, 0, "x2"), dice(state, 0)) == turn(state)
    assert 7 == len(list(turn(state)))
    assert all(isinstance(choice, Reroll) for choice in turn(state))


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
    """Before the end the places say who would be best off if everything stayed as it lies."""
    assert (1, 1, 1) == GAME.places(GAME.start({}, 3))
    assert (3, 1, 1) == GAME.places(position("elephant", "worm", "trap worm"))
    state = after(GAME.start({}, 2), FirstSeat(0), Drawn(0, tuple(range(12))))
    assert (1, 1) == GAME.places(state)


def test_nothing_is_awaited_or_legal_after_the_end() -> None:
    """A finished match takes neither choices nor chance."""
    state = position("elephant", "trap")
    state = after(state, Play(dice(state, 0)))
    assert OVER == GAME.awaited(state)
    assert not GAME.legal(state)
    for move in (Play((0,)), Reroll((0,)), Fox(0), Drawn(0, (0,)), Rolled((0,), ("trap",)), FirstSeat(0)):
        assert Reason.MATCH_OVER == illegal(state, move)


# Options


def test_options_have_their_defaults_and_all_their_values() -> None:
    """rounds_to 0 to 999 and box; what is not said is one round without box."""
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
    """Values have to be of the option's own kind and among its values."""
    with pytest.raises(Invalid) as caught:
        GAME.start(given, 2)
    assert reason == caught.value.reason


def test_rounds_are_played_until_somebody_reached_the_points() -> None:
    """Option `rounds_to`: reaching is enough, one point fewer is not; fewest points win the match, not the round."""
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
    """Option `box`: not before, not while the bag holds a die, and then everything in it."""
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
    """The basic rule puts dice into the bag at once; so any die can come again in the same turn."""
    rng = random.Random(4)
    state = GAME.start({}, 3)
    while not isinstance(GAME.awaited(state), Over):
        GAME.play(state, any_move(state, rng))
        assert () == box(state)


# Refusals

OWN_TURN = "worm worm boar x2 trap"


@pytest.mark.parametrize("kind", [Play, Reroll])
def test_lists_of_dice_that_cannot_be_read_are_invalid(kind: type[Play | Reroll]) -> None:
    """Nothing named, too much, unknown dice, one twice: each has its own reason, whatever the numbers are."""
    state = position(OWN_TURN, "bear")
    worm = die(state, 0, "worm")
    assert Reason.NOTHING_NAMED == invalid(state, kind(()))
    assert Reason.TOO_MANY_NAMED == invalid(state, kind((worm,) * 51))
    assert Reason.TOO_MANY_NAMED == invalid(state, kind(tuple(range(100_000))))
    assert Reason.NAMED_TWICE == invalid(state, kind((worm, worm)))
    assert Reason.NAMED_TWICE == invalid(state, kind((worm,) * 50))
    for weird in (-1, 50, HUGE, -HUGE, True, 1.0, "1", None):
        assert Reason.DIE_UNKNOWN == invalid(state, kind((worm, weird)))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Play, Reroll])
def test_only_own_dice_are_played_or_thrown_again(kind: type[Play | Reroll]) -> None:
    """Dice of others, in the middle and in the bag are not the seat's."""
    state = position(OWN_TURN, "bear", middle="worm", box=1, bag=1)
    for foreign in (*dice(state, 1), *state.middle, *bag(state), *box(state)):
        refused = refusal(state, kind((die(state, 0, "boar"), foreign)))
        assert (Illegal, Reason.DIE_NOT_OWNED) == (type(refused), refused.reason)
        assert {"die": foreign, "seat": 0} == refused.facts
    assert Reason.DIE_NOT_OWNED == illegal(state, kind(tuple(range(50))))


def test_a_play_that_breaks_the_rules_says_which() -> None:
    """Two species, too small a species, the wrong number: the reasons tell them apart and the facts explain."""
    state = position("worm fox fox bear bear bear", "bear", middle="fox fox")
    worms, foxes, bears = dice(state, 0, "worm"), dice(state, 0, "fox"), dice(state, 0, "bear")
    assert Reason.SPECIES_MIXED == illegal(state, Play(worms + foxes))
    assert Reason.SPECIES_TOO_SMALL == illegal(state, Play(worms))
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play(foxes))
    refused = refusal(state, Play(bears))
    assert {"species": "bear", "number": 3, "needed": "exactly 2"} == refused.facts


def using(species: str) -> State:
    """A state in which the first of three seats has laid the species, with something in every place."""
    state = position(f"{species} trap worm", "fox bear", "boar", middle="worm", options={"box": True}, bag=5, box=1)
    return after(state, Play((die(state, 0, species),)))


WEIRD_DICE = (-1, 50, HUGE, -HUGE, True, 2.0, "3", None)


def test_a_bear_that_is_told_nonsense_is_refused() -> None:
    """Unknown dice are invalid; dice in the middle, the bag and the box are not in play."""
    state = using("bear")
    for weird in WEIRD_DICE:
        assert Reason.DIE_UNKNOWN == invalid(state, Bear(weird))  # type: ignore[arg-type]
    for elsewhere in (*state.middle, *bag(state), *box(state)):
        assert Reason.DIE_NOT_IN_PLAY == illegal(state, Bear(elsewhere))


def test_a_boar_that_is_told_nonsense_is_refused() -> None:
    """The own die must be one's own, the other another seat's, and both must be dice that are in play."""
    state = using("boar")
    own, other = dice(state, 0)[0], dice(state, 1)[0]
    for weird in WEIRD_DICE:
        assert Reason.DIE_UNKNOWN == invalid(state, Boar(weird, other))  # type: ignore[arg-type]
        assert Reason.DIE_UNKNOWN == invalid(state, Boar(own, weird))  # type: ignore[arg-type]
    assert Reason.NAMED_TWICE == invalid(state, Boar(own, own))
    assert Reason.DIE_NOT_OWNED == illegal(state, Boar(other, own))
    assert Reason.DIE_NOT_OWNED == illegal(state, Boar(dice(state, 2)[0], other))
    assert Reason.TARGET_IS_ONESELF == illegal(state, Boar(own, dice(state, 0)[1]))
    for elsewhere in (*state.middle, *bag(state), *box(state)):
        assert Reason.DIE_NOT_IN_PLAY == illegal(state, Boar(own, elsewhere))
        assert Reason.DIE_NOT_OWNED == illegal(state, Boar(elsewhere, other))


def test_a_fox_that_is_told_nonsense_is_refused() -> None:
    """The die must lie in front of another seat."""
    state = using("fox")
    for weird in WEIRD_DICE:
        assert Reason.DIE_UNKNOWN == invalid(state, Fox(weird))  # type: ignore[arg-type]
    assert Reason.TARGET_IS_ONESELF == illegal(state, Fox(dice(state, 0)[0]))
    for elsewhere in (*state.middle, *bag(state), *box(state)):
        assert Reason.DIE_NOT_IN_PLAY == illegal(state, Fox(elsewhere))


def test_a_squirrel_or_worm_that_is_told_nonsense_is_refused() -> None:
    """Targets are other seats at the table; what a worm gives away is one's own."""
    squirrel, worm = using("squirrel"), using_worm()
    own = dice(worm, 0)[0]
    for weird in (-1, 3, HUGE, -HUGE, True, 1.0, "1", None):
        assert Reason.SEAT_UNKNOWN == invalid(squirrel, Squirrel(weird))  # type: ignore[arg-type]
        assert Reason.SEAT_UNKNOWN == invalid(worm, Worm(own, weird))  # type: ignore[arg-type]
    for weird in WEIRD_DICE:
        assert Reason.DIE_UNKNOWN == invalid(worm, Worm(weird, 1))  # type: ignore[arg-type]
    assert Reason.TARGET_IS_ONESELF == illegal(squirrel, Squirrel(0))
    assert Reason.TARGET_IS_ONESELF == illegal(worm, Worm(own, 0))
    for foreign in (*dice(worm, 1), *worm.middle, *bag(worm), *box(worm)):
        assert Reason.DIE_NOT_OWNED == illegal(worm, Worm(foreign, 1))


def using_worm() -> State:
    """As `using`, but on an empty middle, because a worm replaces nothing else."""
    state = position("worm trap fox", "fox bear", "boar", options={"box": True}, bag=5, box=1)
    return after(state, Play((die(state, 0, "worm"),)))


def test_another_choice_than_the_awaited_is_refused() -> None:
    """No ability before its animal is laid, nothing laid before it was used, and none in place of another."""
    state = position(OWN_TURN, "bear")
    for move in (Bear(0), Boar(0, 1), Fox(0), Squirrel(1), Worm(0, 1)):
        assert Reason.OTHER_CHOICE_AWAITED == illegal(state, move)
    for outcome in (Drawn(0, (0,)), Rolled((0,), ("trap",)), FirstSeat(0)):
        assert Reason.OTHER_CHOICE_AWAITED == illegal(state, outcome)
    state = using("fox")
    for other in (Play((0,)), Reroll((0,)), Bear(0), Boar(0, 1), Squirrel(1), Worm(0, 1)):
        assert Reason.OTHER_CHOICE_AWAITED == illegal(state, other)


def test_no_choice_is_taken_while_chance_is_awaited() -> None:
    """Before the start, between draw and throw and in the middle of an ability alike."""
    start = GAME.start({}, 2)
    dealing = after(start, FirstSeat(0))
    throwing = after(dealing, Drawn(0, tuple(range(12))))
    adding = after(using("squirrel"), Squirrel(1))
    for state in (start, dealing, throwing, adding):
        for move in (Play((0,)), Reroll((0,)), Bear(0), Boar(0, 1), Fox(0), Squirrel(1), Worm(0, 1)):
            assert Reason.CHANCE_AWAITED == illegal(state, move)
        assert not GAME.legal(state)
    assert Reason.CHANCE_AWAITED == illegal(start, Drawn(0, (0,)))
    assert Reason.CHANCE_AWAITED == illegal(dealing, Rolled((0,), ("trap",)))
    assert Reason.CHANCE_AWAITED == illegal(throwing, FirstSeat(0))


def test_moves_of_other_games_are_invalid() -> None:
    """Whatever is no move of Würfelzoo at all is refused as such, whatever the state is."""
    for state in (GAME.start({}, 2), position(OWN_TURN, "bear"), using("fox")):
        for stranger in (None, 7, "play", object(), (1, 2)):
            assert Reason.MOVE_OF_ANOTHER_GAME == invalid(state, stranger)


def test_outcomes_that_chance_cannot_give_are_refused() -> None:
    """Seats that are not at the table, dice that are not in the bag, faces that a die does not have."""
    start = GAME.start({}, 2)
    for seat in (2, -1, HUGE, True, None):
        assert Reason.OUTCOME_IMPOSSIBLE == illegal(start, FirstSeat(seat))  # type: ignore[arg-type]
    dealing = after(start, FirstSeat(0))
    twelve = tuple(range(12))
    for drawn in (
        Drawn(1, twelve),
        Drawn(HUGE, twelve),
        Drawn(seat=False, dice=twelve),
        Drawn(0, ()),
        Drawn(0, twelve[:11]),
        Drawn(0, (*twelve, 12)),
        Drawn(0, (*twelve[:11], 0)),
        Drawn(0, (*twelve[:11], 50)),
        Drawn(0, (*twelve[:11], -1)),
        Drawn(0, (*twelve[:11], HUGE)),
        Drawn(0, (*twelve[:1], True, *twelve[2:])),
    ):
        assert Reason.OUTCOME_IMPOSSIBLE == illegal(dealing, drawn)
    throwing = after(dealing, Drawn(0, twelve))
    faces = tuple(FACES[die][0] for die in twelve)
    for rolled in (
        Rolled((), ()),
        Rolled(twelve, faces[:11]),
        Rolled(twelve, (*faces, "bear")),
        Rolled(twelve[::-1], faces[::-1]),
        Rolled(tuple(range(1, 13)), faces),
        Rolled(twelve, ("bear", *faces[1:])),
        Rolled(twelve, ("", *faces[1:])),
        Rolled(twelve, (*faces[:11], "dragon")),
        Rolled(twelve, (*faces[:11], HUGE)),  # type: ignore[arg-type]
        Rolled((HUGE, *twelve[1:]), faces),
    ):
        assert Reason.OUTCOME_IMPOSSIBLE == illegal(throwing, rolled)
    second = after(throwing, Rolled(twelve, faces))
    assert Reason.OUTCOME_IMPOSSIBLE == illegal(second, Drawn(1, twelve))
    adding = after(using("squirrel"), Squirrel(1))
    in_bag = bag(adding)
    assert Reason.OUTCOME_IMPOSSIBLE == illegal(adding, Drawn(2, in_bag[:1]))
    assert Reason.OUTCOME_IMPOSSIBLE == illegal(adding, Drawn(1, in_bag[:2]))
    assert Reason.OUTCOME_IMPOSSIBLE == illegal(adding, Drawn(1, dice(adding, 0)[:1]))


def test_apply_leaves_its_argument_as_it_is() -> None:
    """States can be kept and shared: only `play` changes one, and only the one it is given."""
    rng = random.Random(11)
    for options in ({}, {"box": True, "rounds_to": 20}):
        state = GAME.start(options, 3)
        for _ in range(400):
            if isinstance(GAME.awaited(state), Over):
                break
            before = deepcopy(state)
            move = any_move(state, rng)
            following = GAME.apply(state, move)
            assert before == state
            assert following != state
            GAME.play(before, move)
            assert before == following
            state = following


# Caretaker


def test_caretaker_lays_the_fewest_dice_of_the_smallest_species() -> None:
    """The lowest dice, as few as may be laid, and no x2 with them."""
    state = position("squirrel squirrel fox elephant x2", "trap")
    assert Play(dice(state, 0, "squirrel")[:1]) == GAME.caretaker(state)
    state = position("squirrel squirrel squirrel fox fox elephant x2", "trap", middle="squirrel squirrel")
    assert Play(dice(state, 0, "squirrel")) == GAME.caretaker(state)
    state = position("worm squirrel squirrel fox fox fox elephant x2", "trap", middle="squirrel squirrel")
    assert Play(dice(state, 0, "fox")[:2]) == GAME.caretaker(state)


def test_caretaker_throws_traps_and_x2_again_when_nothing_can_be_laid() -> None:
    """All of them, and where there are none, all its dice."""
    state = position("worm trap x2 trap fox", "trap", middle="elephant elephant")
    assert Reroll(dice(state, 0, "trap", "x2")) == GAME.caretaker(state)
    state = position("worm fox", "trap", middle="elephant elephant")
    assert Reroll(dice(state, 0)) == GAME.caretaker(state)


@pytest.mark.parametrize("species", ["bear", "boar", "fox", "squirrel", "worm"])
def test_caretaker_uses_an_ability_in_the_first_legal_way(species: str) -> None:
    """The first in sorted order, as long as that does not rob a seat of its last die."""
    state = position(f"{species} trap trap", "worm elephant", "boar boar")
    state = after(state, Play((die(state, 0, species),)))
    assert next(iter(GAME.legal(state))) == GAME.caretaker(state)


def test_caretaker_spares_the_last_die_of_a_seat_while_it_can() -> None:
    """A robbed seat wins when its turn begins, so a caretaker does not hand the round over, unless it must."""
    state = position("fox trap", "elephant", "elephant elephant")
    state = after(state, Play(dice(state, 0, "fox")))
    assert Fox(dice(state, 2)[0]) == GAME.caretaker(state)
    state = position("fox trap", "elephant", "elephant")
    state = after(state, Play(dice(state, 0, "fox")))
    assert Fox(dice(state, 1)[0]) == GAME.caretaker(state)
    state = position("boar trap", "elephant", "elephant elephant")
    state = after(state, Play(dice(state, 0, "boar")))
    assert Boar(die(state, 0, "trap"), dice(state, 2)[0]) == GAME.caretaker(state)


# A turn described instead of listed


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
    """Each species that fits with the numbers that fit; clients build their buttons from this."""
    state = position("worm fox fox fox bear bear bear elephant x2", "trap", middle="fox fox")
    foxes, bears = dice(state, 0, "fox"), dice(state, 0, "bear")
    assert TurnChoices(
        (PlayOffer("fox", foxes, 3, 3), PlayOffer("bear", bears, 2, 2)), dice(state, 0, "x2"), dice(state, 0)
    ) == turn(state)


def test_the_choices_of_a_full_hand_are_walked_through_lazily() -> None:
    """Forty dice make more than a million million choices; the first ones and any question come at once."""
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
    """Asking is safe with whatever anybody sends."""
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
    """Random play must be able to do anything that is legal, else simulations leave positions out."""
    for state in (
        position("worm worm fox x2", "trap"),
        position("worm worm worm fox x2 trap", "trap", middle="worm"),
        position("worm trap x2", "trap", middle="elephant"),
    ):
        rng = random.Random(3)
        choices = turn(state)
        assert set(choices) == {choices.sample(rng.randrange) for _ in range(6000)}


# A second opinion

SEATS_AND_OPTIONS = [
    (seats, options)
    for seats in GAME.seats
    for options in ({}, {"box": True}, {"rounds_to": 60}, {"rounds_to": 30, "box": True})
]


def any_move(state: State, rng: random.Random) -> Choice | FirstSeat | Drawn | Rolled:
    """Whatever may come next, at random."""
    awaited = GAME.awaited(state)
    if isinstance(awaited, Draw):
        return GAME.outcome(state, tuple(rng.sample(awaited.items, awaited.count)))
    if isinstance(awaited, Throw):
        return GAME.outcome(state, tuple(rng.choice(faces) for faces in awaited.dice))
    return GAME.legal(state).sample(rng.randrange)


def any_position(rng: random.Random) -> State:
    """A small position at random: up to seven dice a seat, all faces, a middle of up to four or none."""
    by_size = rng.sample(range(50), 50)
    seats = rng.randint(2, 5)
    state = position(*[""] * seats, options={"box": rng.random() < 0.5}, bag=0)
    for seat in range(seats):
        for _ in range(rng.randint(seat == 0, 7)):
            number = by_size.pop()
            state.where[number] = seat
            state.faces[number] = rng.choice(FACES[number])
    if rng.random() < 0.7:
        species = rng.choice(SPECIES)
        lying = [number for number in by_size if species in FACES[number]][: rng.randint(1, 4)]
        state.middle, state.species, state.owner = tuple(sorted(lying)), species, rng.randrange(1, seats)
        for number in lying:
            state.faces[number] = species
            by_size.remove(number)
    for number in by_size[: rng.choice((0, 0, 1, 5))]:
        state.where[number] = -1
    return state


def hands_of(state: State) -> list[dict[int, str]]:
    """What lies in front of the seats, in the reference's terms."""
    return [{number: state.faces[number] for number in dice(state, seat)} for seat in range(len(state.points))]


@pytest.mark.parametrize("seed", range(40))
def test_turns_agree_with_the_naive_reference(seed: int) -> None:
    """Enumeration, its order, `in` and `play` all say what trying every subset of the hand says."""
    rng = random.Random(seed)
    for number in range(15):
        message = f"seed {seed}, position {number}"
        state = any_position(rng)
        hand = hands_of(state)[0]
        middle = [state.species] * len(state.middle)
        laid = naive.plays(hand, middle)
        expected = [*map(Play, laid), *map(Reroll, naive.rerolls(hand))]
        choices = turn(state)
        assert expected == list(choices), message
        assert bool(choices), message
        may_be_laid = set(laid)
        for subset in naive.subsets(hand):
            shuffled = tuple(rng.sample(subset, len(subset)))
            assert (subset in may_be_laid) == (Play(shuffled) in choices) == accepted(state, Play(shuffled)), message
            assert Reroll(shuffled) in choices, message
        for _ in range(60):
            strange = tuple(rng.choices(range(-1, 51), k=rng.randint(0, 4)))
            for move in (Play(strange), Reroll(strange)):
                assert (move in choices) == accepted(state, move), message
        cheapest = naive.cheapest_play(hand, middle)
        caretaken = GAME.caretaker(state)
        if cheapest is None:
            assert isinstance(caretaken, Reroll), message
        else:
            assert Play(cheapest) == caretaken, message
        assert caretaken in choices, message
        sampled = choices.sample(rng.randrange)
        assert sampled in expected, message


@pytest.mark.parametrize("seed", range(40))
def test_abilities_agree_with_the_naive_reference(seed: int) -> None:
    """Where an ability can be used the legal uses are those the reference finds; where it finds none, it lapses."""
    rng = random.Random(seed)
    for number in range(30):
        state = any_position(rng)
        offered = plays(state)
        if not offered:
            continue
        chosen = rng.choice(offered)
        message = f"seed {seed}, position {number}, {chosen}"
        seat, species = state.seat, next(face for face in map(state.faces.__getitem__, chosen.dice) if face != "x2")
        after_play = GAME.apply(state, chosen)
        hands = hands_of(state)
        replaced = len(state.middle)
        hands[seat] = {die: face for die, face in hands[seat].items() if die not in chosen.dice}
        undrawn = len(bag(state)) + len(box(state)) + replaced
        expected = naive.uses(species, seat, hands, undrawn)
        if expected:
            assert ToChoose(seat) == GAME.awaited(after_play), message
            legal = list(GAME.legal(after_play))
            assert {GAME.choices[species]} == {type(use) for use in legal}, message
            assert expected == [tuple(getattr(use, name) for name in use.__dataclass_fields__) for use in legal], (
                message
            )
            assert all(accepted(after_play, use) for use in legal), message
            assert GAME.caretaker(after_play) in legal, message
        else:
            assert ToChoose(seat) != GAME.awaited(after_play), message


def accepted(state: State, move: Choice) -> bool:
    """Whether the rules take the move; if not, nothing has changed."""
    trial = GAME.copy(state)
    try:
        GAME.play(trial, move)
    except Refused:
        assert state == trial
        return False
    return True


@pytest.mark.parametrize(("seats", "options"), SEATS_AND_OPTIONS)
def test_random_matches_end_and_lose_no_die(seats: int, options: dict[str, OptionValue]) -> None:
    """In every state each of the fifty dice is in exactly one place, and matches end with a winner without dice."""
    for seed in range(4):
        rng = random.Random(seed)
        state = GAME.start(options, seats)
        for _ in range(20_000):
            if isinstance(GAME.awaited(state), Over):
                break
            GAME.play(state, any_move(state, rng))
            everywhere = [*bag(state), *box(state), *state.middle, *state.doubles]
            everywhere += [number for seat in range(seats) for number in dice(state, seat)]
            assert list(range(50)) == sorted(everywhere), f"seed {seed}"
            assert unthrown(state), f"seed {seed}"
        assert OVER == GAME.awaited(state), f"seed {seed}"
        assert [naive.penalty(hand) for hand in hands_of(state)][state.seat] == 0, f"seed {seed}"
        if not options.get("rounds_to"):
            assert [naive.penalty(hand) for hand in hands_of(state)] == state.points, f"seed {seed}"
            assert 1 == GAME.places(state).count(1), f"seed {seed}"


@pytest.mark.parametrize(("seats", "options"), SEATS_AND_OPTIONS)
def test_matches_of_caretakers_alone_end(seats: int, options: dict[str, OptionValue]) -> None:
    """A table that everybody has left does not go on for ever."""
    rng = random.Random(seats)
    state = GAME.start(options, seats)
    for _ in range(20_000):
        awaited = GAME.awaited(state)
        if isinstance(awaited, Over):
            break
        GAME.play(state, GAME.caretaker(state) if isinstance(awaited, ToChoose) else any_move(state, rng))
    assert OVER == GAME.awaited(state), f"seed {seats}"
